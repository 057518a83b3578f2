"""Has the operator give a cluster a new key, and waits for it: what is done, and when, is the operator's."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from typing import Literal

from npa.errors import NotFoundError, NpaError, UnknownError
from npa.plan.model import Plan, Step
from npa.reconcile import rotation
from npa.reconcile.nodeset_workers import LEAVING
from npa.reconcile.rotation import Key
from npa.render.kube.deployment import There
from npa.render.objects import SECRET, SLURM_CLUSTER, Object, dig
from npa.targets.base import Listener, told_of
from npa.targets.kubernetes import reading
from npa.tools.kube import Kube

KeyName = Literal["auth", "jwt"]

POLL = 2.0
BACK = 180.0  # seconds in which workers take jobs again
ENDS = 900.0  # seconds for readers to end, once no job runs
_WHAT = {
    "auth": "by which daemons and clients know one another",
    "jwt": "which signs tokens; every token that was given out ends",
}


def of(cluster: str, name: KeyName) -> Key:
    """Return a key of a cluster."""
    return next(each for each in rotation.of(cluster) if each.name == name)


def plan(name: str, key: Key, there: There, *, force: bool) -> Plan:
    """Return the steps; raises NotFoundError without a cluster, UnknownError where jobs may be."""
    found = there.find(SLURM_CLUSTER.kind, name)
    if found is None:
        raise NotFoundError(f"no cluster {name!r} on Kubernetes", hint="see `npa soperator list`")
    return Plan(name, "kubernetes", tuple(_steps(name, key, there, force=force)))


def _steps(name: str, key: Key, there: There, *, force: bool) -> Iterator[Step]:
    if key.readers:
        yield Step("restart", "slurmctld, slurmdbd", "they read it; jobs run on", "stop:readers")
    else:
        yield _stop(name, there, force=force)
    yield Step("write", f"Secret {key.secret}", f"a new key, {_WHAT[key.name]}", "write:key")
    yield Step("start", f"cluster {name}", "the old key is put back where it does not come up", "start:again")


def _stop(name: str, there: There, *, force: bool) -> Step:
    if there.slurm is None and not force:
        raise UnknownError(
            f"cannot tell whether jobs run on {name}: {there.slurm_problem}",
            hint="bring slurmctld back first, or end all with `--force`",
        )
    jobs = there.slurm.running if there.slurm else ()
    nodes = tuple(node.name for node in there.slurm.nodes) if there.slurm else ()
    why = "every daemon, client and step of a job has read it"
    return Step("stop", f"cluster {name}", why, "stop:readers", nodes, jobs, kills_jobs=force and bool(jobs))


def ask(kube: Kube, name: str, namespace: str, key: Key, *, force: bool) -> str:
    """Ask the operator for a new key; returns the word that is asked with.

    A new key that was asked for before, and is on its way, is this one.
    """
    found = reading.known(kube.get(SLURM_CLUSTER, name, namespace)) or {}
    secret = _secret(kube, namespace, key)
    asked = _said(found, key.asked)
    if asked and asked not in (_said(secret, rotation.WORD), _said(secret, rotation.FAILED)):
        word = asked
    else:
        word = secrets.token_hex(8)
    annotations = {key.asked: word, **({rotation.ENDS_JOBS: word} if force else {})}
    kube.patch(SLURM_CLUSTER, name, namespace, {"metadata": {"annotations": annotations}})
    return word


def wait(kube: Kube, name: str, namespace: str, key: Key, word: str, agreed: Plan, heard: Listener) -> None:
    """Wait until a cluster runs with a word's key; raises NpaError where it goes back to the old one."""
    with told_of(agreed, "stop:readers", heard):
        deadline = time.monotonic() + ENDS
        while _said(secret := _secret(kube, namespace, key), rotation.WORD) != word:
            _in_time(deadline, "the readers of the old key have not ended")
            time.sleep(POLL)
    with told_of(agreed, "write:key", heard):
        pass  # the operator has, in the moment in which no reader was left
    with told_of(agreed, "start:again", heard):
        _comes_up(kube, namespace, key, word, secret)
        deadline = time.monotonic() + BACK
        while time.monotonic() < deadline and not _back(kube, name, namespace):
            time.sleep(POLL)  # those that do not come are told of by whoever looks at the cluster next


def _comes_up(kube: Kube, namespace: str, key: Key, word: str, secret: Object) -> None:
    deadline = time.monotonic() + rotation.COMES_UP + ENDS
    while _said(secret, rotation.BEFORE) is not None:
        _in_time(deadline, "the cluster is not seen to run with the new key")
        time.sleep(POLL)
        secret = _secret(kube, namespace, key)
    if _said(secret, rotation.FAILED) == word:
        raise NpaError(
            f"the cluster did not come up with a new {key.name} key: the old one is used",
            hint="see what does not start: kubectl get pods, and the conditions of the SlurmCluster",
        )


def _back(kube: Kube, name: str, namespace: str) -> bool:
    """Say whether no worker bears the drain any more with which the operator had it leave."""
    view, _ = reading.slurm_view(kube, name, namespace)
    return view is not None and not any(
        node.state.flags & {"DRAIN", "NOT_RESPONDING"} and node.reason.startswith(LEAVING["remove"])
        for node in view.nodes
    )


def _in_time(deadline: float, what: str) -> None:
    if time.monotonic() > deadline:
        hint = "the operator goes on: see the condition KeyRotation of the SlurmCluster"
        raise NpaError(f"{what} in time", hint=hint)


def _secret(kube: Kube, namespace: str, key: Key) -> Object:
    found = reading.known(kube.get(SECRET, key.secret, namespace))
    if found is None:
        raise NotFoundError(f"no Secret {namespace}/{key.secret}", hint="is the operator running?")
    return found


def _said(found: Object, annotation: str) -> str | None:
    said = dig(found, "metadata", "annotations", annotation)
    return said if isinstance(said, str) else None
