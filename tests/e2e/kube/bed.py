"""A Kubernetes cluster with a real node: the test bed's, or whichever NPA_E2E_KUBECONFIG leads to.

Of another cluster NPA_E2E_IMAGE names our image there, NPA_E2E_JAIL_CLASS a storage class whose volumes
several pods write to, NPA_E2E_CGROUP the version of control groups of its nodes (v1, or else v2), and
NPA_E2E_OPERATOR_IMAGE the operator's image: what needs it is skipped without.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.kube import dns
from tests.e2e.local.harness import CACHE
from tests.kube import bed
from tests.kube.bed import Bed

from npa.render.objects import VOLUME, Object
from npa.tools import cgroup, images, oci, operator_image
from npa.tools.rootfs import Rootfs
from npa.tools.run import run

SOURCES = Path(__file__).parents[3]
REPOSITORY, TAG = "localhost", "e2e"
PAUSE = "localhost/pause:1"  # what `k8s-up` has for a pod's first process
PROGRAMS = {"containerd": "containerd", "runc": "runc", "ip": "iproute2", "conntrack": "conntrack"}
CNI = Path("/usr/lib/cni/bridge")
VOLUMES = 4  # claims of one cluster that a volume of this machine has to be there for


@dataclass(frozen=True, slots=True)
class Place:
    """A cluster with nodes, and how clusters of ours use it."""

    bed: Bed
    image: str
    jail: dict[str, Any]  # volume source; {}: a claim of the class
    jail_class: str = ""
    cgroups: str = "v2"
    operator_image: str = ""


@contextmanager
def place() -> Iterator[Place]:
    """Give a cluster with a node; skip, saying why, where there is none."""
    if given := os.environ.get("NPA_E2E_KUBECONFIG"):
        image, jail_class = os.environ.get("NPA_E2E_IMAGE", ""), os.environ.get("NPA_E2E_JAIL_CLASS", "")
        assert image, "NPA_E2E_IMAGE names no image"
        version = os.environ.get("NPA_E2E_CGROUP", "v2")
        ours = os.environ.get("NPA_E2E_OPERATOR_IMAGE", "")
        yield Place(_foreign(Path(given)), image, {}, jail_class, version, ours)
        return
    if why := bed.lack(("node",)) or _lack():
        pytest.skip(why)
    state = Path(tempfile.mkdtemp(prefix="npa-e2e-kube-", dir="/var/lib"))
    number = os.getpid() % 250
    bridge, net = f"npae2e{number}", f"10.219.{number}"
    groups = _groups(bridge)
    told = {
        "CGROUP_ROOT": f"/{bridge}",
        "IMAGES": " ".join(map(str, _archives(state))),
        "BRIDGE": bridge,
        "POD_CIDR": f"{net}.0/24",
        "KUBELET_FLAGS": f"--cluster-dns={net}.1",
    }
    try:
        with bed.started("mini", "controllers", "node", **told) as found:
            # as the first pod's network would make it; the DNS server wants its address now
            run(["ip", "link", "add", bridge, "type", "bridge"])
            # without one of its own it has its lowest port's, and neighbours stall when that changes
            run(["ip", "link", "set", bridge, "address", f"02:00:00:00:77:{number:02x}", "up"])
            run(["ip", "address", "add", f"{net}.1/24", "dev", bridge])
            with dns.serving(found, f"{net}.1"):
                done = found.apply(*_volumes(state))
                assert done.code == 0, str(done)
                path = {"hostPath": {"path": str(state / "jail"), "type": "DirectoryOrCreate"}}
                named = [f"{REPOSITORY}/{each}:{TAG}" for each in (images.SLURM, operator_image.OPERATOR)]
                try:
                    yield Place(found, named[0], path, "", cgroup.version(), named[1])
                finally:
                    _end(found)
    finally:
        cgroup.remove(groups)
        shutil.rmtree(state, ignore_errors=True)


def _end(found: Bed) -> None:
    """End the control plane, which is asked for nothing any more: each part would take 5 s over its end."""
    for name in ("kubelet", "kube-scheduler", "kube-controller-manager", "kube-apiserver", "etcd"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            os.kill(int((found.state / "run" / f"{name}.pid").read_text()), signal.SIGKILL)


def _groups(name: str) -> list[str]:
    """Make groups of our own: a kubelet ends whatever it finds in its groups and does not know."""
    made = []
    for hierarchy in (each for each in cgroup.ROOT.iterdir() if each.is_dir() and not each.is_symlink()):
        group = hierarchy / name
        group.mkdir(exist_ok=True)
        for each in ("cpuset.cpus", "cpuset.mems"):  # empty ones take no process (cpuset(7))
            if (group / each).exists() and not (group / each).read_text().strip():
                (group / each).write_text((hierarchy / each).read_text())
        made.append(str(group))
    return made


def _foreign(kubeconfig: Path) -> Bed:
    state = Path(tempfile.mkdtemp(prefix="npa-e2e-kube-"))
    (state / "admin.kubeconfig").symlink_to(kubeconfig.resolve())
    return Bed(state, 0, ())


def _lack() -> str:
    missing = {package for program, package in PROGRAMS.items() if shutil.which(program) is None}
    missing |= set() if CNI.exists() else {"containernetworking-plugins"}
    listed = " ".join(sorted(missing))
    return f"the test bed's node needs {listed}: apt-get install -y {listed}" if missing else ""


def _archives(state: Path) -> Iterator[Path]:
    """Write the images that the node is given."""
    rootfs, layers = Rootfs(CACHE / "rootfs", SOURCES), oci.Layers(CACHE / "layers")
    root = rootfs.find("26.05") or rootfs.build("26.05", lambda *_: None)
    pause = layers.of_files([oci.Content("pause", root.root / "usr/bin/catatonit", 0o755)])
    made = {
        "pause": oci.Image(PAUSE, (pause,), ("/pause", "-P")),
        "slurm": images.slurm(layers, root, SOURCES, REPOSITORY, TAG),
        "operator": operator_image.operator(layers, SOURCES, REPOSITORY, TAG).image,
    }
    for name, image in made.items():
        oci.write(image, state / f"{name}.tar")
        yield state / f"{name}.tar"


def _volumes(state: Path) -> Iterator[Object]:
    """Yield volumes for claims: there is nothing that would make them when they are asked for."""
    for number in range(VOLUMES):
        yield VOLUME.object(
            f"e2e-{number}",
            spec={
                "capacity": {"storage": "50Gi"},
                "accessModes": ["ReadWriteOnce"],
                "volumeMode": "Filesystem",  # its default, which the bed's API server does not fill in
                "persistentVolumeReclaimPolicy": "Retain",
                "hostPath": {"path": str(state / f"volume-{number}"), "type": "DirectoryOrCreate"},
            },
        )
