from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from npa.errors import RefusedError, ToolError, ToolMissingError, ToolTimeoutError
from npa.tools import disk, run

SOON = 5.0  # seconds; far less than the programs below would take


def sh(script: str) -> list[str]:
    return ["sh", "-c", script]


def test_run_returns_stdout() -> None:
    assert run.run(sh("cat; echo err >&2"), stdin="in\n") == "in\n"


def test_run_gives_no_environment_but_the_one_asked_for(tmp_path: Path) -> None:
    assert run.run(["/usr/bin/env"], env={"ONLY": "this"}) == "ONLY=this\n"
    assert run.run(["pwd"], cwd=tmp_path).strip() == str(tmp_path.resolve())


def test_run_replaces_what_is_no_text() -> None:
    assert run.run(["printf", r"\377"]) == "\ufffd"


def test_a_failure_carries_what_the_program_said() -> None:
    with pytest.raises(ToolError) as caught:
        run.run(sh("echo first >&2; echo last >&2; exit 3"))

    assert (caught.value.exit_status, caught.value.stderr) == (3, "first\nlast\n")
    assert str(caught.value) == "`sh -c` exited 3: last"


def test_a_failure_on_stdout_is_told_too() -> None:
    with pytest.raises(ToolError, match="only here"):
        run.run(sh("echo only here; exit 1"))


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(lambda argv: run.run(argv), id="run"),
        pytest.param(lambda argv: run.stream(argv, print, timeout=1), id="stream"),
        pytest.param(lambda argv: run.interactive(argv), id="interactive"),
    ],
)
@pytest.mark.parametrize(
    ("program", "package"), [("mmdebstrap-nosuch", "mmdebstrap-nosuch"), ("/nosuch/ssh", "/nosuch/ssh")]
)
def test_a_missing_program_says_what_to_install(
    start: Callable[[list[str]], object], program: str, package: str
) -> None:
    with pytest.raises(ToolMissingError) as caught:
        start([program])

    assert caught.value.hint == f"install it: apt-get install -y {package}"


def test_the_package_of_a_program_is_named() -> None:
    assert run.missing("nsenter").hint == "install it: apt-get install -y util-linux"


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("sleep 60", id="alone"),
        pytest.param("sleep 60 & sleep 60", id="with-a-child"),
        pytest.param("(trap '' TERM; sleep 60) & wait", id="with-a-child-that-is-deaf"),
    ],
)
def test_a_deadline_ends_a_stream_with_all_its_children(script: str, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    began = time.monotonic()
    with pytest.raises(ToolTimeoutError) as caught:
        run.stream(sh(f"echo $$ > {pid}; {script}"), lambda _: None, timeout=0.3)

    assert caught.value.seconds == 0.3
    assert time.monotonic() - began < SOON
    _until(lambda: not _group_lives(int(pid.read_text())))  # as soon as the kernel had a turn


def test_a_deadline_ends_a_run() -> None:
    began = time.monotonic()
    with pytest.raises(ToolTimeoutError, match=r"no end after 0\.2 s"):
        run.run(["sleep", "60"], timeout=0.2)

    assert time.monotonic() - began < SOON


def test_a_stream_hands_over_both_outputs_line_by_line() -> None:
    heard: list[str] = []
    run.stream(sh("echo one; echo two >&2; printf three"), heard.append, timeout=SOON)

    assert heard == ["one", "two", "three"]


def test_a_stream_that_fails_carries_its_last_lines() -> None:
    with pytest.raises(ToolError) as caught:
        run.stream(sh("seq 100; exit 4"), lambda _: None, timeout=SOON)

    assert caught.value.exit_status == 4
    assert caught.value.stderr.split() == [str(n) for n in range(81, 101)]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_whatever_a_listener_raises_ends_the_program(error: type[BaseException], tmp_path: Path) -> None:
    pid = tmp_path / "pid"

    def heard(line: str) -> None:
        raise error(line)

    with pytest.raises(error):
        run.stream(sh(f"echo $$ > {pid}; echo go; sleep 60 & wait"), heard, timeout=60)

    _until(lambda: not _group_lives(int(pid.read_text())))


def test_ctrl_c_ends_a_stream_gently(tmp_path: Path) -> None:
    """The program gets SIGTERM, not the terminal's SIGINT, and may put things in order."""
    program = f"""
from npa.tools import disk, run
script = "trap 'echo ordered > {tmp_path}/log; exit' TERM; echo ready; sleep 60 & wait"
run.stream(["sh", "-c", script], lambda line: print(line, flush=True), timeout=60)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=SOON)

    assert "KeyboardInterrupt" in err
    assert (tmp_path / "log").read_text() == "ordered\n"


def test_interactive_returns_the_exit_code() -> None:
    assert run.interactive(sh("exit 5")) == 5
    assert run.interactive(sh("kill -TERM $$")) == 128 + signal.SIGTERM


def test_a_detached_program_outlives_us(tmp_path: Path) -> None:
    log, end = tmp_path / "log", tmp_path / "end"
    program = f"""
from pathlib import Path
from npa.tools import disk, run
run.detached(["sh", "-c", "echo $$; until [ -e {end} ]; do sleep 0.02; done; echo ended"], Path({str(log)!r}))
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True, timeout=SOON)
    _until(lambda: log.exists() and log.read_text().strip() != "")
    alone = os.getsid(int(log.read_text())) == int(log.read_text())
    end.touch()
    _until(lambda: "ended" in log.read_text())

    assert alone


def test_streams_leave_no_thread_behind() -> None:
    before = threading.active_count()
    run.stream(["true"], lambda _: None, timeout=60)

    assert threading.active_count() == before


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    states = [
        path.read_text().rpartition(")")[2].split()
        for path in Path("/proc").glob("[0-9]*/stat")
        if path.exists()
    ]
    return any(int(fields[2]) == group and fields[0] not in "ZX" for fields in states)


def _until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SOON
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def outlive(tmp_path: Path, script: str, heard: Callable[[str], None] = lambda _: None) -> None:
    with disk.lent_lock(tmp_path / "lock", "busy") as held:
        run.outliving(sh(script), heard, output=tmp_path / "out", held=held, timeout=60)


def test_a_program_that_outlives_us_is_heard_line_by_line(tmp_path: Path) -> None:
    heard: list[str] = []
    outlive(tmp_path, "echo one; echo two >&2; printf three", heard.append)

    assert heard == ["one", "two", "three"]
    assert (tmp_path / "out").stat().st_mode & 0o077 == 0


def test_a_program_that_outlives_us_fails_and_is_late_as_others_are(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="last") as caught:
        outlive(tmp_path, "echo last; exit 3")
    assert caught.value.exit_status == 3
    with disk.lent_lock(tmp_path / "l", "busy") as held, pytest.raises(ToolTimeoutError):
        run.outliving(sh("sleep 60"), print, output=tmp_path / "out", held=held, timeout=0.2)
    with pytest.raises(ToolMissingError):
        run.outliving(["/nosuch/x"], print, output=tmp_path / "out", held=0, timeout=1)


def test_a_program_goes_on_when_we_are_killed_and_holds_its_lock(tmp_path: Path) -> None:
    script = f"echo begun; while [ ! -e {tmp_path}/go ]; do sleep 0.05; done; echo more; : > {tmp_path}/done"
    source = f"""if True:
        from pathlib import Path
        from npa.tools import disk, run
        with disk.lent_lock(Path({str(tmp_path)!r}, "lock"), "busy") as held:
            run.outliving(["sh", "-c", {script!r}], lambda line: print(line, flush=True),
                          output=Path({str(tmp_path)!r}, "out"), held=held, timeout=60)
    """
    with subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, text=True) as ours:
        assert ours.stdout is not None
        assert ours.stdout.readline() == "begun\n"
        ours.kill()
    with pytest.raises(RefusedError, match="busy"), disk.lock(tmp_path / "lock", "busy"):
        pass
    (tmp_path / "go").touch()
    with disk.lock(tmp_path / "lock", "busy", patience=SOON):  # free once it has ended
        assert (tmp_path / "done").exists()
    assert (tmp_path / "out").read_text() == "begun\nmore\n"
