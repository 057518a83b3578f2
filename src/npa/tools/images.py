"""The images of clusters on Kubernetes: the root that local clusters have, and roles on top of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import npa
from npa.tools import oci
from npa.tools.oci import Content, Image, Layers
from npa.tools.rootfs import Image as Root

ROLE = "usr/lib/npa/role"
SLURM, JAIL = "npa/slurm", "npa/jail"
_TITLES = {SLURM: "Slurm's daemons, each a role of the entry point", JAIL: "The first content of a jail"}


def sources() -> Path:
    """Return the folder that holds `images` and `native`: of the installed package, or the checkout."""
    package = Path(npa.__file__).parent
    installed = package / "image"
    return installed if installed.is_dir() else package.parent.parent


def cache() -> Path:
    """Return the folder of what is made once on this machine; NPA_CACHE_DIR moves it."""
    return Path(os.environ.get("NPA_CACHE_DIR") or "/var/cache/npa")


def slurm(layers: Layers, root: Root, sources: Path, repository: str, tag: str) -> Image:
    """Return the image of every daemon; `sources` is the folder that holds `images`."""
    return _image(layers, root, sources, SLURM, repository, tag, ())


def jail(layers: Layers, root: Root, sources: Path, repository: str, tag: str) -> Image:
    """Return the image that fills a jail with itself."""
    return _image(layers, root, sources, JAIL, repository, tag, ("populate",))


def _image(
    layers: Layers,
    root: Root,
    sources: Path,
    title: str,
    repository: str,
    tag: str,
    command: tuple[str, ...],
) -> Image:
    base = layers.of_folder(f"rootfs-{root.digest}", root.root)
    top = layers.of_files(_roles(sources / "images" / "kube"))
    labels = {
        "org.opencontainers.image.title": title,
        "org.opencontainers.image.description": _TITLES[title],
        "org.opencontainers.image.version": root.slurm_version,
    }
    name = f"{repository}/{title}:{tag}" if repository else f"{title}:{tag}"
    return oci.Image(name, (base, top), (f"/{ROLE}", *command), labels=labels)


def _roles(folder: Path) -> Iterator[Content]:
    """Yield what is below `folder`; a script that says what reads it can be run, others are read by it."""
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        runs = path.read_bytes().startswith(b"#!")
        yield Content(f"usr/lib/npa/{path.relative_to(folder)}", path, 0o755 if runs else 0o644)
