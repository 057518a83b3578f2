"""Hostlists: the same answers as the real scontrol, stored in tests/golden/slurm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npa.slurm import hostlist
from npa.slurm.hostlist import HostlistError

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "golden" / "slurm" / "hostlist-26.05.json").read_text(encoding="utf-8")
)
NAMES = st.one_of(
    st.from_regex(r"[a-z]{0,3}-?[0-9]{1,4}", fullmatch=True),
    st.text(st.characters(exclude_characters="[], ", exclude_categories=["C", "Z"]), min_size=1),
)


@pytest.mark.parametrize(("text", "names"), GOLDEN["expand"].items())
def test_c24_expand_as_scontrol_does(text: str, names: list[str]) -> None:
    assert hostlist.expand(text) == names
    assert hostlist.count(text) == len(names)


@pytest.mark.parametrize("text", GOLDEN["refuse"])
def test_c26_refuse_what_scontrol_refuses(text: str) -> None:
    with pytest.raises(HostlistError):
        hostlist.expand(text)


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("node[3-1]", 5),
        ("node[]", 5),
        ("n[a-c]", 2),
        ("n[1-10/2]", 2),
        ("n[ 1-2 ]", 2),
        ("node[1-3", 4),
        ("node1-3]", 7),
        ("n[[1-2]]", 2),
        ("n[0-70000]", 2),
        ("n[1-2].svc", 6),
        ("n[1-2]a[3-4]b", 6),
        ("n[1-]", 2),
        ("n[+1]", 2),
        ("a,b[1,2-x]", 6),
        ("n[1-1234567890123456789]", 2),
        ("n[1\u0661]", 2),
        ("ok,n\x001", 3),
    ],
)
def test_c26_errors_have_a_position(text: str, position: int) -> None:
    with pytest.raises(HostlistError) as caught:
        hostlist.expand(text)

    assert caught.value.position == position
    assert isinstance(caught.value, ValueError)


def test_c26_limits() -> None:
    bomb = ",".join(["n[0-65535]"] * 100_000)

    assert hostlist.count("n[0-65535]") == 65_536
    assert len(hostlist.expand("n[0-65535]")) == 65_536
    assert hostlist.count(bomb) == 6_553_600_000
    with pytest.raises(HostlistError, match="more than 1048576"):
        hostlist.expand(bomb)


@pytest.mark.parametrize(("names", "text"), GOLDEN["compress"].items())
def test_c27_compress_as_scontrol_does(names: str, text: str) -> None:
    assert hostlist.compress(names.split(",")) == text


@pytest.mark.parametrize(("names", "text"), GOLDEN["sorted"].items())
def test_c27_order_as_scontrol_does(names: str, text: str) -> None:
    unique = names.split(",")
    if len(set(unique)) == len(unique):
        assert hostlist.compress(hostlist.ordered(unique)) == text


@given(st.lists(NAMES))
def test_c27_round_trip(names: list[str]) -> None:
    assert hostlist.expand(hostlist.compress(names)) == names


@given(st.lists(NAMES), st.randoms())
def test_c27_sorted_is_independent_of_order(names: list[str], random: Any) -> None:
    shuffled = random.sample(names, len(names))

    assert hostlist.compress(hostlist.ordered(names)) == hostlist.compress(hostlist.ordered(shuffled))


@given(NAMES)
def test_c27_one_name_never_gets_brackets(name: str) -> None:
    assert hostlist.compress([name]) == name


@pytest.mark.parametrize("name", ["", "a,b", "a b", "a[1]", "a\n", "a\x7f"])
def test_c27_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(HostlistError):
        hostlist.compress(["ok", name])


def test_c27_a_range_stays_within_the_limit() -> None:
    text = hostlist.compress(f"n{number}" for number in range(70_000))

    assert text == "n[0-65535,65536-69999]"


@given(st.text())
def test_c26_any_text_expands_or_is_refused(text: str) -> None:
    try:
        names = hostlist.expand(text)
    except HostlistError:
        return

    assert hostlist.expand(hostlist.compress(names)) == names
