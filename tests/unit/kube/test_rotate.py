"""The plan of a new key: what it does to jobs, and that it is not made in the dark."""

from __future__ import annotations

import pytest

from npa.errors import DestructiveError, NotFoundError, UnknownError
from npa.health.answers import SlurmView
from npa.health.observation import SlurmNode
from npa.plan import guard
from npa.plan.model import JobRef
from npa.render.kube.deployment import There
from npa.render.objects import SLURM_CLUSTER
from npa.slurm.states import NodeState
from npa.targets.kubernetes import rotate

JOB = JobRef("7", "ann", "train", "RUNNING", ("cpu-0",), "main")
AUTH, JWT = rotate.of("quick", "auth"), rotate.of("quick", "jwt")


def there(*jobs: JobRef, slurm: bool = True) -> There:
    found = SLURM_CLUSTER.object("quick", "slurm", spec={})
    view = SlurmView((SlurmNode("cpu-0", NodeState.parse("IDLE+CLOUD")),), jobs) if slurm else None
    return There(True, (), {("SlurmCluster", "quick"): found}, None, view, "no answer")


def test_a_new_auth_key_names_the_jobs_that_it_ends_and_is_refused_for_them() -> None:
    plan = rotate.plan("quick", AUTH, there(JOB), force=False)

    assert [(step.key, step.jobs) for step in plan.steps] == [
        ("stop:readers", (JOB,)),
        ("write:key", ()),
        ("start:again", ()),
    ]
    with pytest.raises(DestructiveError, match="7 \\(ann, train\\)"):
        guard.check(plan)
    assert rotate.plan("quick", AUTH, there(JOB), force=True).killed_jobs == (JOB,)


def test_a_new_jwt_key_ends_no_job() -> None:
    plan = rotate.plan("quick", JWT, there(JOB), force=False)
    guard.check(plan)

    assert plan.steps[0].subject == "slurmctld, slurmdbd"
    assert plan.steps[1].subject == "Secret quick-rest-jwt-key"


def test_without_slurms_answer_there_is_no_new_auth_key() -> None:
    with pytest.raises(UnknownError, match="cannot tell whether jobs run on quick: no answer"):
        rotate.plan("quick", AUTH, there(slurm=False), force=False)
    assert rotate.plan("quick", JWT, there(slurm=False), force=False).steps


def test_without_a_cluster_there_is_no_new_key() -> None:
    with pytest.raises(NotFoundError):
        rotate.plan("quick", JWT, There(), force=True)
