"""What the launcher starts is there, by name, when it says so."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from npa.tools import fork


@contextmanager
def shell(script: str) -> Iterator[int]:
    with subprocess.Popen(["bash", "-c", script]) as process:
        yield process.pid
        process.kill()


def test_settle_waits_until_a_process_bears_its_title() -> None:
    with shell("sleep 0.2; exec -a npa-node:cpu-0:x sleep 60") as pid:
        fork.settle(pid, "npa-node:cpu-0:x")
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            shown = file.read()

    assert shown.startswith(b"npa-node:cpu-0:x\0")


def test_settle_says_when_it_ends_instead() -> None:
    with shell("sleep 60") as pid, pytest.raises(fork.LaunchError, match="ended while it started"):
        fork.settle(pid, "npa-node:cpu-0:x", seconds=0.3)
