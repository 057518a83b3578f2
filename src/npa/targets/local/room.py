"""Whether this machine has room for several clusters at once, before the first of them is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from npa.targets.local.paths import Paths
from npa.targets.local.preflight import GIB, IMAGE_BYTES, STATE_BYTES
from npa.tools import disk
from npa.tools.rootfs import Rootfs

MIB = 1 << 20
# As measured in docs/reference/performance.md, with a quarter on top for what jobs begin with.
CLUSTER_BYTES = 144 * MIB
WORKER_BYTES = 6 * MIB
LOG_BYTES = 1 * MIB  # of each worker, on disk

Lack = tuple[str, str]


def lacks(workers: Sequence[int], versions: Sequence[str], paths: Paths) -> Iterator[Lack]:
    """Yield what is lacking for new clusters with so many workers each, of these versions of Slurm."""
    if not workers:
        return
    rootfs = Rootfs(paths.cache, paths.sources)
    images = sum(rootfs.find(each) is None for each in dict.fromkeys(versions))
    count, total = len(workers), sum(workers)
    who = f"{count} new cluster{'s' * (count != 1)} with {total} worker{'s' * (total != 1)}"
    state = count * STATE_BYTES + total * LOG_BYTES
    yield from _disk(paths, state, images * IMAGE_BYTES, who)
    needed, free = count * CLUSTER_BYTES + total * WORKER_BYTES, available()
    if free < needed:
        yield (
            f"{who} need {needed / GIB:.1f} GiB of memory, {free / GIB:.1f} GiB are free",
            "make fewer or smaller clusters at once, or end what uses the memory",
        )


def available() -> int:
    """Return the bytes of memory that new programs may use without swapping (proc_meminfo(5))."""
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def _disk(paths: Paths, state: int, images: int, who: str) -> Iterator[Lack]:
    wanted = [(paths.state, state, "NPA_STATE_DIR"), (paths.cache, images, "NPA_CACHE_DIR")]
    if _device(paths.state) == _device(paths.cache):
        wanted = [(paths.state, state + images, "NPA_STATE_DIR")]
    for path, needed, variable in wanted:
        free = disk.free_bytes(path)
        if free < needed:
            yield (
                f"{path} has {free / GIB:.1f} GiB free, {who} need {needed / GIB:.1f} GiB there",
                f"free some space, or set {variable} to a folder on a larger disk",
            )


def _device(path: Path) -> int:
    while not path.exists():
        path = path.parent
    return path.stat().st_dev
