from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from npa.errors import RefusedError
from npa.tools import disk

ME = {"uid": os.getuid(), "gid": os.getgid()}
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: mounts, and files of others")


def test_write_replaces_a_file_and_sets_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old and longer")
    disk.write(path, "new", mode=0o640, **ME)

    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


@as_root
def test_write_gives_a_file_to_its_owner(tmp_path: Path) -> None:
    disk.write(tmp_path / "file", "", uid=64030, gid=64031)
    found = (tmp_path / "file").stat()

    assert (found.st_uid, found.st_gid) == (64030, 64031)


def test_a_secret_is_never_readable_by_others_while_it_is_written(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        disk.write(tmp_path / "key", "secret", mode=0o600, **ME)
    finally:
        os.umask(old)

    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.mkdir()
    (path / "in-the-way").touch()
    with pytest.raises(OSError, match="file"):
        disk.write(path, "new", **ME)

    assert list(tmp_path.iterdir()) == [path]


def test_a_reader_sees_the_old_or_the_new_and_never_less(tmp_path: Path) -> None:
    path = tmp_path / "file"
    texts = {"a" * 100_000, "b" * 70_000}
    disk.write(path, "a" * 100_000, **ME)
    seen: set[str] = set()
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            seen.add(path.read_text())

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(20):
        for text in texts:
            disk.write(path, text, **ME)
    stop.set()
    reader.join()

    assert seen <= texts


def test_text_of_a_file_that_is_not_there_is_none(tmp_path: Path) -> None:
    assert disk.text(tmp_path / "nosuch") is None
    with pytest.raises(IsADirectoryError):
        disk.text(tmp_path)


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '"text"', "{}{}"])
def test_a_damaged_record_is_refused_and_not_taken_for_none(tmp_path: Path, content: str) -> None:
    path = tmp_path / "record.json"
    path.write_text(content)
    with pytest.raises(RefusedError, match=r"record\.json is not a record of npa"):
        disk.load_json(path)

    assert path.read_text() == content


def test_a_record_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "record.json").write_text(json.dumps({"a": 1}))

    assert disk.load_json(tmp_path / "record.json") == {"a": 1}
    assert disk.load_json(tmp_path / "nosuch.json") is None


def test_a_lock_is_held_by_one(tmp_path: Path) -> None:
    path = tmp_path / "made/for/it/.lock"
    with (
        disk.lock(path, ""),
        pytest.raises(RefusedError, match="somebody is at it"),
        disk.lock(path, "somebody is at it"),
    ):
        pytest.fail("two hold the lock")

    assert not path.exists()
    with disk.lock(path, ""):
        assert path.exists()


def test_who_only_asks_takes_no_lock(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    assert not disk.held(path)
    assert not path.exists()
    with disk.lock(path, ""):
        assert disk.held(path)
        assert disk.held(path)
    path.touch()  # as a process that was killed leaves it
    assert not disk.held(path)


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    program = (
        "import os, sys; from pathlib import Path; from npa.tools import disk\n"
        "with disk.lock(Path(sys.argv[1]), ''):\n    os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", program, path], check=False)

    assert path.exists()
    with disk.lock(path, "left behind"):
        pass


def test_a_lock_is_waited_for_with_patience(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    holding, release = threading.Event(), threading.Event()

    def hold() -> None:
        with disk.lock(path, ""):
            holding.set()
            release.wait(10)

    holder = threading.Thread(target=hold)
    holder.start()
    holding.wait(10)
    threading.Timer(0.2, release.set).start()
    began = time.monotonic()
    with disk.lock(path, "busy", patience=10):
        waited = time.monotonic() - began
    holder.join()

    assert 0.1 < waited < 5


def test_many_that_want_one_lock_never_share_it(tmp_path: Path) -> None:
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        for _ in range(20):
            try:
                with disk.lock(tmp_path / ".lock", "busy"):
                    inside.append(1)
                    most.append(len(inside))
                    inside.pop()
            except RefusedError:
                continue

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert set(most) == {1}


def test_remove_tree_removes_all_and_may_be_repeated(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("stays")
    tree = tmp_path / "tree"
    (tree / "a/b").mkdir(parents=True)
    (tree / "a/link").symlink_to(outside)
    (tree / "a/folder").symlink_to(tmp_path)
    disk.remove_tree(tree)
    disk.remove_tree(tree)

    assert not tree.exists()
    assert outside.read_text() == "stays"


@as_root
def test_remove_tree_that_is_cut_short_says_so_and_nothing_else(tmp_path: Path) -> None:
    """shutil.rmtree meets its own closed folders when Ctrl-C comes between, and tells of them instead."""
    tree = tmp_path / "tree"
    for number in range(400):
        (tree / f"{number}/a/b/c").mkdir(parents=True)
    script = (
        "from pathlib import Path\nfrom npa.tools import disk\n"
        f"print(flush=True)\ndisk.remove_tree(Path({str(tree)!r}))"
    )
    for delay in (0.0, 0.002, 0.005, 0.009):
        with subprocess.Popen(
            [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate()

        assert process.returncode == 0 or err.strip().splitlines()[-1] == "KeyboardInterrupt", err


def test_remove_tree_refuses_to_cross_into_a_mount(tmp_path: Path) -> None:
    """In a mount namespace of its own, so that nothing is left mounted whatever happens."""
    tree = tmp_path / "tree with a blank"
    (tree / "mounted").mkdir(parents=True)
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious/file").touch()
    program = f"""
from pathlib import Path
from npa.errors import RefusedError
from npa.tools import disk, linux
linux.unshare(linux.CLONE_NEWNS)
linux.mount("", "/", flags=linux.MS_REC | linux.MS_PRIVATE)
linux.bind({str(tmp_path / "precious")!r}, {str(tree / "mounted")!r})
try:
    disk.remove_tree(Path({str(tree)!r}))
except RefusedError as error:
    print(error, error.hint)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert "still has mounts in it" in done.stdout
    assert f"umount {tree}/mounted" in done.stdout
    assert (tmp_path / "precious/file").exists()


def test_a_sibling_with_a_longer_name_is_not_inside(tmp_path: Path) -> None:
    assert "/" in disk.mount_points()
    disk.remove_tree(tmp_path / "pro")  # /proc is mounted, and no part of a folder called like its beginning
    disk.remove_tree(Path("/pro"))

    assert Path("/proc/self").exists()


def test_room_is_told_for_what_is_not_made_yet(tmp_path: Path) -> None:
    assert disk.free_bytes(tmp_path / "not/there/yet") > 0
