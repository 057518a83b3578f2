from __future__ import annotations

import pytest

from npa.cli import screen


def test_nobody_else_s_text_steers_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    screen.data("job \x1b[2J\x07 \u202ename\r\nnext\tline")

    assert capsys.readouterr().out == "job \\x1b[2J\\x07 \\x202ename\\x0d\nnext\tline\n"


def test_a_document_is_json_in_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    screen.document({"a": "é\x1b"})

    assert capsys.readouterr().out == '{\n  "a": "\\u00e9\\u001b"\n}\n'
