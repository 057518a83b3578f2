"""What the GPU gate takes for proof."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from npa.cluster.model import Cluster, Machine, Pool
from npa.render.nebius import gate, gate_script
from npa.render.nebius.gate import Failure, GatePool, GateResult, PoolResult

RUN = "0123456789ab"
POOL = GatePool("gpu", ("gpu-0", "gpu-1"), 8, "H100")
NAME = "NVIDIA_H100_80GB_HBM3"


def said(host: str, text: str, label: str = "0: ", run: str = RUN) -> str:
    return f"{label}{gate_script.MARKER} run={run} host={host} {text}"


def worker(host: str, *, gpus: int = 8, name: str = NAME, end: int = 0) -> list[str]:
    tests = [said(host, f"test={test} status=PASS rc=0") for test in gate_script.TESTS]
    return [said(host, f"gpus={gpus} name={name}"), *tests, said(host, f"end rc={end}")]


def both() -> list[str]:
    return [*worker("gpu-0"), *worker("gpu-1")]


def swap(old: str, new: str) -> Callable[[list[str]], list[str]]:
    return lambda lines: [
        line.replace(old, new, 1) if line.startswith("0: ") and "host=gpu-1 " in line else line
        for line in lines
    ]


def test_c77_every_test_on_every_node_is_a_pass() -> None:
    judged = gate.judge(POOL, RUN, "\n".join(["Mon Nov 30", *both(), "0: bye"]), 0)

    assert judged == PoolResult(POOL)
    assert judged.ok


@pytest.mark.parametrize(
    ("change", "code", "node", "test", "cause"),
    [
        pytest.param(lambda x: x[:6], 0, "gpu-1", "", "never started", id="node never starts"),
        pytest.param(swap("gpus=8", "gpus=7"), 3, "gpu-1", "", "has 7 of 8 GPUs", id="7 of 8"),
        pytest.param(lambda x: x[:8], 0, "gpu-1", "vectorAdd", "not reported", id="cut after deviceQuery"),
        pytest.param(lambda x: x[:11], 0, "gpu-1", "", "its output is cut off", id="cut before the end"),
        pytest.param(
            swap("vectorAdd status=PASS rc=0", "vectorAdd status=PASS rc=1"),
            0,
            "gpu-1",
            "vectorAdd",
            "status PASS, exit code 1",
            id="PASS with rc 1",
        ),
        pytest.param(
            swap("vectorAdd status=PASS rc=0", "vectorAdd status=FAIL,PASS rc=0"),
            0,
            "gpu-1",
            "vectorAdd",
            "status FAIL,PASS, exit code 0",
            id="FAIL and PASS",
        ),
        pytest.param(
            lambda x: [*x, x[1]], 0, "gpu-0", "deviceQuery", "reported 2 times", id="a test told twice"
        ),
        pytest.param(
            lambda x: [line.replace("gpu-1", "gpu-9") for line in x],
            0,
            "gpu-9",
            "",
            "answered, and is no worker of this pool",
            id="node renamed",
        ),
        pytest.param(lambda x: x, 1, "", "", "every worker reports PASS, and the step exited 1", id="rc 1"),
        pytest.param(
            lambda x: [line.replace(RUN, "ba9876543210") for line in x],
            0,
            "gpu-0",
            "",
            "never started",
            id="lines of another run",
        ),
        pytest.param(
            swap("name=NVIDIA_H100_80GB_HBM3", "name=NVIDIA_GH200_480GB"),
            0,
            "gpu-1",
            "",
            "has GPUs of another kind: NVIDIA GH200 480GB, expected H100",
            id="another GPU",
        ),
        pytest.param(swap("0: ", "0: x "), 0, "gpu-1", "", "never started", id="a mark inside a line"),
    ],
)
def test_c77_anything_else_fails(
    change: Callable[[list[str]], list[str]], code: int, node: str, test: str, cause: str
) -> None:
    judged = gate.judge(POOL, RUN, "\n".join(change(both())), code)

    assert Failure(node, test, cause) in judged.failures


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA H200", "H200"),
        ("NVIDIA B300 SXM6 AC", "B300"),
        ("NVIDIA GB300", "GB300"),
        ("NVIDIA GH200 480GB", ""),
        ("NVIDIA L40S", ""),
        ("h100", "H100"),
    ],
)
def test_a_gpu_is_of_the_family_that_its_name_holds_as_a_word(name: str, family: str) -> None:
    assert gate.family(name) == family


def test_the_racks_of_a_pool_are_checked_together() -> None:
    machine = Machine(112, 800_000, 4, "gb300")
    racks = tuple(Pool(f"train-rack{k}", "train", 18, machine, "gpu-gb300", "4gpu") for k in (0, 1))
    cpu = Pool("cpu", "cpu", 2, Machine(8, 32_000), "cpu-d3", "8vcpu")
    cluster = Cluster("x", "nebius", (*racks, cpu), ())

    (pool,) = gate.pools(cluster)

    assert (pool.name, pool.gpus, pool.family, len(pool.nodes)) == ("train", 4, "GB300", 36)
    assert pool.nodes[17:19] == ("train-rack0-17", "train-rack1-0")


@pytest.mark.parametrize(
    ("reported", "wrong"),
    [
        (("gpu-0", "gpu-1", "cpu-0"), ""),
        (("gpu-0",), "not in Slurm: gpu-1"),
        (("gpu-0", "gpu-1", "gpu-2"), "not of the spec: gpu-2"),
        (("gpu-0", "gpu-1", "gpu-b-0", "gpu-1-0"), ""),
        (("gpu-00", "gpu-1"), "not in Slurm: gpu-0; not of the spec: gpu-00"),
    ],
)
def test_nodes_are_mapped_to_pools_by_their_whole_name(reported: tuple[str, ...], wrong: str) -> None:
    assert gate.unmapped(POOL, reported) == wrong


def test_the_step_asks_for_every_gpu_of_every_node_within_the_time_left() -> None:
    argv = gate_script.step("npa-gpu-check-x", ("gpu-0", "gpu-1"), 8, "true", 90_061)

    assert argv[:3] == ("chroot", "/mnt/jail", "srun")
    assert {"--nodes=2", "--gpus-per-node=8", "--exclusive", "--nodelist=gpu-0,gpu-1"} < set(argv)
    assert {"--immediate=90061", "--time=1-01:01:01"} < set(argv)


def test_c77_only_the_gates_own_job_is_cancelled() -> None:
    assert gate_script.cancel("npa-gpu-check-x")[2:] == (
        "scancel",
        "--name=npa-gpu-check-x",
        "--user=root",
    )


def test_c77_the_result_names_node_test_and_cause_and_no_output() -> None:
    failed = PoolResult(POOL, (Failure("gpu-1", "vectorAdd", "not reported"),))
    result = GateResult((failed,), "slurm-step", "gpu", "1 of 2", detail="token=secret")

    public = result.public()

    assert public["status"] == "FAIL"
    assert public["pools"][0]["failures"] == [{"node": "gpu-1", "test": "vectorAdd", "cause": "not reported"}]
    assert public["failure"]["code"] == "gpu_creation_check_failed"
    assert "secret" not in str(public)


def test_a_job_that_may_be_left_is_no_success() -> None:
    assert not GateResult(cleanup_confirmed=False).ok
    assert GateResult().ok
