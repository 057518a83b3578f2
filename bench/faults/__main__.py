"""Makes every fault and writes docs/reference/faults.md: `make faults`, as root."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench import machine
from bench.faults import clocks, cuts, disks, images, kills, network, row, stops
from bench.faults.row import Row
from tests.e2e.local.harness import CPU_POOL, Cluster, Npa

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "faults.md"
# not /tmp, which may be a tmpfs or an overlay: the jail is an overlay, and none fits on top of another
STATE = Path("/var/lib")
SCENES: tuple[Callable[[Npa], list[Row]], ...] = (
    kills.rows,
    stops.rows,
    network.rows,
    clocks.rows,
    disks.rows,
    cuts.rows,
    images.rows,
)
NOTES = (*network.NOTES, *stops.NOTES, *clocks.NOTES)


@contextmanager
def workspace() -> Iterator[Npa]:
    """Give a state folder of its own; whatever a scene that failed left in it is removed."""
    state = Path(tempfile.mkdtemp(prefix="npa-faults-", dir=STATE))
    npa = Npa(state)
    Path(npa.env["HOME"]).mkdir()
    try:
        yield npa
    finally:
        for left in sorted((state / "local").glob("*/")):
            npa("destroy", left.name, "--yes", "--force")
        shutil.rmtree(state)


def slurm_version(npa: Npa) -> str:
    """Return the version of the image that all clusters here share."""
    cluster = Cluster(npa, "e2e-version", workers=[CPU_POOL])
    cluster.deploy()
    version = str(cluster.status()["slurm_version"])
    cluster.destroy()
    return version


def main() -> int:
    """Make the faults named on the command line, or all; the page is written when all of them hold."""
    if os.geteuid() != 0:
        raise SystemExit("error: clusters on this machine need root\nhint: make faults")
    chosen = [scene for scene in SCENES if not sys.argv[1:] or scene.__module__.split(".")[-1] in sys.argv]
    found: list[Row] = []
    failed = 0
    with workspace() as npa:
        version = slurm_version(npa)
        for scene in chosen:
            began = time.monotonic()
            try:
                rows = scene(npa)
            except Exception:
                failed += 1
                traceback.print_exc()
                rows = []
            name = scene.__module__.rpartition(".")[2]
            print(f"{name}: {len(rows)} faults in {time.monotonic() - began:.0f} s", file=sys.stderr)
            found += rows
    if failed:
        print(f"{failed} of {len(chosen)} do not hold; {PAGE.name} stays as it was", file=sys.stderr)
        return 1
    if chosen == list(SCENES):
        PAGE.write_text(row.render(found, NOTES, machine.facts(version)), encoding="utf-8")
        print(f"written: {PAGE.name}", file=sys.stderr)
    else:
        print("\n".join(map(str, found)), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
