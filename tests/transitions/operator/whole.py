"""The same schedules with the real controller of SlurmClusters, and the pods of a control plane below it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tests.golden.kube import worlds
from tests.transitions.operator.api import NAMESPACE
from tests.transitions.operator.process import CLUSTER, CONFIG, Decide, Process
from tests.transitions.operator.schedule import CONTROLLERS, EVENTS, Simulation

from npa.reconcile import slurmcluster
from npa.reconcile.decision import Decision, Reconfigure
from npa.reconcile.settings import Settings
from npa.reconcile.world import World
from npa.render.kube import names
from npa.render.objects import POD, SLURM_CLUSTER, Object, dig, name_of
from npa.slurm import lint

REAL: Mapping[str, Decide] = {
    **CONTROLLERS,
    "slurmcluster": lambda world, _, settings: slurmcluster.decide(world, settings),
}
_WRONG = ["NodeName=evil CPUs=1", "NoSuchKey=1", "SlurmctldHost=elsewhere", "PartitionName=main Nodes=ALL"]
_RIGHT = ["", "MessageTimeout=30", "KillWait=20", "MaxJobCount=5000"]


class Whole(Simulation):
    """A cluster of which nothing is a stand-in but Kubernetes and Slurm themselves."""

    def __init__(self, seed: int, controllers: Mapping[str, Decide] = REAL) -> None:
        super().__init__(seed, controllers)
        self.slurm.up = False
        self._stopped = False

    def started(self, controllers: Mapping[str, Decide]) -> Process:
        return _Process(self.api, self.slurm, self.rng, controllers, self.broken)

    def cluster(self) -> Object:
        spec = dig(worlds.load("minimal").cluster, "spec")
        return SLURM_CLUSTER.object(CLUSTER, NAMESPACE, spec={**spec, "maintenance": "none"})

    def _maintained(self) -> None:
        """Run what Kubernetes' own controllers run, and slurmctld where it has a pod."""
        for job in self.api.of("Job"):
            status = {"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]}
            self.api.status("Job", name_of(job), status)
        for kind in ("StatefulSet", "Deployment"):
            for each in self.api.of(kind):
                self._run(kind, each)
        pod = self.api.get("Pod", names.controller_pod(CLUSTER))
        runs = pod is not None and not dig(pod, "metadata", "deletionTimestamp")
        if runs and not self.slurm.up and not self._stopped:
            self._start()
        self.slurm.up = self.slurm.up and runs

    def _start(self) -> None:
        """Have slurmctld start with the files that there are, as the entry point of its pod does."""
        held = self.api.get("ConfigMap", CONFIG)
        if held is None:
            return
        self.slurm.up = True
        digest = str(dig(held, "data", "digest"))
        if digest != self.slurm.digest:
            self.operator.take(held, digest, started=True)

    def come_up(self, pods: int) -> int:
        """Return how many of a workload's pods get ready."""
        return pods

    def _run(self, kind: str, found: Object) -> None:
        want = int(dig(found, "spec", "replicas") or 0)
        generation = dig(found, "metadata", "generation")
        ready = self.come_up(want)
        status = {"readyReplicas": ready, "updatedReplicas": want, "observedGeneration": generation}
        self.api.status(kind, name_of(found), status)
        if kind != "StatefulSet":
            return
        for ordinal in range(want):
            pod = POD.object(f"{name_of(found)}-{ordinal}", NAMESPACE, spec={})
            pod["metadata"]["labels"] = dict(dig(found, "spec", "template", "metadata", "labels") or {})
            self.api.create({**pod, "status": {"phase": "Running"}})
        for there in self.api.of("Pod"):
            owner, _, number = name_of(there).rpartition("-")
            gone = dig(there, "metadata", "deletionTimestamp")
            if owner == name_of(found) and number.isdecimal() and (gone or int(number) >= want):
                self.api.remove("Pod", name_of(there))

    def _watch(self) -> None:
        super()._watch()
        controllers = [
            each
            for each in self.api.of("StatefulSet")
            if dig(each, "metadata", "labels", "app.kubernetes.io/component") == "controller"
        ]
        if sum(int(dig(each, "spec", "replicas") or 0) for each in controllers) > 1:
            self.broken.say("two slurmctld may run")

    def events(self) -> list[tuple[Callable[[Any], None], int]]:
        return [*EVENTS, (Whole.customise, 3), (Whole.kill_controller, 2)]

    def customise(self) -> None:
        text = self.rng.choice([*_WRONG, *_RIGHT])
        self.api.edit("SlurmCluster", CLUSTER, lambda found: found["spec"].update(customSlurmConfig=text))

    def kill_controller(self) -> None:
        self.api.delete("Pod", names.controller_pod(CLUSTER))

    def stop_slurm(self) -> None:
        self._stopped = not self._stopped
        self.slurm.up = self.slurm.up and not self._stopped

    def settle(self) -> None:
        self._stopped = False
        self.api.edit("SlurmCluster", CLUSTER, lambda found: found["spec"].update(customSlurmConfig=""))
        super().settle()


class _Process(Process):
    """An operator whose slurmctld reads real files."""

    def named(self, held: Object) -> tuple[list[str], list[str]]:
        found, _ = super().named(held)
        elastic = {
            name_of(each) for each in self.api.of("NodeSet") if dig(each, "spec", "ephemeralNodes") is True
        }
        return found, [node for node in found if node.rpartition("-")[0] in elastic]

    def unfit(self, held: Object) -> str:
        texts = {key: text for key, text in dig(held, "data").items() if key not in ("digest", "power")}
        wrong = lint.errors(lint.check(texts, version="26.05", limited=True))
        return "; ".join(str(each.problem()) for each in wrong)


def no_checker(world: World, _: str, settings: Settings) -> Decision:
    """Deliver whatever the user wrote."""
    decision = slurmcluster.decide(world, settings)
    text = str(dig(world.cluster, "spec", "customSlurmConfig") or "")
    held = world.find("ConfigMap", CONFIG)
    if text not in _WRONG or held is None:
        return decision
    slurm_conf = f"{dig(held, 'data', 'slurm.conf')}\n{text}\n"
    data = {**dig(held, "data"), "slurm.conf": slurm_conf, "digest": "unchecked"}
    if dig(held, "data", "digest") != "unchecked":
        return replace(decision, apply=({**held, "data": data},))
    return replace(decision, slurm=(Reconfigure("unchecked"),))


def two_slurmctld(world: World, _: str, settings: Settings) -> Decision:
    """Take more slurmctld for more of a good thing."""
    decision = slurmcluster.decide(world, settings)
    doubled = tuple(
        {**each, "spec": {**each["spec"], "replicas": 2}} if each["kind"] == "StatefulSet" else each
        for each in decision.apply
    )
    return replace(decision, apply=doubled)
