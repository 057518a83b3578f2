"""An object of the API as a whole: its metadata, and how it is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from npa.crds import problems
from npa.crds.base import NOTHING, Part, Raw, StringMap
from npa.errors import Problem, SpecError

Object = Mapping[str, Any]  # an object as the API gives it


class Metadata(Part):
    """What Kubernetes says of every object, as far as it is looked at here."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    generation: int = 0
    resource_version: str = ""
    deletion_timestamp: str = ""
    labels: StringMap = NOTHING
    annotations: StringMap = NOTHING


class Resource(Part):
    """An object of one of our kinds; `status` is what was last written, of whatever shape."""

    metadata: Metadata = Metadata()
    status: Raw = NOTHING

    @property
    def name(self) -> str:
        """The object's name."""
        return self.metadata.name

    @property
    def namespace(self) -> str:
        """The object's namespace."""
        return self.metadata.namespace

    @property
    def deleted(self) -> bool:
        """Whether somebody asked for it to be deleted."""
        return bool(self.metadata.deletion_timestamp)


R = TypeVar("R", bound=Resource)


def parse(model: type[R], value: Object) -> R:
    """Return an object as a value; SpecError with everything that is wrong with it."""
    if not isinstance(value, Mapping):
        raise SpecError([Problem(0, 0, "", "must be a mapping", "give a whole object")])
    held = dict(value)
    if not isinstance(held.get("status"), Mapping):
        held.pop("status", None)
    try:
        return model.model_validate(held)
    except ValidationError as error:
        raise SpecError(problems.of(error, held)) from None
