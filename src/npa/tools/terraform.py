"""`terraform` in one working directory. Secrets reach it through its environment, never through its argv."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from npa.errors import PreflightError, RefusedError, ToolError, ToolTimeoutError
from npa.render.nebius import redaction
from npa.tools import disk, unfinished
from npa.tools import run as runner
from npa.tools.run import Ending, Run

FOLDER = ".npa-plan-"  # a private folder in the working directory, gone with the plan in it
CHANGES = 2  # the exit status of `plan -detailed-exitcode` when there are any
LOCKED = "acquiring the state lock"  # what Terraform's error is called
KEPT, TAIL = 100, 20  # lines of output that are looked at, and that an error keeps
SAFE = "nothing was changed"
AGAIN = "what was done is in the state: run the same command again, it plans from what is there"

# Terraform writes its state before it ends when it is interrupted; killed at once, it loses what it made.
GENTLE: Ending = ((signal.SIGINT, 120), (signal.SIGTERM, 10), (signal.SIGKILL, 5))

# What of our own environment Terraform sees; TF_CLI_ARGS and TF_WORKSPACE would change what a plan is of.
PASSED = frozenset(
    {"PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR"}
    | {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}
    | {"TF_CLI_CONFIG_FILE", "TF_PLUGIN_CACHE_DIR"}
)
FIXED = {"TF_IN_AUTOMATION": "1", "TF_INPUT": "0", "CHECKPOINT_DISABLE": "1", "NO_COLOR": "1"}


class Stream(Protocol):
    """How a long command is run and heard; see `run.stream`."""

    def __call__(
        self,
        argv: Sequence[str],
        heard: Callable[[str], None],
        *,
        timeout: float,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        ending: Ending = runner.ENDING,
    ) -> None:
        """Run a program to its end, handing over each line."""


Outliving = Callable[..., None]  # how an apply is run: to its end, even where we come to ours


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds that each command is given."""

    version: float = 30
    init: float = 900
    plan: float = 5400
    show: float = 300
    apply: float = 5400
    read: float = 300  # state and outputs
    lock: float = 60  # until somebody else gives the state free


@dataclass(frozen=True, slots=True)
class Saved:
    """A plan in a file, to be applied once, as it was inspected, or not at all."""

    path: Path
    digest: str  # SHA256 of the file
    exit_code: int
    targeted: bool
    destroying: bool


def environment(ours: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for Terraform: what it needs of ours, and what the caller adds."""
    return {**{name: value for name, value in ours.items() if name in PASSED}, **FIXED, **more}


class Terraform:
    """`terraform` in one working directory."""

    def __init__(
        self,
        directory: Path,
        env: Mapping[str, str],
        *,
        run: Run = runner.run,
        stream: Stream = runner.stream,
        outliving: Outliving = runner.outliving,
        program: str = "terraform",
        deadlines: Deadlines = Deadlines(),
    ) -> None:
        self._directory, self._env = directory, dict(env)
        self._run, self._stream, self._outliving = run, stream, outliving
        self._program, self._deadlines = program, deadlines

    def version(self) -> tuple[int, int, int]:
        """Return the version; raises ToolError where it cannot be read."""
        out = self._captured(["version", "-json"], self._deadlines.version)
        told = self._decoded(["version"], out)
        text = told.get("terraform_version") if isinstance(told, dict) else None
        try:
            major, minor, patch = str(text).partition("-")[0].split(".")
            return int(major), int(minor), int(patch)
        except ValueError:
            raise ToolError([self._program, "version"], 0, f"not a version: {text!r:.60}") from None

    def require(self, minimum: tuple[int, int]) -> tuple[int, int, int]:
        """Return the version; raises PreflightError where it is older than the recipe needs."""
        found = self.version()
        if found[:2] < minimum:
            needed, is_ = (".".join(map(str, each)) for each in (minimum, found))
            raise PreflightError(
                [(f"terraform {is_} is older than {needed}", f"install terraform {needed} or later")]
            )
        return found

    def init(self, heard: Callable[[str], None] | None = None) -> None:
        """Fetch providers and modules."""
        self._long(["init", "-input=false", "-no-color"], heard, self._deadlines.init, SAFE)

    @contextlib.contextmanager
    def planned(
        self,
        *,
        target: str = "",
        destroy: bool = False,
        heard: Callable[[str], None] | None = None,
        timeout: float | None = None,
    ) -> Iterator[Saved]:
        """Plan into a private file that is there inside the `with` block only.

        The caller holds the lock of the installation: what an earlier run left behind is removed.
        """
        for left in self._directory.glob(f"{FOLDER}*"):
            shutil.rmtree(left, ignore_errors=True)
        folder = Path(tempfile.mkdtemp(prefix=FOLDER, dir=self._directory))  # mode 0700
        try:
            yield self._plan(folder / "plan", target, destroy, heard, timeout or self._deadlines.plan)
        finally:
            shutil.rmtree(folder)

    def show(self, saved: Saved) -> Any:
        """Return `terraform show -json PLAN`, decoded but not interpreted. It holds secrets in clear text."""
        self._unchanged(saved)
        argv = ["show", "-json", "-no-color", str(saved.path)]
        return self._decoded(argv[:1], self._captured(argv, self._deadlines.show))

    def apply(
        self, saved: Saved, heard: Callable[[str], None] | None = None, timeout: float | None = None
    ) -> None:
        """Apply exactly the file that was inspected; it is gone afterwards, however that ended.

        Should we be killed, it goes on: half-made things that no state knows would be worse.
        """
        self._unchanged(saved)
        argv = ["apply", "-input=false", "-no-color", self._patience, str(saved.path)]
        output = self._directory / unfinished.OUTPUT
        try:
            with disk.lent_lock(self._directory / unfinished.APPLYING, unfinished.BUSY) as held:
                start = functools.partial(self._outliving, output=output, held=held)
                self._long(argv, heard, timeout or self._deadlines.apply, AGAIN, start)
        finally:
            saved.path.unlink(missing_ok=True)
            output.unlink(missing_ok=True)

    def state_pull(self) -> dict[str, Any]:
        """Return the state, empty where there is none yet. It holds secrets in clear text."""
        out = self._captured(["state", "pull"], self._deadlines.read)
        return self._object(["state", "pull"], out) if out.strip() else {}

    def output(self) -> dict[str, Any]:
        """Return the outputs by name, each with its value and whether it is sensitive."""
        return self._object(
            ["output"], self._captured(["output", "-json", "-no-color"], self._deadlines.read)
        )

    @property
    def _patience(self) -> str:
        return f"-lock-timeout={self._deadlines.lock:g}s"

    def _plan(
        self, path: Path, target: str, destroy: bool, heard: Callable[[str], None] | None, timeout: float
    ) -> Saved:
        argv = ["plan", "-input=false", "-no-color", "-detailed-exitcode", self._patience]
        argv += [f"-out={path}"]
        argv += [f"-target={target}"] * bool(target) + ["-destroy"] * destroy
        code = 0
        try:
            self._long(argv, heard, timeout, SAFE)
        except ToolTimeoutError:
            raise
        except ToolError as error:
            if error.exit_status != CHANGES:
                raise
            code = CHANGES
        if not path.is_file():
            raise ToolError([self._program, "plan"], code, "it wrote no plan", hint=SAFE)
        path.chmod(0o600)
        return Saved(path, _sha256(path), code, bool(target), destroy)

    def _unchanged(self, saved: Saved) -> None:
        if not saved.path.is_file():
            raise RefusedError("the plan has been applied already, or is gone", hint="plan again")
        if _sha256(saved.path) != saved.digest:
            raise RefusedError("the plan file is not the one that was made", hint="plan again")

    def _long(
        self,
        arguments: list[str],
        heard: Callable[[str], None] | None,
        timeout: float,
        hint: str,
        start: Stream | None = None,
    ) -> None:
        lines: list[str] = []

        def listen(line: str) -> None:
            lines.append(line)
            del lines[:-KEPT]
            if heard:
                heard(self._shown(line))

        argv = [self._program, *arguments]
        try:
            (start or self._stream)(
                argv, listen, timeout=timeout, env=self._env, cwd=self._directory, ending=GENTLE
            )
        except ToolTimeoutError as error:
            error.hint = hint
            raise
        except ToolError as error:
            raise self._failed(error, "\n".join(lines) or error.stderr, hint) from None

    def _captured(self, arguments: list[str], timeout: float) -> str:
        argv = [self._program, *arguments]
        try:
            return self._run(argv, timeout=timeout, env=self._env, cwd=self._directory)
        except ToolTimeoutError as error:
            error.hint = SAFE
            raise
        except ToolError as error:
            raise self._failed(error, error.stderr, error.hint or SAFE) from None

    def _failed(self, error: ToolError, output: str, hint: str) -> ToolError:
        """Return the error as it may be shown; its last line is what Terraform calls the error."""
        if error.exit_status == 127:
            return error
        plain = [line.strip("╷│╵ \t") for line in output.splitlines()]
        tail = [line for line in plain if line][-TAIL:]
        headline = [line for line in plain if line.startswith("Error:")][:1]
        if headline and LOCKED in headline[0]:
            key = next((each.removeprefix("ID:").strip() for each in plain if each.startswith("ID:")), "ID")
            hint = (
                f"another Terraform holds the state: wait for it; where none runs any more: "
                f"{self._program} -chdir={self._directory} force-unlock {key}"
            )
        return type(error)(error.argv, error.exit_status, self._shown("\n".join(tail + headline)), hint=hint)

    def _shown(self, text: str) -> str:
        return redaction.redact(text, redaction.secrets(self._env))

    def _object(self, what: list[str], out: str) -> dict[str, Any]:
        decoded = self._decoded(what, out)
        if not isinstance(decoded, dict):
            raise ToolError([self._program, *what], 0, "its answer is no JSON object", hint=SAFE)
        return decoded

    def _decoded(self, what: list[str], out: str) -> Any:
        try:
            return json.loads(out)
        except (ValueError, RecursionError):
            # The text may hold secrets, so it is in no message.
            raise ToolError([self._program, *what], 0, "its answer is not JSON", hint=SAFE) from None


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
