"""The image: one Debian root with Slurm, made once by mmdebstrap and kept by the digest of its recipe."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import shlex
import stat
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from npa.errors import NpaError, RefusedError, ToolError
from npa.tools import disk, run

SUITES = {"26.05": "forky", "24.11": "trixie"}
PACKAGES = (
    "catatonit",
    "curl",
    "iproute2",
    "jq",
    "less",
    "libnss-extrausers",
    "mariadb-client-core",
    "mariadb-server-core",
    "openssh-client",
    "openssh-server",
    "procps",
    "rsync",
    "sackd",
    "slurm-client",
    "slurm-wlm-jwt-plugin",
    "slurm-wlm-mysql-plugin",
    "slurmctld",
    "slurmd",
    "slurmdbd",
    "slurmrestd",
)
MYSQL_UID = 64031  # next to Debian's fixed slurm, 64030
# lines that mmdebstrap prints as it goes, and how much of the work is done by then
STAGES = (
    ("running apt-get update", 0.02),
    ("downloading packages with apt", 0.1),
    ("extracting archives", 0.3),
    ("installing essential packages", 0.35),
    ("installing remaining packages", 0.5),
    ("running --customize-hook", 0.85),
    ("cleaning package lists", 0.98),
)
TIMEOUT = 1800.0  # seconds, for slow mirrors


@dataclass(frozen=True, slots=True)
class Image:
    """A built image."""

    digest: str
    root: Path
    slurm_version: str


_moment: ContextVar[dict[tuple[Path, str], str] | None] = ContextVar("sources", default=None)


@contextlib.contextmanager
def moment() -> Iterator[None]:
    """Take the block for one moment: an image's sources are read once in it, for however many clusters."""
    token = _moment.set({})
    try:
        yield
    finally:
        _moment.reset(token)


class Rootfs:
    """Images of one cache folder."""

    def __init__(self, cache: Path, sources: Path) -> None:
        self._cache = cache
        self._sources = sources  # the folder that holds `images` and `native`

    @property
    def lock(self) -> Path:
        """The lock that whoever builds holds."""
        return self._cache / ".lock"

    def digest(self, version: str) -> str:
        """Return the digest of all that decides what is in the image of this Slurm version."""
        kept, key = _moment.get(), (self._sources, version)
        if kept is None:
            return self._digest(version)
        if key not in kept:
            kept[key] = self._digest(version)
        return kept[key]

    def _digest(self, version: str) -> str:
        told = hashlib.sha256()
        for part in _argv(version, Path("ROOT"), Path("SOURCES")):
            told.update(part.encode() + b"\0")
        sources = (*sorted(self._sources.glob("images/*")), *sorted(self._sources.glob("native/*/*")))
        for source in filter(Path.is_file, sources):  # `images/kube` goes on top, into container images only
            told.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
        told.update(platform.machine().encode())
        return told.hexdigest()[:16]

    def find(self, version: str) -> Image | None:
        """Return the cached image, None where there is none, without looking into it."""
        digest = self.digest(version)
        manifest = disk.load_json(self._cache / f"{digest}.json")
        root = self._cache / digest
        if manifest is None or not root.is_dir():
            return None
        return Image(digest, root, str(manifest.get("slurm_version", "")))

    def verify(self, image: Image) -> None:
        """Compare the image with what was written down when it was built.

        Raises RefusedError when a file was added, removed or changed.
        """
        manifest = disk.load_json(self._cache / f"{image.digest}.json") or {}
        if manifest.get("tree") != tree_digest(image.root):
            raise RefusedError(
                f"the cached image {image.root} is not what was built",
                hint=f"remove it, and it is built again: rm -r {image.root} {image.root}.json",
            )

    def build(self, version: str, progress: Callable[[float, str], None]) -> Image:
        """Build the image and put it into the cache, whole or not at all.

        `progress` hears a fraction and a few words. Raises ToolError, or NpaError when Debian's suite carries
        another Slurm.
        """
        digest = self.digest(version)
        self._cache.mkdir(parents=True, exist_ok=True)
        self._sweep()
        partial = self._cache / f"{digest}.partial"
        progress(0.0, f"Debian {SUITES[version]} with Slurm {version}")

        def heard(line: str) -> None:
            for words, fraction in STAGES:
                if words in line:
                    progress(fraction, words)

        try:
            run.stream(_argv(version, partial, self._sources), heard, timeout=TIMEOUT)
        except ToolError as error:
            raise _explained(error) from error
        found = run.run(["chroot", str(partial), "slurmctld", "-V"]).split()[-1]
        if not found.startswith(version):
            raise NpaError(
                f"Debian {SUITES[version]} carries Slurm {found}, not {version}",
                hint=f"set `slurm.version` to another of {', '.join(SUITES)}",
            )
        root = self._cache / digest
        manifest = {"slurm_version": found, "tree": tree_digest(partial)}
        disk.remove_tree(root)  # left by a build that was cut short right here
        os.replace(partial, root)
        disk.write(self._cache / f"{digest}.json", json.dumps(manifest) + "\n")
        progress(1.0, "done")
        return Image(digest, root, found)

    def _sweep(self) -> None:
        """Remove what builds that were cut short have left; the caller holds the cache's lock."""
        for left in self._cache.glob("*.partial"):
            disk.remove_tree(left)


def _argv(version: str, root: Path, sources: Path) -> list[str]:
    hook = f'sh {shlex.quote(str(sources / "images/customize.sh"))} "$1" {MYSQL_UID}'
    return [
        "mmdebstrap",
        "--variant=minbase",
        # testing and unstable are mirrored with Release files past their date
        '--aptopt=Acquire::Check-Valid-Until "false"',
        '--aptopt=Acquire::Languages "none"',
        '--aptopt=APT::Install-Recommends "false"',
        "--dpkgopt=force-unsafe-io",
        *(f"--dpkgopt=path-exclude=/usr/share/{what}/*" for what in ("man", "doc", "locale", "info")),
        f"--customize-hook={hook}",
        f"--include={','.join(PACKAGES)}",
        SUITES[version],
        str(root),
    ]


def tree_digest(root: Path) -> str:
    """Return a digest of every path below `root` with its kind, mode, owner, size and change time.

    Content is covered by the change time: nothing that goes through the file system can alter a file and
    keep it (ctime, inode(7)), and reading 200 MB at each start would cost more than starting the cluster.
    """
    told = hashlib.sha256()
    for line in _entries(root, ""):
        told.update(line.encode(errors="surrogateescape"))
    return told.hexdigest()


def _entries(root: Path, below: str) -> Iterator[str]:
    with os.scandir(f"{root}/{below}") as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        path = f"{below}{entry.name}"
        facts = entry.stat(follow_symlinks=False)
        when = facts.st_mtime_ns if stat.S_ISDIR(facts.st_mode) else facts.st_ctime_ns
        yield f"{path}\0{facts.st_mode} {facts.st_uid} {facts.st_gid} {facts.st_size} {when}\n"
        if entry.is_dir(follow_symlinks=False):
            yield from _entries(root, path + "/")


def _explained(error: ToolError) -> ToolError:
    """Add what to do to the failures that people meet."""
    if "Unable to fetch" in error.stderr or "Could not resolve" in error.stderr:
        hint = "the Debian mirror cannot be reached: check the network or apt's proxy, then try again"
    elif "No space left" in error.stderr:
        hint = "the disk is full: free about 2 GiB, then try again"
    else:
        hint = "run the same command again; what was built so far is thrown away"
    return ToolError(error.argv, error.exit_status, error.stderr, hint=hint)
