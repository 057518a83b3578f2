from __future__ import annotations

import pytest
from tests.unit.spec.asking import GB300, GPU, HEAD, MINIMAL, key

from npa.cluster.facts import Facts
from npa.cluster.model import Cluster, Machine, Partition, Pool, User
from npa.cluster.resolve import resolve
from npa.errors import SpecError
from npa.spec import load
from npa.spec.model import SoperatorSpec, WorkerPoolSpec

MAIN = Partition("main", (), default=True)
HIDDEN = Partition("hidden", (), hidden=True)


def cluster(text: str, **facts: tuple[str, ...]) -> Cluster:
    return resolve(load.parse(text), Facts(**facts))


def test_the_minimal_spec_is_a_whole_cluster() -> None:
    pool = Pool("cpu", "cpu", 1, Machine(8, 32 * 1024), "cpu-d3", "8vcpu-32gb")
    found = cluster(MINIMAL)

    assert (found.name, found.target, found.pools) == ("lab", "nebius", (pool,))
    assert found.partitions == (MAIN, HIDDEN)
    assert not found.accounting
    assert not found.rest
    assert found.workers == ("cpu-0",)


def test_a_machine_is_that_of_its_preset() -> None:
    pool = cluster(
        f"{HEAD}workers: [{{name: gpu, size: 2, {GPU}, preemptible: true, features: [big]}}]"
    ).pools[0]

    assert pool.machine == Machine(160, 1792 * 1024, 8, "b200")
    assert (pool.capacity, pool.fabric, pool.features) == ("preemptible", "f-b", ("big",))
    assert pool.nodes == ("gpu-0", "gpu-1")


def test_c08_racks_become_pools_and_partitions_follow() -> None:
    found = cluster(
        f"{HEAD}workers: [{{name: train, {GB300}, size: 36}}, {{name: cpu}}]\n"
        "partitions: [{name: p, pools: [cpu, train], default: true}, {name: q, pools: [train-rack1]}]"
    )

    assert [(pool.name, pool.origin, pool.size) for pool in found.pools] == [
        ("train-rack0", "train", 18),
        ("train-rack1", "train", 18),
        ("cpu", "cpu", 1),
    ]
    assert found.partitions[0].pools == ("cpu", "train-rack0", "train-rack1")
    assert found.partitions[1].pools == ("train-rack1",)
    assert found.workers[18] == "train-rack1-0"
    assert cluster(f"{HEAD}workers: [{{name: train, {GB300}, size: 4}}]").workers[3] == "train-rack0-3"


def test_c07_the_partition_of_health_checks_is_added() -> None:
    found = cluster(
        MINIMAL + "partitions: [{name: day, is_all: true, default: true, max_time: 1-0, priority_tier: 5, "
        "oversubscribe: false}]"
    )

    assert found.partitions == (Partition("day", (), True, False, 1440, 5, False), HIDDEN)


def test_uids_are_stable_and_skip_what_is_taken() -> None:
    found = cluster(f"{MINIMAL}users: [{{name: ann}}, {{name: bob, uid: 2001}}, {{name: cy}}, {{name: di}}]")

    assert found.users == (User("ann", 2000), User("bob", 2001), User("cy", 2002), User("di", 2003))


def test_root_keys_are_those_of_the_spec_else_of_this_machine() -> None:
    written = cluster(f"{MINIMAL}root_login_ssh_public_key: {key()}", root_keys=("found",))
    found = cluster(MINIMAL, root_keys=("found",))

    assert (written.root_keys, written.origins["root_keys"]) == ((key(),), "spec")
    assert (found.root_keys, found.origins["root_keys"]) == (("found",), "facts")


def test_the_option_beats_the_spec_and_origins_say_so() -> None:
    spec = load.parse(MINIMAL + "target: kubernetes")

    assert resolve(spec, Facts()).target == "kubernetes"
    assert resolve(spec, Facts(), "local").target == "local"
    assert resolve(spec, Facts()).origins["target"] == "spec"
    assert resolve(spec, Facts(), "local").origins["target"] == "option"
    assert cluster(MINIMAL).origins["workers[0].size"] == "default"
    assert cluster(MINIMAL).origins["workers[0].name"] == "spec"


def test_rest_and_settings_are_decided() -> None:
    found = cluster(MINIMAL + "accounting: true\nslurm: {settings: {MaxJobCount: 9, KillWait: '30'}}")

    assert (found.rest, found.rest_node, found.origins["rest"]) == (True, "rest-0", "default")
    assert found.slurm_settings == (("MaxJobCount", "9"), ("KillWait", "30"))


def test_a_spec_that_breaks_a_rule_is_not_resolved() -> None:
    spec = SoperatorSpec(name="lab", workers=(WorkerPoolSpec(name="cpu", preset="none"),))

    with pytest.raises(SpecError, match="no preset"):
        resolve(spec, Facts())
