"""A place where one configuration after another is given to a real slurmctld.

One process holds the namespaces: an overlay of the cached image as root, a loopback network with an address
for every node, and tmpfs where Slurm writes. A controller in it starts in some forty milliseconds, and all
of it goes with that one process.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

SLURM_UID = 64030
CONTROLLER = "controller-0"
ADDRESS = "10.77.0.1"
_PATH = "PATH=/usr/sbin:/usr/bin:/sbin:/bin"
_READY = "Running as primary controller"
# Slurm looks for a missing file for a minute before it gives up; that it looks is answer enough.
_ENDS = (_READY.encode(), b"retrying in 1sec up to 60sec")
_STAMP = re.compile(r"^\[[^\]]*\] ?|^slurm(ctld|d): ")
_SETUP = f"""
set -e
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work" "$1/root"
cd "$1/root"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t tmpfs tmpfs dev
mknod -m 666 dev/null c 1 3
mknod -m 666 dev/zero c 1 5
mknod -m 666 dev/random c 1 8
mknod -m 666 dev/urandom c 1 9
mknod -m 666 dev/tty c 5 0
mknod -m 666 dev/nvidia0 c 195 0
mknod -m 666 dev/nvidia1 c 195 1
mkdir dev/shm
mount -t tmpfs tmpfs dev/shm
mount -t tmpfs tmpfs run
mkdir -p etc/slurm var/lib/slurm/ctld var/log/slurm var/spool/slurmd run/slurmctld run/slurmdbd
chown -R {SLURM_UID}:{SLURM_UID} var/lib/slurm var/log/slurm run/slurmctld run/slurmdbd
hostname {CONTROLLER}
ip link set lo up
ip addr add {ADDRESS}/8 dev lo
head -c 1024 /dev/urandom > etc/slurm/slurm.key
head -c 32 /dev/urandom > etc/slurm/jwt_hs256.key
chmod 600 etc/slurm/*.key
chown {SLURM_UID}:{SLURM_UID} etc/slurm/*.key
echo 'hosts: files' > etc/nsswitch.conf
echo '127.0.0.1 localhost' > etc/hosts
echo '{ADDRESS} {CONTROLLER} accounting-0' >> etc/hosts
for pool in cpu gpu; do for i in $(seq 0 63); do echo "{ADDRESS} $pool-$i"; done; done >> etc/hosts
: > ready
# reaps: each controller leaves two processes behind, and thousands of dead ones slow the kernel down
exec chroot "$1/root" sh -c 'while :; do sleep 1000; done'
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one configuration."""

    started: bool
    log: str  # without time stamps
    answer: str = ""  # of the program asked once the controller ran

    @property
    def errors(self) -> tuple[str, ...]:
        """The lines in which Slurm complains."""
        return tuple(
            line for line in self.log.splitlines() if line.startswith(("error:", "fatal:", "warning:"))
        )


class Reality:
    """The namespaces; a context manager."""

    def __init__(self, image: Path) -> None:
        self._image = image
        self._place = Path(tempfile.mkdtemp(prefix="npa-lint-"))
        self._holder: subprocess.Popen[bytes] | None = None
        self._first = 0  # the first process in the namespaces

    def __enter__(self) -> Reality:
        argv = ["unshare", "--mount", "--uts", "--ipc", "--pid", "--net", "--fork", "--kill-child"]
        argv += ["--propagation", "private", "sh", "-c", _SETUP, "sh", str(self._place), str(self._image)]
        self._holder = subprocess.Popen(argv, stderr=subprocess.PIPE)
        end = monotonic() + 10
        while not self._first:
            self._first = _child(self._holder.pid)
        while not self._inside("ready").exists():
            assert self._holder.poll() is None, self._holder.communicate()[1].decode()
            assert monotonic() < end, "the namespaces are not ready after 10 s"
            sleep(0.01)
        return self

    def __exit__(self, *_: object) -> None:
        if self._holder:
            self._holder.kill()
            self._holder.wait()
            if self._holder.stderr:
                self._holder.stderr.close()
        shutil.rmtree(self._place, ignore_errors=True)

    def start(
        self, files: Mapping[str, str], ask: Callable[[], str] | None = None, *, timeout: float = 20
    ) -> Outcome:
        """Give the files to a new slurmctld and say whether it became the controller."""
        self._lay(files)
        process = self._spawn("slurmctld", "-D", "-i")
        try:
            started, log = _watch(process, timeout)
            answer = ask() if started and ask else ""
        finally:
            self._sweep()
            rest = process.communicate(timeout=5)[0] or b""
        return Outcome(started, log + _clean(rest.decode(errors="replace")), answer)

    def run(self, *argv: str, timeout: float = 20) -> str:
        """Run a program beside the controller; returns what it printed, stderr included."""
        process = self._spawn(*argv)
        try:
            return process.communicate(timeout=timeout)[0].decode(errors="replace")
        except subprocess.TimeoutExpired:
            self._sweep()
            raise

    def spawn(self, *argv: str) -> subprocess.Popen[bytes]:
        """Start a program that stays; the caller ends it."""
        return self._spawn(*argv)

    def _sweep(self) -> None:
        """End all in the namespaces but their first process: slurmctld has a child that outlives it."""
        self._enter("/bin/sh", "-c", "kill -9 -1").communicate(timeout=5)

    def _inside(self, path: str) -> Path:
        assert self._holder
        return Path(f"/proc/{self._first}/root") / path

    def _lay(self, files: Mapping[str, str]) -> None:
        etc = self._inside("etc/slurm")
        for old in etc.iterdir():
            if old.suffix != ".key":
                old.unlink()
        for name, text in files.items():
            (etc / name).write_bytes(text.encode("utf-8", "surrogateescape"))
        for folder in ("var/lib/slurm/ctld", "var/spool/slurmd"):  # of the last one, whose job was 1 too
            for left in self._inside(folder).iterdir():
                shutil.rmtree(left) if left.is_dir() else left.unlink()

    def _spawn(self, *argv: str) -> subprocess.Popen[bytes]:
        return self._enter("/usr/bin/env", "-i", "-C", "/", _PATH, *argv)

    def _enter(self, *argv: str) -> subprocess.Popen[bytes]:
        assert self._holder
        child = str(self._first)
        enter = [
            "nsenter",
            "-t",
            child,
            "-m",
            "-u",
            "-i",
            "-n",
            "-p",
            f"--root=/proc/{child}/root",
        ]
        enter += ["--wd=/", "--", *argv]
        return subprocess.Popen(
            enter, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
        )


def _child(pid: int) -> int:
    """Return the process in the namespaces: the child of `unshare --fork`."""
    found = subprocess.run(
        ["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False
    ).stdout.split()
    return int(found[0]) if found else 0


def _watch(process: subprocess.Popen[bytes], timeout: float) -> tuple[bool, str]:
    """Read the log until the controller runs or ends."""
    assert process.stdout
    descriptor, log, end = process.stdout.fileno(), b"", monotonic() + timeout
    while monotonic() < end:
        ready, _, _ = select.select([descriptor], [], [], end - monotonic())
        chunk = os.read(descriptor, 1 << 16) if ready else b""
        log += chunk
        if not chunk or any(word in log for word in _ENDS):
            break
    text = _clean(log.decode(errors="replace"))
    return _READY in text, text


def _clean(log: str) -> str:
    return "".join(f"{_STAMP.sub('', line)}\n" for line in log.splitlines())
