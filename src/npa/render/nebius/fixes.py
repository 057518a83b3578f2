"""The repairs that the pinned operator's charts need, each decided from what was read; pure.

No definition is fetched: those of the prometheus operator were installed before, come from a file of the
user's, or are open ones of ours (`definitions`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from npa.render.nebius import definitions, registration
from npa.render.nebius.fix_model import (
    SLURM_NAMESPACE,
    All,
    Apply,
    Context,
    Delete,
    Fix,
    One,
    Patch,
    Seen,
    SlurmNodes,
    Verdict,
    present,
    unread,
)
from npa.render.objects import (
    CONFIG_MAP,
    CRD,
    HELM_RELEASE,
    JOB,
    NAMESPACE,
    Object,
    condition,
    dig,
    is_true,
    name_of,
)
from npa.slurm.lookup import Absent, Found

CHARTS = frozenset({"4.1.6", "4.1.7"})  # what these repairs were checked with

MONITORING = One(NAMESPACE, "monitoring-system")
MONITORING_CRDS = tuple(One(CRD, name) for name in definitions.OPEN)
RELEASES = All(HELM_RELEASE, "flux-system")
SLURM_CLUSTERS = One(CRD, "slurmclusters.slurm.nebius.ai")
SCRIPTS = One(CONFIG_MAP, "slurm-scripts", SLURM_NAMESPACE)
PREFIXED_SCRIPTS = One(CONFIG_MAP, f"{SLURM_NAMESPACE}-slurm-scripts", SLURM_NAMESPACE)
WAIT_JOB = One(JOB, "wait-for-active-checks", SLURM_NAMESPACE)

_FLAG = "x-kubernetes-preserve-unknown-fields"
_SETTING = "plugStackConfig"


def monitoring_namespace(seen: Seen, _: Context) -> Verdict:
    """The charts put objects into a namespace that nobody makes where telemetry is off."""
    found = seen.one(MONITORING)
    if failed := unread(found):
        return failed
    if isinstance(found, Found):
        return Verdict("done", f"namespace {MONITORING.name} is there")
    return Verdict(
        "needed", f"namespace {MONITORING.name} is missing", (Apply(NAMESPACE.object(MONITORING.name)),)
    )


def monitoring_definitions(seen: Seen, context: Context) -> Verdict:
    """The charts use kinds of the prometheus operator, whether or not it is installed."""
    found = {query.name: seen.one(query) for query in MONITORING_CRDS}
    if failed := unread(*found.values()):
        return failed
    missing = [name for name, lookup in found.items() if isinstance(lookup, Absent)]
    ours = [
        name for name, each in found.items() if isinstance(each, Found) and definitions.is_ours(each.value)
    ]
    better = [name for name in ours if name in context.crds]
    if missing or better:
        wanted = tuple(
            Apply(context.crds.get(name) or definitions.OPEN[name]) for name in (*missing, *better)
        )
        why = [f"not installed: {', '.join(missing)}"] * bool(missing)
        why += [f"replaced by those of the file: {', '.join(better)}"] * bool(better)
        return Verdict("needed", "; ".join(why), wanted)
    slow = [
        name
        for name, each in found.items()
        if isinstance(each, Found) and not is_true(each.value, "Established")
    ]
    if slow:
        return Verdict("waiting", f"not served yet: {', '.join(slow)}")
    return Verdict("done", "the prometheus operator's kinds are served")


def dashboards_release(seen: Seen, context: Context) -> Verdict:
    """A release that used up its retries before its prerequisites existed stays failed until it is reset."""
    listed = seen.all(RELEASES)
    if failed := unread(listed):
        return failed
    stuck = [each for each in present(listed) if _is(each, "-monitoring-dashboards") and _gave_up(each)]
    if not stuck:
        return Verdict("done", "no dashboards release has given up")
    names = ", ".join(name_of(each) for each in stuck)
    fresh = [each for each in stuck if not _asked(each)]
    if not fresh:
        return Verdict("waiting", f"asked to start anew: {names}")
    return Verdict("needed", f"gave up: {names}", tuple(_reset(each, context.stamp) for each in fresh))


def plugstack_schema(seen: Seen, _: Context) -> Verdict:
    """The chart sends a field of `plugStackConfig` that its own definition does not know."""
    found = seen.one(SLURM_CLUSTERS)
    if failed := unread(found):
        return failed
    if not isinstance(found, Found):
        return Verdict("waiting", f"{SLURM_CLUSTERS.name} is not installed yet")
    versions = dig(found.value, "spec", "versions")
    rows = [row for row in versions if isinstance(row, dict)] if isinstance(versions, list) else []
    if not any(_setting(row) is not None for row in rows):
        return Verdict("blocked", f"{SLURM_CLUSTERS.name} has no {_SETTING}: it is older than the operator")
    closed = [(index, row) for index, row in enumerate(rows) if _drops_the_field(row)]
    if not closed:
        return Verdict("done", f"every version keeps what {_SETTING} is given")
    body = [step for index, row in closed for step in _open(index, str(row.get("name")))]
    why = f"{_SETTING} drops unknown fields in {', '.join(str(row.get('name')) for _, row in closed)}"
    return Verdict("needed", why, (Patch(SLURM_CLUSTERS, body, "json"),))


def prefixed_scripts(seen: Seen, _: Context) -> Verdict:
    """Node sets mount the scripts under the cluster's prefixed name; the chart makes the bare one."""
    wanted, source = seen.one(PREFIXED_SCRIPTS), seen.one(SCRIPTS)
    if isinstance(wanted, Found):
        return Verdict("done", f"{PREFIXED_SCRIPTS.name} is there")
    if failed := unread(wanted, source):
        return failed
    if not isinstance(source, Found):
        return Verdict("waiting", f"{SCRIPTS.name} is not there yet")
    data = {key: source.value[key] for key in ("data", "binaryData") if source.value.get(key)}
    copy = CONFIG_MAP.object(PREFIXED_SCRIPTS.name, SLURM_NAMESPACE, **data)
    return Verdict("needed", f"{PREFIXED_SCRIPTS.name} is missing", (Apply(copy),))


def superseded_checks(seen: Seen, context: Context) -> Verdict:
    """A release that still waits for checks of an older generation keeps the newer one from starting."""
    listed = seen.all(RELEASES)
    if failed := unread(listed):
        return failed
    old = [each for each in present(listed) if _is(each, "-soperator-activechecks") and _superseded(each)]
    if not old:
        return Verdict("done", "no release waits for checks of an older generation")
    why = f"waits for an older generation: {', '.join(name_of(each) for each in old)}"
    if all(_asked(each) for each in old):
        return Verdict("waiting", why)
    return Verdict("needed", why, (Delete(WAIT_JOB), *(_reset(each, context.stamp) for each in old)))


MONITORING_FIXES = (
    Fix("monitoring-namespace", CHARTS, (MONITORING,), monitoring_namespace, required=True),
    Fix("monitoring-definitions", CHARTS, MONITORING_CRDS, monitoring_definitions, required=True),
    Fix("dashboards-release", CHARTS, (RELEASES,), dashboards_release),
)
# While the second phase applies, and after it: the charts make what these repair.
APPLY_FIXES = (
    Fix("plugstack-schema", CHARTS, (SLURM_CLUSTERS,), plugstack_schema),
    Fix("prefixed-scripts", CHARTS, (PREFIXED_SCRIPTS, SCRIPTS), prefixed_scripts),
)
AFTER_FIXES = (
    Fix("superseded-checks", CHARTS, (RELEASES,), superseded_checks),
    Fix("worker-registration", CHARTS, (SlurmNodes(),), registration.decide),
)
ALL = (*MONITORING_FIXES, *APPLY_FIXES, *AFTER_FIXES)


def applicable(fixes: tuple[Fix, ...], chart: str) -> tuple[Fix, ...]:
    """Return the repairs that a version of the operator's chart needs."""
    return tuple(fix for fix in fixes if chart in fix.charts)


def given(documents: Iterator[object]) -> dict[str, Object]:
    """Return the definitions among the documents of a file, by name; anything else there is ignored."""
    wanted = {query.name for query in MONITORING_CRDS}
    found = (each for each in documents if isinstance(each, dict) and each.get("kind") == CRD.kind)
    return {name_of(each): each for each in found if name_of(each) in wanted}


def _is(release: Object, ending: str) -> bool:
    return name_of(release).endswith(ending)


def _gave_up(release: Object) -> bool:
    ready = condition(release, "Ready")
    failed = ready is not None and ready.get("status") == "False"
    return is_true(release, "Stalled") or (failed and dig(ready, "reason") == "RetriesExceeded")


def _superseded(release: Object) -> bool:
    now, attempted = dig(release, "metadata", "generation"), dig(release, "status", "lastAttemptedGeneration")
    row = condition(release, "Reconciling")
    busy = row is not None and row.get("status") == "True" and row.get("reason") == "Progressing"
    return busy and isinstance(now, int) and isinstance(attempted, int) and 0 < attempted < now


def _asked(release: Object) -> bool:
    """Say whether a request to reconcile is on its way: asking again would only interrupt it."""
    wanted = dig(release, "metadata", "annotations", "reconcile.fluxcd.io/requestedAt")
    return wanted is not None and wanted != dig(release, "status", "lastHandledReconcileAt")


def _reset(release: Object, stamp: str) -> Patch:
    # Flux resets the retries only where both annotations bear the same new value.
    annotations = {"reconcile.fluxcd.io/requestedAt": stamp, "reconcile.fluxcd.io/resetAt": stamp}
    target = One(HELM_RELEASE, name_of(release), RELEASES.namespace)
    return Patch(target, {"metadata": {"annotations": annotations}})


def _setting(version: dict[str, Any]) -> Object | None:
    path = ("schema", "openAPIV3Schema", "properties", "spec", "properties", _SETTING)
    found = dig(version, *path)
    return found if isinstance(found, dict) else None


def _drops_the_field(version: dict[str, Any]) -> bool:
    setting = _setting(version)
    if setting is None:
        return False
    return setting.get(_FLAG) is not True and dig(setting, "properties", "ncclInspectorPreConf") is None


def _open(index: int, name: str) -> list[dict[str, object]]:
    """Return the steps for one version, which fail where versions were reordered since they were read."""
    root = f"/spec/versions/{index}"
    path = f"{root}/schema/openAPIV3Schema/properties/spec/properties/{_SETTING}/{_FLAG}"
    return [
        {"op": "test", "path": f"{root}/name", "value": name},
        {"op": "add", "path": path, "value": True},
    ]
