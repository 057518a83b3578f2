"""The operator as a process: it gathers, decides and acts, and may end between any two writes."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from tests.transitions.operator.api import Api, Cache
from tests.transitions.operator.slurmctld import Slurmctld

from npa.errors import KubeError, NpaError, SlurmError
from npa.reconcile import nodeset, powerstate, removable, rotation
from npa.reconcile.decision import (
    Decision,
    Deletion,
    Drain,
    KeyChange,
    PowerDown,
    PowerUp,
    Reconfigure,
    Resume,
    SlurmAction,
)
from npa.reconcile.settings import Settings
from npa.reconcile.world import SlurmView, World
from npa.render.objects import Object, dig
from npa.slurm import drains, hostlist, lookup
from npa.slurm.lookup import Found, Unknown
from npa.slurm.replies import SlurmNodeReply

CLUSTER = "slurm1"
CONFIG = f"{CLUSTER}-slurm-configs"
SETTINGS = Settings()
Decide = Callable[[World, str, Settings], Decision]


class CrashError(Exception):
    """The process ended here."""


@dataclass
class Faults:
    """What goes wrong, and how often."""

    crash: float = 0.0
    refuse: float = 0.0  # a write that the API server does not take
    deaf: float = 0.0  # a write that is taken, and whose answer is lost
    unknown: float = 0.0  # slurmctld's answer is lost
    stale: bool = False


@dataclass
class Broken:
    """What must never be, and was."""

    found: list[str] = field(default_factory=list)

    def say(self, what: str) -> None:
        self.found.append(what)


class Process:
    """One operator: what it knows is lost with it."""

    def __init__(
        self,
        api: Api,
        slurm: Slurmctld,
        rng: random.Random,
        controllers: Mapping[str, Decide],
        broken: Broken,
    ) -> None:
        self.api, self.slurm, self.rng, self.broken = api, slurm, rng, broken
        self.controllers = controllers
        self.faults = Faults()
        self.alive: Callable[[str], bool] = lambda _: True
        self.checks = True
        self.start()

    def start(self) -> None:
        self.cache = Cache(self.api)
        self.view = SlurmView()

    def poll(self) -> None:
        """Ask slurmctld; sometimes it does not answer."""
        if self._happens(self.faults.unknown):
            lost = Unknown("no answer within its deadline")
            self.view = SlurmView(lost, lost, lost, self.api.now)
        else:
            self.view = self.slurm.view()

    def world(self) -> World:
        if self.faults.stale:
            self.cache.lag(self.rng)
        else:
            self.cache.catch_up()
        objects = self.cache.objects()
        own = {
            key: found for key, found in objects.items() if key[0] not in ("SlurmCluster", "NodeSet", "Node")
        }
        return World(
            cluster=objects.get(("SlurmCluster", CLUSTER)),
            nodesets=tuple(found for (kind, _), found in sorted(objects.items()) if kind == "NodeSet"),
            objects=own,
            nodes={name: found for (kind, name), found in objects.items() if kind == "Node"},
            slurm=self.view,
            now=self.api.now,
        )

    def watched(self) -> list[tuple[str, str]]:
        """Return whatever there is to look at."""
        names = nodeset.names_of(self.world())
        of_sets = [
            (controller, name)
            for name in names
            for controller in self.controllers
            if controller != "slurmcluster"
        ]
        return [("slurmcluster", CLUSTER), *of_sets]

    def look(self, controller: str, name: str) -> Decision:
        """Look once, and do what is decided, as far as one gets."""
        decision = self.controllers[controller](self.world(), name, SETTINGS)
        try:
            self._act(controller, name, decision)
        except NpaError:
            return decision  # the pass ends here; the next one starts from what is there then
        except CrashError:
            self.start()
        return decision

    # Acting.

    def _act(self, controller: str, name: str, decision: Decision) -> None:
        for action in decision.slurm:
            self._write(lambda action=action: self._tell(action))  # type: ignore[misc]
        for new in decision.secrets:
            self._write(lambda new=new: self.api.create(new.wanted))  # type: ignore[misc]
        for change in decision.keys:
            self._write(lambda change=change: self._key(change))  # type: ignore[misc]
        for wanted in decision.create:
            self._write(lambda wanted=wanted: self.api.create(wanted))  # type: ignore[misc]
        for wanted in decision.apply:
            self._write(lambda wanted=wanted: self.api.apply(wanted))  # type: ignore[misc]
        for wanted in decision.merge:
            self._write(lambda wanted=wanted: self.api.merge(wanted))  # type: ignore[misc]
        for each in decision.delete:
            self._write(lambda each=each: self._delete(each))  # type: ignore[misc]
        if decision.status is not None:
            kind = {"slurmcluster": "SlurmCluster", "nodeset": "NodeSet"}.get(controller, "NodeSetPowerState")
            self._write(lambda: self.api.status(kind, name, decision.status or {}))

    def _write(self, write: Callable[[], object]) -> None:
        if self._happens(self.faults.crash):
            raise CrashError
        if self._happens(self.faults.refuse):
            raise KubeError("try again", status=503)
        self.api.writes += 1
        write()
        if self._happens(self.faults.crash):
            raise CrashError
        if self._happens(self.faults.deaf):
            raise KubeError("no answer")

    def _key(self, change: KeyChange) -> None:
        pods = self.api.of("Pod") if change.cluster and self.checks else []
        if any(rotation.reads(pod) for pod in pods):
            raise KubeError("somebody has read the key")
        there = self.api.get("Secret", change.secret)
        if there is None or dig(there, "metadata", "resourceVersion") != change.resource_version:
            raise KubeError("the Secret is gone, or was changed", status=409)
        said = {**(dig(there, "metadata", "annotations") or {}), **dict(change.annotations)}
        kept = {key: value for key, value in said.items() if value is not None}
        self.api.put({**there, "metadata": {**there["metadata"], "annotations": kept}})

    def _delete(self, deletion: Deletion) -> None:
        if deletion.worker:
            view = replace(self._asked(deletion.worker), read_at=self.api.now)
            if not removable.slurm_says(view, deletion.worker, self.api.now, SETTINGS).yes:
                return
        kind, name = deletion.kind.kind, deletion.name
        there = self.api.get(kind, name)
        fits = (
            there is not None
            and dig(there, "metadata", "uid") == deletion.uid
            and deletion.resource_version in ("", dig(there, "metadata", "resourceVersion"))
        )
        going = dig(there, "metadata", "deletionTimestamp")
        if kind == "Pod" and fits and not going and self.slurm.busy(name) and self.alive(name):
            self.broken.say(f"a busy worker was removed: {name}")
        self.api.delete(kind, name, deletion.uid, deletion.resource_version)

    def _tell(self, action: SlurmAction) -> None:  # one case for each action
        match action:
            case Reconfigure():
                self._reconfigure(action.digest)
            case Drain():
                seen = self._one(action.node)
                if not isinstance(seen, Found):
                    raise SlurmError("it cannot be told whether somebody drained the node", status=1)
                if "DRAIN" not in seen.value.state.flags:
                    self._drains(action.node)
                    self.slurm.drain(action.node, action.reason, "root")
            case Resume():
                if drains.may_resume(self._one(action.node), action.reason):
                    self._drains(action.node)
                    self.slurm.resume(action.node)
            case PowerUp():
                self.slurm.power_up(action.node)
            case PowerDown():
                self._power_down(action)

    def _power_down(self, action: PowerDown) -> None:
        seen = self._one(action.node)
        if not isinstance(seen, Found):
            raise SlurmError("slurmctld does not say how the node is", status=1)
        how = powerstate.returns(seen.value, action)
        if how:
            self._drains(action.node)
        if how == "power_down":
            self.slurm.power_down_idle(action.node, action.reason)
        elif how:
            if self.slurm.runs(action.node):
                self.broken.say(f"a job was ended: of {action.node}")
            self.slurm.power_down(action.node, action.reason)

    def _drains(self, node: str) -> None:
        if node in self.slurm.drained_by:
            self.broken.say(f"another's drain was touched: {node}")

    def _reconfigure(self, digest: str) -> None:
        held = self.api.get("ConfigMap", CONFIG)
        if held is None or dig(held, "data", "digest") != digest:
            raise SlurmError("the files with this digest have not come", status=1)
        self.take(held, digest)

    def take(self, held: Object, digest: str, *, started: bool = False) -> None:
        """Have slurmctld take files."""
        if wrong := self.unfit(held):
            self.broken.say(f"files that no checker has read reached slurmctld: {wrong}")
        before = len(self.slurm.lost)
        names, elastic = self.named(held)
        # as the program in the controller's pod does: nobody can be asked before slurmctld runs, so that it
        # starts with the files it had; later, what leaves the files is drained and empty, or stays
        if self.checks and started and set(self.slurm.nodes) - set(names):
            return
        if (
            self.checks
            and not started
            and any(
                "DRAIN" not in node.flags or self.slurm.busy(name)
                for name, node in self.slurm.nodes.items()
                if name not in names
            )
        ):
            raise SlurmError("nodes that the files do not name are not drained", status=76)
        self.slurm.reconfigure(names, elastic, digest)
        if self.slurm.lost[before:]:
            self.broken.say(f"a node left the files with its jobs: {self.slurm.lost[before:]}")

    def named(self, held: Object) -> tuple[list[str], list[str]]:
        """Return the nodes that files name, and those of them that are elastic."""
        return nodes_of(held)

    def unfit(self, held: Object) -> str:
        """Return what a checker has against files that slurmctld is about to take."""
        return str(dig(held, "data", "unchecked") or "")

    def _one(self, node: str) -> lookup.Lookup[SlurmNodeReply]:
        view = self._asked(node)
        return lookup.node(view.nodes.value, node) if isinstance(view.nodes, Found) else Unknown("no answer")

    def _asked(self, node: str) -> SlurmView:
        if self._happens(self.faults.unknown):
            lost = Unknown("no answer within its deadline")
            return SlurmView(lost, lost, lost, self.api.now)
        return self.slurm.view(node)

    def _happens(self, chance: float) -> bool:
        return chance > 0 and self.rng.random() < chance


def nodes_of(config: Object) -> tuple[list[str], list[str]]:
    """Return the nodes that slurm.conf names, and those of them that are elastic."""
    names: list[str] = []
    elastic: list[str] = []
    for line in str(dig(config, "data", "slurm.conf") or "").splitlines():
        if line.startswith("NodeName="):
            found = hostlist.expand(line.partition("=")[2].split()[0])
            names += found
            elastic += found if "Feature=elastic" in line else []
    return names, elastic
