"""Images that are not what was built, or were never finished."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from bench.faults import lab
from bench.faults.row import Row
from tests.e2e.local.harness import CPU_POOL, Cluster, Npa


def rows(npa: Npa) -> list[Row]:
    """Damage an image, then cut its build short; it is built once, in a cache of its own."""
    first = Cluster(npa, "e2e-source", workers=[CPU_POOL])
    first.deploy()
    record = json.loads((npa.folder(first.name) / "record.json").read_text())
    first.destroy()
    cache = npa.state / "cache/rootfs"
    cache.mkdir(parents=True)
    image, source = cache / record["image"], record["rootfs"]
    subprocess.run(["cp", "-a", "--reflink=auto", source, str(image)], check=True)
    shutil.copy(f"{source}.json", cache)
    other = Npa(npa.state, NPA_CACHE_DIR=str(npa.state / "cache"))
    cluster = Cluster(other, "e2e-image", workers=[CPU_POOL])
    _refused(cluster, image)
    # what a build that was cut short leaves: a folder half filled, and one without its list
    (cache / f"{record['image']}.json").unlink()
    (cache / f"{record['image']}.partial/usr").mkdir(parents=True)
    _refused(cluster, image)
    shutil.rmtree(image)  # as the hint says
    built = lab.deploy(cluster)
    assert not (cache / f"{record['image']}.partial").exists()
    assert cluster.srun("-N2", "true").code == 0
    cluster.destroy()
    return [
        Row(
            "a file of the cached image is another",
            "its change time",
            "1, there is no such cluster; `deploy` exits 3, `is not what was built`",
            "remove the image as the hint says, then `deploy` builds it",
            job="none yet",
        ),
        Row(
            "a build of the image was cut short",
            "half a folder, and one without its list",
            "1, there is no such cluster; `deploy` exits 3, `is not what was built`",
            "remove the image as the hint says, then `deploy` builds it",
            (built,),
            job="none yet",
        ),
    ]


def _refused(cluster: Cluster, image: Path) -> None:
    refused = cluster.try_deploy()
    assert refused.code == 3, str(refused)
    assert "is not what was built" in refused.err, str(refused)
    assert f"rm -r {image}" in refused.err, str(refused)
    told = cluster.npa("status", cluster.name, "-o", "json")
    assert (told.code, told.json["error"]["code"]) == (1, "not-found"), str(told)
