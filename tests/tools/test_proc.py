from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from npa.tools import proc


def test_we_are_found() -> None:
    me = proc.find(os.getpid())

    assert me is not None
    assert (me.pid, me.parent) == (os.getpid(), os.getppid())
    assert me.namespace == os.stat("/proc/self/ns/pid").st_ino  # noqa: PTH116
    assert me in [proc.find(pid) for pid in proc.pids()]


@pytest.mark.parametrize("name", ["(", ") R 1 1", "a b", ") (", "ü"])
def test_a_name_cannot_disguise_a_process(name: str) -> None:
    """Whoever owns a process chooses its name, brackets and blanks included (prctl(2), PR_SET_NAME)."""
    program = (
        "import ctypes, sys; ctypes.CDLL(None).prctl(15, sys.argv[1].encode()); print(flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        found = proc.find(child.pid)
        child.kill()

    assert found is not None
    assert (found.name, found.parent) == (name, os.getpid())


def test_a_process_that_only_waits_to_be_reaped_is_gone() -> None:
    child = subprocess.Popen(["true"])
    _until(lambda: proc.find(child.pid) is None)
    title = proc.title(child.pid)
    child.wait()

    assert title == ""
    assert proc.find(child.pid) is None
    assert proc.command(child.pid) == []


def test_the_title_is_what_the_process_says() -> None:
    with subprocess.Popen(["npa-lab:a b:/x", "60"], executable="/bin/sleep") as child:
        _until(lambda: proc.title(child.pid) == "npa-lab:a b:/x")
        command = proc.command(child.pid)
        child.send_signal(signal.SIGKILL)

    assert command == ["npa-lab:a b:/x", "60"]


def test_a_kernel_thread_has_no_title() -> None:
    assert proc.command(2) == [] or proc.find(2) is None or proc.title(2) != ""


@pytest.mark.parametrize(
    ("family", "address"),
    [
        pytest.param(socket.AF_INET, "127.0.0.1", id="ipv4"),
        pytest.param(socket.AF_INET6, "::1", id="ipv6"),
    ],
)
def test_a_port_listens_once_somebody_listens(family: socket.AddressFamily, address: str) -> None:
    try:
        server = socket.socket(family)
        server.bind((address, 0))
    except OSError as error:
        pytest.skip(f"no {address} here: {error}")
    with server:
        port = server.getsockname()[1]
        bound = proc.listens(os.getpid(), port)
        server.listen()
        listening = proc.listens(os.getpid(), port)
        with socket.create_connection((address, port)) as client:
            ours = client.getsockname()[1]
            connected = proc.listens(os.getpid(), ours)

    assert (bound, listening, connected) == (False, True, False)
    assert not proc.listens(2**22, port)


def _until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 5
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.01)
