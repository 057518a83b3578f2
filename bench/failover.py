"""Measures how long a cluster is without a slurmctld when the one in control ends: `make bench-failover`."""

from __future__ import annotations

import math
import os
import sys
import time

from bench.faults.__main__ import workspace
from bench.report import Row
from bench.timing import say
from tests.e2e.local.harness import CPU_POOL, Cluster, kill, until

RUNS = 20
PATIENCE = 60.0  # seconds


def takeovers(cluster: Cluster, runs: int = RUNS) -> tuple[float, ...]:
    """Kill the first slurmctld and wait until the second one answers, again and again."""
    took = []
    for _ in range(runs):
        kill(cluster.daemons()["controller-0", "slurmctld"])
        began = time.monotonic()
        until(lambda: cluster.exec("login-0", "squeue", "-h").code == 0, "an answer", PATIENCE)
        took.append(time.monotonic() - began)
        cluster.deploy()
        time.sleep(1 + len(took) % 5)  # not always at one point of the second one's looks
    return tuple(took)


def percentile(samples: tuple[float, ...], percent: float) -> float:
    """Return the least sample that so many percent of all do not exceed."""
    return sorted(samples)[max(0, math.ceil(len(samples) * percent / 100) - 1)]


def row(samples: tuple[float, ...]) -> Row:
    """Return the measurement with its 99th percentile beside the median."""
    told = f"p99 {percentile(samples, 99):.1f} s; `SlurmctldTimeout` is 10 s"
    return Row("takeover by the second slurmctld, from the end of the first to an answer", "s", samples,
               bound=told)  # fmt: skip


def main() -> None:
    """Measure on a small cluster and say what came out."""
    if os.geteuid() != 0:
        raise SystemExit("error: clusters on this machine need root\nhint: make bench-failover")
    with workspace() as npa:
        cluster = Cluster(npa, "e2e-takeover", workers=[CPU_POOL], control_plane={"controller": {"size": 2}})
        cluster.deploy()
        samples = takeovers(cluster, int(sys.argv[1]) if sys.argv[1:] else RUNS)
    found = say(row(samples))
    print(f"p50 {percentile(samples, 50):.1f} s, {found.bound}")


if __name__ == "__main__":
    main()
