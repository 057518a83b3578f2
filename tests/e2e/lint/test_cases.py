"""What the checker passes starts and takes a job; what it rejects fails in the way written down."""

from __future__ import annotations

import re
from collections.abc import Callable
from time import monotonic, sleep

import pytest
from tests.e2e.lint.reality import Outcome, Reality
from tests.golden.lint.cases import CASES, Case, Logs, Node, Policy, Shows, Stops

from npa.slurm import lint

RELEASES = ("26.05", "24.11")
NAMES = [(release, name) for name, case in CASES.items() for release in RELEASES if release in case.releases]
SUBMIT = "cd /tmp; sbatch -p main --wrap true && scontrol show partition"
RUN = "cd /tmp; srun -p train -w gpu-0 --gres=gpu:1 sh -c 'echo gpu $CUDA_VISIBLE_DEVICES'"


@pytest.mark.parametrize(("release", "name"), NAMES)
def test_slurm_agrees(release: str, name: str, reality: Callable[[str], Reality]) -> None:
    case, place = CASES[name], reality(release)

    outcome = place.start(case.texts(), lambda: _asked(place, case))

    assert bool(lint.errors(lint.check(case.texts(), version=release))) == (case.reality is not None)
    assert _is_so(case, outcome), f"{outcome.log}\n{outcome.answer}"


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("name", ["c29-sound", "c29-sound-tree-conf", "c32-sound-spellings"])
def test_a_sound_one_runs_a_job_on_a_gpu(release: str, name: str, reality: Callable[[str], Reality]) -> None:
    place = reality(release)

    outcome = place.start(CASES[name].texts(), lambda: _with_node(place, "gpu-0", RUN, "State=IDLE"))

    assert "gpu 0" in outcome.answer, f"{outcome.log}\n{outcome.answer}"


def _asked(place: Reality, case: Case) -> str:
    match case.reality:
        case None:
            return place.run("sh", "-c", SUBMIT)
        case Shows(argv=argv):
            return place.run("sh", "-c", f"cd /tmp; {argv}")
        case Node(name=node, pattern=pattern):
            return _with_node(place, node, "true", pattern)
    return ""


def _with_node(place: Reality, node: str, command: str, pattern: str) -> str:
    """Start a slurmd, wait for words of it or of `scontrol show node`, run a command beside it."""
    slurmd = place.spawn("sh", "-c", f"slurmd -D -N {node} > /tmp/slurmd.log 2>&1")
    end = monotonic() + 10
    look = f"cat /tmp/slurmd.log; scontrol show node {node}"
    while not re.search(pattern, said := place.run("sh", "-c", look)) and monotonic() < end:
        sleep(0.1)
    answer = place.run("sh", "-c", command)
    place.run("sh", "-c", "pkill -9 slurmd; true")
    slurmd.communicate(timeout=5)
    return said + answer


def _is_so(case: Case, outcome: Outcome) -> bool:
    match case.reality:
        case None:
            return outcome.started and "Submitted batch job" in outcome.answer
        case Stops():
            return not outcome.started
        case Logs(pattern=pattern):
            return outcome.started and re.search(pattern, outcome.log) is not None
        case Shows(pattern=pattern) | Node(pattern=pattern):
            return outcome.started and re.search(pattern, outcome.answer) is not None
        case Policy():
            return outcome.started
