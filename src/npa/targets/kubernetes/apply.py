"""Carries out a plan of the kubernetes target; the operator does the rest."""

from __future__ import annotations

import time
from collections.abc import Callable

from npa.cluster.model import Cluster, User
from npa.errors import KubeError, NpaError
from npa.plan.model import Event, Plan, Step
from npa.reconcile import maintenance
from npa.render.kube import asked, deployment, differs, names
from npa.render.kube.asked import Place
from npa.render.objects import (
    CLAIM,
    NAMESPACE,
    NODE_SET,
    POD,
    SECRET,
    SLURM_CLUSTER,
    Kind,
    Object,
    dig,
    name_of,
)
from npa.slurm.lookup import Absent, Found
from npa.targets.base import Listener, told
from npa.targets.kubernetes import installing, reading
from npa.targets.kubernetes.installing import Change
from npa.tools.kube import Kube

READY = 900.0  # seconds for a cluster to be ready: images are fetched and the jail is filled
REFUSED = 10.0  # seconds for which the operator may refuse what is about to be written
GONE = 600.0  # seconds for a cluster to be gone once its jobs have ended
POLL = 2.0
_ACCOUNT = """\
set -eu
chroot /mnt/jail id "$1" >/dev/null 2>&1 ||
	chroot /mnt/jail useradd --create-home --shell /bin/bash --uid "$2" "$1"
home=/mnt/jail/home/$1
mkdir -p "$home/.ssh"
printf %s "$3" >"$home/.ssh/authorized_keys"
chown -R "$2:$2" "$home/.ssh"
chmod 700 "$home/.ssh"; chmod 600 "$home/.ssh/authorized_keys"
"""


class Deployment:
    """One application of one plan."""

    def __init__(
        self,
        kube: Kube,
        cluster: Cluster,
        place: Place,
        operator: tuple[Change, ...],
        own: str,
        heard: Listener,
    ) -> None:
        self._kube, self._cluster, self._place = kube, cluster, place
        self._operator, self._own, self._heard = operator, own, heard
        self._wanted = {(each["kind"], name_of(each)): each for each in asked.render(cluster, place)}

    def run(self, plan: Plan) -> None:
        """Do every step in order; what a failed or interrupted one left is found by the next plan."""
        for step in plan.steps:
            with told(step, self._heard):
                self._action(step)(step)

    def _action(self, step: Step) -> Callable[[Step], None]:
        actions: dict[str, Callable[[Step], None]] = {
            "create:operator": self._install,
            "create:namespace": self._namespace,
            "create:users": self._users,
            "wait:cluster": self._wait,
        }
        verbs = {"drain": self._drain, "remove": self._remove, "create": self._write, "write": self._write}
        return actions.get(step.key) or verbs[step.verb]

    def _install(self, step: Step) -> None:
        installing.apply(self._kube, self._operator, lambda told: self._note(step, told))
        installing.wait(self._kube, self._own)

    def _namespace(self, _: Step) -> None:
        self._kube.apply(NAMESPACE.object(self._place.namespace))

    def _write(self, step: Step) -> None:
        _, kind, name = step.key.split(":", 2)
        self._kube.apply(differs.stamp(self._wanted[kind, name]))

    def _drain(self, step: Step) -> None:
        if step.jobs:
            self._note(step, f"the operator waits for {len(step.jobs)} jobs, and ends none")

    def _remove(self, step: Step) -> None:
        name = step.key.partition(":")[2]
        self._kube.delete(NODE_SET, name, self._place.namespace)

    def _wait(self, step: Step) -> None:
        """Wait until the operator says that all is there."""
        deadline, taken = time.monotonic() + READY, time.monotonic()
        last = ""
        while True:
            objects = self._objects()
            waiting = deployment.waits_for(objects)
            if not waiting:
                return
            if not (wrong := deployment.refused(objects)):
                taken = time.monotonic()
            elif time.monotonic() - taken > REFUSED:
                raise NpaError(wrong, hint="mend the spec, and deploy again; what ran before runs on")
            told = "; ".join(waiting)
            if told != last:
                self._note(step, told[:300])
                last = told
            self._heard(Event("progress", step.key, told[:300]))  # whoever listens may end it here
            if time.monotonic() > deadline:
                hint = f"npa soperator status {self._cluster.name}"
                raise NpaError(f"not ready after {READY:g} s: {told}", hint=hint)
            time.sleep(POLL)

    def _objects(self) -> list[Object]:
        """Return the SlurmCluster and the NodeSets that are wanted; one that is not there yet is new."""
        kinds: dict[str, Kind] = {SLURM_CLUSTER.kind: SLURM_CLUSTER, NODE_SET.kind: NODE_SET}
        found = []
        for kind, name in self._wanted:
            if kind in kinds:
                looked = self._kube.get(kinds[kind], name, self._place.namespace)
                there = looked.value if isinstance(looked, Found) else {}
                found.append(there or kinds[kind].object(name, self._place.namespace))
        return found

    def _users(self, _: Step) -> None:
        for user in self._cluster.users:
            self._account(user)

    def _account(self, user: User) -> None:
        pod = f"{names.workload(self._cluster.name, 'login')}-0"
        keys = "".join(f"{key}\n" for key in user.ssh_public_keys)
        argv = ["sh", "-c", _ACCOUNT, "sh", user.name, str(user.uid), keys]
        done = self._kube.exec(pod, self._place.namespace, argv, container="sshd")
        if done.code:
            raise KubeError(f"account {user.name}: {done.stderr.strip() or done.stdout.strip()}"[:300])

    def _note(self, step: Step, words: str) -> None:
        self._heard(Event("note", step.key, words))


def destroy(kube: Kube, name: str, place: Place, plan: Plan, *, force: bool, heard: Listener) -> None:
    """End a cluster and remove what it was made of; returns once nothing of it is there."""
    for step in plan.steps:
        with told(step, heard):
            if step.key == "stop:cluster":
                _end(kube, name, place.namespace, force=force)
            else:
                _remove_rest(kube, name, place.namespace)


def _end(kube: Kube, name: str, namespace: str, *, force: bool) -> None:
    found = reading.known(kube.get(SLURM_CLUSTER, name, namespace))
    if found is None:
        return
    if force:
        kube.patch(
            SLURM_CLUSTER, name, namespace, {"metadata": {"annotations": {maintenance.END_JOBS: "true"}}}
        )
    kube.delete(SLURM_CLUSTER, name, namespace)
    _until_gone(kube, SLURM_CLUSTER, name, namespace)


def _remove_rest(kube: Kube, name: str, namespace: str) -> None:
    found = reading.whole(kube, name, namespace)
    for kind, each in found.objects:
        if kind == NODE_SET.kind:
            kube.delete(NODE_SET, each, namespace)
    for kind, each in found.objects:
        if kind == NODE_SET.kind:
            _until_gone(kube, NODE_SET, each, namespace)
    for pod in reading.of(kube, POD, name, namespace):  # whoever has the data ends before they go
        _until_gone(kube, POD, name_of(pod), namespace)
    for last in (CLAIM, SECRET):
        for kind, each in found.objects:
            if kind == last.kind:
                kube.delete(last, each, namespace)


def _until_gone(kube: Kube, kind: Kind, name: str, namespace: str) -> None:
    deadline = time.monotonic() + GONE
    while not isinstance(kube.get(kind, name, namespace), Absent):
        if time.monotonic() > deadline:
            found = reading.known(kube.get(kind, name, namespace)) or {}
            holds = ", ".join(dig(found, "metadata", "finalizers") or ()) or "nobody"
            raise NpaError(
                f"{kind.kind} {name} is not gone after {GONE:g} s: held by {holds}",
                hint="is the operator running? npa operator status",
            )
        time.sleep(POLL)
