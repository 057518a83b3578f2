"""A definition that is installed, held to the one that this operator needs: what of it is missing.

An API server keeps nothing of a field that its definition does not know, so an operator that is newer than
the definitions would write what is lost at once, and write it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from npa.crds import definitions
from npa.crds.resource import Object


def lacks(found: Object) -> tuple[str, ...]:
    """Return what an installed definition has not: versions, subresources, and the paths of fields.

    What it has besides is nobody's loss: it may be of a newer release.
    """
    wanted = {each["metadata"]["name"]: each for each in definitions.render()}
    name = _dig(found, "metadata", "name")
    if not isinstance(name, str) or name not in wanted:
        return (f"{str(name)[:60]!r} is no definition of ours",)
    served = {
        each.get("name"): each
        for each in _dig(found, "spec", "versions") or ()
        if isinstance(each, Mapping) and each.get("served")
    }
    missing: list[str] = []
    for version in wanted[name]["spec"]["versions"]:
        there = served.get(version["name"])
        missing += [f"version {version['name']}"] if there is None else _version(there, version)
    return tuple(missing)


def _version(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    has = _dig(found, "subresources") or {}
    yield from (f"subresource {each}" for each in wanted["subresources"] if each not in has)
    schema = _dig(found, "schema", "openAPIV3Schema")
    yield from _fields(schema, wanted["schema"]["openAPIV3Schema"], "")


def _fields(found: Any, wanted: Mapping[str, Any], at: str) -> Iterator[str]:
    if _dig(found, "x-kubernetes-preserve-unknown-fields"):
        return
    known = _dig(found, "properties") or {}
    for key, each in wanted.get("properties", {}).items():
        path = f"{at}.{key}" if at else key
        if key not in known:
            yield path
        else:
            yield from _fields(known[key], each, path)
    if "items" in wanted:
        yield from _fields(_dig(found, "items"), wanted["items"], f"{at}[]")


def _dig(found: Any, *keys: str) -> Any:
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found
