"""What one user may take of a login node: the script that PAM runs, on folders in place of control groups."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.golden.kube.worlds import load, settled
from tests.unit.kube.test_slurmcluster import changed, decide, named

from npa.crds import slurmcluster as crd
from npa.reconcile import slurmcluster
from npa.reconcile.settings import Settings
from npa.render.kube import isolation
from npa.render.objects import dig, name_of

CUSTOMIZE = Path(__file__).parents[3] / "images" / "customize.sh"
V1 = "4:memory:/kube/pod\n3:cpuset:/\n2:cpu,cpuacct:/kube/pod\n0::/\n"


@dataclass(frozen=True, slots=True)
class Node:
    """A login node's control groups, as folders."""

    root: Path

    def write(self, path: str, text: str = "") -> None:
        found = self.root / path
        found.parent.mkdir(parents=True, exist_ok=True)
        found.write_text(text)

    def read(self, path: str) -> str:
        found = self.root / "groups" / path.lstrip("/")
        return found.read_text().strip() if found.exists() else ""

    def opens(
        self, uid: int, event: str = "open_session", *, kernel: bool = True, **bounds: str
    ) -> subprocess.CompletedProcess[str]:
        """Open a session of a user; its process is this one."""
        limits = {"HIGH": "", "MAX": "1000", "WEIGHT": "100", **bounds}
        self.write("isolate", isolation.SCRIPT)
        self.write("limits", "".join(f"{key}={value}\n" for key, value in limits.items()))
        self.write("bin/id", f"#!/bin/sh\necho {uid}\n")
        # as the kernel does, which has files in each new group
        files = 'for each; do [ "$each" = -p ] || : >>"$each/cgroup.procs"; done'
        self.write("bin/mkdir", f'#!/bin/sh\nset -e\n/bin/mkdir "$@"\n{files if kernel else ""}\n')
        for name in ("id", "mkdir"):
            (self.root / "bin" / name).chmod(0o755)
        env = {
            "PATH": f"{self.root / 'bin'}:{os.environ['PATH']}",
            "PAM_TYPE": event,
            "PAM_USER": "alice",
            "NPA_CGROUPS": str(self.root / "groups"),
            "NPA_CGROUP_OF_INIT": str(self.root / "init"),
            "NPA_LOCK": str(self.root / "lock"),
            "NPA_WHY": "/dev/stderr",
        }
        argv = ["sh", str(self.root / "isolate")]
        return subprocess.run(argv, env=env, capture_output=True, text=True, timeout=30, check=False)


def v2(root: Path, within: str = "/") -> Node:
    node = Node(root)
    node.write("init", f"0::{within}\n")
    node.write("groups/cgroup.controllers", "cpu memory")
    node.write(f"groups{within.rstrip('/')}/cgroup.procs", "1\n7\n")
    return node


@pytest.mark.parametrize("within", ["/", "/kubepods/pod/one", "/kubepods/pod/one/init"])
def test_version_2(tmp_path: Path, within: str) -> None:
    node, base = v2(tmp_path, within.removesuffix("/init")), within.removesuffix("/init").strip("/")
    node.write("init", f"0::{within}\n")
    done = node.opens(1001, HIGH="800", WEIGHT="50")

    assert (done.returncode, done.stderr) == (0, "")
    assert node.read(f"{base}/users/user-1001/memory.high") == "800"
    assert node.read(f"{base}/users/user-1001/memory.max") == "1000"
    assert node.read(f"{base}/users/user-1001/cpu.weight") == "50"
    assert node.read(f"{base}/users/user-1001/cgroup.procs") == str(os.getpid())
    assert node.read(f"{base}/init/cgroup.procs") == "7"  # the last that stepped aside
    assert node.read(f"{base}/users/cgroup.subtree_control") == "+cpu"


def test_what_was_handed_down_is_not_handed_down_again(tmp_path: Path) -> None:
    node = v2(tmp_path)
    node.opens(1001)
    node.write("groups/cgroup.procs", "99\n")
    node.opens(1002)

    assert node.read("init/cgroup.procs") == "7"
    assert node.read("users/user-1002/cgroup.procs") == str(os.getpid())


def test_a_bound_that_is_no_more_is_lifted(tmp_path: Path) -> None:
    node = v2(tmp_path)
    node.opens(1001, HIGH="800")
    node.opens(1001, MAX="")

    assert node.read("users/user-1001/memory.max") == "max"
    assert node.read("users/user-1001/memory.high") == "max"


@pytest.mark.parametrize("whole", [True, False], ids=["the-nodes-own-view", "the-containers-view"])
def test_version_1(tmp_path: Path, whole: bool) -> None:
    node, within = Node(tmp_path), "kube/pod/" if whole else ""
    node.write("init", V1)
    for controller in ("memory", "cpu"):
        (tmp_path / "groups" / controller / within).mkdir(parents=True)
    done = node.opens(1001, HIGH="800", WEIGHT="200")

    assert (done.returncode, done.stderr) == (0, "")
    assert node.read(f"memory/{within}users/user-1001/memory.limit_in_bytes") == "1000"
    assert node.read(f"cpu/{within}users/user-1001/cpu.shares") == "2048"
    for controller in ("memory", "cpu"):
        assert node.read(f"{controller}/{within}users/user-1001/cgroup.procs") == str(os.getpid())


@pytest.mark.parametrize(
    ("uid", "event"), [(0, "open_session"), (999, "open_session"), (1001, "close_session")]
)
def test_who_is_no_user_and_what_is_no_beginning_is_left_alone(tmp_path: Path, uid: int, event: str) -> None:
    done = Node(tmp_path).opens(uid, event)  # where there is no control group at all

    assert (done.returncode, done.stderr) == (0, "")
    assert not (tmp_path / "groups").exists()


def test_a_user_that_cannot_be_bounded_is_not_let_in(tmp_path: Path) -> None:
    node = v2(tmp_path)
    node.write("groups/users", "a file where a folder should be")
    done = node.opens(1001)

    assert done.returncode != 0
    assert done.stderr.endswith("user isolation: alice is not let in: no control group\n")


@pytest.mark.parametrize("version", [1, 2])
def test_a_folder_that_the_kernel_does_not_know_bounds_nobody(tmp_path: Path, version: int) -> None:
    node = v2(tmp_path) if version == 2 else Node(tmp_path)
    if version == 1:
        node.write("init", V1)

    assert node.opens(1001, kernel=False).returncode != 0


def test_pams_file_is_the_images_with_one_more_line() -> None:
    text = CUSTOMIZE.read_text(encoding="utf-8")
    theirs = text.split("etc/pam.d/sshd\" <<'PAM'\n")[1].split("PAM\n")[0]
    ours = [line for line in isolation.PAM.splitlines() if "pam_exec" not in line]

    assert ours == theirs.splitlines()
    assert isolation.PAM.splitlines()[-2].endswith("/mnt/user-isolation/isolate")  # before the jail


def limits(**asked: Any) -> str:
    def ask(spec: dict[str, Any]) -> None:
        spec["slurmNodes"]["login"]["userIsolation"] = {"enabled": True, **asked}

    cluster = changed(load("full"), ask).cluster
    assert cluster is not None
    context = slurmcluster.context(crd.parse(cluster), Settings())
    return str(isolation.config_map(context)["data"]["limits"])


def test_bounds_are_parts_of_what_the_node_has_unless_they_are_said() -> None:
    whole = 9 * 1024**3

    assert limits(memoryMax="2Gi") == f"HIGH={2 * 1024**3}\nMAX={2 * 1024**3}\nWEIGHT=100\n"
    assert limits() == f"HIGH={whole * 8 // 10}\nMAX={whole * 9 // 10}\nWEIGHT=100\n"
    assert limits(memoryHigh="1Gi", memoryMax="2Gi", cpuWeight=7) == (
        f"HIGH={1024**3}\nMAX={2 * 1024**3}\nWEIGHT=7\n"
    )


def test_it_comes_and_goes_with_the_field() -> None:
    def switch(on: bool) -> Any:
        return lambda spec: spec["slurmNodes"]["login"].update(userIsolation={"enabled": on})

    world = settled(load("minimal"))
    on = settled(changed(world, switch(True)))
    off = decide(changed(on, switch(False)))
    login = on.objects["StatefulSet", "small-login"]
    (container,) = dig(login, "spec", "template", "spec", "containers")

    assert ("ConfigMap", "small-login-user-isolation") in on.objects
    assert {"/mnt/user-isolation", "/etc/pam.d/sshd"} <= {
        each["mountPath"] for each in container["volumeMounts"]
    }
    assert "small-login-user-isolation" in {each.name for each in off.delete}
    assert "StatefulSet/small-login" in named(off.apply)
    assert name_of(login) == "small-login"
