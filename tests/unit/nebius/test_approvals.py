from __future__ import annotations

import pytest
from tests.fakes.tfplans import document, group, judge, resource, workers

from npa.errors import RefusedError
from npa.render.nebius import approvals, tfguard
from npa.render.nebius.approvals import Approval

PLAN = document(resource('x.y["a@b"]', "delete"), resource("x.z", "delete"))
DIGEST = judge(PLAN).digest


def test_an_address_may_hold_an_at_sign() -> None:
    assert approvals.parse(f'x.y["a@b"]@{DIGEST}') == Approval('x.y["a@b"]', DIGEST)


def test_an_approval_is_for_one_address() -> None:
    verdict = judge(PLAN, f"x.z@{DIGEST}")

    assert [each.key for each in verdict.refused] == ['x.y["a@b"]']


def test_all_of_them_together_pass() -> None:
    assert judge(PLAN, f"x.z@{DIGEST}", f'x.y["a@b"]@{DIGEST}').ok


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("x.z", "is no approval", id="no-digest"),
        pytest.param(f"@{DIGEST}", "is no approval", id="no-address"),
        pytest.param(f"*@{DIGEST}", "one address only", id="wholesale"),
        pytest.param("x.z@0000000000000000", "another plan", id="another-plan"),
        pytest.param(f"x.q@{DIGEST}", "allows nothing", id="unused"),
    ],
)
def test_an_approval_that_does_nothing_refuses_the_plan(text: str, says: str) -> None:
    verdict = judge(PLAN, f"x.z@{DIGEST}", f'x.y["a@b"]@{DIGEST}', text)

    assert not verdict.ok
    with pytest.raises(RefusedError, match=says):
        tfguard.check(verdict)


def test_what_changes_nothing_is_not_in_the_digest() -> None:
    more = document(*reversed(PLAN["resource_changes"]), resource("x.same", "no-op"), timestamp="2026-01-01")

    assert judge(more).digest == DIGEST


def test_another_size_is_another_plan() -> None:
    plans = [
        document(workers(0, "update", old=group("gpu-0", 4), new=group("gpu-0", size))) for size in (1, 2)
    ]

    assert judge(plans[0]).digest != judge(plans[1]).digest


def test_what_the_provider_counts_meanwhile_is_the_same_plan() -> None:
    plans = [
        document(
            workers(
                0,
                "update",
                old=group("gpu-0", 4, ready=ready),
                new=group("gpu-0", 1),
                after_unknown={"ready": True},
            )
        )
        for ready in (3, 4)
    ]

    assert judge(plans[0]).digest == judge(plans[1]).digest
