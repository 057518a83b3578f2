"""`terraform show -json PLAN` decoded. All that is not understood is a fault, and no fault holds a value.

The format is Terraform's "JSON output format"; a minor version may add keys, and a key that this module has
not heard of is a fault while it holds anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from npa.render.nebius.tfplan import Check, Effect, ResourceChange, TerraformPlan

MAJOR = "1"

EFFECTS: Mapping[tuple[str, ...], Effect] = {
    ("no-op",): "none",
    ("read",): "read",
    ("create",): "create",
    ("update",): "update",
    ("delete",): "delete",
    ("delete", "create"): "replace",
    ("create", "delete"): "replace",
    ("forget",): "forget",
    ("create", "forget"): "forget",
    ("forget", "create"): "forget",
}
REASONS = frozenset(
    {
        "",
        "replace_because_tainted",
        "replace_because_cannot_update",
        "replace_by_request",
        "replace_by_triggers",
        "delete_because_no_resource_config",
        "delete_because_no_module",
        "delete_because_wrong_repetition",
        "delete_because_count_index",
        "delete_because_each_key",
        "delete_because_no_move_target",
        "read_because_config_unknown",
        "read_because_dependency_pending",
        "read_because_check_nested",
    }
)
_TOP = frozenset(
    {
        "format_version",
        "terraform_version",
        "variables",
        "planned_values",
        "resource_drift",
        "resource_changes",
    }
    | {
        "deferred_changes",
        "complete",
        "applyable",
        "errored",
        "output_changes",
        "prior_state",
        "configuration",
    }
    | {"relevant_attributes", "checks", "timestamp"}
)
_RESOURCE = frozenset(
    {"address", "previous_address", "module_address", "mode", "type", "name", "index", "provider_name"}
    | {"deposed", "change", "action_reason"}
)
_CHANGE = frozenset(
    {"actions", "before", "after", "after_unknown", "before_sensitive", "after_sensitive", "replace_paths"}
    | {"importing", "generated_config", "before_identity", "after_identity"}
)


class _Fault(Exception):  # noqa: N818 - it leaves this module as a line of text
    """Something in the plan that is not as the format has it."""


def decode(document: object) -> TerraformPlan:
    """Return the plan; never raises, for what cannot be read is among its faults."""
    if not isinstance(document, dict):
        return TerraformPlan(faults=("the plan is not a JSON object",))
    faults = list(_strange(document))
    lists = {name: _resources(document, name, faults) for name in ("resource_changes", "resource_drift")}
    flags = {name: _flag(document, name, faults) for name in ("errored", "complete", "applyable")}
    return TerraformPlan(
        resources=lists["resource_changes"],
        drift=lists["resource_drift"],
        deferred=_deferred(document, faults),
        checks=_checks(document, faults),
        outputs_change=_outputs(document, faults),
        listed="resource_changes" in document,
        errored=flags["errored"] is True,
        complete=flags["complete"],
        applyable=flags["applyable"],
        faults=tuple(faults),
    )


def _strange(document: Mapping[str, Any]) -> Iterator[str]:
    version = document.get("format_version")
    if not isinstance(version, str) or version.split(".")[0] != MAJOR:
        yield f"format version {str(version)[:20]!r} is not {MAJOR}.x"
    yield from (
        f"{name[:60]!r} is not understood" for name in sorted(document.keys() - _TOP) if document[name]
    )


def _flag(document: Mapping[str, Any], name: str, faults: list[str]) -> bool | None:
    value = document.get(name)
    if value is not None and not isinstance(value, bool):
        faults.append(f"{name} is neither true nor false")
        return None
    return value


def _entries(document: Mapping[str, Any], name: str, faults: list[str]) -> list[Any]:
    value = document.get(name, [])
    if isinstance(value, list):
        return value
    faults.append(f"{name} is no list")
    return []


def _resources(document: Mapping[str, Any], name: str, faults: list[str]) -> tuple[ResourceChange, ...]:
    found: dict[str, ResourceChange] = {}
    for index, entry in enumerate(_entries(document, name, faults)):
        try:
            change = _resource(entry)
        except _Fault as fault:
            faults.append(f"{name}[{index}]: {fault}")
            continue
        if change.key in found:
            faults.append(f"{name}[{index}]: {change.key} is there twice")
        found[change.key] = change
    return tuple(found.values())


def _deferred(document: Mapping[str, Any], faults: list[str]) -> tuple[ResourceChange, ...]:
    found = []
    for index, entry in enumerate(_entries(document, "deferred_changes", faults)):
        try:
            found.append(_resource(_mapping(entry, "the entry").get("resource_change")))
        except _Fault as fault:
            faults.append(f"deferred_changes[{index}]: {fault}")
    return tuple(found)


def _resource(entry: object) -> ResourceChange:
    entry = _mapping(entry, "the entry")
    address = _word(entry, "address")
    change = _mapping(entry.get("change"), f"the change of {address}")
    unheard = [*(entry.keys() - _RESOURCE), *(f"change.{key}" for key in change.keys() - _CHANGE)]
    if unheard:
        raise _Fault(f"{address}: {', '.join(sorted(unheard))[:120]} is not understood")
    reason = _optional(entry, "action_reason")
    if reason not in REASONS:
        raise _Fault(f"{address}: the reason {reason[:60]!r} is not understood")
    mode = _word(entry, "mode")
    order, effect = _effect(change, address)
    _mode(mode, effect, address)
    return ResourceChange(
        address=address,
        type=_word(entry, "type"),
        name=_word(entry, "name"),
        provider=_word(entry, "provider_name"),
        effect=effect,
        order=order,
        mode=mode,
        module=_optional(entry, "module_address"),
        index=_index(entry),
        reason=reason,
        paths=_paths(change, address),
        previous=_optional(entry, "previous_address"),
        deposed=_optional(entry, "deposed"),
        imported=change.get("importing") is not None,
        before=change.get("before"),
        after=change.get("after"),
        unknown=change.get("after_unknown"),
        masks=(change.get("before_sensitive", False), change.get("after_sensitive", False)),
    )


def _mode(mode: str, effect: Effect, address: str) -> None:
    allowed = {"managed": effect != "read", "data": effect in ("read", "none")}
    if not allowed.get(mode, False):
        raise _Fault(f"{address}: {effect!r} of mode {mode[:20]!r} is not understood")


def _effect(change: Mapping[str, Any], address: str) -> tuple[tuple[str, ...], Effect]:
    actions = change.get("actions")
    words = (
        tuple(actions) if isinstance(actions, list) and all(isinstance(each, str) for each in actions) else ()
    )
    if words not in EFFECTS:
        raise _Fault(f"{address}: the actions {'/'.join(words)[:60]!r} are not understood")
    return words, EFFECTS[words]


def _paths(change: Mapping[str, Any], address: str) -> tuple[tuple[str | int, ...], ...]:
    paths = change.get("replace_paths") or []
    if not isinstance(paths, list) or not all(isinstance(path, list) for path in paths):
        raise _Fault(f"{address}: replace_paths is no list of paths")
    if not all(type(step) in (str, int) for path in paths for step in path):
        raise _Fault(f"{address}: replace_paths has a step that is neither a name nor a number")
    return tuple(tuple(path) for path in paths)


def _outputs(document: Mapping[str, Any], faults: list[str]) -> bool:
    outputs = document.get("output_changes", {})
    changed = False
    if not isinstance(outputs, dict):
        faults.append("output_changes is no mapping")
        return False
    for name, change in outputs.items():
        actions = change.get("actions") if isinstance(change, dict) else None
        if not isinstance(actions, list):
            faults.append(f"output_changes: {name[:60]!r} has no actions")
        elif actions != ["no-op"]:
            changed = True
    return changed


def _checks(document: Mapping[str, Any], faults: list[str]) -> tuple[Check, ...]:
    found = []
    for index, entry in enumerate(_entries(document, "checks", faults)):
        try:
            found.append(_check(_mapping(entry, "the entry")))
        except _Fault as fault:
            faults.append(f"checks[{index}]: {fault}")
    return tuple(found)


def _check(entry: Mapping[str, Any]) -> Check:
    address = _word(_mapping(entry.get("address"), "the address"), "to_display")
    status = _word(entry, "status")
    if status not in ("pass", "fail", "error", "unknown"):
        raise _Fault(f"{address}: the status {status[:20]!r} is not understood")
    messages = [
        str(_mapping(problem, "a problem").get("message", ""))
        for instance in _list(entry, "instances")
        for problem in _list(_mapping(instance, "an instance"), "problems")
    ]
    return Check(address, status, tuple(messages))


def _list(entry: Mapping[str, Any], name: str) -> list[Any]:
    value = entry.get(name) or []
    if not isinstance(value, list):
        raise _Fault(f"{name} is no list")
    return value


def _index(entry: Mapping[str, Any]) -> str | int | None:
    index = entry.get("index")
    if index is not None and type(index) not in (str, int):
        raise _Fault("an index is neither a name nor a number")
    return index


def _mapping(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _Fault(f"{what} is no mapping")
    return value


def _word(entry: Mapping[str, Any], name: str) -> str:
    value = entry.get(name)
    if not isinstance(value, str) or not value:
        raise _Fault(f"{name} is missing")
    return value


def _optional(entry: Mapping[str, Any], name: str) -> str:
    value = entry.get(name, "")
    if not isinstance(value, str):
        raise _Fault(f"{name} is no text")
    return value
