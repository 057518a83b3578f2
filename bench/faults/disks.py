"""A disk without room: clusters whose state folder is a small file system of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.faults import lab
from bench.faults.row import Row
from tests.e2e.local.harness import CPU_POOL, Cluster, Npa

ROOMY = "size=1200m"
SMALL = "size=200m"
NO_FILES = "size=1200m,nr_inodes=120"  # room by the byte, none by the file: nobody sees it coming


def rows(npa: Npa) -> list[Row]:
    """Deploy to disks that are full before, while and after."""
    return [before(npa), during(npa), after(npa)]


@contextmanager
def disk(npa: Npa, options: str) -> Iterator[Npa]:
    """Give a state folder on a small file system."""
    place = npa.state / "small"
    place.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "npa-fault", str(place)], check=True)
    small = Npa(place)
    Path(small.env["HOME"]).mkdir()
    try:
        yield small
    finally:
        small("destroy", "e2e-full", "--yes", "--force")
        subprocess.run(["umount", str(place)], check=True)


def before(npa: Npa) -> Row:
    """Nothing is touched where there is too little room to begin with."""
    with disk(npa, SMALL) as small:
        cluster = _cluster(small)
        refused = cluster.try_deploy()

        assert refused.code == 3, str(refused)
        assert "GiB free" in refused.err, str(refused)
        assert "NPA_STATE_DIR" in refused.err, str(refused)
        assert not small.folder(cluster.name).exists()
        assert small("status", cluster.name).code == 1
        subprocess.run(["mount", "-o", f"remount,{ROOMY}", str(small.state)], check=True)
        took = lab.deploy(cluster)
    return Row("the disk is full before the first deploy", "a small tmpfs",
               "1, there is no such cluster; `deploy` exits 3 and says how much is missing",
               "free some space, then `deploy`", (took,), job="none yet")  # fmt: skip


def during(npa: Npa) -> Row:
    """What fails for want of room says so, and the next deploy goes on from there."""
    with disk(npa, NO_FILES) as small:
        cluster = _cluster(small)
        failed = cluster.try_deploy()

        assert failed.code == 1, str(failed)
        assert "No space left on device" in failed.err, str(failed)
        assert "Traceback" not in failed.err, str(failed)
        assert small("status", cluster.name).code in (1, 4)
        subprocess.run(["mount", "-o", "remount,nr_inodes=0", str(small.state)], check=True)
        took = lab.deploy(cluster)
        assert cluster.plan()["steps"] == []
    return Row("the disk fills up during a deploy", "a tmpfs with 120 inodes",
               "1 or 4; `deploy` exits 1, `No space left on device`",
               "free some space, then `deploy`", (took,), job="none yet")  # fmt: skip


def after(npa: Npa) -> Row:
    """With the disk full under a running cluster, its daemons are not started again until there is room."""
    with disk(npa, ROOMY) as small:
        cluster = _cluster(small)
        cluster.deploy()
        job = lab.start_job(cluster)
        filler = small.state / "filler"
        _fill(filler)
        lab.ill(cluster, FULL)
        lab.kill_daemon(cluster, "controller-0", "slurmctld")
        lab.ill(cluster, "slurmctld on controller-0: is down")
        refused = cluster.try_deploy()
        assert refused.code == 3, str(refused)
        assert "GiB free" in refused.err, str(refused)
        filler.unlink()
        took = lab.deploy(cluster)
        lab.goes_on(cluster, job)
    return Row("the disk fills up under a running cluster, and slurmctld ends", "a file of all that is left",
               f"4, `{FULL}`; `deploy` exits 3 and says how much is missing",
               "free some space, then `deploy`", (took,))  # fmt: skip


FULL = "has no room left"


def _cluster(npa: Npa) -> Cluster:
    return Cluster(npa, "e2e-full", accounting=True, workers=[CPU_POOL])


def _fill(path: Path) -> None:
    """Write until there is no room at all."""
    with open(path, "wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while True:
                    file.write(b"\0" * size)
            except OSError:
                continue
