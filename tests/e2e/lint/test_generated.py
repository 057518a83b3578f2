"""Hundreds of configurations with a change that nobody thought of: the checker and slurmctld must agree.

A start takes some forty milliseconds, so that each one is really given to both.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from tests.e2e.lint.reality import Outcome, Reality
from tests.golden.lint.cases import CASES

from npa.slurm import keys, keys_values, lint

EXAMPLES = 250  # for each release
SOUND = CASES["c29-sound-tree-conf"].texts()
LINES = SOUND["slurm.conf"].splitlines()
# Without these a daemon looks for another user, key or folder than this place has.
FIXED = ("SlurmUser", "Auth", "Cred", "StateSave", "SlurmctldPid", "SlurmctldHost", "SlurmdSpool")
SETTINGS = [line for line in LINES if not line.startswith(("Node", "Partition", "ClusterName", *FIXED))]
# Errors of ours that slurmctld takes without a word: each has a case that shows what it does instead.
SILENT = re.compile(
    r"is unknown|a second set|a second default|there is no partition|GresTypes|gres\.conf has|needs cgroups"
    r"|disables cgroups|has a quote|begins a comment|becomes part|in gres\.conf|SlurmdPort: must be"
    r"|(ProctrackType|TaskPlugin): there is no plugin|of bf_interval is not"
)
NUMBERS = st.one_of(
    st.integers(-2, 2**33).map(str),
    st.sampled_from(
        ["", "0", "1", "0x10", "010", "08", "10K", "10M", "3.5", "1e3", "abc", "INFINITE", "unlimited"]
    ),
)
TIMES = ["0", "10", "1:30", "1:2:3", "1-0", "1-2:3", "UNLIMITED", "INFINITE", "-1", "1h", "NONE", "x"]
BOOLS = ["YES", "no", "1", "0", "true", "down", "2", "y", "on", "maybe"]


def _misspelt(draw: st.DrawFn, word: str) -> str:
    at = draw(st.integers(0, len(word) - 1))
    return draw(
        st.sampled_from(
            [word[:at] + word[at + 1 :], word[:at] + word[at] + word[at:], word.swapcase(), word + "s"]
        )
    )


def _key_changed(draw: st.DrawFn) -> list[str]:
    index = draw(st.integers(0, len(LINES) - 1))
    found = list(re.finditer(r"[A-Za-z]+(?==)", LINES[index]))
    one = found[draw(st.integers(0, len(found) - 1))]
    line = LINES[index][: one.start()] + _misspelt(draw, one[0]) + LINES[index][one.end() :]
    return [*LINES[:index], line, *LINES[index + 1 :]]


def _line_dropped(draw: st.DrawFn) -> list[str]:
    line = draw(st.sampled_from([line for line in LINES if not line.startswith(FIXED)]))
    return [each for each in LINES if each != line]


def _line_twice(draw: st.DrawFn) -> list[str]:
    return [*LINES, draw(st.sampled_from(LINES))]


def _number_added(draw: st.DrawFn, release: str) -> list[str]:
    known = keys.known("slurm.conf", release).values()
    names = [key.name for key in known if key.kind in ("u16", "u32", "u64") and key.name.lower() not in ODD]
    return [*LINES, f"{draw(st.sampled_from(names))}={draw(NUMBERS)}"]


def _word_added(draw: st.DrawFn, release: str) -> list[str]:
    tables = {**keys_values.STRICT_WORD, **keys_values.STRICT_WORDS}
    key = draw(st.sampled_from(sorted(set(tables) - NEVER)))
    known = keys.here(tables[key], release)
    word = draw(st.sampled_from(known))
    return [*LINES, f"{key}={draw(st.sampled_from([word, _misspelt(draw, word)]))}"]


def _value_of_a_line(draw: st.DrawFn) -> list[str]:
    """Change a value of a node's or a partition's line."""
    change = draw(
        st.sampled_from(
            [
                ("CPUs=16", st.tuples(st.just("CPUs="), NUMBERS)),
                ("RealMemory=65536", st.tuples(st.just("RealMemory="), NUMBERS)),
                ("MaxTime=1-0", st.tuples(st.just("MaxTime="), st.sampled_from(TIMES))),
                ("MaxTime=1-0", st.tuples(st.just("Hidden="), st.sampled_from(BOOLS))),
                ("MaxTime=1-0", st.tuples(st.just("PriorityTier="), NUMBERS)),
                ("MaxTime=1-0", st.tuples(st.just("MaxNodes="), NUMBERS)),
                (
                    "Nodes=gpu ",
                    st.tuples(
                        st.just("Nodes="),
                        st.sampled_from(["gpu-[0-2] ", "cpu ", "ALL ", "gpu,cpu-0 ", "g ", "gpu-[ "]),
                    ),
                ),
                (
                    "State=UNKNOWN",
                    st.tuples(st.just("State="), st.sampled_from(["IDLE", "FUTURE", "DOWN", "UP", "X"])),
                ),
                (
                    "cpu-[0-1] CPUs",
                    st.tuples(
                        st.just("cpu-[0-"),
                        st.sampled_from(["1] CPUs", "0] CPUs", "9] CPUs", "1 CPUs", "x] CPUs"]),
                    ),
                ),
            ]
        )
    )
    old, parts = change
    return "\n".join(LINES).replace(old, "".join(draw(parts))).split("\n")


def _grammar(draw: st.DrawFn) -> list[str]:
    line = draw(st.sampled_from(SETTINGS))
    odd = draw(
        st.sampled_from(
            [
                " x",
                " # x",
                "# x",
                "\\",
                ' "x"',
                " KillWait=1",
                "\t",
                "\r",
                ' ""',
                "=",
                " =",
                '"',
                "  \\# x",
                "\\x",
            ]
        )
    )
    index = LINES.index(line)
    before = draw(st.sampled_from(["", " ", "\t", "# ", "include "]))
    return [*LINES[:index], before + line + odd, *LINES[index + 1 :]]


# Words that need others beside them, and levels at which nothing says that the controller runs.
NEVER = {"accountingstorageenforce", "selecttypeparameters", "slurmctlddebug"}
# Numbers that are about more than their own line.
ODD = {
    "fastschedule",
    "slurmschedloglevel",
    "firstjobid",
    "maxjobid",
    "maxnodecount",
    "accountingstorageport",
}


@st.composite
def configurations(draw: st.DrawFn, release: str) -> dict[str, str]:
    """Return the sound files with one change to slurm.conf."""
    kind = draw(st.integers(0, 7))
    made: Callable[[], list[str]] = {
        0: lambda: _key_changed(draw),
        1: lambda: _line_dropped(draw),
        2: lambda: _line_twice(draw),
        3: lambda: _number_added(draw, release),
        4: lambda: _word_added(draw, release),
        5: lambda: _value_of_a_line(draw),
        6: lambda: _grammar(draw),
        7: lambda: [*LINES, f"DisableRootJobs={draw(st.sampled_from(BOOLS))}"],
    }[kind]
    return {**SOUND, "slurm.conf": "\n".join(made()) + "\n"}


@pytest.mark.parametrize("release", ["26.05", "24.11"])
def test_c32_the_checker_agrees_with_slurmctld(release: str, reality: Callable[[str], Reality]) -> None:
    place, counts = reality(release), Counter[str]()
    usual, differ = set(place.start(SOUND).errors), list[str]()

    @seed(20261130)
    @settings(
        max_examples=EXAMPLES,
        database=None,
        deadline=None,
        derandomize=False,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(configurations(release))
    def agree(files: dict[str, str]) -> None:
        outcome = place.start(files)
        found = lint.errors(lint.check(files, version=release))
        counts[_verdict(outcome, found, usual)] += 1

        if not outcome.started and not found:
            differ.append(f"passed, and does not start\n{_said(files, outcome)}")
        quiet = outcome.started and not set(outcome.errors) - usual
        loud = [str(each.problem()) for each in found if not SILENT.search(str(each.problem()))]
        if quiet and loud:
            differ.append(f"refused, and starts: {loud}\n{_said(files, outcome)}")

    agree()
    print(release, dict(counts))
    assert not differ, "\n\n".join(differ)
    assert sum(counts.values()) == EXAMPLES
    assert counts["both pass"] > EXAMPLES / 10
    assert counts["both refuse"] > EXAMPLES / 5
    assert counts["refused, slurmctld is silent"] < EXAMPLES / 10


def _verdict(outcome: Outcome, found: tuple[lint.Finding, ...], usual: set[str]) -> str:
    if not outcome.started:
        return "both refuse" if found else "missed"
    if not found:
        return "both pass"
    return "refused, its log complains" if set(outcome.errors) - usual else "refused, slurmctld is silent"


def _said(files: dict[str, str], outcome: Outcome) -> str:
    changed = [line for line in files["slurm.conf"].splitlines() if line not in LINES]
    gone = [line for line in LINES if line not in files["slurm.conf"].splitlines()]
    said = "\n".join(outcome.errors)
    return f"changed: {changed}\ngone: {gone}\n{said}"
