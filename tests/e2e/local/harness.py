"""Drives the real command line against clusters in a state folder of their own, and reads what it left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import yaml

from npa.tools import container

T = TypeVar("T")

NPA = str(Path(sys.executable).with_name("npa"))
CACHE = Path(os.environ.get("NPA_CACHE_DIR") or "/var/cache/npa")
PATIENCE = 120.0  # seconds for whatever is waited for; nothing here takes a tenth of it on an idle machine
POLL = 0.05
GPU_POOL: dict[str, Any] = {
    "name": "gpu",
    "platform": "gpu-b200-sxm",
    "preset": "8gpu-160vcpu-1792gb",
    "size": 2,
    "fabric": "us-central1-b",
}
CPU_POOL: dict[str, Any] = {"name": "cpu", "platform": "cpu-d3", "preset": "4vcpu-16gb", "size": 2}


def until(look: Callable[[], T | Literal[False]], what: str, seconds: float = PATIENCE) -> T:
    """Return the first true value that `look` gives; fail, saying what did not come, at the deadline."""
    deadline = time.monotonic() + seconds
    while True:
        found = look()
        if found:
            return found
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}; last seen: {found!r}"
        time.sleep(POLL)


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended."""

    argv: tuple[str, ...]
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """Its one document."""
        decoded: dict[str, Any] = json.loads(self.out)
        return decoded

    def __str__(self) -> str:
        return f"{' '.join(self.argv)}\nexited {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


class Npa:
    """`npa soperator` with a state folder of its own and the machine's image cache."""

    def __init__(self, state: Path, *, through: tuple[str, ...] = (), **env: str) -> None:
        self.state = state
        self.through = through  # a program that runs npa, with its arguments
        ours = {key: value for key, value in os.environ.items() if not key.startswith("NPA_S")}
        # an empty home: no key of whoever runs the tests gets into a cluster
        home = state / "home"
        self.env: Mapping[str, str] = {
            **ours,
            "HOME": str(home),
            "NPA_STATE_DIR": str(state),
            "NO_COLOR": "1",
            **env,
        }

    def __call__(self, *args: str, stdin: str = "", timeout: float = PATIENCE) -> Done:
        """Run a command to its end."""
        argv = (*self.through, NPA, "soperator", *args)
        return finished(argv, self.env, stdin, timeout)

    def ok(self, *args: str, stdin: str = "", timeout: float = PATIENCE) -> Done:
        """Run a command that has to succeed."""
        done = self(*args, stdin=stdin, timeout=timeout)
        assert done.code == 0, str(done)
        return done

    def start(self, *args: str, group: bool = False) -> subprocess.Popen[str]:
        """Start a command and leave it running; Ctrl-C works on it whatever this process does with it."""
        return subprocess.Popen(
            (NPA, "soperator", *args),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=dict(self.env),
            start_new_session=group,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def folder(self, name: str) -> Path:
        """Where a cluster's files are."""
        return self.state / "local" / name


def said(process: subprocess.Popen[str], words: str) -> None:
    """Read a started command's stderr up to the line with these words."""
    assert process.stderr is not None
    heard = []
    for line in process.stderr:
        heard.append(line)
        if words in line:
            return
    raise AssertionError(f"ended without saying {words!r}: {''.join(heard)}")


class Cluster:
    """One cluster, by name."""

    def __init__(self, npa: Npa, name: str, **spec: Any) -> None:
        self.npa = npa
        self.name = name
        self.spec: dict[str, Any] = {
            "apiVersion": "npa.soperator/v0.0.1",
            "name": name,
            "target": "local",
            "region": "us-central1",
            **spec,
        }
        self.file = npa.state / f"{name}.yaml"

    def write(self, **changes: Any) -> Path:
        """Write the spec with some of its fields changed, for good."""
        self.spec |= changes
        self.file.write_text(yaml.safe_dump(self.spec, sort_keys=False), encoding="utf-8")
        return self.file

    def plan(self, *flags: str, **changes: Any) -> dict[str, Any]:
        """Return the plan's document."""
        return self.npa.ok("plan", "-f", str(self.write(**changes)), "-o", "json", *flags).json

    def deploy(self, *flags: str, **changes: Any) -> dict[str, Any]:
        """Deploy and return the document; it has to end healthy."""
        done = self.npa.ok("deploy", "-f", str(self.write(**changes)), "--yes", "-o", "json", *flags)
        return done.json

    def try_deploy(self, *flags: str, **changes: Any) -> Done:
        """Deploy, however it ends."""
        return self.npa("deploy", "-f", str(self.write(**changes)), "--yes", "-o", "json", *flags)

    def destroy(self, *flags: str) -> Done:
        """Destroy, however it ends."""
        return self.npa("destroy", self.name, "--yes", "-o", "json", *flags)

    def status(self) -> dict[str, Any]:
        """Return the report, healthy or not."""
        return self.npa("status", self.name, "-o", "json").json

    def assert_healthy(self) -> None:
        """Assert that `status` finds nothing wrong."""
        report = self.status()
        assert report["ok"], json.dumps(report["findings"], indent=1)

    def exec(self, node: str, *argv: str, root: str = "", network: bool = True, stdin: str = "") -> Done:
        """Run a command on a node as `npa soperator exec` would, but at once; however it ends."""
        jail = root == "jail" or (not root and not node.startswith(("controller-", "accounting-", "rest-")))
        inside = container.inside(self.first_pids()[node], argv, jail=jail, network=network)
        return finished(inside, {**os.environ}, stdin, PATIENCE)

    def on(self, node: str, *argv: str, root: str = "", network: bool = True, stdin: str = "") -> str:
        """Return the output of a command on a node; it has to succeed."""
        done = self.exec(node, *argv, root=root, network=network, stdin=stdin)
        assert done.code == 0, f"{done}\n{self.logs(node)}"
        return done.out.strip()

    def login(self, script: str) -> str:
        """Return the output of a shell script that root runs on the login node."""
        return self.on("login-0", "sh", "-euc", script)

    def user(self, user: str, script: str) -> str:
        """Return the output of a shell script that a user runs on the login node."""
        return self.on("login-0", "setpriv", "--reuid", user, "--regid", user, "--init-groups",
                       "env", "-C", f"/home/{user}", f"USER={user}", f"HOME=/home/{user}",
                       "sh", "-euc", script)  # fmt: skip

    def srun(self, *args: str) -> Done:
        """`srun` as root on the login node, however it ends."""
        return self.exec("login-0", "srun", *args)

    def submit(self, *args: str, command: str = "sleep 600") -> str:
        """Submit a batch job and wait until it runs; returns its id."""
        job = self.on("login-0", "sbatch", "--parsable", "--output=/dev/null", *args, f"--wrap={command}")
        try:
            until(lambda: self.job_state(job) == "RUNNING", f"job {job} runs")
        except AssertionError as error:
            for shown in (("job", job), ("nodes", "")):
                error.add_note(self.exec("login-0", "scontrol", "-o", "show", *filter(None, shown)).out)
            error.add_note(self.logs("controller-0"))
            raise
        return job

    def job_state(self, job: str) -> str:
        """Return a job's state as slurmctld knows it; "" for one that it forgot."""
        told = self.exec("login-0", "squeue", "-h", "-t", "all", "-j", job, "-o", "%T")
        return told.out.strip().splitlines()[0] if told.out.strip() else ""

    def cancel(self, *jobs: str) -> None:
        """Cancel jobs and wait until they are gone from their nodes."""
        self.on("login-0", "scancel", *jobs)
        until(
            lambda: not self.on("login-0", "squeue", "-h", "-t", "running,completing", "-j", ",".join(jobs)),
            f"jobs {jobs} are gone",
        )

    def sacct(self, job: str, columns: str) -> list[str]:
        """Return the fields of a job's allocation in the database."""
        told = self.on("login-0", "sacct", "-nPX", "-j", job, "-o", columns)
        return told.split("|") if told else []

    def logs(self, node: str) -> str:
        """Return the end of a node's logs, for a failure's message."""
        return self.npa("logs", "--cluster", self.name, node, "-n", "10").out

    def states(self) -> dict[str, str]:
        """Return each node's state as Slurm has it, `idle`, `mixed+drain`."""
        told = self.on("controller-0", "sinfo", "-Nh", "-p", "hidden", "-O", "NodeList:|,StateComplete:")
        return dict(line.split("|") for line in told.lower().split())

    def lab_pid(self) -> int:
        """Return the first process of all; 0 where the cluster does not run."""
        wanted = f"npa-lab:{self.name}:{self.npa.folder(self.name)} "
        return next((pid for pid in pids() if title(pid).startswith(wanted)), 0)

    def first_pids(self) -> dict[str, int]:
        """Return the first process of each node."""
        found = {}
        for pid in children(self.lab_pid()):
            word, _, rest = title(pid).partition(":")
            if word == "npa-node":
                found[rest.rpartition(":")[0]] = pid
        return found

    def daemons(self) -> dict[tuple[str, str], int]:
        """Return the PID of each daemon by node and name; a step's own processes come and go."""
        return {
            (node, comm(pid)): pid
            for node, first in self.first_pids().items()
            for pid in children(first)
            if comm(pid) != "slurmstepd"
        }


def finished(argv: Sequence[str], env: Mapping[str, str], stdin: str, timeout: float) -> Done:
    """Run a program to its end."""
    done = subprocess.run(
        argv,
        input=stdin,
        capture_output=True,
        text=True,
        errors="replace",
        env=dict(env),
        timeout=timeout,
        check=False,
    )
    return Done(tuple(argv), done.returncode, done.stdout, done.stderr)


def pids() -> list[int]:
    """Return every process of this machine."""
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def children(pid: int) -> list[int]:
    """Return the processes whose parent this is; none of 0."""
    return [each for each in pids() if pid and parent(each) == pid]


def comm(pid: int) -> str:
    """Return a program's name as Slurm's own; one that started itself anew bears Debian's, `slurmd-wlm`."""
    return stat(pid)[0].removesuffix("-wlm")


def parent(pid: int) -> int:
    """Return a process's parent; 0 for one that is gone."""
    return int(stat(pid)[2])


def stat(pid: int) -> tuple[str, str, str]:
    """Return a process's name, state and parent (proc_pid_stat(5))."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "", "", "0"
    name, _, rest = text.partition("(")[2].rpartition(")")
    state, above = rest.split()[:2]
    return name, state, above


def title(pid: int) -> str:
    """Return what ps(1) shows of a process; "" for one that is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def kill(pid: int) -> None:
    """End a process that a test owns, at once, and wait until it has gone."""
    assert pid > 1
    os.kill(pid, signal.SIGKILL)
    until(lambda: stat(pid)[1] in ("", "Z"), f"process {pid} is gone")


def traces(words: str) -> list[str]:
    """Return what on this machine bears these words: processes, mounts of any of them, control groups."""
    found = []
    for pid in pids():
        if pid == os.getpid():
            continue
        shown = title(pid)
        if words in shown:
            found.append(f"process {pid}: {shown}")
        try:
            mounts = Path(f"/proc/{pid}/mountinfo").read_text(encoding="utf-8")
        except OSError:
            continue
        found += [f"mount of {pid} ({shown}): {line}" for line in mounts.splitlines() if words in line]
    return found


def network(pid: int) -> list[tuple[str, str]]:
    """Return the links, addresses and routes of the network that a process is in."""
    links = [
        ("link", line.partition(":")[0].strip())
        for line in Path(f"/proc/{pid}/net/dev").read_text(encoding="ascii").splitlines()
    ]
    routes = [("route", line) for line in Path(f"/proc/{pid}/net/route").read_text("ascii").splitlines()]
    trie = Path(f"/proc/{pid}/net/fib_trie").read_text(encoding="ascii").split()
    addresses = [("address", word) for word in sorted(set(trie)) if word[:1].isdigit()]
    return [*sorted(links), *routes, *addresses]
