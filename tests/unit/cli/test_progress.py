from __future__ import annotations

import pytest

from npa.cli.progress import Lines, labels, sentence
from npa.plan.model import Event, Plan, Step

PLAN = Plan("quick", "local", (Step("start", "pool gpu", "new", "start:gpu", ("gpu-0", "gpu-1")),))


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (Event("started", "start:gpu", "start pool gpu: 2 nodes"), "start pool gpu: 2 nodes"),
        (Event("started", "start:gpu", "2 nodes"), "start pool gpu: 2 nodes"),
        (Event("started", "start:gpu", ""), "start pool gpu"),
        (Event("done", "start:gpu", "start pool gpu"), ""),
        (Event("done", "start:gpu", ""), ""),
        (Event("progress", "start:gpu", "gpu-0", fraction=0.5), "start pool gpu: gpu-0 (50%)"),
        (Event("note", "", "no cgroup"), "no cgroup"),
    ],
)
def test_an_event_is_a_line(event: Event, said: str) -> None:
    assert sentence(event, labels(PLAN)) == said


def test_lines_tell_the_time_and_not_too_often() -> None:
    moments = iter([100.0, 100.0, 103.0, 106.0, 107.0, 112.3])
    written: list[str] = []
    heard = Lines(PLAN, written.append, lambda: next(moments))

    heard(Event("started", "start:gpu", ""))
    for fraction in (0.1, 0.5, 0.6):
        heard(Event("progress", "start:gpu", "", fraction=fraction))
    heard(Event("note", "", "all up"))

    assert written == ["[0.0s] start pool gpu", "[6.0s] start pool gpu (50%)", "[12.3s] all up"]
