"""How long a preflight takes with a provider that needs 50 ms for each answer; `bench.run` adds its row."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from time import perf_counter

from bench.report import Row
from tests.fakes import cloud as clouds

from npa.spec.model import SoperatorSpec, WorkerPoolSpec
from npa.targets.nebius.options import NebiusOptions
from npa.targets.nebius.target import NebiusTarget

LATENCY = 0.05  # seconds for each answer
AIM = 1.0


def preflight(runs: int = 5) -> Row:
    """Time project, subnets, quotas and reservations of a cluster with a reserved pool, sign-in included."""
    gpu = WorkerPoolSpec(
        name="gpu",
        platform="gpu-h200-sxm",
        preset="8gpu-128vcpu-1600gb",
        size=2,
        fabric="fabric-3",
        capacity_block_group="capacityblockgroup-1",
    )
    spec = SoperatorSpec(name="quick", workers=(gpu,))
    samples = []
    with (
        tempfile.TemporaryDirectory(prefix="npa-bench-") as folder,
        clouds.serve(Path(folder), spec) as cloud,
    ):
        cloud.provider.latency = LATENCY
        for _ in range(runs):
            begin = perf_counter()
            NebiusTarget(cloud.outside).check(spec, NebiusOptions())
            samples.append(perf_counter() - begin)
    return Row("preflight with a provider of 50 ms latency", "s", tuple(samples), AIM)


if __name__ == "__main__":
    print(preflight(), file=sys.stderr)
