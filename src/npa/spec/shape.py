"""The shape of a spec's models: which field a path names. `root` is the model of the whole file."""

from __future__ import annotations

from typing import Any, get_args, get_origin

from pydantic.fields import FieldInfo

from npa.spec.model import Model, SoperatorSpec


def model_in(annotation: Any) -> type[Model] | None:
    """Return the model that an annotation is, or lists; None where it is a plain value."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return annotation
    if get_origin(annotation) is tuple:
        return model_in(get_args(annotation)[0])
    return None


def is_list(annotation: Any) -> bool:
    """Whether an annotation is that of a list."""
    return get_origin(annotation) is tuple


def field(names: tuple[str, ...], root: type[Model] = SoperatorSpec) -> FieldInfo | None:
    """Return the field that dotted names lead to, indices left out; None where there is none."""
    model: type[Model] | None = root
    found: FieldInfo | None = None
    for name in names:
        found = model.model_fields.get(name) if model else None
        if found is None:
            return None
        model = model_in(found.annotation)
    return found


def keys(names: tuple[str, ...], root: type[Model] = SoperatorSpec) -> tuple[str, ...]:
    """Return the keys that may stand under dotted names, in the order of the documentation."""
    found = field(names, root) if names else None
    model = model_in(found.annotation) if found else root if not names else None
    return tuple(model.model_fields) if model else ()
