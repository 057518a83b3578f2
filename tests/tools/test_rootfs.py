from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from npa.errors import NpaError, RefusedError, ToolError
from npa.tools.rootfs import Image, Rootfs, tree_digest

VERSION = "26.05"


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "sources"
    (folder / "images").mkdir(parents=True)
    (folder / "images/customize.sh").write_text("true\n")
    (folder / "native/jail").mkdir(parents=True)
    (folder / "native/jail/enter.c").write_text("int main;\n")
    return folder


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Make a root with a file of each kind that matters."""
    root = tmp_path / "tree"
    (root / "usr/bin").mkdir(parents=True)
    (root / "usr/bin/slurmd").write_text("binary")
    (root / "etc").mkdir()
    (root / "etc/passwd").write_text("root\n")
    (root / "bin").symlink_to("usr/bin")
    os.mkfifo(root / "pipe")
    return root


def fake_mmdebstrap(folder: Path, body: str) -> None:
    """Put a program of that name first in the PATH; its last argument is the root to fill."""
    program = folder / "mmdebstrap"
    program.write_text(f"#!/bin/sh\nset -e\nfor root; do :; done\n{body}\n")
    program.chmod(0o755)
    chroot = folder / "chroot"
    chroot.write_text('#!/bin/sh\nexec cat "$1/version"\n')
    chroot.chmod(0o755)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


def test_the_digest_is_that_of_the_whole_recipe(sources: Path, tmp_path: Path) -> None:
    rootfs = Rootfs(tmp_path / "cache", sources)
    first, other = rootfs.digest(VERSION), rootfs.digest("24.11")
    elsewhere = Rootfs(tmp_path / "moved", Path(shutil.copytree(sources, tmp_path / "copy"))).digest(VERSION)
    (sources / "native/jail/enter.c").write_text("int other;\n")

    assert first == elsewhere
    assert len({first, other, rootfs.digest(VERSION)}) == 3


@pytest.mark.parametrize("file", ["images/customize.sh", "images/new.sh", "native/jail/new.h"])
def test_every_source_counts(sources: Path, tmp_path: Path, file: str) -> None:
    rootfs = Rootfs(tmp_path / "cache", sources)
    before = rootfs.digest(VERSION)
    (sources / file).write_text("other\n")

    assert rootfs.digest(VERSION) != before


def test_an_image_counts_once_its_manifest_is_there(sources: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    rootfs = Rootfs(cache, sources)
    digest = rootfs.digest(VERSION)
    nothing = rootfs.find(VERSION)
    (cache / digest).mkdir(parents=True)
    unfinished = rootfs.find(VERSION)
    (cache / f"{digest}.json").write_text(json.dumps({"slurm_version": "26.05.5", "tree": ""}))

    assert (nothing, unfinished) == (None, None)
    assert rootfs.find(VERSION) == Image(digest, cache / digest, "26.05.5")


def _add(tree: Path) -> None:
    (tree / "etc/cron").touch()


def _remove(tree: Path) -> None:
    (tree / "usr/bin/slurmd").unlink()


def _change(tree: Path) -> None:
    (tree / "usr/bin/slurmd").write_text("rootki")  # as long as it was


def _change_and_hide(tree: Path) -> None:
    file = tree / "usr/bin/slurmd"
    times = file.stat()
    file.write_text("rootki")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


def _mode(tree: Path) -> None:
    (tree / "usr/bin/slurmd").chmod(0o4755)


def _link(tree: Path) -> None:
    (tree / "bin").unlink()
    (tree / "bin").symlink_to("/tmp")


@pytest.mark.parametrize("tamper", [_add, _remove, _change, _change_and_hide, _mode, _link])
def test_an_image_that_was_changed_is_refused(
    tamper: Callable[[Path], None], sources: Path, tree: Path, tmp_path: Path
) -> None:
    rootfs = Rootfs(tmp_path / "cache", sources)
    image = Image("abc", tree, "26.05.5")
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/abc.json").write_text(json.dumps({"tree": tree_digest(tree)}))
    rootfs.verify(image)
    tamper(tree)
    with pytest.raises(RefusedError, match="is not what was built") as caught:
        rootfs.verify(image)

    assert caught.value.hint.endswith(f"rm -r {tree} {tree}.json")


def test_reading_an_image_does_not_change_it(tree: Path) -> None:
    before = tree_digest(tree)
    (tree / "etc/passwd").read_text()

    assert tree_digest(tree) == before


def test_an_image_without_a_manifest_is_refused(sources: Path, tree: Path, tmp_path: Path) -> None:
    with pytest.raises(RefusedError):
        Rootfs(tmp_path / "cache", sources).verify(Image("abc", tree, ""))


def test_a_build_is_cached_whole(path: Path, sources: Path, tmp_path: Path) -> None:
    fake_mmdebstrap(
        path,
        'echo "I: running apt-get update..."; mkdir -p "$root/etc"; echo slurm 26.05.9 > "$root/version"',
    )
    rootfs = Rootfs(tmp_path / "cache", sources)
    heard: list[tuple[float, str]] = []
    image = rootfs.build(VERSION, lambda fraction, words: heard.append((fraction, words)))

    assert image.slurm_version == "26.05.9"
    assert rootfs.find(VERSION) == image
    rootfs.verify(image)
    assert sorted(each.name for each in (tmp_path / "cache").iterdir()) == [
        image.digest,
        f"{image.digest}.json",
    ]
    assert [fraction for fraction, _ in heard] == sorted(fraction for fraction, _ in heard)
    assert heard[-1][0] == 1.0


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        pytest.param("E: Unable to fetch some archives", "mirror", id="network"),
        pytest.param("E: Could not resolve 'mirror.example'", "mirror", id="names"),
        pytest.param("write: No space left on device", "disk is full", id="disk"),
        pytest.param("E: something else", "run the same command again", id="other"),
    ],
)
def test_a_build_that_fails_says_what_to_do_and_caches_nothing(
    path: Path, sources: Path, tmp_path: Path, said: str, hint: str
) -> None:
    fake_mmdebstrap(path, f'mkdir -p "$root/etc"; echo "{said}" >&2; exit 25')
    rootfs = Rootfs(tmp_path / "cache", sources)
    with pytest.raises(ToolError) as caught:
        rootfs.build(VERSION, lambda *_: None)

    assert hint in caught.value.hint
    assert rootfs.find(VERSION) is None


def test_a_build_after_one_that_was_cut_short_starts_from_nothing(
    path: Path, sources: Path, tmp_path: Path
) -> None:
    rootfs = Rootfs(tmp_path / "cache", sources)
    left = tmp_path / "cache" / f"{rootfs.digest(VERSION)}.partial"
    (left / "half").mkdir(parents=True)
    fake_mmdebstrap(path, 'mkdir "$root"; echo slurm 26.05.5 > "$root/version"')
    image = rootfs.build(VERSION, lambda *_: None)

    assert not left.exists()
    assert sorted(each.name for each in image.root.iterdir()) == ["version"]


def test_a_suite_with_another_slurm_is_no_image(path: Path, sources: Path, tmp_path: Path) -> None:
    fake_mmdebstrap(path, 'mkdir "$root"; echo slurm 27.01.0 > "$root/version"')
    rootfs = Rootfs(tmp_path / "cache", sources)
    with pytest.raises(NpaError, match=r"carries Slurm 27\.01\.0, not 26\.05"):
        rootfs.build(VERSION, lambda *_: None)

    assert rootfs.find(VERSION) is None
