"""Which versions a cluster has, and why it cannot be taken to others; reads only."""

from __future__ import annotations

from npa.errors import KubeError, NpaError, RefusedError
from npa.render.nebius import release
from npa.render.nebius.fix_model import SLURM_NAMESPACE
from npa.render.nebius.release import Release
from npa.render.objects import HELM_RELEASE, POD
from npa.slurm import replies
from npa.slurm.lookup import Found, Lookup, Unknown
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
    dbd = slurmdbd(kube)
    unknown += [f"slurmdbd's version is not known: {dbd.why}"] if isinstance(dbd, Unknown) else []
    upper = dbd.value if isinstance(dbd, Found) else ""
    return Release(operator=installed, slurmdbd=upper, slurmctld=slurmctld, slurmd=slurmd), tuple(unknown)


def slurmdbd(kube: KubeApi) -> Lookup[str]:
    """Return the oldest version of slurmdbd that runs; Absent where none does: accounting is off.

    Its own program is asked, where it runs: what `sacctmgr show configuration` calls slurmdbd's version is
    sacctmgr's own since Slurm 25.
    """
    found = release.dbd_containers(kube.list(POD, SLURM_NAMESPACE))
    if not isinstance(found, Found):
        return found
    versions = []
    for pod, container in found.value:
        try:
            done = kube.exec(pod, SLURM_NAMESPACE, ("slurmdbd", "-V"), container=container, timeout=_TIMEOUT)
        except KubeError as error:
            return Unknown(str(error))
        told = release.dbd_version(done.stdout) if not done.code else Unknown(f"{pod}: {_line(done.stderr)}")
        if not isinstance(told, Found):
            return told
        versions.append(told.value)
    return Found(min(versions, key=release.numbers))


def _line(said: str) -> str:
    return (said.strip().splitlines() or ["it does not say why"])[-1][:120]
