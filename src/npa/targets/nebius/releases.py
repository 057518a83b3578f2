"""Which versions a cluster has, and why it cannot be taken to others; reads only."""

from __future__ import annotations

from npa.errors import NpaError, RefusedError
from npa.render.nebius import release
from npa.render.nebius.release import Release
from npa.render.objects import HELM_RELEASE
from npa.slurm import replies
from npa.slurm.lookup import Found, Unknown
from npa.targets.nebius import controller
from npa.targets.nebius.ports import KubeApi
from npa.tools.slurm import Slurm

NAMESPACE = "flux-system"
_TIMEOUT = 30.0


def require(kube: KubeApi, wanted: Release) -> tuple[str, ...]:
    """Return what is worth knowing of the versions that are there; raises RefusedError for a step back."""
    found, unknown = gather(kube)
    if back := tuple(release.changes(found, wanted)):
        raise RefusedError(
            "; ".join(back), hint="ask for the version that is there, or a newer one; nothing was changed"
        )
    mixed = Release(slurmdbd=found.slurmdbd, slurmctld=found.slurmctld, slurmd=found.slurmd)
    changed = release.order(found, wanted)
    raised = (f"raised in this order: {', '.join(changed)}",) if changed and found.operator else ()
    return (*release.problems(mixed), *raised, *unknown)


def gather(kube: KubeApi) -> tuple[Release, tuple[str, ...]]:
    """Return the versions of a cluster, and what could not be read of them."""
    chart = release.chart_version(kube.list(HELM_RELEASE, NAMESPACE))
    unknown = [f"the operator's version is not known: {chart.why}"] if isinstance(chart, Unknown) else []
    installed = chart.value if isinstance(chart, Found) else ""
    slurmctld = slurmd = ""
    try:
        document = Slurm(controller.executes(kube, _TIMEOUT)).nodes()
        slurmctld = replies.slurm_version(document)
        versions = {each.version for each in replies.nodes(document) if each.version}
        slurmd = max(versions, key=release.numbers, default="")
    except NpaError as error:
        unknown.append(f"Slurm's versions are not known: {error}")
    return Release(operator=installed, slurmctld=slurmctld, slurmd=slurmd), tuple(unknown)
