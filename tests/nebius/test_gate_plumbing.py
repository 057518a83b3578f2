"""The gate's commands, its deadline and its clean-up; and its script in a real shell."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.nebius.after import FakeClock, FakeKube

from npa.cluster.model import Cluster, Machine, Pool
from npa.errors import DegradedValidationError, KubeError
from npa.render.nebius import gate as rules
from npa.render.nebius import gate_script
from npa.render.nebius.gate import GatePool, GateResult
from npa.targets.nebius import gate as gates
from npa.targets.nebius.gate import Gate
from npa.tools.kube import Executed

RUN = "0123456789ab"
H100 = Machine(128, 1_600_000, 8, "h100")
CLUSTER = Cluster(
    "lab",
    "nebius",
    (
        Pool("cpu", "cpu", 1, Machine(8, 32_000), "cpu-d3", "8vcpu-32gb"),
        Pool("gpu", "gpu", 2, H100, "gpu-h100-sxm", "8gpu"),
        Pool("big", "big", 1, H100, "gpu-h100-sxm", "8gpu"),
    ),
    (),
)


def passing(nodes: Sequence[str]) -> str:
    lines = []
    for label, node in enumerate(nodes):
        head = f"{label}: {gate_script.MARKER} run={RUN} host={node}"
        lines += [f"{head} gpus=8 name=NVIDIA_H100_80GB_HBM3"]
        lines += [f"{head} test={test} status=PASS rc=0" for test in gate_script.TESTS]
        lines += [f"{head} end rc=0"]
    return "\n".join(lines)


class Slurm:
    """What answers the gate's commands; a job is queued from srun until it is cancelled or has ended."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.reported = ["cpu-0", "gpu-0", "gpu-1", "big-0"]
        self.queued = False
        self.linger = 0  # looks at the queue after a cancel in which the job is there still
        self.takes = 5.0
        self.srun: Callable[[Sequence[str]], Executed] = lambda nodes: Executed(0, passing(nodes))
        self.squeue_broken = False
        self.late = 0  # looks at the queue before a job shows up that was submitted as its client died

    def __call__(self, pod: str, argv: Sequence[str]) -> Executed:
        if argv[0] == "sinfo":
            assert pod == "controller-0"
            return Executed(0, "\n".join([*self.reported, *self.reported]))
        assert (pod, *argv[:2]) == ("login-0", "chroot", "/mnt/jail")
        return getattr(self, f"_{argv[2]}")(argv)  # type: ignore[no-any-return]

    def _srun(self, argv: Sequence[str]) -> Executed:
        self.queued = True
        nodes = next(arg for arg in argv if arg.startswith("--nodelist=")).partition("=")[2].split(",")
        self.clock.now += self.takes
        done = self.srun(nodes)
        self.queued = False
        return done

    def _squeue(self, _: Sequence[str]) -> Executed:
        if self.squeue_broken:
            return Executed(1, "", "slurm_load_jobs error")
        if self.late:
            self.late -= 1
            self.queued = self.late == 0
            return Executed(0, "")
        return Executed(0, "77\n" if self.queued else "")

    def _scancel(self, argv: Sequence[str]) -> Executed:
        assert argv[3:] == (f"--name=npa-gpu-check-{RUN}", "--user=root")
        self.linger -= 1
        if self.linger < 0:
            self.queued = False
        return Executed(0, "")


class Bed:
    """A gate over a fake Slurm."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.slurm = Slurm(self.clock)
        self.kube = FakeKube(self.slurm)
        self.gate = Gate(self.kube, self.clock, lambda _: None, RUN)

    def check(self, timeout: float = 1800.0) -> GateResult:
        return self.gate.check(CLUSTER, timeout)

    def started(self, program: str) -> int:
        return sum(program in argv[:3] for argv in self.kube.ran)


@pytest.fixture
def bed() -> Bed:
    return Bed()


def stuck(_: Sequence[str]) -> Executed:
    raise KubeError("exec in login-0: no answer within the deadline")


def test_c77_every_pool_passes_and_nothing_is_cancelled(bed: Bed) -> None:
    result = bed.check()

    assert result.ok
    assert [each["pool"] for each in result.public()["pools"]] == ["gpu", "big"]
    assert bed.started("scancel") == 0


def test_a_cluster_without_gpus_has_nothing_to_prove(bed: Bed) -> None:
    result = bed.gate.check(Cluster("lab", "nebius", CLUSTER.pools[:1], ()))

    assert (result, bed.kube.ran) == (GateResult(), [])


def test_c77_a_failed_pool_keeps_the_results_before_it(bed: Bed) -> None:
    bed.slurm.srun = lambda nodes: (
        Executed(4, passing(nodes).replace("vectorAdd status=PASS", "vectorAdd status=FAIL"))
        if nodes == ["big-0"]
        else Executed(0, passing(nodes))
    )

    result = bed.check()

    assert (result.phase, result.pool, result.cleanup_confirmed) == ("slurm-step", "big", True)
    assert [each["status"] for each in result.public()["pools"]] == ["PASS", "FAIL"]
    assert "0 of 1 nodes passed; big-0: vectorAdd" in result.message
    assert bed.started("scancel") > 0


def test_c77_a_step_that_never_starts_is_the_queues(bed: Bed) -> None:
    bed.slurm.srun = lambda _: Executed(1, "", "srun: error: Unable to allocate resources: immediate")

    result = bed.check()

    assert (result.phase, result.pool) == ("queue", "gpu")
    assert "immediate" in result.detail
    assert "immediate" not in str(result.public())


def test_c77_a_failed_gate_is_a_degraded_validation_and_the_cluster_is_kept(bed: Bed) -> None:
    bed.slurm.srun = stuck

    with pytest.raises(DegradedValidationError) as caught:
        gates.require(bed.check(), {"name": "lab"})
    gates.require(GateResult(), {})

    report = caught.value.report
    assert caught.value.exit_code != 0
    assert isinstance(report, dict)
    assert (report["name"], report["status"]) == ("lab", "degraded-validation")


def test_c77_a_step_that_outlasts_the_gate_is_cancelled_and_gone(bed: Bed) -> None:
    bed.slurm.srun, bed.slurm.takes, bed.slurm.linger = stuck, 60.0, 3

    result = bed.check(60.0)

    assert (result.phase, result.cleanup_confirmed) == ("process-timeout", True)
    assert not bed.slurm.queued


def test_c77_a_job_that_shows_up_late_is_cancelled_too(bed: Bed) -> None:
    bed.slurm.srun, bed.slurm.late = stuck, 1

    assert bed.check().cleanup_confirmed
    assert not bed.slurm.queued


@pytest.mark.parametrize("broken", ["queue unreadable", "job stays"])
def test_c77_a_job_that_cannot_be_proven_gone_is_said(bed: Bed, broken: str) -> None:
    bed.slurm.srun = stuck
    bed.slurm.squeue_broken = broken == "queue unreadable"
    bed.slurm.linger = 10_000

    result = bed.check()

    assert not result.cleanup_confirmed
    assert not result.ok


def test_c77_a_pass_with_an_unreadable_queue_is_no_pass(bed: Bed) -> None:
    bed.slurm.squeue_broken = True

    result = bed.check()

    assert (result.phase, result.ok) == ("cleanup-verification", False)


def test_c77_ctrl_c_cancels_before_it_goes_on(bed: Bed) -> None:
    def interrupted(_: Sequence[str]) -> Executed:
        raise KeyboardInterrupt

    bed.slurm.srun = interrupted

    with pytest.raises(KeyboardInterrupt):
        bed.check()
    assert not bed.slurm.queued
    assert bed.started("scancel") == 2
    assert bed.started("squeue") == 2


def test_nodes_that_are_not_the_specs_are_named(bed: Bed) -> None:
    bed.slurm.reported.remove("gpu-1")

    result = bed.check()

    assert (result.phase, result.message) == ("node-mapping", "pool gpu: not in Slurm: gpu-1")
    assert bed.started("srun") == 0


def test_no_nodes_and_no_answer_are_discoverys(bed: Bed) -> None:
    bed.slurm.reported.clear()

    assert bed.check().phase == "node-discovery"


def test_the_second_pool_gets_only_what_the_first_left(bed: Bed) -> None:
    bed.slurm.takes = 1799.5

    assert (bed.check().phase, bed.check().pool) == ("queue", "big")


def test_no_two_runs_have_the_same_name() -> None:
    assert len({gates.new_run() for _ in range(100)}) == 100


TOOLS = {
    "nvidia-smi": 'if [ "$1" = -L ]; then for i in $(seq $COUNT); do echo "GPU $i: x"; done; '
    'else for i in $(seq $COUNT); do echo "NVIDIA H100 80GB HBM3"; done; fi',
    "health-checker": 'echo noise; echo "$ANSWER"; exit "${RC:-0}"',
}


@pytest.mark.skipif(shutil.which("jq") is None, reason="needs jq: apt-get install -y jq")
@pytest.mark.parametrize(
    ("env", "cause"),
    [
        ({}, ""),
        ({"COUNT": "7"}, "has 7 of 8 GPUs"),
        ({"RC": "1"}, "status PASS, exit code 1"),
        ({"ANSWER": '{"status": "FAIL"}\n{"status": "PASS"}'}, "status FAIL,PASS, exit code 0"),
        ({"ANSWER": "Result = FAIL ... PASS"}, "status none, exit code 0"),
        ({"ANSWER": '{\n "status": "PASS",\n "tests": [{"a": 1}]\n}'}, ""),
    ],
    ids=["pass", "7 of 8", "rc 1", "two answers", "no JSON", "many lines"],
)
def test_c77_the_script_says_what_the_judge_reads(tmp_path: Path, env: dict[str, str], cause: str) -> None:
    for name, body in TOOLS.items():
        (tmp_path / name).write_text(f"#!/bin/bash\n{body}\n")
        (tmp_path / name).chmod(0o755)
    asked = {"COUNT": "8", "ANSWER": '{"status": "PASS"}', "SLURMD_NODENAME": "gpu-0", **env}

    done = subprocess.run(
        ["bash", "-c", gate_script.script(RUN, "H100", 8)],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin", **asked},
        capture_output=True,
        text=True,
        check=False,
    )
    judged = rules.judge(GatePool("gpu", ("gpu-0",), 8, "H100"), RUN, done.stdout, done.returncode)

    assert judged.ok is (cause == ""), done.stdout + done.stderr
    assert not cause or cause in {failure.cause for failure in judged.failures}
