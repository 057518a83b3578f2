from __future__ import annotations

import pytest

from npa.fleet.errors import FleetFailedError
from npa.fleet.member import Claim
from npa.fleet.result import Network, Outcome, Result

GOOD = frozenset({"healthy", "absent"})


def result(*statuses: str, verb: str = "deploy", networks: tuple[Network, ...] = ()) -> Result:
    outcomes = tuple(
        Outcome(Claim("lab", "team", f"c-{index}", "soperator", "local"), each, each in GOOD, hint="look")
        for index, each in enumerate(statuses)
    )
    interrupted = "interrupted" in statuses
    return Result("lab", verb, outcomes, networks, interrupted=interrupted)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        ((), 0),
        (("healthy", "healthy"), 0),
        (("healthy", "degraded"), 4),
        (("degraded", "degraded"), 4),
        (("healthy", "failed"), 5),
        (("degraded", "failed"), 5),
        (("healthy", "refused"), 5),
        (("healthy", "failed", "skipped"), 5),
        (("failed", "skipped"), 1),
        (("failed", "refused"), 1),
        (("refused", "refused"), 3),
        (("healthy", "interrupted"), 130),
        (("failed", "interrupted"), 130),
    ],
)
def test_the_exit_code_parts_all_some_and_none(statuses: tuple[str, ...], code: int) -> None:
    assert result(*statuses).exit_code == code
    assert result(*statuses).ok == (code == 0)


@pytest.mark.parametrize(("statuses", "code"), [(("healthy",), 0), (("absent",), 0), (("unknown",), 4)])
def test_status_is_well_or_not(statuses: tuple[str, ...], code: int) -> None:
    assert result(*statuses, verb="status").exit_code == code


def test_a_record_that_nobody_can_read_is_not_well() -> None:
    assert Result("lab", "status", (), unreadable=(("c-0", "damaged"),)).exit_code == 4


def test_a_network_that_is_left_is_no_success() -> None:
    assert result("absent", verb="destroy", networks=(Network("team", False, "denied"),)).exit_code == 5
    assert result("absent", verb="destroy", networks=(Network("team", True, "gone"),)).exit_code == 0


def test_who_wants_an_exception_gets_every_result_in_it() -> None:
    result("healthy").require()
    with pytest.raises(FleetFailedError, match="1 failed, 1 healthy") as failed:
        result("healthy", "failed").require()

    assert failed.value.exit_code == 5
    assert [each["status"] for each in failed.value.result["clusters"]] == ["healthy", "failed"]
    assert failed.value.hint == "look"
