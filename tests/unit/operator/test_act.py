"""The order in which the hands do things, and what they look at once more before they do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from npa.errors import KubeError, SlurmError
from npa.operator.act import RECONFIGURE, Act, NoLeaderError, Target
from npa.operator.notices import Notices
from npa.operator.runtime.metrics import Metrics
from npa.operator.slurm_poll import Slurm
from npa.reconcile.decision import (
    Decision,
    Deletion,
    Drain,
    NewSecret,
    Notice,
    PowerDown,
    Reconfigure,
    Resume,
)
from npa.reconcile.settings import Settings
from npa.reconcile.world import SlurmView
from npa.render.kube import names
from npa.render.objects import CONFIG_MAP, POD, SECRET, SLURM_CLUSTER, Object
from npa.slurm.lookup import Found, Lookup, Unknown
from npa.slurm.replies import Rows, SlurmJobReply, SlurmNodeReply
from npa.slurm.states import JobState, NodeState
from npa.tools.kube_api import KubeApi

CLUSTER = SLURM_CLUSTER.object("c", "ns", status={"phase": "old"})
TARGET = Target(SLURM_CLUSTER, ("ns", "c"), CLUSTER)


class Api:
    """Notes what is written."""

    def __init__(self, log: list[str], fails: str = "") -> None:
        self.log, self.fails = log, fails

    async def create(self, wanted: Object) -> Object | None:
        return self._note(f"create {wanted['kind']} {wanted['metadata']['name'].partition('.')[0]}", wanted)

    async def apply(self, wanted: Object) -> Object:
        return self._note(f"apply {wanted['kind']} {wanted['metadata']['name']}", wanted)

    async def delete(self, kind: Any, name: str, namespace: str, **only: Any) -> bool:
        self._note(f"delete {kind.kind} {namespace}/{name} {only['uid']}", {})
        return True

    async def patch(
        self, kind: Any, name: str, namespace: str, body: Any, *, subresource: str = ""
    ) -> Object:
        return self._note(f"patch {kind.kind} {namespace}/{name} {subresource} {body}", CLUSTER)

    def _note(self, what: str, answer: Object) -> Object:
        self.log.append(what)
        if self.fails and self.fails in what:
            raise KubeError("no")
        return answer


class Controller:
    """A slurmctld that says one thing of one node, and notes what it is told."""

    def __init__(self, log: list[str], nodes: Lookup[Any], jobs: Lookup[Any]) -> None:
        self.log, self.nodes, self.jobs = log, nodes, jobs

    async def node(self, cluster: tuple[str, str], name: str) -> SlurmView:
        del cluster, name
        return SlurmView(self.nodes, self.jobs, read_at=time.time())

    async def tell(self, cluster: tuple[str, str], argv: Sequence[str], *, timeout: float = 1) -> None:
        del timeout
        self.log.append(f"{cluster[1]}: {' '.join(argv)}")


def node(*flags: str, reason: str = "") -> Found[Rows[SlurmNodeReply]]:
    return Found(Rows((SlurmNodeReply("n-0", NodeState("IDLE", frozenset(flags)), reason=reason),)))


def jobs(*on: str) -> Found[Rows[SlurmJobReply]]:
    running = JobState.parse(["RUNNING"])
    return Found(
        Rows(tuple(SlurmJobReply(str(n), n, "u", "j", running, (name,)) for n, name in enumerate(on, 1)))
    )


def did(
    decision: Decision,
    nodes: Lookup[Any] | None = None,
    at: Lookup[Any] | None = None,
    fails: str = "",
    leads: bool = True,
) -> list[str]:
    log: list[str] = []
    api = cast(KubeApi, Api(log, fails))
    slurm = cast(Slurm, Controller(log, nodes or node(), at or jobs()))
    act = Act(
        api, slurm, Settings(), Metrics(), leads=lambda: leads, keep=lambda _: None, notices=Notices(api)
    )
    try:
        asyncio.run(act.do(TARGET, decision))
    except (KubeError, SlurmError, NoLeaderError) as error:
        log.append(type(error).__name__)
    return log


def pod(name: str, worker: str = "") -> Deletion:
    return Deletion(POD, "ns", name, "uid", worker=worker)


EVERYTHING = Decision(
    secrets=(NewSecret(SECRET.object("s", "ns"), random=(("k", 8),)),),
    slurm=(Reconfigure("d1"), Reconfigure("d2", restart=True)),
    create=(POD.object("p", "ns"),),
    apply=(CONFIG_MAP.object("a", "ns"), CONFIG_MAP.object("b", "ns")),
    delete=(pod("old"),),
    status={"phase": "new"},
    notices=(Notice("Normal", "Reason", "message"),),
)


def hurried(digest: str) -> list[str]:
    """What the kubelet brings files at."""
    body = {"metadata": {"annotations": {names.DELIVERED: digest}}}
    return [f"patch Pod ns/c-controller-0  {body}"]


def test_files_that_nobody_hurries_come_all_the_same() -> None:
    told = did(Decision(slurm=(Reconfigure("d1"),)), fails="patch Pod")

    assert told == [*hurried("d1"), f"c: {RECONFIGURE} d1"]


def test_everything_is_done_in_its_order() -> None:
    assert did(EVERYTHING) == [
        "create Secret s",
        *hurried("d1"),
        f"c: {RECONFIGURE} d1",
        *hurried("d2"),
        f"c: {RECONFIGURE} d2 restart",
        "create Pod p",
        "apply ConfigMap a",
        "apply ConfigMap b",
        "delete Pod ns/old uid",
        "patch SlurmCluster ns/c status {'status': {'phase': 'new'}}",
        "create Event c",
    ]


def test_the_first_failure_ends_the_pass() -> None:
    assert did(EVERYTHING, fails="ConfigMap a")[-2:] == ["apply ConfigMap a", "KubeError"]


def test_nothing_is_done_without_the_lease() -> None:
    assert did(EVERYTHING, leads=False) == ["NoLeaderError"]


@pytest.mark.parametrize(
    ("action", "seen", "told"),
    [
        pytest.param(
            Drain("n-0", "npa: x"),
            node(),
            ["c: scontrol update NodeName=n-0 State=DRAIN Reason=npa: x"],
            id="drain",
        ),
        pytest.param(Drain("n-0", "npa: x"), node("DRAIN", reason="mine"), [], id="drained-by-another"),
        pytest.param(
            Resume("n-0", "npa: x"),
            node("DRAIN", reason="npa: x"),
            ["c: scontrol update NodeName=n-0 State=RESUME"],
            id="resume",
        ),
        pytest.param(Resume("n-0", "npa: x"), node("DRAIN", reason="npa: x, wait"), [], id="edited-since"),
        pytest.param(Resume("n-0", "npa: x"), node("DRAIN", reason="mine"), [], id="another-s-by-now"),
        pytest.param(Resume("n-0", "npa: x"), Unknown("silent"), [], id="nobody-can-say"),
        pytest.param(Drain("n-0", "npa: x"), Unknown("silent"), ["UnknownError"], id="drained-by-whom"),
        pytest.param(PowerDown("n-0", "npa: y"), node("DRAIN", reason="mine"), [], id="not-ours-to-return"),
    ],
)
def test_what_slurm_says_is_looked_at_right_before(action: Any, seen: Lookup[Any], told: list[str]) -> None:
    assert did(Decision(slurm=(action,)), seen) == told


@pytest.mark.parametrize(
    ("seen", "on", "deleted"),
    [
        pytest.param(node("DRAIN", reason="npa: x"), jobs(), True, id="drained"),
        pytest.param(node("DRAIN", reason="npa: x"), jobs("n-0"), False, id="a-job-came"),
        pytest.param(node(), jobs(), False, id="not-drained-any-more"),
        pytest.param(Unknown("silent"), jobs(), False, id="nobody-can-say"),
        pytest.param(node("DRAIN", reason="npa: x"), Unknown("silent"), False, id="jobs-unknown"),
    ],
)
def test_a_worker_goes_only_if_slurm_still_says_so(seen: Lookup[Any], on: Lookup[Any], deleted: bool) -> None:
    done = did(Decision(delete=(pod("n-0", worker="n-0"),)), seen, on)

    assert done == (["delete Pod ns/n-0 uid"] if deleted else [])


def test_the_same_is_said_once() -> None:
    said = Notice("Warning", "Reason", "message")

    assert did(Decision(notices=(said, said))) == ["create Event c"]


def test_many_are_made_together_and_each_once() -> None:
    wanted = tuple(POD.object(f"p{index}", "ns") for index in range(100))

    assert sorted(did(Decision(create=wanted))) == sorted(f"create Pod p{index}" for index in range(100))


def test_that_it_fails_is_said_in_the_status() -> None:
    log: list[str] = []
    api = cast(KubeApi, Api(log))
    slurm = cast(Slurm, Controller(log, node(), jobs()))
    act = Act(
        api, slurm, Settings(), Metrics(), leads=lambda: True, keep=lambda _: None, notices=Notices(api)
    )
    asyncio.run(act.failed(TARGET, "KubernetesError", "no", datetime.now(UTC)))

    assert len(log) == 1
    assert "'type': 'Reconciled', 'status': 'False', 'reason': 'KubernetesError', 'message': 'no'" in log[0]
