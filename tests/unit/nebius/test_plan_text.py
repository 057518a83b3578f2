from __future__ import annotations

from tests.fakes.tfplans import document, group, judge, resource, workers

from npa.plan import codec, text
from npa.plan.model import JobRef
from npa.render.nebius import plan_text
from npa.render.nebius.adapter import PIN, adapter
from npa.render.nebius.plan_text import Context

JOBS = (JobRef("7", "alice", "train", "RUNNING", ("gpu-3",)), JobRef("8", "bob", "x", "RUNNING", ("gpu-0",)))
CONTEXT = Context("train", adapter(PIN), JOBS)
PLAN = document(
    workers(0, "update", old=group("gpu-0", 4), new=group("gpu-0", 2)),
    workers(1, "update", old=group("cpu-0", 1), new=group("cpu-0", 3)),
    workers(2, "no-op", old=group("viz-0", 1), new=group("viz-0", 1)),
    resource("module.slurm.helm_release.values", "update", before={"v": "1"}, after={"v": "2"}),
)


def test_a_shrink_names_the_nodes_and_jobs_that_go() -> None:
    step = plan_text.plan(judge(PLAN), CONTEXT).steps[0]

    assert (step.verb, step.nodes, step.jobs, step.kills_jobs) == (
        "remove",
        ("gpu-2", "gpu-3"),
        JOBS[:1],
        False,
    )
    assert step.reason.startswith(
        "pool gpu would shrink from 4 nodes to 2 nodes; to allow it: --approve 'module.k8s."
    )


def test_an_approved_step_says_that_it_ends_jobs() -> None:
    key = PLAN["resource_changes"][0]["address"]
    step = plan_text.plan(judge(PLAN, f"{key}@{judge(PLAN).digest}"), CONTEXT).steps[0]

    assert step.kills_jobs
    assert step.reason.endswith("; approved")


def test_the_plan_reads_well() -> None:
    told = text.text(plan_text.plan(judge(PLAN), CONTEXT), "")

    assert (
        "reconfigure pool cpu (module.k8s.nebius_mk8s_v1_node_group.worker_v2[1]): it grows from 1 node to 3"
        in told
    )
    assert "      fixed_node_count: 1 -> 3" in told
    assert "pool viz: already as asked" in told


def test_the_plan_survives_its_file() -> None:
    plan = plan_text.plan(judge(PLAN), CONTEXT)

    assert codec.decode(codec.encode(plan)) == plan


def test_counts() -> None:
    assert plan_text.counts(judge(PLAN)) == {
        "create": 0,
        "update": 3,
        "replace": 0,
        "delete": 0,
        "refresh": 0,
    }


def test_nodes_of_the_second_group_of_a_pool() -> None:
    gone = document(workers(1, "delete", old=group("gpu-1-1", 2)))

    assert plan_text.plan(judge(gone), CONTEXT).steps[0].nodes == ("gpu-1-100", "gpu-1-101")
