"""Each call runs in a child with a mount namespace of its own, so that nothing of it reaches this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="namespaces and mounts need root")

_PRIVATE = """
import os, socket, sys
from npa.tools import linux
linux.unshare(linux.CLONE_NEWNS | linux.CLONE_NEWUTS)
linux.mount("", "/", flags=linux.MS_REC | linux.MS_PRIVATE)
base = sys.argv[1]
"""


def forked(script: str, base: Path) -> str:
    argv = [sys.executable, "-c", _PRIVATE + script, str(base)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr
    assert str(base) not in Path("/proc/self/mountinfo").read_text()
    return done.stdout.strip()


def test_a_namespace_is_ones_own(tmp_path: Path) -> None:
    before = os.uname().nodename

    assert forked("socket.sethostname('inside'); print(os.uname().nodename)", tmp_path) == "inside"
    assert os.uname().nodename == before


def test_a_bind_shows_another_folder(tmp_path: Path) -> None:
    for name in ("from", "to"):
        (tmp_path / name).mkdir()
    (tmp_path / "from/file").touch()

    assert forked("linux.bind(f'{base}/from', f'{base}/to'); print(os.listdir(f'{base}/to'))", tmp_path) == (
        "['file']"
    )
    assert list((tmp_path / "to").iterdir()) == []


def test_a_read_only_bind_cannot_be_written_through(tmp_path: Path) -> None:
    for name in ("from", "to"):
        (tmp_path / name).mkdir()
    script = """
linux.bind(f'{base}/from', f'{base}/to', read_only=True)
open(f'{base}/from/through-the-source', 'w').close()
try:
    open(f'{base}/to/file', 'w')
except OSError as error:
    print(error.strerror)
"""

    assert forked(script, tmp_path) == "Read-only file system"


def test_a_mount_takes_options_and_goes(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    script = """
linux.mount('tmpfs', f'{base}/t', 'tmpfs', linux.MS_NODEV, 'mode=700,size=4k')
print(oct(os.stat(f'{base}/t').st_mode & 0o777), os.statvfs(f'{base}/t').f_blocks)
linux.umount(f'{base}/t')
print(oct(os.stat(f'{base}/t').st_mode & 0o777))
"""

    assert forked(script, tmp_path).split() == ["0o700", "1", "0o755"]


def test_pivot_root_leaves_nothing_of_the_old_root(tmp_path: Path) -> None:
    (tmp_path / "root/inside").mkdir(parents=True)
    script = """
linux.bind(f'{base}/root', f'{base}/root')
linux.pivot_root(f'{base}/root')
print(os.listdir('/'), os.getcwd(), os.path.exists(base), os.path.exists('/..' + base))
"""

    assert forked(script, tmp_path) == "['inside'] / False False"


def test_setns_goes_where_the_descriptor_says(tmp_path: Path) -> None:
    script = """
ours = os.open('/proc/self/ns/uts', os.O_RDONLY)
socket.sethostname('first')
linux.unshare(linux.CLONE_NEWUTS)
socket.sethostname('second')
linux.setns(ours, linux.CLONE_NEWUTS)
print(os.uname().nodename)
"""

    assert forked(script, tmp_path) == "first"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("linux.mount('tmpfs', f'{base}/nosuch', 'tmpfs')", "nosuch"),
        ("linux.mount('none', base, 'nosuchfs')", "No such device"),
        ("linux.umount(base)", "Invalid argument"),
        ("linux.pivot_root(base)", "Device or resource busy"),
        ("linux.setns(os.open('/dev/null', os.O_RDONLY))", "Invalid argument"),
    ],
)
def test_an_error_is_an_oserror_that_names_what_it_was(call: str, said: str, tmp_path: Path) -> None:
    script = f"""
try:
    {call}
except OSError as error:
    print(error.errno > 0, error)
"""
    told = forked(script, tmp_path)

    assert told.startswith("True")
    assert said in told
