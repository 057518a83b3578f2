"""Lines of configuration files: nothing gets in that was not meant, and what is read can be written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npa.slurm import conf
from npa.slurm.conf import ConfError, Line

PRINTABLE = st.characters(exclude_categories=["C", "Z"], include_characters=" ")
KEYS = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,12}", fullmatch=True).filter(
    lambda key: key.lower() != "include"
)
VALUES = st.text(PRINTABLE.filter(lambda character: character not in '"#\\'))
COMMENTS = st.text(PRINTABLE).map(str.strip)
LINES = st.builds(Line, st.lists(st.tuples(KEYS, VALUES), max_size=4).map(tuple), COMMENTS)


def test_a_line_is_a_value() -> None:
    line = conf.line(("NodeName", "gpu-[0-1]"), ("CPUs", 4), ("Reason", "two words"), ("Nodes", ""))

    assert str(line) == 'NodeName=gpu-[0-1] CPUs=4 Reason="two words" Nodes=""'
    assert line.key == "nodename"
    assert line.get("cpus") == "4"
    assert line.get("Weight", "1") == "1"


@pytest.mark.parametrize(
    ("value", "character"),
    [
        ("a\nNodeName=evil", "\n"),
        ("a\rb", "\r"),
        ("a\0b", "\0"),
        ("a\tb", "\t"),
        ("a\u2028b", "\u2028"),
        ("a\u202eb", "\u202e"),
        ("p#w", "#"),
        ('a" NodeName="evil', '"'),
        ("joined\\", "\\"),
    ],
)
def test_c34_traps_are_refused_with_key_and_character(value: str, character: str) -> None:
    with pytest.raises(ConfError, match="StoragePass") as caught:
        conf.line(("StoragePass", value))

    assert (caught.value.key, caught.value.character) == ("StoragePass", character)


@pytest.mark.parametrize("key", ["", "a b", "a=b", "a\nb", "include", "Include", "#a", "1a", "é"])
def test_c32_what_is_no_key_is_refused(key: str) -> None:
    with pytest.raises(ConfError):
        conf.line((key, "1"))


def test_c32_keys_have_no_case_and_lines_continue() -> None:
    lines = conf.parse("  nodeNAME=evil CPUs=1\nslurmctld\\\nHOST=elsewhere\n\n# note\nMaxTime=1 # why\n")

    assert [(line.key, line.number) for line in lines] == [
        ("nodename", 1),
        ("slurmctldhost", 2),
        ("", 4),
        ("", 5),
        ("maxtime", 6),
    ]
    assert lines[0].get("cpus") == "1"
    assert lines[3].comment == "note"
    assert lines[4].comment == "why"


def test_c32_includes_are_kept_and_nonsense_is_not_lost() -> None:
    lines = conf.parse('include /etc/shadow\nfree text\nKey="open\nKey=a b\nA\\#=1\n')

    assert lines[0].include == "/etc/shadow"
    assert [line.unread for line in lines[1:]] == ["free text", 'Key="open', "Key=a b", "A\\#=1"]


@pytest.mark.parametrize("text", ["", "a b", "a\nb", "a#b"])
def test_a_word_stands_alone(text: str) -> None:
    with pytest.raises(ConfError):
        conf.word("plugin", text)


@given(st.lists(LINES.filter(lambda line: line != Line()), max_size=6))
def test_round_trip(lines: list[Line]) -> None:
    assert conf.parse(conf.text(lines)) == tuple(lines)


@given(KEYS, st.text())
def test_no_value_adds_a_line_or_a_setting(key: str, value: str) -> None:
    try:
        text = conf.text([conf.line((key, value))])
    except ConfError:
        return

    assert conf.parse(text) == (Line(((key, value),)),)


@given(st.text())
def test_any_text_can_be_read(content: str) -> None:
    conf.parse(content)
