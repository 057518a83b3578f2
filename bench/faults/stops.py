"""Daemons that are there and do nothing."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.faults import lab
from bench.faults.row import Row
from tests.e2e.local.harness import CPU_POOL, Cluster, Npa

DEADLINE = 30.0  # seconds: no command may wait longer for a slurmctld that does not answer
FREEZER = Path("/sys/fs/cgroup/freezer")
UNREAD = "got no answer from slurmctld"
NOTES = (
    "A slurmctld that hangs without being halted is left alone by `deploy` and `watch`: nobody can tell\n"
    "whether it is at work, and what it has not written down would be lost. End it, and either starts\n"
    "it again.",
)


def rows(npa: Npa) -> list[Row]:
    """Halt daemons by a signal, and freeze one so that only its silence tells."""
    with lab.lab(npa) as cluster:
        job = lab.start_job(cluster)
        found = [_halted(cluster, job, "controller-0", "slurmctld"), _halted(cluster, job, "cpu-1", "slurmd")]
        return [*found, _frozen(cluster, job)] if FREEZER.is_dir() else found


def quick(npa: Npa) -> Row:
    """Halt slurmctld once."""
    with lab.lab(npa) as cluster:
        return _halted(cluster, lab.start_job(cluster), "controller-0", "slurmctld", runs=1)


def _halted(cluster: Cluster, job: str, node: str, daemon: str, runs: int = 3) -> Row:
    deploys, watches = [], []
    finding = f"{daemon} on {node}: is down"
    for _ in range(runs):
        os.kill(cluster.daemons()[node, daemon], signal.SIGSTOP)
        lab.ill(cluster, finding)
        deploys.append(lab.deploy(cluster))
        lab.goes_on(cluster, job)
    for _ in range(runs):
        with lab.watched(cluster):
            began = time.monotonic()
            os.kill(cluster.daemons()[node, daemon], signal.SIGSTOP)
            watches.append(lab.until_healthy(cluster, began))
        lab.goes_on(cluster, job)
    return Row(f"{daemon} is halted", "`kill -STOP`", f"4, `{finding}`", "`deploy`, `watch`",
               tuple(deploys), tuple(watches))  # fmt: skip


def _frozen(cluster: Cluster, job: str) -> Row:
    """Freeze slurmctld: nothing is concluded from its silence, and no command waits for it for ever."""
    with frozen(cluster.daemons()["controller-0", "slurmctld"]):
        began = time.monotonic()
        lab.ill(cluster, UNREAD)
        took = time.monotonic() - began
        assert took < DEADLINE, took
        fewer = cluster.try_deploy(workers=[{**CPU_POOL, "size": 2}])
        ended = cluster.destroy()
        for refused in (fewer, ended):
            assert refused.code == 1, str(refused)
            assert "cannot tell whether jobs run" in refused.json["error"]["message"], str(refused)
        os.kill(cluster.daemons()["controller-0", "slurmctld"], signal.SIGKILL)  # ends once it is thawed
    cluster.write(workers=[{**CPU_POOL, "size": lab.SIZE}])
    again = lab.deploy(cluster)
    lab.goes_on(cluster, job)
    return Row(
        "slurmctld hangs",
        "frozen in a control group",
        f"4 after {took:.0f} s, `{UNREAD}`; a smaller spec and `destroy` are refused, exit 1",
        "`kill -KILL`, then `deploy`",
        (again,),
    )


@contextmanager
def frozen(pid: int) -> Iterator[None]:
    """Freeze a process (cgroup-v1 freezer); what is killed meanwhile ends when it is thawed."""
    group = FREEZER / f"npa-fault-{pid}"
    group.mkdir()
    try:
        (group / "tasks").write_text(str(pid))
        (group / "cgroup.procs").write_text(str(pid))
        (group / "freezer.state").write_text("FROZEN")
        yield
    finally:
        (group / "freezer.state").write_text("THAWED")
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            for left in (group / "cgroup.procs").read_text().split():
                (FREEZER / "cgroup.procs").write_text(left)
            try:
                group.rmdir()
                break
            except OSError:
                time.sleep(0.05)
