"""`git` in one directory."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from npa.errors import ToolError, ToolMissingError, ToolTimeoutError
from npa.tools.run import Run, run

PATIENCE = 600.0  # seconds, for each command

# A hook, a pager or a line-ending conversion of the user's must not change what we do.
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.autocrlf=false",
    "core.fsmonitor=false",
    "core.quotePath=false",
)
# These move git to another repository, whatever directory it is run in (git(1), environment).
_MOVING = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX")


class Git:
    """`git -C DIRECTORY`; asks no questions, speaks English, runs no hooks."""

    def __init__(
        self, directory: Path, run: Run = run, env: Mapping[str, str] | None = None, timeout: float = PATIENCE
    ) -> None:
        self._directory = directory
        self._run = run
        ambient = dict(os.environ if env is None else env)
        self._env = {key: value for key, value in ambient.items() if key not in _MOVING}
        self._env |= {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", "GIT_PAGER": "cat"}
        self._timeout = timeout

    def top_level(self) -> Path | None:
        """Return the root of the work tree that the directory is in; None where it is in none."""
        found = self._maybe("rev-parse", "--show-toplevel")
        return Path(found) if found else None

    def head(self) -> str:
        """Return the commit that is checked out; "" where there is none yet."""
        return self._maybe("rev-parse", "--verify", "--quiet", "HEAD^{commit}") or ""

    def branch(self) -> str:
        """Return the branch that is checked out, as `refs/heads/…`; "" where HEAD is detached."""
        return self._maybe("symbolic-ref", "--quiet", "HEAD") or ""

    def has_commit(self, sha: str) -> bool:
        """Whether the commit is in the repository."""
        return self._maybe("cat-file", "-e", f"{sha}^{{commit}}") is not None

    def changed(self) -> tuple[str, ...]:
        """Return the tracked files that differ from HEAD, staged or not, by their paths from the root."""
        out = self._git("status", "--porcelain", "-z", "--untracked-files=no", "--no-renames")
        return tuple(entry[3:] for entry in out.split("\0") if entry)

    def show(self, sha: str, path: str) -> str | None:
        """Return a file at a commit; None where it has none. Raises ToolError where it is not UTF-8."""
        blob = self._maybe("rev-parse", "--verify", "--quiet", f"{sha}:{path}")
        if blob is None:
            return None
        text = self._git("cat-file", "blob", blob)
        if _blob_id(text) != blob:
            # Text that was decoded with a loss (or with its line ends changed) does not hash to its own id.
            raise ToolError(("git", "show", f"{sha[:12]}:{path}"), 1, f"{path} is not plain UTF-8 text")
        return text

    def files(self, sha: str, folder: str) -> tuple[str, ...]:
        """Return the paths of all files below a folder at a commit."""
        out = self._git("ls-tree", "-r", "-z", "--name-only", "--full-tree", sha, "--", f"{folder}/")
        return tuple(name for name in out.split("\0") if name)

    def clone(self, remote: str, into: Path) -> None:
        """Clone with blobs left out until they are needed, and nothing checked out."""
        self._git("clone", "--quiet", "--filter=blob:none", "--no-checkout", "--", remote, str(into))

    def fetch(self, sha: str, remote: str = "origin") -> None:
        """Fetch one commit, and what it needs."""
        self._git("fetch", "--quiet", "--no-tags", remote, sha)

    def checkout_detached(self, sha: str) -> None:
        """Check out a commit on no branch; raises ToolError where a file would be lost."""
        self._git("checkout", "--quiet", "--detach", sha)

    def worktree_add(self, path: Path, sha: str) -> None:
        """Check out a commit into a directory of its own that shares this repository."""
        self._git("worktree", "add", "--quiet", "--force", "--detach", str(path), sha)

    def worktree_move(self, path: Path, to: Path) -> None:
        """Move such a directory."""
        self._git("worktree", "move", str(path), str(to))

    def worktree_repair(self) -> None:
        """Tell the repository where this work tree is now; says nothing where it cannot."""
        self._maybe("worktree", "repair")

    def _git(self, *arguments: str) -> str:
        return self._run(self._argv(arguments), timeout=self._timeout, env=self._env)

    def _maybe(self, *arguments: str) -> str | None:
        """Run a command whose failure is an answer: None."""
        try:
            return self._git(*arguments).strip()
        except (ToolMissingError, ToolTimeoutError):
            raise
        except ToolError as error:
            if "dubious ownership" in error.stderr:
                raise
            return None

    def _argv(self, arguments: Sequence[str]) -> list[str]:
        settings = [part for setting in _SETTINGS for part in ("-c", setting)]
        return ["git", "-C", str(self._directory), *settings, *arguments]


def _blob_id(text: str) -> str:
    content = text.encode("utf-8", "surrogateescape")
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
