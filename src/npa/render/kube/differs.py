"""Whether an object has to be written: what is wanted of it against what is found.

A wanted object bears a digest of itself. One that bears another digest is written; one that bears the same is
written only where something that is wanted is no longer there, because somebody took it away. What the API
server or others added is left alone: server-side apply would not take it away either.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from npa.render.kube import quantity as quantities
from npa.render.kube.names import WANTED
from npa.render.objects import Object, dig, name_of

_LENGTH = 16  # hexadecimal digits of a digest
# Below these keys a value is a quantity, which the API server writes in its own way: `1000m` is `1`.
_QUANTITIES = frozenset({"requests", "limits", "capacity", "sizeLimit", "storage", "divisor"})
# What tells the items of a list apart, as Kubernetes' own list types do.
_KEYS = (
    "name",
    "uid",
    "type",
    "containerPort",
    "port",
    "key",
    "mountPath",
    "devicePath",
    "topologyKey",
    "ip",
)
_PLAIN = frozenset({str, int, float, bool, type(None), list, tuple})
# Lists that others add to: what is wanted has to be among them.
_SETS = frozenset({"finalizers"})


def pending(
    wanted: Iterable[Object], find: Callable[[str, str], Object | None]
) -> tuple[dict[str, Any], ...]:
    """Return those objects that have to be applied, as they are applied; `find` is a World's."""
    stamped = (stamp(each) for each in wanted)
    return tuple(each for each in stamped if differs(each, find(str(each.get("kind")), name_of(each))))


def stamp(wanted: Object) -> dict[str, Any]:
    """Return a wanted object with its digest."""
    metadata = dict(wanted.get("metadata") or {})
    annotations = {**(metadata.get("annotations") or {}), WANTED: digest(wanted)}
    return {**wanted, "metadata": {**metadata, "annotations": annotations}}


def differs(stamped: Object, found: Object | None) -> bool:
    """Say whether an object that bears its digest has to be written."""
    if found is None:
        return True
    said = dig(found, "metadata", "annotations", WANTED)
    return said != dig(stamped, "metadata", "annotations", WANTED) or not covers(found, stamped)


def digest(wanted: Object) -> str:
    """Return the digest of a wanted object, whether or not it bears one already."""
    metadata = dict(wanted.get("metadata") or {})
    annotations = {key: value for key, value in (metadata.get("annotations") or {}).items() if key != WANTED}
    metadata["annotations"] = annotations
    text = json.dumps({**wanted, "metadata": metadata}, sort_keys=True, default=dict)
    return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]


def covers(found: Any, wanted: Any, key: str = "", *, quantity: bool = False) -> bool:
    """Say whether everything that is wanted is found."""
    if found == wanted:
        return True
    kind = type(wanted)
    # asked of an abstract class, what most values are takes longer than all the rest
    if kind is dict or (kind not in _PLAIN and isinstance(wanted, Mapping)):
        if not isinstance(found, Mapping):
            return not wanted and found is None
        inside = quantity or key in _QUANTITIES
        return all(covers(found.get(name), each, name, quantity=inside) for name, each in wanted.items())
    if kind is list or kind is tuple:
        return _covers_list(found, wanted, key)
    if found is None:  # Go leaves out what is empty
        return not wanted
    return (quantity or key in _QUANTITIES) and same(found, wanted)


def same(one: object, other: object) -> bool:
    """Say whether two quantities are the same amount."""
    if isinstance(one, bool) or isinstance(other, bool):
        return False
    try:
        return quantities.amount(one) == quantities.amount(other)
    except ValueError:
        return False


def _covers_list(found: Any, wanted: list[Any] | tuple[Any, ...], key: str) -> bool:
    if not isinstance(found, list | tuple):
        return not wanted and found is None
    if key in _SETS:
        return all(each in found for each in wanted)
    if not all(isinstance(each, Mapping) for each in (*wanted, *found)):
        return list(found) == list(wanted)
    left = list(found)
    for each in wanted:
        match = next((other for other in left if _alike(other, each) and covers(other, each)), None)
        if match is None:
            return False
        left.remove(match)
    # Lists without a key are replaced as a whole by whoever writes them, so more items are a difference.
    return bool(not left or _named(wanted))


def _alike(found: Object, wanted: Object) -> bool:
    return all(found.get(key) == wanted[key] for key in _KEYS if key in wanted and key in found)


def _named(items: Iterable[Object]) -> bool:
    return all(any(key in each for key in _KEYS) for each in items)
