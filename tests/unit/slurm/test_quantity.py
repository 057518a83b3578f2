"""Memory, time, TRES and GRES in every spelling."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npa.slurm import quantity
from npa.slurm.quantity import UNLIMITED, Amount, Gres, Memory, QuantityError


@pytest.mark.parametrize(
    ("text", "memory"),
    [
        ("0", Memory(0)),
        ("1G", Memory(1024)),
        ("118G", Memory(120_832)),
        ("515456M", Memory(515_456)),
        ("1.5T", Memory(1_572_864)),
        ("4000Mc", Memory(4000, "cpu")),
        ("16Gn", Memory(16_384, "node")),
        ("770000", Memory(770_000)),
        ("", None),
        ("N/A", None),
        ("0n", Memory(0, "node")),
        ("2048K", Memory(2)),
        ("1K", Memory(1)),
        ("2GiB", Memory(2048)),
    ],
)
def test_c71_memory(text: str, memory: Memory | None) -> None:
    assert quantity.parse_memory(text) == memory


@pytest.mark.parametrize("text", ["-1", "1GB", "G", "1e9", "1 G", "1G;", "\u0661G", "9" * 5000])
def test_c71_bad_memory_is_refused(text: str) -> None:
    with pytest.raises(QuantityError):
        quantity.parse_memory(text)


@given(st.builds(Memory, st.integers(0, 2**50), st.sampled_from([None, "cpu", "node"])))
def test_c71_memory_round_trip(memory: Memory) -> None:
    assert quantity.parse_memory(quantity.format_memory(memory)) == memory


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("60", 3600),
        ("0", 0),
        ("10:30", 630),
        ("01:02:03", 3723),
        ("1-2", 93_600),
        ("1-02:03", 93_780),
        ("1-02:03:04", 93_784),
        ("7-0", 604_800),
        ("UNLIMITED", UNLIMITED),
        ("infinite", UNLIMITED),
        ("Partition_Limit", None),
        ("NOT_SET", None),
        ("", None),
    ],
)
def test_time_limits(text: str, seconds: Amount) -> None:
    assert quantity.parse_time(text) == seconds


@pytest.mark.parametrize("text", ["1:2:3:4", "soon", "-5", "1-", "1-2-3", "1 h"])
def test_bad_time_is_refused(text: str) -> None:
    with pytest.raises(QuantityError):
        quantity.parse_time(text)


@given(st.one_of(st.none(), st.just(UNLIMITED), st.integers(0, 10**9)))
def test_time_round_trip(seconds: Amount) -> None:
    assert quantity.parse_time(quantity.format_time(seconds)) == seconds


@pytest.mark.parametrize("text", ["NONE", "N/A", "Unknown", "(null)", "None", "-", "", " n/a "])
def test_c70_one_table_for_every_reader(text: str) -> None:
    assert quantity.is_null(text)
    assert quantity.parse_memory(text) is None
    assert quantity.parse_time(text) is None
    assert quantity.parse_timestamp(text) is None
    assert quantity.parse_tres(text) == {}
    assert quantity.parse_gres(text) == ()


CET = timezone(timedelta(hours=1))


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        (0, None),
        ("0", None),
        (None, None),
        (1_700_000_000, datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        ("1700000000", datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        ("2023-11-14T23:13:20", datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        ("2023-11-14T22:13:20Z", datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        ("1970-01-01T01:00:00", None),
    ],
)
def test_c70_timestamps(value: int | str | None, moment: datetime | None) -> None:
    assert quantity.parse_timestamp(value, CET) == moment


@pytest.mark.parametrize("value", ["2023-11-14T23:13:20", "1970-01-01", "yesterday", "999999999999"])
def test_c70_a_time_without_zone_is_never_utc(value: str) -> None:
    with pytest.raises(QuantityError):
        quantity.parse_timestamp(value)


def test_tres_both_ways() -> None:
    text = "cpu=4,mem=1G,node=1,billing=4,gres/gpu=8,gres/gpu:b200=8"
    counts = quantity.parse_tres(text)

    assert counts["mem"] == 1024
    assert counts["gres/gpu:b200"] == 8
    assert quantity.format_tres(counts) == text


@pytest.mark.parametrize("text", ["cpu", "cpu=", "=4", "cpu=4,,", "mem=", "cpu=x", "cpu=-1"])
def test_bad_tres_is_refused(text: str) -> None:
    with pytest.raises(QuantityError):
        quantity.parse_tres(text)


@pytest.mark.parametrize(
    ("text", "resources"),
    [
        ("gpu:b200:8", (Gres("gpu", "b200", 8),)),
        ("gpu:8", (Gres("gpu", "", 8),)),
        ("gpu", (Gres("gpu"),)),
        ("gpu:b200", (Gres("gpu", "b200", 1),)),
        ("gpu:b200:8(S:0-1)", (Gres("gpu", "b200", 8),)),
        ("gpu:b200:3(IDX:0,2-3),shard:1K", (Gres("gpu", "b200", 3), Gres("shard", "", 1024))),
        ("gpu:0", (Gres("gpu", "", 0),)),
    ],
)
def test_c31_gres(text: str, resources: tuple[Gres, ...]) -> None:
    assert quantity.parse_gres(text) == resources


def test_c31_gres_both_ways() -> None:
    resources = quantity.parse_gres("gpu:b200:8,shard:4")

    assert quantity.format_gres(resources) == "gpu:b200:8,shard:4"
    assert quantity.gpus(resources) == 8


@given(st.text())
def test_any_text_is_a_quantity_or_refused(text: str) -> None:
    for parse in (quantity.parse_memory, quantity.parse_time, quantity.parse_tres, quantity.parse_gres):
        try:
            parse(text)
        except QuantityError as error:
            assert error.kind  # noqa: PT017  # no other error may come out
