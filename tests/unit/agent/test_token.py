from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from npa.agent import token
from npa.agent.token import Token
from npa.errors import RefusedError

SECRET = "a-secret-of-some-length"


@pytest.mark.parametrize(
    ("header", "admitted"),
    [
        pytest.param(f"Bearer {SECRET}", True, id="right"),
        pytest.param(f"bearer {SECRET}", True, id="scheme-in-lower-case"),
        pytest.param("", False, id="nothing"),
        pytest.param("Bearer ", False, id="empty"),
        pytest.param(SECRET, False, id="no-scheme"),
        pytest.param(f"Basic {SECRET}", False, id="another-scheme"),
        pytest.param(f"Bearer {SECRET}x", False, id="longer"),
        pytest.param(f"Bearer {SECRET[:-1]}", False, id="shorter"),
        pytest.param("Bearer \u00e9", False, id="not-ascii"),
    ],
)
def test_who_is_admitted(header: str, admitted: bool) -> None:
    assert Token(SECRET, "here").admits(header) is admitted


def test_one_is_made_on_first_use_and_found_again(tmp_path: Path) -> None:
    env = {"NPA_CONFIG_DIR": str(tmp_path / "config")}

    made = token.find(env=env)

    path = tmp_path / "config" / "serve-token"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert token.find(env=env) == made
    assert [each.name for each in path.parent.iterdir()] == ["serve-token"]


def test_the_environment_is_asked_first_and_a_named_file_before_it(tmp_path: Path) -> None:
    env = {"NPA_SERVE_TOKEN": SECRET, "NPA_CONFIG_DIR": str(tmp_path)}

    assert token.find(env=env).value == SECRET
    assert token.find(tmp_path / "named", env).value != SECRET


def test_a_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(SECRET)
    path.chmod(0o644)

    with pytest.raises(RefusedError, match="others may read") as caught:
        token.find(path)

    assert caught.value.hint == f"chmod 600 {path}"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_somebody_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(SECRET)
    path.chmod(0o600)
    os.chown(path, 12_345, 12_345)

    with pytest.raises(RefusedError, match="belongs to somebody else"):
        token.find(path)


@pytest.mark.parametrize("value", ["", "short", "with a space in the middle", "caf\u00e9" * 6])
def test_a_weak_token_is_refused_and_not_shown(value: str) -> None:
    with pytest.raises(RefusedError) as caught:
        token.find(env={"NPA_SERVE_TOKEN": value or " "})

    assert "NPA_SERVE_TOKEN" in str(caught.value)
    assert not value or value not in str(caught.value)


def test_it_is_not_printed() -> None:
    assert SECRET not in repr(Token(SECRET, "here"))
