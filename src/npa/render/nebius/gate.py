"""The GPU creation gate's rules: which workers it needs, and what their answers prove; pure.

A worker passes where every test is reported exactly once, as PASS and with exit code 0, for exactly the GPUs
that it has to have. Whatever is missing, cut off, repeated or said by another host is a failure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from npa.cluster.model import Cluster
from npa.render.nebius.gate_script import FAMILIES, MARKER, TESTS

SCHEMA_VERSION = "npa.soperator.gpu-gate/v1"
FAILURE_CODE = "gpu_creation_check_failed"

Phase = Literal[
    "node-discovery",
    "node-mapping",
    "queue",
    "slurm-step",
    "process-timeout",
    "cleanup-verification",
    "preflight",
    "interrupted",
]

_LINE = re.compile(rf"^(?:\s*[0-9]+: )?{MARKER} run=(?P<run>[0-9a-z]+) host=(?P<host>\S+) (?P<said>.+)$")
_GPUS = re.compile(r"gpus=([0-9]+) name=(\S+)")
_TEST = re.compile(r"test=(\S+) status=(\S+) rc=([0-9]+)")
_END = re.compile(r"end rc=([0-9]+)")


@dataclass(frozen=True, slots=True)
class GatePool:
    """The GPU workers of one pool of the spec; a pool of racks is one."""

    name: str
    nodes: tuple[str, ...]
    gpus: int
    family: str  # H100, …; "" where npa knows none of the platform


@dataclass(frozen=True, slots=True)
class Failure:
    """What one worker did not prove."""

    node: str
    test: str  # "" where it is no single test's
    cause: str


@dataclass(frozen=True, slots=True)
class PoolResult:
    """What a pool's workers proved."""

    pool: GatePool
    failures: tuple[Failure, ...] = ()

    @property
    def ok(self) -> bool:
        """Say whether every worker passed."""
        return not self.failures


@dataclass(frozen=True, slots=True)
class GateResult:
    """The gate's verdict. `detail` is the end of a worker's output and not for publication."""

    pools: tuple[PoolResult, ...] = ()
    phase: Phase | None = None  # where it failed
    pool: str = ""
    message: str = ""
    cleanup_confirmed: bool = True  # no job of the gate is left in the queue
    detail: str = ""

    @property
    def ok(self) -> bool:
        """Say whether every GPU of every worker passed, and nothing of the gate is left."""
        return self.phase is None and self.cleanup_confirmed and all(each.ok for each in self.pools)

    def public(self) -> dict[str, Any]:
        """Return the result without ids, keys or raw output."""
        failed = (
            {}
            if self.ok
            else {
                "code": FAILURE_CODE,
                "phase": self.phase,
                "pool": self.pool,
                "message": self.message,
                "cleanup_confirmed": self.cleanup_confirmed,
            }
        )
        return {
            "schema_version": SCHEMA_VERSION,
            "check": "gpu-creation",
            "status": "PASS" if self.ok else "FAIL",
            "pools": [_public(each) for each in self.pools],
            **({"failure": failed} if failed else {}),
        }


def pools(cluster: Cluster) -> tuple[GatePool, ...]:
    """Return the pools with GPUs, as the spec names them: the racks of a pool are checked together."""
    gathered: dict[str, GatePool] = {}
    for pool in cluster.pools:
        if pool.machine.gpus and pool.size and not pool.ephemeral:
            known = gathered.get(pool.origin)
            nodes = (*(known.nodes if known else ()), *pool.nodes)
            gathered[pool.origin] = GatePool(
                pool.origin, nodes, pool.machine.gpus, family(pool.machine.gpu_type)
            )
    return tuple(gathered.values())


def family(name: str) -> str:
    """Return the family of a GPU's name, `NVIDIA H100 80GB HBM3` is H100; "" for none that is known.

    The word stands alone: a GH200 is no H200, a GB300 no B300.
    """
    words = re.split(r"[^A-Z0-9]+", name.upper())
    return next((each for each in FAMILIES if each in words), "")


def unmapped(pool: GatePool, reported: Sequence[str]) -> str:
    """Say how Slurm's nodes differ from those that a pool has to have; "" where they do not."""
    expected = set(pool.nodes)
    ours = re.compile(rf"{re.escape(pool.name)}(-rack[0-9]+)?-[0-9]+")
    found = {name for name in reported if name in expected or ours.fullmatch(name)}
    missing, extra = sorted(expected - found), sorted(found - expected)
    said = [f"not in Slurm: {', '.join(missing)}"] if missing else []
    said += [f"not of the spec: {', '.join(extra)}"] if extra else []
    return "; ".join(said)


def node_names(text: str) -> tuple[str, ...]:
    """Return the nodes of `sinfo -h -N -o %N`, once each: a node is listed for each of its partitions."""
    return tuple(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))


def judge(pool: GatePool, run: str, output: str, code: int) -> PoolResult:
    """Return what the output of a step proves about each worker of a pool."""
    said: dict[str, list[str]] = {}
    for line in output.splitlines():
        match = _LINE.match(line.rstrip())
        if match and match["run"] == run:
            said.setdefault(match["host"], []).append(match["said"])
    failures = [failure for node in pool.nodes for failure in _failures(pool, node, said.get(node, []))]
    failures += [
        Failure(host, "", "answered, and is no worker of this pool")
        for host in sorted(set(said) - {*pool.nodes})
    ]
    if code and not failures:
        failures.append(Failure("", "", f"every worker reports PASS, and the step exited {code}"))
    return PoolResult(pool, tuple(failures))


def _failures(pool: GatePool, node: str, said: Sequence[str]) -> Iterator[Failure]:
    if not said:
        yield Failure(node, "", "never started")
        return
    heard = [match for each in said if (match := _GPUS.fullmatch(each))]
    if len(heard) != 1:
        yield Failure(node, "", f"reported its GPUs {len(heard)} times")
        return
    count, name = int(heard[0][1]), heard[0][2].replace("_", " ")
    if count != pool.gpus:
        yield Failure(node, "", f"has {count} of {pool.gpus} GPUs")
        return
    if "|" in name or family(name) != pool.family:
        yield Failure(node, "", f"has GPUs of another kind: {name}, expected {pool.family}")
    results = [match for each in said if (match := _TEST.fullmatch(each))]
    times = Counter(match[1] for match in results)
    for test in TESTS:
        if times[test] != 1:
            yield Failure(node, test, "not reported" if not times[test] else f"reported {times[test]} times")
    for match in results:
        if match[2] != "PASS" or match[3] != "0":
            yield Failure(node, match[1], f"status {match[2]}, exit code {match[3]}")
    ends = [match[1] for each in said if (match := _END.fullmatch(each))]
    if ends != ["0"]:
        yield Failure(node, "", "its output is cut off" if not ends else f"ended with {', '.join(ends)}")


def _public(result: PoolResult) -> dict[str, Any]:
    return {
        "pool": result.pool.name,
        "nodes": list(result.pool.nodes),
        "gpus_per_node": result.pool.gpus,
        "tests": list(TESTS),
        "status": "PASS" if result.ok else "FAIL",
        "failures": [{"node": each.node, "test": each.test, "cause": each.cause} for each in result.failures],
    }
