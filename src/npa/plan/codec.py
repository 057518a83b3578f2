"""A Plan as JSON and back, and the file that `plan --out` writes and `deploy --plan` reads.

A plan is carried out as it was agreed to, so reading is strict: a key or version that this npa does not know
is refused, never passed over.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast, get_args

from npa.cluster.model import TargetName
from npa.errors import RefusedError
from npa.plan.model import SCHEMA_VERSION, Change, JobRef, Plan, Step, Verb

FILE_VERSION = "npa.soperator.plan-file/v1"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PlanFile:
    """A plan with all that is needed to carry it out later."""

    spec: str  # the text that was planned
    target: TargetName
    plan: Plan
    force: bool = False
    force_steps: tuple[str, ...] = ()
    wait_for_jobs: float = 0.0  # seconds


def encode(plan: Plan) -> dict[str, Any]:
    """Return the plan as JSON has it."""
    return {"schema_version": SCHEMA_VERSION, **_plain(plan)}


def decode(value: object) -> Plan:
    """Return the plan that `encode` wrote; raise RefusedError for anything else."""
    fields = _fields(
        value, "plan", {"schema_version", "cluster", "target", "steps", "changes", "unchanged", "notes"}
    )
    _version(fields, SCHEMA_VERSION)
    steps = tuple(_step(each, f"steps[{index}]") for index, each in enumerate(_list(fields, "steps")))
    return Plan(
        cluster=_typed(fields, "cluster", str),
        target=_typed(fields, "target", str),
        steps=steps,
        changes=tuple(
            _change(each, f"changes[{index}]") for index, each in enumerate(_list(fields, "changes"))
        ),
        unchanged=_words(fields, "unchanged"),
        notes=_words(fields, "notes"),
    )


def encode_file(file: PlanFile) -> str:
    """Return the text of a plan file."""
    document = {
        "schema_version": FILE_VERSION,
        "spec": file.spec,
        "target": file.target,
        "options": {
            "force": file.force,
            "force_steps": list(file.force_steps),
            "wait_for_jobs": file.wait_for_jobs,
        },
        "plan": encode(file.plan),
    }
    return json.dumps(document, indent=2) + "\n"


def decode_file(text: str | bytes) -> PlanFile:
    """Return what a plan file says; raise RefusedError where it is none of this version's."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise _refused("is not JSON") from None
    fields = _fields(value, "plan file", {"schema_version", "spec", "target", "options", "plan"})
    _version(fields, FILE_VERSION)
    options = _fields(fields["options"], "options", {"force", "force_steps", "wait_for_jobs"})
    plan = decode(fields["plan"])
    target = _typed(fields, "target", str)
    if target not in get_args(TargetName):
        raise _refused(f"is for a target that this version does not know: {target[:40]!r}")
    if plan.target != target:
        raise _refused(f"is for target {target!r} and its plan for {plan.target!r}")
    return PlanFile(
        spec=_typed(fields, "spec", str),
        target=cast(TargetName, target),
        plan=plan,
        force=_typed(options, "force", bool),
        force_steps=_words(options, "force_steps"),
        wait_for_jobs=_typed(options, "wait_for_jobs", float),
    )


def _step(value: object, at: str) -> Step:
    names = {"verb", "subject", "reason", "key", "nodes", "jobs", "pending", "kills_jobs", "diff"}
    fields = _fields(value, at, names)
    verb = _typed(fields, "verb", str)
    if verb not in get_args(Verb):
        raise _refused(f"has a step that this version cannot do: {verb!r}")
    return Step(
        verb=cast(Verb, verb),
        subject=_typed(fields, "subject", str),
        reason=_typed(fields, "reason", str),
        key=_typed(fields, "key", str),
        nodes=_words(fields, "nodes"),
        jobs=_jobs(fields, "jobs", at),
        pending=_jobs(fields, "pending", at),
        kills_jobs=_typed(fields, "kills_jobs", bool),
        diff=_typed(fields, "diff", str),
    )


def _change(value: object, at: str) -> Change:
    names = ("kind", "subject", "field", "old", "new", "effect", "reason")
    fields = _fields(value, at, set(names))
    return Change(*(_typed(fields, name, str) for name in names))


def _jobs(fields: Mapping[str, Any], name: str, at: str) -> tuple[JobRef, ...]:
    return tuple(_job(each, f"{at}.{name}[{index}]") for index, each in enumerate(_list(fields, name)))


def _job(value: object, at: str) -> JobRef:
    fields = _fields(value, at, {"id", "user", "name", "state", "nodes", "partition", "wants"})
    return JobRef(
        id=_typed(fields, "id", str),
        user=_typed(fields, "user", str),
        name=_typed(fields, "name", str),
        state=_typed(fields, "state", str),
        nodes=_words(fields, "nodes"),
        partition=_typed(fields, "partition", str),
        wants=_words(fields, "wants"),
    )


def _fields(value: object, at: str, names: set[str]) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _refused(f"has no mapping at {at}")
    wrong = sorted(names ^ {str(key) for key in value})
    if wrong:
        raise _refused(f"differs from this version's format at {at}: {', '.join(wrong)[:200]}")
    return value


def _version(fields: Mapping[str, Any], known: str) -> None:
    if fields["schema_version"] != known:
        raise _refused(f"has schema version {str(fields['schema_version'])[:80]!r}, not {known!r}")


def _typed(fields: Mapping[str, Any], name: str, kind: type[T]) -> T:
    value = fields[name]
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise _refused(f"has a {name} that is no {kind.__name__}")
    return value


def _list(fields: Mapping[str, Any], name: str) -> list[Any]:
    value = fields[name]
    if not isinstance(value, list):
        raise _refused(f"has a {name} that is no list")
    return value


def _words(fields: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = _list(fields, name)
    if not all(isinstance(each, str) for each in value):
        raise _refused(f"has a {name} that is no list of strings")
    return tuple(value)


def _plain(value: Any) -> Any:
    """Turn values into mappings and tuples into lists, as JSON has them: a plan is equal after a file."""
    if dataclasses.is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value


def _refused(what: str) -> RefusedError:
    return RefusedError(f"the plan {what}", hint="plan again: `npa soperator plan --out FILE`")
