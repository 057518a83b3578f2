"""A stand-in for the controller of SlurmClusters: the files of Slurm, and that slurmctld takes them."""

from __future__ import annotations

from tests.transitions.operator.process import CONFIG

from npa.reconcile import retired
from npa.reconcile.decision import Decision, Reconfigure
from npa.reconcile.settings import Settings
from npa.reconcile.world import World
from npa.render.kube import worker
from npa.render.objects import CONFIG_MAP, dig, name_of
from npa.slurm import hostlist
from npa.slurm.lookup import Found


def decide(world: World, name: str, settings: Settings) -> Decision:  # noqa: ARG001
    """Return the files that name every node in use, and have slurmctld take those that are there."""
    if world.cluster is None:
        return Decision()
    held = world.find("ConfigMap", CONFIG)
    before = str(dig(held, "data", "slurm.conf") or "")
    leaving = retired.retired(world, before, settings)
    lines = []
    for nodeset in world.nodesets:
        found = [worker.name_of(name_of(nodeset), each) for each in range(leaving.sizes[name_of(nodeset)])]
        elastic = " Feature=elastic" if dig(nodeset, "spec", "ephemeralNodes") else ""
        lines += [f"NodeName={hostlist.compress(found)}{elastic}"] if found else []
    lines += [str(line) for line in leaving.lines]
    text = "\n".join(lines)
    digest = worker.digest(text)
    if dig(held, "data", "digest") != digest:
        config = CONFIG_MAP.object(CONFIG, data={"slurm.conf": text, "digest": digest})
        return Decision(slurm=leaving.drain, apply=(config,))
    if isinstance(world.slurm.digest, Found) and world.slurm.digest.value != digest:
        return Decision(slurm=(*leaving.drain, Reconfigure(digest)))
    return Decision(slurm=leaving.drain)
