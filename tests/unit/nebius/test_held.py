"""What a destroy plan may hold: the end of what is recorded as ours, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from npa.render.nebius import held
from npa.render.nebius.held import CLUSTER, Identity

OURS = Identity("mk8scluster-1", "soperator-x", "project-1", (("filesystem", "fs-1"),), state_lost=False)


def row(actions: list[str], kind: str = CLUSTER, key: str = "mk8scluster-1") -> dict[str, Any]:
    return {"address": f"{kind}.x", "type": kind, "change": {"actions": actions, "before": {"id": key}}}


@pytest.mark.parametrize(
    ("plan", "empty", "wrong"),
    [
        pytest.param({"errored": False, "resource_changes": [row(["delete"])]}, False, 0, id="ours"),
        pytest.param({"errored": False}, True, 0, id="nothing-left"),
        pytest.param({"errored": False}, False, 1, id="changes-without-a-list"),
        pytest.param({"errored": False, "resource_changes": None}, True, 1, id="no-list"),
        pytest.param({"resource_changes": []}, True, 1, id="not-said-to-be-well"),
        pytest.param({"errored": True, "resource_changes": []}, True, 1, id="errored"),
        pytest.param([], True, 1, id="not-an-object"),
        pytest.param(
            {"errored": False, "resource_changes": [row(["delete"], key="other")]}, False, 1, id="another"
        ),
        pytest.param({"errored": False, "resource_changes": [row(["create"])]}, False, 1, id="creates"),
        pytest.param({"errored": False, "resource_changes": ["x"]}, False, 1, id="no-row"),
    ],
)
def test_foreign(plan: object, empty: bool, wrong: int) -> None:
    assert len(list(held.foreign(plan, OURS, empty=empty))) == wrong
