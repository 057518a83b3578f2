"""Runs programs: the only module that does. No shell, a deadline for each call, text in and out."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Protocol

from npa.errors import ToolError, ToolMissingError, ToolTimeoutError

# What provides a program on Debian, for the hint when it is missing.
PACKAGES = {
    "mmdebstrap": "mmdebstrap",
    "gcc": "gcc libc6-dev",
    "nsenter": "util-linux",
    "ssh": "openssh-client",
    "chroot": "coreutils",
    "dpkg-deb": "dpkg",
}


# How a program is ended: signals in this order, with the seconds that each is given. SIGINT is for the
# program alone, which may tell those that it started itself; the others are for its whole group.
Ending = tuple[tuple[signal.Signals, float], ...]
ENDING: Ending = ((signal.SIGTERM, 10), (signal.SIGKILL, 5))
_GLANCE = 0.1  # seconds between two looks at the output of a program that outlives us


class Run(Protocol):
    """How a tool starts its program; tests pass their own."""

    def __call__(
        self,
        argv: Sequence[str],
        *,
        stdin: str = "",
        timeout: float = 60,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> str:
        """Run a program to its end and return its stdout."""


def run(
    argv: Sequence[str],
    *,
    stdin: str = "",
    timeout: float = 60,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> str:
    """Run a program and return its stdout.

    `timeout` is in seconds. Raises ToolMissingError, ToolTimeoutError, or ToolError when it exits non-zero.
    """
    try:
        done = subprocess.run(
            list(argv),
            input=stdin,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            env=None if env is None else dict(env),
            cwd=cwd,
            check=False,
        )
    except FileNotFoundError as error:
        raise missing(argv[0]) from error
    except subprocess.TimeoutExpired as error:
        raise ToolTimeoutError(argv, timeout) from error
    if done.returncode != 0:
        raise ToolError(argv, done.returncode, done.stderr or done.stdout)
    return done.stdout


def stream(
    argv: Sequence[str],
    heard: Callable[[str], None],
    *,
    timeout: float,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    ending: Ending = ENDING,
) -> None:
    """Run a program and hand over each line of its output (both streams) as it comes.

    On a deadline, an error or Ctrl-C the program's whole process group is ended, gently first. Raises as
    `run` does.
    """
    lines: list[str] = []
    late = threading.Event()

    def expire() -> None:
        late.set()
        _end(process, ending)

    with _started(argv, env, cwd) as process:
        timer = threading.Timer(timeout, expire)
        timer.daemon = True
        timer.start()
        try:
            assert process.stdout is not None
            for line in process.stdout:
                lines.append(line)
                heard(line.rstrip("\n"))
            code = process.wait()
        except BaseException:
            _abandon(process, ending)
            raise
        finally:
            timer.cancel()
            timer.join()
    if late.is_set() and code != 0:
        raise ToolTimeoutError(argv, timeout)
    if code != 0:
        raise ToolError(argv, code, "".join(lines[-20:]))


def outliving(
    argv: Sequence[str],
    heard: Callable[[str], None],
    *,
    output: Path,
    held: int,
    timeout: float,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    ending: Ending = ENDING,
) -> None:
    """Run a program as `stream` does; but should we be killed, it goes on to its end.

    It writes to a file, which we follow: a pipe that nobody reads would end it at its next word. It inherits
    the descriptor `held`, and with it the lock that is on it.
    """
    late = threading.Event()
    lines: list[str] = []
    with open(output, "w", opener=_private) as file, open(output, errors="replace") as follow:
        process = _popen(argv, env, cwd, file, held)

        def expire() -> None:
            late.set()
            _end(process, ending)

        timer = threading.Timer(timeout, expire)
        timer.daemon = True
        timer.start()
        try:
            for line in _followed(process, follow):
                lines.append(line)
                heard(line)
        except BaseException:
            _end(process, ending)
            raise
        finally:
            timer.cancel()
            timer.join()
    if process.returncode != 0 and late.is_set():
        raise ToolTimeoutError(argv, timeout)
    if process.returncode != 0:
        raise ToolError(argv, process.returncode, "\n".join(lines[-20:]))


def interactive(argv: Sequence[str]) -> int:
    """Run a program on our own terminal; returns its exit code. Ctrl-C is the program's."""
    try:
        process = subprocess.Popen(list(argv))
    except FileNotFoundError as error:
        raise missing(argv[0]) from error
    with process:
        while True:
            with contextlib.suppress(KeyboardInterrupt):
                code = process.wait()
                return code if code >= 0 else 128 - code


def detached(argv: Sequence[str], log: Path) -> None:
    """Start a program that outlives us, in a session of its own, with its output appended to a file."""
    with open(log, "ab") as file:
        process = subprocess.Popen(
            list(argv), stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True, cwd="/"
        )
    process.returncode = 0  # it is not ours to wait for: this keeps Popen from saying that it still runs


def missing(program: str) -> ToolMissingError:
    """Return the error for a program that is not installed."""
    package = PACKAGES.get(program, program)
    return ToolMissingError(program, hint=f"install it: apt-get install -y {package}")


@contextlib.contextmanager
def _started(
    argv: Sequence[str], env: Mapping[str, str] | None, cwd: Path | None
) -> Iterator[subprocess.Popen[str]]:
    try:
        process = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=None if env is None else dict(env),
            cwd=cwd,
            start_new_session=True,  # the terminal's Ctrl-C reaches us alone, and we end it in order
        )
    except FileNotFoundError as error:
        raise missing(argv[0]) from error
    with process:
        yield process


def _popen(
    argv: Sequence[str], env: Mapping[str, str] | None, cwd: Path | None, output: IO[str], held: int
) -> subprocess.Popen[str]:
    try:
        return subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
            env=None if env is None else dict(env),
            cwd=cwd,
            start_new_session=True,
            pass_fds=(held,),
        )
    except FileNotFoundError as error:
        raise missing(argv[0]) from error


def _followed(process: subprocess.Popen[str], output: IO[str]) -> Iterator[str]:
    """Yield the lines of a file that a program writes, until it has ended and all is read."""
    kept = ""
    while True:
        ended = process.poll() is not None
        for line in iter(output.readline, ""):
            kept += line
            if kept.endswith("\n"):
                yield kept.rstrip("\n")
                kept = ""
        if ended:
            break
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GLANCE)
    if kept:
        yield kept


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _end(process: subprocess.Popen[str], ending: Ending) -> None:
    """Ask a program to end, and kill what is left of it and its children: it would keep the output open."""
    for number, patience in ending:
        with contextlib.suppress(ProcessLookupError):
            if number == signal.SIGINT:
                process.send_signal(number)
            else:
                os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience)
            break
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _abandon(process: subprocess.Popen[str], ending: Ending) -> None:
    # What it still says must not fill the pipe: a program that cannot write cannot end.
    threading.Thread(target=_drain, args=(process,), daemon=True).start()
    _end(process, ending)


def _drain(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    with contextlib.suppress(ValueError, OSError):
        while process.stdout.read(65536):
            pass
