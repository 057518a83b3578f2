from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from npa.plan import backoff
from npa.plan.backoff import HEALED, LAST, Tries


def test_the_first_try_is_at_once_and_each_next_one_later() -> None:
    history: dict[str, Tries] = {}
    waits = []
    now = 1000.0
    for _ in range(9):
        assert backoff.due(["a"], history, now) == {"a"}
        history = backoff.tried(["a"], history, now)
        waits.append(history["a"].next - now)
        now = history["a"].next

    assert waits == [1, 2, 4, 8, 16, 32, LAST, LAST, LAST]


def test_one_step_does_not_hold_up_another() -> None:
    history = backoff.tried(["a"], {}, 10.0)

    assert backoff.due(["a", "b"], history, 10.5) == {"b"}


def test_what_has_been_quiet_for_long_is_new() -> None:
    history = backoff.tried(["a"], {}, 0.0)

    assert backoff.tried(["b"], history, HEALED + 1).keys() == {"b"}


@given(st.lists(st.floats(0, 1000), max_size=30))
def test_a_try_is_never_allowed_before_its_time(times: list[float]) -> None:
    history: dict[str, Tries] = {}
    for now in sorted(times):
        if backoff.due(["a"], history, now):
            if "a" in history:
                assert now >= history["a"].next
            history = backoff.tried(["a"], history, now)
