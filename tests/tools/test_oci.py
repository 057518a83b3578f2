"""OCI archives: what an engine finds in one, and that nothing is made twice."""

from __future__ import annotations

import hashlib
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from npa.tools import oci, sbom
from npa.tools.oci import Content, Image, Layers


@pytest.fixture
def layers(tmp_path: Path) -> Layers:
    return Layers(tmp_path / "layers")


def blob(archive: Path, digest: str) -> bytes:
    return member(archive, f"blobs/{digest.replace(':', '/')}")


def member(archive: Path, name: str) -> bytes:
    with tarfile.open(archive) as found:
        content = found.extractfile(name)
        assert content is not None
        return content.read()


def image(layers: Layers, folder: Path) -> Image:
    (folder / "hello").write_text("#!/bin/sh\n", encoding="utf-8")
    return Image("localhost/a/b:1", (layers.of_files([Content("usr/bin/hello", folder / "hello", 0o755)]),))


def test_every_blob_of_an_archive_is_called_by_its_digest(layers: Layers, tmp_path: Path) -> None:
    made = image(layers, tmp_path)
    out = tmp_path / "out.tar"
    oci.write(made, out)
    index: dict[str, Any] = json.loads(member(out, "index.json"))
    (entry,) = index["manifests"]
    manifest = json.loads(blob(out, entry["digest"]))
    config = json.loads(blob(out, manifest["config"]["digest"]))
    (layer,) = manifest["layers"]

    assert entry["digest"] == oci.identity(made)
    assert entry["annotations"]["io.containerd.image.name"] == "localhost/a/b:1"
    assert hashlib.sha256(blob(out, layer["digest"])).hexdigest() == layer["digest"].removeprefix("sha256:")
    assert config["rootfs"]["diff_ids"] == [layer["digest"]]


def test_a_file_of_a_layer_keeps_its_mode_and_is_root_s(layers: Layers, tmp_path: Path) -> None:
    (layer,) = image(layers, tmp_path).layers
    with tarfile.open(layer.path) as found:
        rows = {each.name: (each.mode, each.uid, each.isdir()) for each in found}

    assert rows == {
        "usr": (0o755, 0, True),
        "usr/bin": (0o755, 0, True),
        "usr/bin/hello": (0o755, 0, False),
    }


def test_an_archive_of_the_same_image_is_left_as_it_is(layers: Layers, tmp_path: Path) -> None:
    out = tmp_path / "out.tar"

    assert [oci.write(image(layers, tmp_path), out) for _ in range(2)] == [True, False]


def test_a_layer_is_made_once(layers: Layers) -> None:
    calls: list[Path] = []

    def write(out: Path) -> None:
        calls.append(out)
        out.write_bytes(b"tar")

    first = layers.made("key", write)

    assert layers.made("key", write) == first
    assert len(calls) == 1
    assert first.digest == hashlib.sha256(b"tar").hexdigest()


def test_a_layer_that_could_not_be_made_leaves_nothing(layers: Layers, tmp_path: Path) -> None:
    def write(out: Path) -> None:
        out.write_bytes(b"half")
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        layers.made("key", write)

    assert not list((tmp_path / "layers").iterdir())


def test_a_bill_names_what_is_installed_and_nothing_else() -> None:
    status = """\
Package: bash
Status: install ok installed
Architecture: amd64
Maintainer: Somebody <a@example.org>
Version: 5.2-1

Package: gone
Status: deinstall ok config-files
Architecture: amd64
Version: 1
"""
    found = tuple(sbom.debian(status))
    document = json.loads(sbom.render("localhost/a/b:1", "1", "sha256:00", found))

    assert [each["purl"] for each in document["components"]] == ["pkg:deb/debian/bash@5.2-1?arch=amd64"]
    assert document["metadata"]["component"]["name"] == "localhost/a/b:1"
