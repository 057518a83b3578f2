"""A spec becomes the cluster that it asks for."""

from __future__ import annotations

import pytest
from tests.e2e.local.harness import Cluster


def test_every_node_is_idle_and_every_daemon_up(cluster: Cluster) -> None:
    report = cluster.status()

    assert report["ok"]
    assert {node["name"]: node["state"] for node in report["nodes"]} == dict.fromkeys(
        ("gpu-0", "gpu-1", "cpu-0", "cpu-1"), "idle"
    )
    assert report["nominal"] == report["schedulable"] == {"nodes": 4, "cpus": 328, "gpus": 16}
    assert {(each["node"], each["name"], each["state"]) for each in report["daemons"]} == {
        ("accounting-0", "mariadbd", "up"),
        ("accounting-0", "slurmdbd", "up"),
        ("controller-0", "slurmctld", "up"),
        ("login-0", "sackd", "up"),
        ("login-0", "sshd", "up"),
        ("rest-0", "slurmrestd", "up"),
        *((node, "slurmd", "up") for node in ("gpu-0", "gpu-1", "cpu-0", "cpu-1")),
    }


@pytest.mark.parametrize(
    ("node", "fields"),
    [
        pytest.param(
            "gpu-0",
            {"CPUTot=160", "RealMemory=1835008", "Gres=gpu:b200:8", "AvailableFeatures=nvlink",
             "Partitions=main,train,hidden", "State=IDLE"},
            id="a-machine-that-this-one-is-not",
        ),
        pytest.param(
            "cpu-1",
            {"CPUTot=4", "RealMemory=16384", "Gres=(null)", "AvailableFeatures=amd,local-ssd",
             "Partitions=main,hidden"},
            id="no-gpus",
        ),
    ],
)  # fmt: skip
def test_a_node_is_a_twin_of_its_preset(cluster: Cluster, node: str, fields: set[str]) -> None:
    shown = set(cluster.on("controller-0", "scontrol", "show", "node", node).split())

    assert fields <= shown


def test_partitions_are_as_asked(cluster: Cluster) -> None:
    told = cluster.on("login-0", "sinfo", "-ah", "-o", "%P|%l|%D|%p|%a")

    assert sorted(told.splitlines()) == [
        "hidden|infinite|4|10|up",
        "main*|infinite|4|10|up",
        "train|2:00:00|2|20|up",
    ]


def test_an_ordinary_user_does_not_see_the_hidden_partition(cluster: Cluster) -> None:
    assert cluster.user("alice", "sinfo -h -o %R").split() == ["main", "train"]


def test_a_second_deploy_has_zero_steps(cluster: Cluster) -> None:
    before = cluster.first_pids()
    plan = cluster.plan()
    again = cluster.deploy()

    assert plan["steps"] == again["plan"]["steps"] == []
    assert plan["unchanged"]
    assert cluster.first_pids() == before


def test_the_cluster_is_listed(cluster: Cluster) -> None:
    (found,) = [each for each in cluster.npa.ok("list", "-o", "json").json["clusters"]
                if each["name"] == cluster.name]  # fmt: skip

    assert (found["state"], found["workers"], found["target"]) == ("present", 4, "local")
    assert found["slurm_version"].startswith("26.05")


def test_logs_name_their_daemon(cluster: Cluster) -> None:
    told = cluster.npa.ok("logs", "--cluster", cluster.name, "controller-0", "-n", "3").out

    assert told.startswith("slurmctld | ")
    assert cluster.npa("logs", "--cluster", cluster.name, "nosuch-0").code != 0
