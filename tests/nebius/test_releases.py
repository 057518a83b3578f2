"""Which versions a cluster is found to have, by a Kubernetes that can also say nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from tests.nebius.after import FakeKube

from npa.errors import KubeError
from npa.render.nebius.release import Release
from npa.render.objects import HELM_RELEASE, POD
from npa.slurm.lookup import Absent, Found, Unknown
from npa.targets.nebius import releases
from npa.tools.kube import Executed

IDLE = Unknown("the pod of slurmdbd does not run")
WANTED = Release("4.1.6", "4.1.6")
NODES = {"meta": {"slurm": {"release": "25.05.2"}}, "nodes": [], "last_update": 0}


def cluster(*dbd: str, code: int = 0, phase: str = "Running", container: str = "accounting") -> FakeKube:
    """Return a cluster whose pods of slurmdbd print these, one after the other."""
    printed = list(dbd)

    def answers(_: str, argv: Sequence[str]) -> Executed:
        if list(argv) == ["slurmdbd", "-V"]:
            return Executed(code, printed.pop(0), "exec: slurmdbd: not found\n" if code else "")
        return Executed(0, json.dumps(NODES))

    found = FakeKube(answers)
    found.put(HELM_RELEASE, "x-soperator", "flux-system", status={"history": [{"chartVersion": "4.1.6"}]})
    for number in range(len(dbd)):
        found.pod(f"accounting-{number}", "accounting", "munge", container, phase=phase)
    return found


@pytest.mark.parametrize(
    ("found", "version"),
    [
        pytest.param(cluster("slurm 25.05.2\n"), Found("25.05.2"), id="upstream"),
        pytest.param(cluster("slurm-wlm 24.11.5\n", container="slurmdbd"), Found("24.11.5"), id="debian"),
        pytest.param(cluster("slurm 25.11.0", "slurm 25.05.2"), Found("25.05.2"), id="oldest"),
        pytest.param(cluster(), Absent(), id="off"),
        pytest.param(cluster("x", phase="Pending"), IDLE, id="pending"),
        pytest.param(cluster("x", container="other"), IDLE, id="name"),
        pytest.param(
            cluster("x", code=127), Unknown("accounting-0: exec: slurmdbd: not found"), id="no-program"
        ),
        pytest.param(cluster("hello\n"), Unknown("`slurmdbd -V` printed 'hello'"), id="nonsense"),
    ],
)
def test_c68_the_version_of_slurmdbd_is_its_own_word(found: FakeKube, version: object) -> None:
    assert releases.slurmdbd(found) == version


def test_c68_an_older_slurmdbd_is_said_before_anything_is_planned() -> None:
    said = releases.require(cluster("slurm 24.11.5"), WANTED)

    assert said == ("slurmdbd 24.11.5 is older than slurmctld 25.05.2: raise slurmdbd first",)
    assert releases.require(cluster("slurm 25.05.2"), WANTED) == ()


def test_c68_what_nobody_can_read_is_said_to_be_unknown() -> None:
    def silent(_: str, __: Sequence[str]) -> Executed:
        raise KubeError("no answer")

    class Forbidden(FakeKube):
        def list(self, kind: Any, namespace: str = "") -> Any:
            return Unknown("pods: 403 forbidden") if kind == POD else super().list(kind, namespace)

    assert releases.require(Forbidden(silent), WANTED) == (
        "Slurm's versions are not known: no answer",
        "slurmdbd's version is not known: pods: 403 forbidden",
    )
