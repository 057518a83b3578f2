"""Measures fleets and writes docs/reference/performance-fleet.md: `make bench-fleet`, as root."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from bench import machine, report
from bench.report import Row
from bench.timing import say, timed

from npa.cluster.facts import Facts
from npa.cluster.resolve import resolve
from npa.fleet import load
from npa.fleet.member import Fleet
from npa.fleet.record import Record as FleetRecord
from npa.fleet.store import Store, now
from npa.render.local.layout import Layout
from npa.render.local.world import Record
from npa.targets.local import record as records
from npa.targets.local.paths import Paths
from npa.tools.rootfs import Rootfs

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "performance-fleet.md"
NPA = str(Path(sys.executable).parent / "npa")
RUNS = 7
PLANNED, SEEN = 200, 50
AIM_PLAN, AIM_STATUS = 2.0, 1.0
PLAN_BOUND = "every cluster's Slurm files are rendered and linted"
STATUS_BOUND = "other work on both cores: see the processor time"
HEAD = """\
name: bench
target: {target}
tenant_id: tenant-1
region: eu-north1
defaults:
  soperator:
    workers:
      - {{name: cpu, preset: 16vcpu-64gb, size: 4}}
      - {{name: more, preset: 32vcpu-128gb, size: 8}}
projects:
"""


def text(count: int, target: str) -> str:
    """Return a fleet's file, ten clusters to a project."""
    lines = [HEAD.format(target=target)]
    for number in range(count):
        if number % 10 == 0:
            lines.append(
                f"  - name: team-{number // 10}\n    project_id: project-{number // 10}\n    clusters:\n"
            )
        own = "        soperator: {accounting: true}\n" if number % 3 == 0 else ""
        lines.append(f"      - name: cluster-{number}\n{own}")
    return "".join(lines)


class Cli:
    """The command line, with everything that it writes in a place of its own."""

    def __init__(self, work: Path) -> None:
        self.work = work
        self.state, self.fleets = work / "state", work / "fleets"
        self._env = {
            **os.environ,
            "HOME": str(work),
            "NPA_STATE_DIR": str(self.state),
            "NPA_FLEET_DIR": str(self.fleets),
            "NO_COLOR": "1",
        }

    def __call__(self, *arguments: str, codes: tuple[int, ...] = (0,)) -> None:
        done = subprocess.run(
            [NPA, "fleet", *arguments],
            env=self._env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if done.returncode not in codes:
            raise SystemExit(f"npa fleet {' '.join(arguments)}: {done.returncode}\n{done.stderr}")


def plans(cli: Cli) -> Iterator[Row]:
    """Time the plan of a whole fleet, from the start of the command to its end."""
    for target, what in (("nebius", "at Nebius, no provider asked"), ("local", "on this machine")):
        file = cli.work / f"{target}.yaml"
        file.write_text(text(PLANNED, target))
        # 3: all are planned, and this machine has no memory for them together
        plan = partial(cli, "plan", "-f", str(file), codes=(0, 3))
        plan()
        yield from both(f"fleet plan of {PLANNED} clusters {what}", plan, AIM_PLAN, PLAN_BOUND)


def statuses(cli: Cli) -> Iterator[Row]:
    """Time the status of recorded clusters, none of which runs."""
    fleet = load.parse(text(SEEN, "local"))
    remember(cli, fleet)
    look = partial(cli, "status", "bench", codes=(4,))
    yield from both(f"fleet status of {SEEN} local records", look, AIM_STATUS, STATUS_BOUND)


def both(what: str, act: Callable[[], None], aim: float, bound: str) -> Iterator[Row]:
    """Time something by the clock, and by what it takes of the processors whatever else runs."""
    clock, work = [], []
    for _ in range(RUNS):
        before = used()
        clock.append(timed(act))
        work.append(used() - before)
    yield say(Row(what, "s", tuple(clock), aim, bound))
    yield say(Row(f"{what}, processor time", "s", tuple(work)))


def used() -> float:
    """Return the processor seconds of all commands that have ended."""
    found = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found.ru_utime + found.ru_stime


def remember(cli: Cli, fleet: Fleet) -> None:
    """Write down clusters as a deploy does, without starting any."""
    paths = Paths.here()
    rootfs = Rootfs(paths.cache, paths.sources)
    store, created = Store(fleet.name, cli.fleets), now()
    for each in fleet.members:
        cluster = resolve(each.spec, Facts(), "local")
        folder = cli.state / "local" / cluster.name
        folder.mkdir(parents=True)
        digest = rootfs.digest(cluster.slurm_version)
        kept = Record(
            cluster.name,
            created,
            digest,
            str(paths.cache / digest),
            cluster.slurm_version,
            {},
            {},
            cluster,
            {},
        )
        records.save(Path(Layout(str(folder)).record), kept)
        store.save(FleetRecord(each.claim, "deployed", created, created, created))


def main() -> None:
    """Measure and write the page."""
    if os.geteuid() != 0:
        raise SystemExit("error: clusters on this machine need root\nhint: make bench-fleet")
    with tempfile.TemporaryDirectory(prefix="npa-bench-") as work:
        cli = Cli(Path(work))
        rows = [*plans(cli), *statuses(cli)]
    page = report.render(rows, machine.facts("none runs"))
    page = page.replace("# Performance\n", "# Performance of fleets\n").replace(
        "`make bench`", "`make bench-fleet`"
    )
    page = page.replace("Clusters have accounting and the REST API; memory counts shared pages once.\n", "")
    PAGE.write_text(page, encoding="utf-8")
    print(f"written: {PAGE.name}", file=sys.stderr)


if __name__ == "__main__":
    main()
