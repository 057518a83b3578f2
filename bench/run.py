"""Measures what people wait for and writes docs/reference/performance.md: `make bench`, as root."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

from bench import machine, nebius, preflight, report
from bench.report import Row

from npa.cluster.facts import Facts
from npa.cluster.resolve import resolve
from npa.render.local import addresses, desired
from npa.render.local.layout import Layout
from npa.slurm.runtime import Runtime
from npa.spec import load

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


def timed(act: Callable[[], object]) -> float:
    begin = perf_counter()
    act()
    return perf_counter() - begin


def say(row: Row) -> Row:
    print(f"{row.what}: {', '.join(f'{sample:.3f}' for sample in row.samples)} {row.unit}", file=sys.stderr)
    return row


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


def rendering() -> Row:
    """Time a spec of ten thousand nodes from its text to every file and node on this machine."""
    text = SPEC.format(name="large", size=10_000)

    def render() -> None:
        cluster = resolve(load.parse(text), Facts(), "local")
        names = (
            *cluster.controllers,
            *cluster.logins,
            cluster.accounting_node,
            cluster.rest_node,
            *cluster.workers,
        )
        place = Layout("/var/lib/npa/local/large")
        desired.render(cluster, place, Runtime("v1", twin=True), "0" * 16, addresses.assign({}, names))

    samples = tuple(timed(render) for _ in range(5))
    return say(Row("resolve and render of 10,000 nodes", "s", samples, 1.0))


def clusters(cli: Cli) -> Iterator[Row]:
    """Time whole clusters, and read what they take."""
    memory = {}
    for size, runs, aim in ((4, 5, 4.0), (100, 3, 20.0)):
        ups, same, downs = [], [], []
        name = f"n{size}"
        for _ in range(runs):
            ups.append(cli.deploy(name, size))
            same.append(cli.deploy(name, size))
            memory[size] = machine.cluster_memory(cli.state)
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
            Row(f"deploy of {size} nodes with nothing to do", "s", tuple(same), 0.5 if size == 4 else None)
        )
        yield say(Row(f"destroy of {size} nodes", "s", tuple(downs)))
    yield say(Row("memory of a cluster of 4 nodes, everything", "MiB", (memory[4],)))
    yield say(Row("memory of each further node", "MiB", ((memory[100] - memory[4]) / 96,)))


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
            cli.destroy("warm")
            rows = [*commands(cli), rendering(), *provider(), *clusters(cli), cold(work)]
        finally:
            cli.clean_up()
    PAGE.write_text(report.render(rows, machine.facts(version)), encoding="utf-8")
    print(f"written: {PAGE.name}", file=sys.stderr)


if __name__ == "__main__":
    main()
