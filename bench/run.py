"""Measures what people wait for and writes docs/reference/performance.md: `make bench`, as root."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

from bench import machine, nebius, offline, preflight, report
from bench.report import Row
from bench.timing import say, timed

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "performance.md"
NPA = str(Path(sys.executable).parent / "npa")
SPEC = """\
name: {name}
target: local
accounting: true
slurm_rest_enabled: true
workers:
  - name: cpu
    preset: 16vcpu-64gb
    size: {size}
"""


WIDE = "two slurmstepd a node to start, with their control groups, on this machine's cores"


class Cli:
    """The command line, with clusters in a place of their own."""

    def __init__(self, work: Path, cache: Path | None = None) -> None:
        self.state = work / "state"
        self._work = work
        self._env = {**os.environ, "NPA_STATE_DIR": str(self.state), "NO_COLOR": "1"}
        if cache:
            self._env["NPA_CACHE_DIR"] = str(cache)

    def __call__(self, *arguments: str) -> str:
        done = subprocess.run(
            [NPA, *arguments],
            env=self._env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(
                f"npa {' '.join(arguments)} exited {done.returncode}:\n{done.stdout}{done.stderr}"
            )
        return done.stdout

    def spec(self, name: str, size: int) -> str:
        path = self._work / f"{name}.yaml"
        path.write_text(SPEC.format(name=name, size=size))
        return str(path)

    def deploy(self, name: str, size: int) -> float:
        """Deploy until every node takes jobs, and return the seconds that it took."""
        spec = self.spec(name, size)
        return timed(lambda: self("soperator", "deploy", "-f", spec, "--yes"))

    def destroy(self, name: str) -> float:
        return timed(lambda: self("soperator", "destroy", name, "--yes"))

    def slurm_version(self, name: str) -> str:
        """Return the version of a cluster that is up, and of the image that all of them share."""
        told = json.loads(self("soperator", "status", name, "--output", "json"))
        return str(told.get("slurm_version") or "?")

    def clean_up(self) -> None:
        """Remove what a run that was cut short has left."""
        for record in self.state.glob("local/*/record.json"):
            self("soperator", "destroy", record.parent.name, "--yes", "--force")


@contextmanager
def workspace() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="npa-bench-") as folder:
        yield Path(folder)


def commands(cli: Cli) -> Iterator[Row]:
    """Time the commands that touch nothing."""
    spec = cli.spec("offline", 4)
    Path(spec).write_text(Path(spec).read_text().replace("target: local\n", ""))
    cases = (
        ("npa --help", ("--help",), 0.15),
        ("plan without a provider", ("soperator", "plan", "-f", spec), 0.3),
    )
    for what, arguments, aim in cases:
        cli(*arguments)
        samples = tuple(timed(lambda given=arguments: cli(*given)) for _ in range(20))  # type: ignore[misc]
        yield say(Row(what, "s", samples, aim))


def answers(cli: Cli, name: str) -> dict[str, dict[str, Any]]:
    """Return what Slurm's commands say of a cluster where a job runs."""
    inside = ("soperator", "exec", "--cluster", name, "controller-0", "--")
    cli(*inside, "sbatch", "--chdir=/tmp", "--output=/dev/null", "--wrap=sleep 60")
    deadline = perf_counter() + 30
    while not cli(*inside, "squeue", "-h", "--states=running"):
        if perf_counter() > deadline:
            raise SystemExit("error: the job does not run")
    found: dict[str, dict[str, Any]] = {
        "squeue": json.loads(cli(*inside, "squeue", "--json")),
        "scontrol": json.loads(cli(*inside, "scontrol", "show", "nodes", "--json")),
    }
    cli(*inside, "scancel", "-u", "root")
    return found


SAME = "a third of it is the start of Python with what the command imports, the rest two looks at Slurm"


def clusters(cli: Cli) -> Iterator[Row]:
    """Time whole clusters, and read what they take."""
    memory = {}
    for size, runs, aim in ((4, 5, 4.0), (100, 3, 20.0), (500, 3, 25.0)):
        ups, same, wide, downs = [], [], [], []
        name = f"n{size}"
        for _ in range(runs):
            ups.append(cli.deploy(name, size))
            same.append(cli.deploy(name, size))
            memory[size] = machine.cluster_memory(cli.state)
            wide.append(timed(lambda: hostnames(cli, name, size)))  # noqa: B023
            downs.append(cli.destroy(name))
        yield say(
            Row(
                f"deploy of {size} nodes to all idle, image cached",
                "s",
                tuple(ups),
                aim,
            )
        )
        yield say(
            Row(
                f"deploy of {size} nodes with nothing to do",
                "s",
                tuple(same),
                0.5 if size == 4 else None,
                SAME if size == 4 else "",
            )
        )
        yield say(Row(f"`srun -N{size} hostname`", "s", tuple(wide), 10.0 if size == 500 else None, WIDE))
        yield say(Row(f"destroy of {size} nodes", "s", tuple(downs)))
    yield say(Row("memory of a cluster of 4 nodes, everything", "MiB", (memory[4],)))
    yield say(Row("memory of each further node", "MiB", ((memory[100] - memory[4]) / 96,)))
    yield say(Row("memory of a cluster of 500 nodes, everything", "MiB", (memory[500],)))


def hostnames(cli: Cli, name: str, size: int) -> None:
    """Run one task on every node."""
    told = cli("soperator", "exec", "--cluster", name, "login-0", "--", "srun", f"-N{size}", "hostname")
    if len(set(told.split())) != size:
        raise SystemExit(f"error: srun reached {len(set(told.split()))} of {size} nodes")


def provider() -> Iterator[Row]:
    """Time what a deploy at Nebius thinks about."""
    yield say(nebius.guard())
    yield say(preflight.preflight())


def cold(work: Path) -> Row:
    """Time the image's build, in a cache of its own: a deploy with it less a deploy without."""
    cli = Cli(work, cache=work / "cache")
    first = cli.deploy("cold", 1)
    cli.destroy("cold")
    second = cli.deploy("cold", 1)
    cli.destroy("cold")
    return say(Row("build of the image from Debian's packages", "s", (first - second,), 60.0))


def main() -> None:
    """Measure everything and write the page."""
    if os.geteuid() != 0:
        raise SystemExit("error: clusters on this machine need root\nhint: make bench")
    with workspace() as work:
        cli = Cli(work)
        try:
            cli.deploy("warm", 4)  # the image is there from now on
            version = cli.slurm_version("warm")
            told = answers(cli, "warm")
            cli.destroy("warm")
            rows = [*commands(cli), *offline.rows(SPEC, told), *provider(), *clusters(cli), cold(work)]
        finally:
            cli.clean_up()
    PAGE.write_text(report.render(rows, machine.facts(version)), encoding="utf-8")
    print(f"written: {PAGE.name}", file=sys.stderr)


if __name__ == "__main__":
    main()
