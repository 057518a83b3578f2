"""Clocks that jump, as after a suspended machine or the first answer of a time server."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from bench.faults import lab
from bench.faults.row import Row
from tests.e2e.local.harness import Cluster, Npa, kill

FAKED = ("slurmctld", "slurmdbd", "slurmd", "sackd")
HOUR = "+3600"  # seconds
RIGHT = "+0"
SILENT = 20  # seconds for a job that does not come through
NOTES = (
    "The clocks are those of Slurm's daemons, by libfaketime: a machine has one, which stays right.\n"
    "A worker whose clock alone is ahead takes what slurmctld sends it for old, and starts nothing.",
)


def rows(npa: Npa) -> list[Row]:
    """Let all clocks jump, and then one alone."""
    with lab.lab(npa) as cluster:
        job = lab.start_job(cluster)
        fake(cluster)
        return [_together(cluster, job), _alone(cluster, job)]


def quick(npa: Npa) -> Row:
    """Let all clocks jump ahead and back."""
    with lab.lab(npa) as cluster:
        job = lab.start_job(cluster)
        fake(cluster)
        return _together(cluster, job)


def library() -> Path:
    """Return libfaketime of this machine; raises FileNotFoundError where there is none."""
    found = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
    if found is None:
        raise FileNotFoundError("no libfaketime: apt-get install libfaketime")
    return found


def fake(cluster: Cluster) -> None:
    """Start Slurm's daemons anew, each with a clock that a file moves."""
    first = cluster.first_pids()
    for (node, name), pid in cluster.daemons().items():
        if name not in FAKED:
            continue
        folder = _folder(first[node])
        folder.mkdir(exist_ok=True)
        shutil.copy(library(), folder / "libfaketime.so.1")
        _set(first[node], RIGHT)
        argv = Path(f"/proc/{pid}/cmdline").read_text().rstrip("\0").split("\0")
        user = Path(f"/proc/{pid}").stat().st_uid
        kill(pid)
        _start(cluster, node, user, argv)
    lab.until_healthy(cluster, time.monotonic())


def _start(cluster: Cluster, node: str, user: int, argv: list[str]) -> None:
    """Start a daemon as its node's first process would: that adopts what its starter leaves behind."""
    cluster.on(
        node,
        *("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"),
        *("env", "LD_PRELOAD=/run/faketime/libfaketime.so.1", "FAKETIME_TIMESTAMP_FILE=/run/faketime/offset"),
        *("FAKETIME_CACHE_DURATION=1", "FAKETIME_DONT_FAKE_MONOTONIC=1", "FAKETIME_DISABLE_SHM=1"),
        *("sh", "-c", 'setsid "$@" </dev/null >/dev/null 2>&1 &', "sh", *argv),
        root="daemons",
    )


def _folder(pid: int) -> Path:
    return Path(f"/proc/{pid}/root/run/faketime")


def _set(pid: int, offset: str) -> None:
    (_folder(pid) / "offset").write_text(offset)


def _together(cluster: Cluster, job: str) -> Row:
    for offset in (HOUR, RIGHT):
        for pid in cluster.first_pids().values():
            if _folder(pid).is_dir():
                _set(pid, offset)
        time.sleep(3)  # every daemon looks once a second
        assert cluster.srun("-N3", "true").code == 0
        done, found = lab.status(cluster)
        assert done.code == 0, found
        lab.goes_on(cluster, job)
    return Row(
        "all clocks jump an hour ahead, and back",
        "libfaketime",
        "0",
        "nothing to repair: new jobs run at once",
    )


def _alone(cluster: Cluster, job: str) -> Row:
    pid = cluster.first_pids()["cpu-1"]
    _set(pid, HOUR)
    # slurmctld takes what the node says of itself, and the node nothing that slurmctld says
    assert cluster.exec("login-0", "timeout", str(SILENT), "srun", "-w", "cpu-1", "true").code != 0
    done, found = lab.status(cluster)
    assert done.code == 0 or "cpu-1: takes no jobs" in found, found
    began = time.monotonic()
    _set(pid, RIGHT)
    back = lab.until_healthy(cluster, began)
    assert cluster.srun("-w", "cpu-1", "true").code == 0
    lab.goes_on(cluster, job)
    return Row(
        "the clock of one worker is an hour ahead",
        "libfaketime",
        "4, `takes no jobs: … not_responding`, and 0 in between: slurmctld hears the node all the while",
        f"nobody: it comes back {back:.0f} s after its clock is right",
    )
