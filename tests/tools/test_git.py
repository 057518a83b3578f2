from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from tests.nebius import repository
from tests.nebius.repository import Upstream

from npa.errors import ToolError, ToolMissingError
from npa.tools.git import Git
from npa.tools.run import run

NOWHERE = "0" * 40


@pytest.fixture
def upstream(tmp_path: Path) -> Upstream:
    return repository.upstream(tmp_path / "upstream")


def test_a_folder_that_is_no_checkout_has_no_top(tmp_path: Path) -> None:
    assert Git(tmp_path).top_level() is None


def test_it_says_where_it_is(upstream: Upstream) -> None:
    git = Git(upstream.path / "soperator")

    assert git.top_level() == upstream.path
    assert git.head() == upstream.after
    assert git.branch() == "refs/heads/main"
    assert git.has_commit(upstream.pin)
    assert not git.has_commit(NOWHERE)


def test_a_detached_head_is_on_no_branch(upstream: Upstream) -> None:
    git = Git(upstream.path)
    git.checkout_detached(upstream.pin)

    assert (git.head(), git.branch()) == (upstream.pin, "")


def test_changes_are_those_of_tracked_files_staged_or_not(upstream: Upstream) -> None:
    repository.write(upstream.path, {"soperator/VERSION": "mine", "untracked": "x", "soperator/ä b": "y"})
    (upstream.path / "soperator/modules/login/main.tf").unlink()
    repository.git(upstream.path, "add", "soperator/ä b")

    assert set(Git(upstream.path).changed()) == {
        "soperator/VERSION",
        "soperator/modules/login/main.tf",
        "soperator/ä b",
    }


def test_a_file_is_shown_as_it_was_committed(upstream: Upstream) -> None:
    git = Git(upstream.path)

    assert git.show(upstream.pin, "soperator/VERSION") == "4.1.6-1\n"
    assert git.show(upstream.pin, "soperator/none") is None


@pytest.mark.parametrize("content", [b"a\r\nb\r\n", b"\xff\xfe"], ids=["carriage-returns", "bytes"])
def test_a_file_that_cannot_be_shown_exactly_is_an_error(upstream: Upstream, content: bytes) -> None:
    (upstream.path / "odd").write_bytes(content)
    sha = repository.commit(upstream.path, {}, "odd")

    with pytest.raises(ToolError, match="not plain UTF-8 text"):
        Git(upstream.path).show(sha, "odd")


def test_one_commit_is_fetched_into_a_shallow_clone(upstream: Upstream, tmp_path: Path) -> None:
    repository.git(tmp_path, "clone", "-q", "--depth", "1", upstream.url, "shallow")
    git = Git(tmp_path / "shallow")
    before = git.has_commit(upstream.pin)
    git.fetch(upstream.pin)

    assert (before, git.has_commit(upstream.pin)) == (False, True)


def test_a_work_tree_of_its_own_is_made_and_moved(upstream: Upstream, tmp_path: Path) -> None:
    git = Git(upstream.path)
    git.worktree_add(tmp_path / "draft", upstream.pin)
    git.worktree_move(tmp_path / "draft", tmp_path / "own")

    assert Git(tmp_path / "own").head() == upstream.pin
    assert git.head() == upstream.after


def test_files_are_listed_below_a_folder(upstream: Upstream) -> None:
    listed = Git(upstream.path / "soperator").files(upstream.pin, "soperator/installations/example")

    assert "soperator/installations/example/assets/logo.txt" in listed
    assert all(name.startswith("soperator/installations/example/") for name in listed)


def test_hooks_of_the_checkout_are_not_run(upstream: Upstream) -> None:
    hook = upstream.path / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntouch ran\n")
    hook.chmod(0o755)
    Git(upstream.path).checkout_detached(upstream.pin)

    assert not (upstream.path / "ran").exists()


def test_the_environment_moves_git_nowhere_else(upstream: Upstream, tmp_path: Path) -> None:
    moved = {"PATH": "/usr/bin:/bin", "GIT_DIR": str(tmp_path / "elsewhere")}

    assert Git(upstream.path, env=moved).head() == upstream.after


def test_a_missing_git_is_no_answer(tmp_path: Path) -> None:
    def missing(
        argv: Sequence[str],
        *,
        stdin: str = "",
        timeout: float = 60,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> str:
        return run(["/nonexistent/git", *argv[1:]], stdin=stdin, timeout=timeout, env=env, cwd=cwd)

    with pytest.raises(ToolMissingError):
        Git(tmp_path, run=missing).has_commit(NOWHERE)
