"""How a cluster goes: its workers first, as their jobs end; what they need to end well stays until then.

A finalizer holds the cluster while workers are there. They leave through Slurm, drained; the annotation that
ends jobs (`maintenance.END_JOBS`) is how somebody says not to wait. When a namespace is deleted its pods go
with it, and with the last of them the finalizer: nothing waits for a slurmctld that is no more.
"""

from __future__ import annotations

from typing import Any

from npa.reconcile import conditions, maintenance, workloads
from npa.reconcile.conditions import Condition
from npa.reconcile.decision import Decision, Notice
from npa.reconcile.settings import Settings
from npa.reconcile.world import World
from npa.render.kube import names
from npa.render.objects import SLURM_CLUSTER, Object, dig, name_of
from npa.slurm.lookup import Absent, Found

FINALIZER = f"{names.PREFIX}jobs"
# on a SlurmCluster, `refuse`: a request to delete it is turned down while jobs run
ON_DELETE = f"{names.PREFIX}on-delete"
RUNNING = "JobsRunning"  # condition that is kept for such a cluster
_SHOWN = 5


def held(cluster: Object) -> bool:
    """Say whether the cluster has our finalizer."""
    return FINALIZER in (dig(cluster, "metadata", "finalizers") or ())


def hold(cluster: Object) -> Object:
    """Return what is applied of the cluster so that it is held."""
    return _finalized(cluster, [FINALIZER])


def decide(world: World, settings: Settings) -> Decision:
    """Return the next move for a cluster that is being deleted."""
    found = world.cluster
    if found is None or not held(found):
        return Decision()
    if "Pod" in world.unread:
        return _waiting(world, found, "Unknown", "pods could not be read", settings)
    left = workloads.pods(world, "worker")
    if left:
        shown = ", ".join(name_of(each) for each in left[:_SHOWN])
        more = f" and {len(left) - _SHOWN} more" if len(left) > _SHOWN else ""
        text = f"{len(left)} workers leave as their jobs end: {shown}{more}{_how(world)}"
        return _waiting(world, found, "WaitsForJobs", text, settings)
    return Decision(apply=(_finalized(found, []),))


def refuses(cluster: Object) -> bool:
    """Say whether a cluster wants requests to delete it turned down while jobs run."""
    return bool(dig(cluster, "metadata", "annotations", ON_DELETE) == "refuse")


def running(world: World) -> Condition:
    """Say whether jobs run, for whoever is asked to let the cluster be deleted."""
    jobs = world.slurm.jobs
    if isinstance(jobs, Absent):
        return Condition(RUNNING, "False", "NoController", "slurmctld has no pod")
    if not isinstance(jobs, Found):
        return Condition(RUNNING, "Unknown", "Unknown", "slurmctld does not say")
    if any(job.nodes and not job.state.terminal for job in jobs.value):
        return Condition(RUNNING, "True", "JobsRunning", "jobs run")
    if jobs.value.problems:
        return Condition(RUNNING, "Unknown", "Unknown", "some jobs could not be read")
    return Condition(RUNNING, "False", "Idle", "no job runs")


def refused(cluster: Object) -> str:
    """Return why a request to delete a cluster is turned down, as its status has it; "" where it is not."""
    if not refuses(cluster):
        return ""
    said = conditions.said(cluster, RUNNING)
    if said is not None and said.status == "False":
        return ""
    why = said.message if said is not None else "nobody has asked slurmctld about jobs yet"
    return f"{why}; wait for them, or remove the annotation {ON_DELETE}: then it goes when they have ended"


def _how(world: World) -> str:
    if maintenance.ends_jobs(world.cluster):
        return ""
    return f"; to end the jobs, annotate the cluster with {maintenance.END_JOBS}=true"


def _waiting(world: World, found: Object, reason: str, text: str, settings: Settings) -> Decision:
    wanted = Condition("CommonAvailable", "False", reason, text)
    kept = [
        each
        for row in dig(found, "status", "conditions") or ()
        if (each := conditions.said(found, str(row.get("type")))) is not None
        and each.type not in (wanted.type, *conditions.APART)
    ]
    old = dig(found, "status") or {}
    status: dict[str, Any] = {
        **{key: value for key, value in old.items() if key != "conditions"},
        "phase": "Terminating",
        "conditions": conditions.rows(found, [wanted, *kept], world.now),
    }
    before = conditions.said(found, wanted.type)
    news = before is None or before.reason != reason
    return Decision(
        status=None if conditions.same(old, status) else status,
        notices=(Notice("Normal", reason, text),) if news else (),
        again_in=settings.poll,
    )


def _finalized(cluster: Object, finalizers: list[str]) -> Object:
    namespace = str(dig(cluster, "metadata", "namespace") or "")
    wanted = SLURM_CLUSTER.object(name_of(cluster), namespace)
    wanted["metadata"]["finalizers"] = finalizers
    return wanted
