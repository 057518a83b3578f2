"""Container images as OCI archives, written without registry or engine (OCI image and layout specs, 1.1).

A layer is a tar file in a cache, called by the digest of what it was made from; an archive is a few small
documents around such files. `ctr images import`, `podman load`, `docker load` and `skopeo` read it.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import platform
import tarfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from npa.tools import disk, run

_INDEX = "application/vnd.oci.image.index.v1+json"
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_CONFIG = "application/vnd.oci.image.config.v1+json"
_LAYER = "application/vnd.oci.image.layer.v1.tar"
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
TAR = ("tar", "--numeric-owner", "--sort=name")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_TIMEOUT = 600.0  # seconds, for a slow disk


@dataclass(frozen=True, slots=True)
class Layer:
    """A tar file, and the digest of its bytes."""

    path: Path
    digest: str  # sha256, in hex
    size: int


@dataclass(frozen=True, slots=True)
class Content:
    """A file of a layer that is made of files of ours."""

    path: str  # below the image's root
    source: Path
    mode: int = 0o644


@dataclass(frozen=True, slots=True)
class Image:
    """An image: layers from the bottom up, and what runs in them."""

    name: str  # REPOSITORY:TAG
    layers: tuple[Layer, ...]
    entrypoint: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    user: str = ""


class Layers:
    """Layers of one cache folder, each made once."""

    def __init__(self, cache: Path) -> None:
        self._cache = cache

    def of_folder(self, key: str, root: Path, without: Iterable[str] = ()) -> Layer:
        """Return the layer of a folder whose content `key` stands for; all owners and modes are kept."""
        excluded = [
            f"--exclude=./{path}" for path in ("proc/*", "sys/*", "dev/*", "run/*", "tmp/*", *without)
        ]
        argv = [*TAR, "--xattrs", *excluded, "-C", str(root), "-cf"]
        return self.made(key, lambda out: run.run([*argv, str(out), "."], timeout=_TIMEOUT))

    def of_files(self, files: Iterable[Content]) -> Layer:
        """Return the layer of these files; they are root's, and dated 1970, so that equal ones are equal."""
        wanted = sorted(files, key=lambda each: each.path)
        told = hashlib.sha256()
        for each in wanted:
            told.update(f"{each.path}\0{each.mode:o}\0".encode() + each.source.read_bytes() + b"\0")
        return self.made(f"files-{told.hexdigest()[:16]}", lambda out: _pack(out, wanted))

    def made(self, key: str, write: Callable[[Path], object]) -> Layer:
        """Return the layer that `write` makes, once; `key` stands for all that decides what is in it."""
        path, known = self._cache / f"{key}.tar", self._cache / f"{key}.json"
        manifest = disk.load_json(known)
        if manifest is not None and path.exists() and path.stat().st_size == manifest["size"]:
            return Layer(path, str(manifest["digest"]), int(manifest["size"]))
        self._cache.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}.partial.tar")
        try:
            write(partial)
            layer = Layer(path, _digest(partial), partial.stat().st_size)
            os.replace(partial, path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                partial.unlink()
        disk.write(known, json.dumps({"digest": layer.digest, "size": layer.size}) + "\n")
        return layer


def documents(image: Image) -> tuple[bytes, bytes]:
    """Return an image's configuration and manifest; its identity is the manifest's digest."""
    config = _json(
        {
            "architecture": _ARCHITECTURES.get(platform.machine(), platform.machine()),
            "os": "linux",
            "config": {
                "Env": [f"{key}={value}" for key, value in {"PATH": _PATH, **image.env}.items()],
                **({"Entrypoint": list(image.entrypoint)} if image.entrypoint else {}),
                **({"User": image.user} if image.user else {}),
                **({"Labels": dict(image.labels)} if image.labels else {}),
            },
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer.digest}" for layer in image.layers]},
        }
    )
    layers = [_descriptor(_LAYER, layer.digest, layer.size) for layer in image.layers]
    manifest = _json(
        {
            "schemaVersion": 2,
            "mediaType": _MANIFEST,
            "config": _descriptor(_CONFIG, hashlib.sha256(config).hexdigest(), len(config)),
            "layers": layers,
        }
    )
    return config, manifest


def identity(image: Image) -> str:
    """Return the digest by which engines and registries know an image."""
    return f"sha256:{hashlib.sha256(documents(image)[1]).hexdigest()}"


def write(image: Image, out: Path) -> bool:
    """Write an image as an archive, whole or not at all; False where it is there already."""
    config, manifest = documents(image)
    tag = image.name.rpartition(":")[2]
    names = {"io.containerd.image.name": image.name, "org.opencontainers.image.ref.name": tag}
    entry = _descriptor(_MANIFEST, hashlib.sha256(manifest).hexdigest(), len(manifest))
    index = _json({"schemaVersion": 2, "mediaType": _INDEX, "manifests": [{**entry, "annotations": names}]})
    if _index_of(out) == index:
        return False
    partial = out.with_suffix(f".{os.getpid()}.partial")
    try:
        with tarfile.open(partial, "w") as archive:
            _add(archive, "oci-layout", b'{"imageLayoutVersion": "1.0.0"}')
            _add(archive, "index.json", index)
            for blob in (config, manifest):
                _add(archive, f"blobs/sha256/{hashlib.sha256(blob).hexdigest()}", blob)
            for digest, path in {layer.digest: layer.path for layer in image.layers}.items():
                archive.add(path, f"blobs/sha256/{digest}", filter=_plain)
        os.replace(partial, out)
    finally:
        with contextlib.suppress(FileNotFoundError):
            partial.unlink()
    return True


def read(layer: Path, name: str) -> str:
    """Return the text of a file in a layer."""
    with tarfile.open(layer) as found:
        content = found.extractfile(name)
        assert content is not None, name
        return content.read().decode(errors="replace")


def _index_of(archive: Path) -> bytes | None:
    """Return the index of an archive of ours; None where there is none."""
    try:
        with tarfile.open(archive) as found:
            for member in found:
                content = found.extractfile(member) if member.name == "index.json" else None
                if content is not None:
                    return content.read()
    except (FileNotFoundError, tarfile.TarError):
        pass
    return None


def _pack(out: Path, files: Iterable[Content]) -> None:
    folders: set[str] = set()
    with tarfile.open(out, "w", format=tarfile.PAX_FORMAT) as archive:
        for each in files:
            for parent in reversed(Path(each.path).parents[:-1]):
                if str(parent) not in folders:
                    folders.add(str(parent))
                    folder = tarfile.TarInfo(str(parent))
                    folder.type, folder.mode = tarfile.DIRTYPE, 0o755
                    archive.addfile(folder)
            _add(archive, each.path, each.source.read_bytes(), each.mode)


def _add(archive: tarfile.TarFile, name: str, content: bytes, mode: int = 0o644) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(content), mode
    archive.addfile(member, io.BytesIO(content))


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    member.mode = 0o644
    return member


def _descriptor(media_type: str, digest: str, size: int) -> dict[str, Any]:
    return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": size}


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True).encode()


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
