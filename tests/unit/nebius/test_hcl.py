from __future__ import annotations

import pytest

from npa.render.nebius import hcl


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain", '"plain"'),
        ("${a}", '"$${a}"'),
        ("%{if}", '"%%{if}"'),
        ("$${a}", '"$$${a}"'),
        ("$%{a}", '"$%%{a}"'),
        ("cost: $5, 10%", '"cost: $5, 10%"'),
        ('a"b\\c', '"a\\"b\\\\c"'),
        ("a\nb\tc\r", '"a\\nb\\tc\\r"'),
        ("\x00\x1b\x7f", '"\\u0000\\u001b\\u007f"'),
        ("é", '"\\u00e9"'),
        ("😀", '"\\U0001f600"'),
    ],
)
def test_string(text: str, written: str) -> None:
    assert hcl.string(text) == written


def test_half_a_surrogate_pair_is_no_text() -> None:
    with pytest.raises(ValueError, match="surrogate"):
        hcl.string("\ud83d")


def test_a_name_is_no_place_for_text() -> None:
    with pytest.raises(ValueError, match="not a name"):
        hcl.assignments({'a" = 1\nb': 1})


def test_values() -> None:
    text = hcl.assignments({"a": None, "b": True, "c": 1, "d": (), "e": {}, "f": ("x", {"g": False})})

    assert text == 'a = null\nb = true\nc = 1\nd = []\ne = {}\nf = [\n  "x",\n  {\n    g = false\n  },\n]\n'
