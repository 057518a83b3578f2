"""Every image that the operator and its clusters run, made on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from npa.tools import disk, images, oci, operator_image, sbom
from npa.tools.oci import Image, Layers
from npa.tools.rootfs import Rootfs

_STATUS = "var/lib/dpkg/status"


@dataclass(frozen=True, slots=True)
class Archive:
    """An image as a file, and the file that says what is in it."""

    image: str
    digest: str
    archive: Path
    sbom: Path


def make(
    out: Path, repository: str, tag: str, slurm_version: str, told: Callable[[str], None]
) -> tuple[Archive, ...]:
    """Make the images of daemons, jail and operator, in this order; what is there is left as it is."""
    sources, cache = images.sources(), images.cache()
    rootfs, layers = Rootfs(cache / "rootfs", sources), Layers(cache / "layers")
    with disk.lock(rootfs.lock, "images are being made already", patience=1800):
        root = rootfs.find(slurm_version)
        if root is None:
            root = rootfs.build(slurm_version, lambda done, words: told(f"{done:4.0%} {words}"))
        debian = tuple(sbom.debian((root.root / _STATUS).read_text(encoding="utf-8")))
        told("the operator: Debian's Python and what npa needs")
        ours = operator_image.operator(layers, sources, repository, tag)
        wanted = (
            ("slurm", images.slurm(layers, root, sources, repository, tag), debian),
            ("jail", images.jail(layers, root, sources, repository, tag), debian),
            ("operator", ours.image, ours.packages),
        )
        out.mkdir(parents=True, exist_ok=True)
        return tuple(_write(out, name, image, packages) for name, image, packages in wanted)


def _write(out: Path, name: str, image: Image, packages: Iterable[sbom.Package]) -> Archive:
    archive, bill = out / f"{name}.tar", out / f"{name}.cdx.json"
    if oci.write(image, archive) or not bill.exists():
        version = image.name.rpartition(":")[2]
        disk.write(bill, sbom.render(image.name, version, oci.identity(image), packages))
    return Archive(image.name, oci.identity(image), archive, bill)
