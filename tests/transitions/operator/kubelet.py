"""Machines that run pods, which start, fail, end, or are lost with all that runs on them."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from tests.transitions.operator.api import Api, moment
from tests.transitions.operator.slurmctld import Slurmctld

from npa.render.kube import names
from npa.render.objects import NODE, Object, dig, name_of

STARTS = 8.0  # seconds that a pod takes at most
ENDS = 12.0
COLLECTED = 60.0  # until pods of lost machines are removed


@dataclass
class Process:
    """The slurmd of one pod."""

    pod: str
    worker: str  # whose it is, by its labels
    started: float


class Kubelets:
    """All machines, and what runs on them."""

    def __init__(self, api: Api, slurm: Slurmctld, rng: random.Random) -> None:
        self.api, self.slurm, self.rng = api, slurm, rng
        self.running: dict[str, Process] = {}  # by uid of the pod
        self.failing: set[str] = set()  # pods that end as soon as they start
        self.lost: dict[str, float] = {}  # machine -> since when
        self.made: dict[str, list[float]] = {}  # pod -> when each of its namesakes was first seen
        self._seen: set[str] = set()
        self._machines = 0
        self._due: dict[str, float] = {}
        for _ in range(3):
            self.add_machine()

    def add_machine(self) -> None:
        self._machines += 1
        self.api.create(NODE.object(f"machine-{self._machines}"))

    def lose_machine(self) -> None:
        """Lose a machine with all that runs on it, without a word to anybody."""
        there = self.api.of("Node")
        if len(there) < 2:
            self.add_machine()
        name = name_of(self.rng.choice(there))
        self.lost[name] = self.api.now
        self.api.remove("Node", name)
        for pod in self.workers():
            if dig(pod, "spec", "nodeName") == name:
                self.running.pop(str(dig(pod, "metadata", "uid")), None)

    def cordon(self) -> None:
        """Have a machine take no new pods, or take them again."""
        name = name_of(self.rng.choice(self.api.of("Node")))
        self.api.edit(
            "Node",
            name,
            lambda found: found["spec"].update(unschedulable=not found["spec"].get("unschedulable")),
        )

    def uncordon(self) -> None:
        for each in self.api.of("Node"):
            self.api.edit("Node", name_of(each), lambda found: found["spec"].pop("unschedulable", None))

    def kill(self, name: str) -> None:
        """End a pod for good, as an eviction does."""
        pod = self.api.get("Pod", name)
        if pod is not None and dig(pod, "status", "phase") not in ("Failed", None):
            self._end(pod, "Evicted")

    def alive(self, name: str) -> bool:
        return any(each.pod == name for each in self.running.values())

    def tick(self) -> None:
        for pod in self.workers():
            uid = str(dig(pod, "metadata", "uid"))
            if uid not in self._seen:
                self._seen.add(uid)
                self.made.setdefault(name_of(pod), []).append(self.api.now)
                takes = 0.0 if name_of(pod) in self.failing else self.rng.uniform(0, STARTS)
                self._due[uid] = self.api.now + takes
            self._step(pod, uid)
        self.api.settle_claims()

    def _step(self, pod: Object, uid: str) -> None:
        machine = dig(pod, "spec", "nodeName")
        if machine in self.lost:
            if self.api.now - self.lost[str(machine)] > COLLECTED:
                self.api.remove("Pod", name_of(pod))
        elif dig(pod, "metadata", "deletionTimestamp"):
            self._stop(pod, uid)
        elif not machine:
            self._schedule(pod)
        elif dig(pod, "status", "phase") == "Failed" or self.api.now < self._due[uid]:
            return
        elif name_of(pod) in self.failing and uid not in self.running:
            self._end(pod, "OutOfcpu")
        elif uid not in self.running:
            self.running[uid] = Process(name_of(pod), _worker(pod), self.api.now)
            self._status(pod, ready=False)
        else:
            known = self.slurm.register(name_of(pod), self.running[uid].started)
            if known and not _is_ready(pod):
                self._status(pod, ready=True)

    def _schedule(self, pod: Object) -> None:
        there = [each for each in self.api.of("Node") if not dig(each, "spec", "unschedulable")]
        if there:
            spec = {**dict(pod["spec"]), "nodeName": name_of(self.rng.choice(there))}
            self.api.put({**pod, "spec": spec, "status": {"phase": "Pending"}})

    def _stop(self, pod: Object, uid: str) -> None:
        """End a pod that is deleted: what runs in it first, then its name."""
        key = f"end {uid}"
        takes = 0.0 if dig(pod, "status", "phase") == "Failed" else self.rng.uniform(0, ENDS)
        due = self._due.setdefault(key, self.api.now + takes)
        if self.api.now >= due:
            self.running.pop(uid, None)
            self.api.remove("Pod", name_of(pod))

    def _end(self, pod: Object, why: str) -> None:
        self.running.pop(str(dig(pod, "metadata", "uid")), None)
        self.api.put({**pod, "status": {"phase": "Failed", "reason": why}})

    def _status(self, pod: Object, *, ready: bool) -> None:
        container: dict[str, Any] = {
            "name": "slurmd",
            "started": True,
            "ready": ready,
            "restartCount": 0,
            "state": {"running": {"startedAt": moment(self.api.now)}},
        }
        row = {"type": "Ready", "status": "True" if ready else "False"}
        self.api.put(
            {
                **pod,
                "status": {"phase": "Running", "containerStatuses": [container], "conditions": [row]},
            }
        )

    def workers(self) -> list[Object]:
        return [pod for pod in self.api.of("Pod") if dig(pod, "metadata", "labels", names.WORKER) == "true"]


def _worker(pod: Object) -> str:
    labels = dig(pod, "metadata", "labels")
    return f"{labels[names.NODE_SET]}-{labels[names.ORDINAL]}"


def _is_ready(pod: Object) -> bool:
    rows = dig(pod, "status", "conditions") or ()
    return any(row["type"] == "Ready" and row["status"] == "True" for row in rows)
