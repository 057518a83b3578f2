"""A seeded schedule: people, machines, jobs and the operator in any order, and then peace."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Mapping
from typing import Any

from tests.transitions.operator import control_plane
from tests.transitions.operator.api import Api
from tests.transitions.operator.kubelet import Kubelets
from tests.transitions.operator.process import CLUSTER, Broken, Decide, Faults, Process
from tests.transitions.operator.slurmctld import Slurmctld

from npa.errors import SlurmError
from npa.reconcile import nodeset, nodeset_ordinals, powerstate
from npa.render.kube import names
from npa.render.objects import NODE_SET, SLURM_CLUSTER, Object, dig, is_true, name_of

CONTROLLERS: Mapping[str, Decide] = {
    "slurmcluster": control_plane.decide,
    "nodeset": nodeset.decide,
    "powerstate": powerstate.decide,
}
# pods of one worker within so many seconds: more is a hot loop, whoever is at fault
HOT, WITHIN = 8, 60.0
QUIET = 14  # looks without a write, later and later, over nine minutes in all


def node_set(name: str, replicas: int, **more: Any) -> dict[str, Any]:
    """Return a NodeSet as a person writes it."""
    resources = {"cpu": "4", "memory": "8Gi"}
    volumes = {
        "spool": {"volumeClaimTemplateSpec": {"resources": {"requests": {"storage": "1Gi"}}}},
        "jail": {"persistentVolumeClaim": {"claimName": "jail-pvc"}},
    }
    slurmd = {"image": {"repository": "slurm", "tag": "1"}, "resources": resources, "volumes": volumes}
    spec = {"clusterName": CLUSTER, "replicas": replicas, "slurmd": slurmd, **more}
    return NODE_SET.object(name, spec=spec)


class Simulation:
    """One cluster and all that may happen to it."""

    def __init__(self, seed: int, controllers: Mapping[str, Decide] = CONTROLLERS) -> None:
        self.rng = random.Random(seed)
        self.api, self.slurm, self.broken = Api(), Slurmctld(), Broken()
        self.machines = Kubelets(self.api, self.slurm, self.rng)
        self.operator = self.started(controllers)
        self.operator.alive = self.machines.alive
        self.api.create(self.cluster())
        self._taken_down = False
        self.polls = self.rng.choice([0.1, 0.4])

    def started(self, controllers: Mapping[str, Decide]) -> Process:
        return Process(self.api, self.slurm, self.rng, controllers, self.broken)

    def cluster(self) -> Object:
        return SLURM_CLUSTER.object(CLUSTER, spec={"maintenance": "none"})

    # Time.

    def wait(self, seconds: float) -> None:
        self.api.now += seconds
        self.slurm.now = self.api.now
        self._maintained()
        self.machines.tick()
        self.slurm.tick(self.api.now)
        self._watch()

    def _maintained(self) -> None:
        """Take slurmctld down as its controller does: in maintenance, after the last worker."""
        down = self.down and not self.api.of("Pod")
        if down != self._taken_down:
            self.slurm.up = not down
        self._taken_down = down

    @property
    def down(self) -> bool:
        mode: object = dig(self.api.get("SlurmCluster", CLUSTER), "spec", "maintenance")
        return mode == "downscale"

    def _watch(self) -> None:
        for name, times in self.machines.made.items():
            recent = [at for at in times if self.api.now - at < WITHIN]
            if len(recent) > HOT:
                self.broken.say(f"{name} was started {len(recent)} times within {WITHIN:.0f} s")
        running = [each.worker for each in self.machines.running.values()]
        for worker in {each for each in running if running.count(each) > 1}:
            self.broken.say(f"two pods of {worker} run")
        for name, reason in self.slurm.drained_by.items():
            node = self.slurm.nodes[name]
            if "DRAIN" not in node.flags or not node.reason.startswith(reason):
                self.broken.say(f"the drain of {name} by a person is gone")

    def pass_(self) -> None:
        """Have the operator look at something."""
        if self.rng.random() < self.polls:
            self.operator.poll()
        self.operator.look(*self.rng.choice(self.operator.watched()))

    def round(self) -> bool:
        """Look at everything once, with all news; say whether anything was written."""
        before = self.api.writes
        self.operator.poll()
        for key in self.operator.watched():
            self.operator.look(*key)
        return self.api.writes > before

    # Events.

    def happen(self) -> None:
        events = self.events()
        event = self.rng.choices([each for each, _ in events], [weight for _, weight in events])[0]
        with contextlib.suppress(SlurmError):  # people are told, too, that slurmctld does not answer
            event(self)

    def events(self) -> list[tuple[Callable[[Any], None], int]]:
        return EVENTS

    def sets(self) -> list[str]:
        return [name_of(each) for each in self.api.of("NodeSet")]

    def some(self) -> str | None:
        return self.rng.choice(sorted(self.slurm.nodes)) if self.slurm.nodes else None

    def edit(self, change: Callable[[dict[str, Any]], None]) -> None:
        if self.sets():
            self.api.edit("NodeSet", self.rng.choice(self.sets()), change)

    def scale(self) -> None:
        replicas = self.rng.randint(0, 5)
        self.edit(lambda found: found["spec"].update(replicas=replicas))

    def change_template(self) -> None:
        tag = str(self.rng.randint(1, 3))

        def change(found: dict[str, Any]) -> None:
            slurmd = found["spec"]["slurmd"]
            found["spec"]["slurmd"] = {**slurmd, "image": {**slurmd["image"], "tag": tag}}

        self.edit(change)

    def change_limit(self) -> None:
        limit = self.rng.choice([1, 2, "30%", 500])
        self.edit(lambda found: found["spec"].update(maxUnavailable=limit))

    def submit(self) -> None:
        wants: tuple[str, ...] = ()
        if self.rng.random() < 0.1 and (name := self.some()):
            wants = (name,)
        size = 1 if wants else self.rng.randint(1, 3)
        self.slurm.submit(size, self.rng.uniform(5, 120), wants)

    def drain(self) -> None:
        name = self.some()
        if name and "DRAIN" not in self.slurm.nodes[name].flags:
            reason = self.rng.choice(["rack move, do not touch", "looking into it", "npa is not to blame"])
            self.slurm.drain(name, reason, "alice")

    def take_over(self) -> None:
        """Have a person put a reason of their own over whatever there is."""
        if name := self.some():
            self.slurm.drain(name, "mine now", "alice")

    def undrain(self) -> None:
        """Have a person give a node back, whoever drained it; users wait for it already."""
        drained = [each.name for each in self.slurm.nodes.values() if "DRAIN" in each.flags]
        if drained:
            name = self.rng.choice(drained)
            self.slurm.resume(name)
            self.slurm.submit(1, self.rng.uniform(5, 120), (name,))
            self.wait(0.1)

    def kill(self) -> None:
        pods = [each.pod for each in self.machines.running.values()]
        if pods:
            self.machines.kill(self.rng.choice(pods))

    def fail_starts(self) -> None:
        """Have a worker's pods end as soon as they start, from now on or no more."""
        if name := self.some():
            self.machines.failing ^= {name}
            self.machines.kill(name)

    def delete_pod(self) -> None:
        pods = [each.pod for each in self.machines.running.values()]
        if pods:
            self.api.delete("Pod", self.rng.choice(pods))

    def maintain(self) -> None:
        mode = self.rng.choice(["none", "none", "downscale"])
        self.api.edit("SlurmCluster", CLUSTER, lambda found: found["spec"].update(maintenance=mode))

    def delete_set(self) -> None:
        if self.sets():
            self.api.delete("NodeSet", self.rng.choice(self.sets()))

    def add_set(self) -> None:
        name = self.rng.choice(["cpu", "gpu", "burst"])
        more = {"ephemeralNodes": True, "initialNumberEphemeralNodes": self.rng.randint(0, 2)}
        limit = self.rng.choice([1, 2, 500])
        count = self.rng.randint(1, 4)
        self.api.create(node_set(name, count, maxUnavailable=limit, **(more if name == "burst" else {})))

    def switch(self) -> None:
        """Make a set ephemeral, or no more."""
        self.edit(lambda found: found["spec"].update(ephemeralNodes=not found["spec"].get("ephemeralNodes")))

    def stop_slurm(self) -> None:
        self.slurm.up = not self.slurm.up and not self._taken_down

    def crash(self) -> None:
        self.operator.start()

    # The whole.

    def run(self, steps: int = 120) -> None:
        """Let anything happen, then nothing more, until all is settled."""
        self.add_set()
        self.operator.faults = Faults(
            crash=self.rng.choice([0, 0.05, 0.2]),
            refuse=self.rng.choice([0, 0.1]),
            deaf=self.rng.choice([0, 0.1]),
            unknown=self.rng.choice([0, 0.1, 0.4]),
            stale=self.rng.random() < 0.7,
        )
        for _ in range(steps):
            draw = self.rng.random()
            if draw < 0.35:
                self.happen()
            elif draw < 0.8:
                self.pass_()
            else:
                self.wait(self.rng.choice([0.5, 2.0, 10.0]))
            if self.broken.found:
                return
        self.settle()

    def settle(self) -> None:
        """End all faults, and wait for what has to come true."""
        self.operator.faults = Faults()
        self.slurm.up = not self._taken_down
        for _ in range(40 if self.machines.failing else 0):
            self.wait(1.0)
            self.round()
        self.machines.failing.clear()
        self.machines.uncordon()
        held = self.rng.random() < 0.3 or not self.slurm.up
        for name in () if held else list(self.slurm.drained_by):
            self.slurm.resume(name)
        quiet = 0
        for _ in range(500):
            self.wait(5.0 * (quiet + 1))
            quiet = 0 if self.round() else quiet + 1
            if self.broken.found:
                return
            working = self.slurm.up and any(job.nodes for job in self.slurm.jobs.values())
            if quiet >= QUIET and not working:
                break
        else:
            self.broken.say("it never settles")
            return
        if not held:
            self.judge()

    def judge(self) -> None:
        """Compare what there is with what is asked for."""
        wanted = {
            f"{name_of(each)}-{ordinal}"
            for each in self.api.of("NodeSet")
            for ordinal in ([] if self.down else self.active(each))
        }
        pods = {name_of(pod): pod for pod in self.machines.workers()}
        if set(pods) != wanted:
            self.broken.say(f"there are {sorted(pods)}, not {sorted(wanted)}")
        for name in wanted & set(pods):
            self._judge_one(name, pods[name])
        for name in self.claims_left(wanted):
            self.broken.say(f"the claim {name} is left")

    def wanted(self, found: Object) -> tuple[int, ...]:
        return nodeset_ordinals.of_spec(found)

    def active(self, found: Object) -> list[int]:
        """Return which workers should run: of an ephemeral set those that slurmctld has not switched off."""
        every = list(self.wanted(found))
        if not dig(found, "spec", "ephemeralNodes"):
            return every
        nodes = {each: self.slurm.nodes.get(f"{name_of(found)}-{each}") for each in every}
        return [
            each
            for each, node in nodes.items()
            if node and not node.flags & {"POWERED_DOWN", "POWERING_DOWN"}
        ]

    def _judge_one(self, name: str, pod: Object) -> None:
        tag = dig(self.api.get("NodeSet", name.rpartition("-")[0]), "spec", "slurmd", "image", "tag")
        node = self.slurm.nodes.get(name)
        if not is_true(pod, "Ready"):
            self.broken.say(f"{name} is not ready")
        if dig(pod, "spec", "containers")[0]["image"] != f"slurm:{tag}":
            self.broken.say(f"{name} is of an old template")
        if node is None or node.down or "DRAIN" in node.flags:
            self.broken.say(f"{name} takes no jobs: {node}")

    def claims_left(self, wanted: set[str]) -> list[str]:
        sets = {name_of(each) for each in self.api.of("NodeSet")}
        found = []
        for claim in self.api.of("PersistentVolumeClaim"):
            owner = dig(claim, "metadata", "labels", names.NODE_SET)
            ordinal = int(dig(claim, "metadata", "labels", names.ORDINAL))
            spec = self.wanted(self.api.get("NodeSet", owner) or {}) if owner in sets else ()
            if ordinal not in spec:
                found.append(name_of(claim))
        return found if wanted is not None else []


EVENTS: list[tuple[Callable[[Any], None], int]] = [
    (Simulation.scale, 6),
    (Simulation.change_template, 3),
    (Simulation.change_limit, 1),
    (Simulation.submit, 8),
    (Simulation.drain, 2),
    (Simulation.take_over, 1),
    (Simulation.undrain, 6),
    (Simulation.kill, 2),
    (Simulation.fail_starts, 3),
    (Simulation.delete_pod, 1),
    (Simulation.maintain, 1),
    (Simulation.delete_set, 1),
    (Simulation.add_set, 3),
    (Simulation.switch, 1),
    (Simulation.stop_slurm, 1),
    (Simulation.crash, 1),
    (lambda self: self.machines.lose_machine(), 1),
    (lambda self: self.machines.cordon(), 1),
]
