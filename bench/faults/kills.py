"""Processes that end without warning."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from bench.faults import lab
from bench.faults.row import Row
from tests.e2e.local.harness import Cluster, Npa, kill

RUNS = 3


@dataclass(frozen=True, slots=True)
class Kill:
    """One process that is killed."""

    fault: str
    make: Callable[[Cluster], None]
    finding: str  # in the report
    job: str = "goes on"


def _daemon(node: str, daemon: str, fault: str = "") -> Kill:
    return Kill(
        fault or f"{daemon} ends",
        lambda cluster: lab.kill_daemon(cluster, node, daemon),
        f"{daemon} on {node}: is down",
    )


KILLS = (
    _daemon("controller-0", "slurmctld"),
    _daemon("accounting-0", "slurmdbd"),
    _daemon("accounting-0", "mariadbd"),
    _daemon("rest-0", "slurmrestd"),
    _daemon("login-0", "sshd"),
    _daemon("login-0", "sackd"),
    _daemon("cpu-1", "slurmd", "slurmd of one worker ends"),
    Kill(
        "one worker ends",
        lambda cluster: kill(cluster.first_pids()["cpu-1"]),
        "slurmd on cpu-1: is down",
    ),
    Kill(
        "the login node ends",
        lambda cluster: kill(cluster.first_pids()["login-0"]),
        "sshd on login-0: is down",
    ),
    Kill("the whole lab ends", lambda cluster: kill(cluster.lab_pid()), "is stopped", "starts again"),
)


def rows(npa: Npa, runs: int = RUNS) -> list[Row]:
    """Kill each in turn on one cluster, and repair it once by `deploy` and once by `watch`."""
    with lab.lab(npa) as cluster:
        job = lab.start_job(cluster)
        return [_row(cluster, each, job, runs) for each in KILLS]


def _row(cluster: Cluster, fault: Kill, job: str, runs: int) -> Row:
    deploys, watches = [], []
    for _ in range(runs):
        fault.make(cluster)
        lab.ill(cluster, fault.finding)
        deploys.append(lab.deploy(cluster))
        _look(cluster, fault, job)
    for _ in range(runs):
        with lab.watched(cluster):
            began = time.monotonic()
            fault.make(cluster)
            watches.append(lab.until_healthy(cluster, began))
        _look(cluster, fault, job)
    found = f"4, `{fault.finding}`"
    return Row(fault.fault, "`kill -KILL`", found, "`deploy`, `watch`", tuple(deploys), tuple(watches),
               fault.job)  # fmt: skip


def _look(cluster: Cluster, fault: Kill, job: str) -> None:
    assert cluster.plan()["steps"] == []
    if fault.job == "goes on":
        lab.goes_on(cluster, job)
    else:
        lab.starts_again(cluster, job)
