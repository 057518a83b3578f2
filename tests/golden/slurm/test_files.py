"""Rendered files, byte for byte. NPA_GOLDEN=rewrite writes them anew; read the diff before committing it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npa.cluster.model import Cluster, Machine, Partition, Pool
from npa.slurm import conf, files, slurm_conf
from npa.slurm.conf import ConfError
from npa.slurm.hostlist import HostlistError
from npa.slurm.runtime import Runtime

HERE = Path(__file__).parent
GPU = Pool(
    name="gpu",
    origin="gpu",
    size=2,
    machine=Machine(cpus=160, memory_mib=1_792 * 1024, gpus=8, gpu_type="b200"),
    platform="gpu-b200-sxm",
    preset="8gpu-160vcpu-1792gb",
    fabric="fabric-4",
    features=("ib", "b200"),
)
CPU = Pool("cpu", "cpu", 3, Machine(cpus=16, memory_mib=64 * 1024), "cpu-d3", "16vcpu-64gb")
MAIN = Partition("main", (), default=True)
HIDDEN = Partition("hidden", (), hidden=True)
LONG = Partition("long", ("gpu",), max_time_minutes=7 * 24 * 60, priority_tier=20, oversubscribe=False)

FULL = Cluster("train", "local", (GPU, CPU), (MAIN, LONG, HIDDEN), accounting=True, rest=True)
MINIMAL = Cluster("small", "local", (replace(CPU, size=1),), (MAIN,))
CASES: dict[str, tuple[Cluster, Runtime]] = {
    "gpu-and-cpu": (FULL, Runtime("v2")),
    "twin": (replace(FULL, controllers=("controller-0", "controller-1")), Runtime("v1", twin=True)),
    "cpu-only": (MINIMAL, Runtime("v2")),
    "slurm-24.11": (replace(FULL, slurm_version="24.11"), Runtime("v2")),
    "no-cgroup": (FULL, Runtime("none", twin=True)),
    "user-settings": (
        replace(
            MINIMAL,
            slurm_settings=(
                ("slurmdTIMEOUT", "600"),
                ("PriorityType", "priority/multifactor"),
                ("Epilog", "/opt/site/epilog with blanks.sh"),
            ),
        ),
        Runtime("v2"),
    ),
    "empty-pools": (
        replace(
            FULL,
            pools=(replace(GPU, size=0), CPU),
            partitions=(MAIN, LONG, Partition("mix", ("cpu", "gpu", "viz"))),
        ),
        Runtime("v2"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_rendered_files(case: str) -> None:
    rendered = {file.name: file.text for file in files.render(*CASES[case])}
    if os.environ.get("NPA_GOLDEN") == "rewrite":
        _rewrite(HERE / case, rendered)

    assert rendered == {path.name: path.read_text(encoding="utf-8") for path in (HERE / case).iterdir()}


def _rewrite(folder: Path, rendered: dict[str, str]) -> None:
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        path.unlink()
    for name, text in rendered.items():
        (folder / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("case", CASES)
def test_files_are_sorted_marked_and_guarded(case: str) -> None:
    rendered = files.render(*CASES[case])

    assert [file.name for file in rendered] == sorted(file.name for file in rendered)
    assert all(file.text.startswith(f"# {conf.HEADER}\n") for file in rendered)
    secret = [(file.name, file.mode) for file in rendered if file.audience == "daemons"]
    assert secret == ([("slurmdbd.conf", 0o600)] if CASES[case][0].accounting else [])


@pytest.mark.parametrize("case", CASES)
def test_c29_every_line_can_be_read_back(case: str) -> None:
    for file in files.render(*CASES[case]):
        if file.name not in ("plugstack.conf", "topology.yaml"):
            lines = conf.parse(file.text)

            assert not [line for line in lines if line.unread]
            assert conf.text(lines) == file.text


def test_c29_each_pool_is_declared_once() -> None:
    lines = conf.parse(slurm_conf.render(*CASES["empty-pools"]))

    assert [line.get("NodeName") for line in lines if line.key == "nodename"] == ["cpu-[0-2]"]
    assert [line.get("NodeSet") for line in lines if line.key == "nodeset"] == ["cpu"]
    partitions = {line.get("PartitionName"): line.get("Nodes") for line in lines if line.get("PartitionName")}
    assert partitions == {"main": "ALL", "long": "", "mix": "cpu"}


def test_c32_a_setting_of_the_user_replaces_ours() -> None:
    lines = conf.parse(slurm_conf.render(*CASES["user-settings"]))

    assert [line.pairs for line in lines if line.key == "slurmdtimeout"] == [(("slurmdTIMEOUT", "600"),)]


@pytest.mark.parametrize("key", ["nodeNAME", "slurmctldhost", "include", "PartitionName", "AuthType", "a\nb"])
def test_c32_managed_keys_are_refused(key: str) -> None:
    with pytest.raises(ConfError):
        slurm_conf.render(replace(MINIMAL, slurm_settings=((key, "x"),)), Runtime("v2"))


def test_c31_gres_agree() -> None:
    texts = {file.name: file.text for file in files.render(FULL, Runtime("v2"))}
    node = next(line for line in conf.parse(texts["slurm.conf"]) if line.get("Gres"))
    devices = next(line for line in conf.parse(texts["gres.conf"]) if line.get("Name"))

    assert node.get("Gres") == "gpu:b200:8"
    assert node.get("NodeName") == devices.get("NodeName") == "gpu-[0-1]"
    assert (devices.get("Type"), devices.get("File")) == ("b200", "/dev/nvidia[0-7]")
    assert texts["slurm.conf"].count("GresTypes=") == 1
    assert "GresTypes" not in slurm_conf.render(MINIMAL, Runtime("v2"))


WHERE = ("pool", "feature", "fabric", "gpu", "key", "value", "partition", "cluster")


def hostile(where: str, text: str) -> Cluster:
    """Return a cluster with the text in one of the places that a user fills."""
    machine = replace(CPU.machine, gpus=1, gpu_type=text if where == "gpu" else "x")
    pool = replace(CPU, size=1, machine=machine, features=(text if where == "feature" else "f",))
    pool = replace(pool, name=text if where == "pool" else "p", fabric=text if where == "fabric" else "")
    setting = (text if where == "key" else "Prolog", text if where == "value" else "x")
    return Cluster(
        name=text if where == "cluster" else "c",
        target="local",
        pools=(pool,),
        partitions=(replace(MAIN, name=text) if where == "partition" else MAIN,),
        slurm_settings=(setting,),
    )


@settings(deadline=None)
@given(st.sampled_from(WHERE), st.text())
def test_no_text_of_a_user_adds_a_line(where: str, text: str) -> None:
    harmless = files.render(hostile("nowhere", ""), Runtime("v2"))
    try:
        rendered = files.render(hostile(where, text), Runtime("v2"))
    except (ConfError, HostlistError):
        return

    for found, expected in zip(rendered, harmless, strict=True):
        assert len(found.text.splitlines()) <= len(expected.text.splitlines())
