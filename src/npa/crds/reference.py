"""The page of every field of the Kubernetes API: what it means, and whether it is acted on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from npa.crds import definitions, ignored, rules
from npa.crds.accounting import TRES_PATTERN
from npa.crds.base import DURATION_PATTERN, QUANTITY_PATTERN
from npa.crds.definitions import Api

Words = dict[str, Any]
Row = tuple[str, Words, bool]  # path, what the schema says of it, whether it is required

RULES: Mapping[str, tuple[Callable[..., Any], ...]] = {
    "SlurmCluster": (*rules.CLUSTER, *rules.CLUSTER_CHANGE),
    "NodeSet": (*rules.NODE_SET, rules.name.names_are_apart, *rules.NODE_SET_CHANGE),
    "ActiveCheck": rules.ACTIVE_CHECK,
    "JailedConfig": rules.JAILED_CONFIG,
    "NodeConfigurator": rules.NODE_CONFIGURATOR,
    "NodeSetPowerState": rules.POWER_STATE,
}
DIFFERENCES = (
    "## What differs from the existing definitions\n",
    "- Less is demanded: `munge` everywhere, `secrets`, `k8sNodeFilters` and every `k8sNodeFilterName`, and",
    "  `accounting`, `exporter` and `rest` where they are not wanted. null, empty and absent are the same.",
    "- `sshdServiceType` may be `ClusterIP`.",
    "- A NodeSet's `spool` may hold a `volumeClaimTemplateSpec` instead of a volume.",
    "- Each kind has a short name, all are in the category `slurm` (`kubectl get slurm`), and each has a",
    "  `status` that is written apart from its `spec`, which may hold more than is described here.",
    "- What the existing operator finds out while it reconciles is said before an object is taken in.\n",
    "## Kinds\n",
)
PATTERNS = {
    QUANTITY_PATTERN: "a quantity, as in 64Gi",
    DURATION_PATTERN: "a duration, as in 1m30s",
    TRES_PATTERN: "names of TRES, separated by commas",
}
WIDE = ("spec.slurmNodes",)  # parts whose own parts are long enough for a table each


def page(source: str) -> str:
    """Return the page."""
    lines = [
        source,
        "# Fields of the Kubernetes API\n",
        f"Every field of the kinds of `{definitions.GROUP}`. Manifests written for the existing operator are",
        "taken unchanged; a field that is not acted on says so here, and an object that gives it a value of",
        "its own says so in its condition `IgnoredFields`. Parts of the Kubernetes API itself (containers,",
        "probes, volumes, affinities) are taken as they are.\n",
        *DIFFERENCES,
        "| kind | short name | version | what it is |",
        "|---|---|---|---|",
        *(_kind(api) for api in definitions.APIS),
        "",
    ]
    for api in definitions.APIS:
        lines += [f"## {api.kind}\n", *_sections(api), *_rules(api)]
    return "\n".join(lines).rstrip() + "\n"


def _kind(api: Api) -> str:
    anchor = f"[{api.kind}](#{api.kind.lower()})"
    return _row(anchor, f"`{api.short}`", api.version, definitions.root(api)["description"])


def _sections(api: Api) -> Iterator[str]:
    words = definitions.root(api)["properties"]
    grouped: dict[str, list[Row]] = {}
    for part in ("spec", "status"):
        for row in _rows(words[part], part):
            grouped.setdefault(_section(row, words[part]), []).append(row)
    for section, listed in grouped.items():
        yield f"### `{section}` of {api.kind}\n"
        yield "| field | type | default | meaning | rule | acted on |"
        yield "|---|---|---|---|---|---|"
        for path, each, required in listed:
            default = "required" if required else f"`{_json(each['default'])}`" if "default" in each else ""
            excuse = ignored.why(api.kind, path)
            name = f"`{path.removeprefix(section).removeprefix('[]').removeprefix('.')}`"
            yield _row(name, _type(each), default, each["description"], _rule(each), _acted(path, excuse))
        yield ""


def _section(row: Row, words: Words) -> str:
    """Return under which heading a field stands: its own part's, where that has parts."""
    names = row[0].split(".")
    depth = 3 if ".".join(names[:2]) in WIDE else 2
    top = names[1].removesuffix("[]") if len(names) > 1 else ""
    inner = words["properties"].get(top, {})
    parted = "properties" in inner or "properties" in inner.get("items", {})
    if names[0] == "status" or not parted or len(names) <= depth:
        return names[0]
    return ".".join(each.removesuffix("[]") for each in names[:depth])


def _rows(words: Words, path: str) -> Iterator[Row]:
    for name, each in words.get("properties", {}).items():
        at = f"{path}.{name}"
        yield at, each, name in words.get("required", ())
        if "items" in each:
            yield from _rows(each["items"], f"{at}[]")
        elif isinstance(each.get("additionalProperties"), dict):
            yield from _rows(each["additionalProperties"], f"{at}.*")
        else:
            yield from _rows(each, at)


def _type(words: Words) -> str:
    if words.get("x-kubernetes-int-or-string"):
        return "number or string"
    if words["type"] == "array":
        return f"list of {_type(words['items'])}"
    if isinstance(held := words.get("additionalProperties"), dict):
        return f"mapping to {_type(held)}"
    if words["type"] == "object":
        return "mapping" if "properties" in words else "part of the Kubernetes API"
    return {"integer": "number", "boolean": "true or false"}.get(words["type"], str(words["type"]))


def _rule(words: Words) -> str:
    inner = words.get("items", {})
    said = [
        ", ".join(f"`{each}`" for each in words.get("enum", inner.get("enum", ()))),
        *(
            f"{word} {words[key]}"
            for key, word in (("minimum", "at least"), ("maximum", "at most"))
            if key in words
        ),
        "not empty" if words.get("minLength") or words.get("minItems") else "",
        PATTERNS[words["pattern"]] if "pattern" in words else "",
        *(each["message"] for each in words.get("x-kubernetes-validations", ())),
        "each once" if words.get("x-kubernetes-list-type") == "set" else "",
    ]
    return "; ".join(each for each in said if each)


def _acted(path: str, excuse: str) -> str:
    if path.startswith("status"):
        return ""
    return f"no: {excuse}" if excuse else "yes"


def _rules(api: Api) -> Iterator[str]:
    yield f"### Rules of {api.kind}\n"
    yield "Besides those of each field. They are checked before an object is taken in, and again before it is"
    yield "acted on.\n"
    for rule in RULES[api.kind]:
        yield f"- {(rule.__doc__ or '').splitlines()[0]}"
    yield ""


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
