"""A worker that is cut off from the others."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

from bench.faults import lab
from bench.faults.row import Row
from tests.e2e.local.harness import Cluster, Npa, until

SILENT = 50.0  # seconds until slurmctld gives a node up: SlurmdTimeout, and its looks at the nodes
NOTES = (
    "A node that only drops packets, with its link and routes in place, looks well until slurmctld\n"
    "misses it. It comes back by itself when the packets do; its jobs start again when that takes longer\n"
    "than `SlurmdTimeout`, 30 s. The same holds for every node when it is the controller that is cut off.",
)


def rows(npa: Npa) -> list[Row]:
    """Take a worker's link away in three ways."""
    with lab.lab(npa) as cluster:
        job = lab.start_job(cluster)
        return [
            _unlinked(cluster, job, "the link of a worker is set down", "`ip link set eth0 down` in the node",
                      _inside("link", "set", "eth0", "down")),
            _unlinked(cluster, job, "the link of a worker is deleted", "`ip link del` in the lab", _delete),
            _silent(cluster, job),
        ]  # fmt: skip


def quick(npa: Npa) -> Row:
    """Take one link away once."""
    with lab.lab(npa) as cluster:
        job = lab.start_job(cluster)
        return _unlinked(cluster, job, "", "", _delete, runs=1)


def _unlinked(
    cluster: Cluster, job: str, fault: str, made: str, make: Callable[[Cluster], None], runs: int = 3
) -> Row:
    finding = "link on cpu-1: is down"
    deploys, watches = [], []
    for _ in range(runs):
        make(cluster)
        lab.ill(cluster, finding)
        deploys.append(lab.deploy(cluster))
        assert cluster.srun("-w", "cpu-1", "true").code == 0
    for _ in range(runs):
        with lab.watched(cluster):
            began = time.monotonic()
            make(cluster)
            watches.append(lab.until_healthy(cluster, began))
        assert cluster.srun("-w", "cpu-1", "true").code == 0
    lab.goes_on(cluster, job)
    return Row(fault, made, f"4, `{finding}`", "`deploy`, `watch`", tuple(deploys), tuple(watches))


def _silent(cluster: Cluster, job: str) -> Row:
    """Let a node drop whatever comes, long enough for slurmctld to give it up, and undo that."""
    drop = ("rule", "add", "to", "10.0.0.0/8", "blackhole", "priority", "1")
    _inside(*drop)(cluster)
    began = time.monotonic()
    until(lambda: "cpu-1: takes no jobs" in lab.status(cluster)[1], "slurmctld misses the node", SILENT)
    missed = time.monotonic() - began
    _inside("rule", "del", *drop[2:])(cluster)
    began = time.monotonic()
    back = lab.until_healthy(cluster, began)
    lab.goes_on(cluster, job)
    return Row(
        "a worker drops all packets",
        "`ip rule add … blackhole` in the node",
        f"0 until slurmctld misses it, after {missed:.0f} s; then 4, `takes no jobs: … not_responding`",
        f"nobody: it comes back {back:.0f} s after its network does",
    )


def _inside(*words: str) -> Callable[[Cluster], None]:
    return lambda cluster: _ip(cluster.first_pids()["cpu-1"], *words)


def _delete(cluster: Cluster) -> None:
    """Delete the lab's end of the link to cpu-1."""
    hosts = (cluster.npa.folder(cluster.name) / "etc/net/hosts").read_text().split()
    address = hosts[hosts.index("cpu-1") - 1]
    name = "v" + "".join(f"{int(part):02x}" for part in address.split(".")[1:])
    _ip(cluster.lab_pid(), "link", "del", name)


def _ip(pid: int, *words: str) -> None:
    """Run this machine's `ip` in the network of a process."""
    subprocess.run(["nsenter", "-t", str(pid), "-n", "ip", *words], check=True)
