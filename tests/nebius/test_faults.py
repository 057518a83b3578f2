"""Deploy and destroy, killed (SIGKILL) at their steps: the next run finishes, and nothing is doubled or lost.

Here one installation is killed at one landmark after the other; `make faults-nebius` kills a deploy and a
destroy of their own at every single step.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes import cloud as clouds
from tests.fakes import mortal
from tests.fakes.mortal import Stage
from tests.fakes.standin import needs_terraform

from npa.errors import OwnershipError
from npa.targets.nebius import records
from npa.targets.nebius.options import NebiusOptions
from npa.targets.nebius.target import NebiusTarget

pytestmark = needs_terraform

DEPLOY = (
    "start git clone#1",
    "start git worktree move#1",
    "write terraform.tfvars#1",
    "after plan#1",
    "when asked#1",
    "write .npa-soperator-env.json#1",
    "made filesystems#1",  # inside the apply of Kubernetes: Terraform goes on without us
    "write .npa-soperator-env.json#1",
    "after a repair of monitoring-system#1",
    "before a repair of soperator-slurm-scripts#1",
    "made charts#1",
    "inside the GPU check#1",
    "after the GPU check#1",
    "write .npa-soperator-applied.json#1",
)
DESTROY = (
    "start git worktree repair#1",
    "after plan#1",
    "gone clusters#1",
    "write .npa-soperator-destroyed.json#1",
    "remove terraform.tfvars#1",
    "remove .npa-soperator-env.json#1",
)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with mortal.stage(tmp_path) as found:
        yield found


def kill(stage: Stage, verb: mortal.Verb, label: str) -> None:
    ended = stage.run(verb, label)
    assert ended.killed, f"{verb} has no step {label!r}: {ended.status} {ended.message} {ended.labels}"
    stage.settled()
    assert len(stage.at("clusters")) <= 1
    assert len(stage.at("filesystems")) <= 2
    assert len(stage.at("allocations")) <= 1


def finish(stage: Stage, verb: mortal.Verb) -> None:
    ended = stage.run(verb)
    assert (ended.code, ended.status) == (0, {"deploy": "ready", "destroy": "destroyed"}[verb]), ended.message


def test_a_deploy_is_killed_at_every_landmark_and_then_finishes(stage: Stage) -> None:
    for label in DEPLOY:
        kill(stage, "deploy", label)
    finish(stage, "deploy")

    assert stage.disagreements() == []
    for label in DESTROY:
        kill(stage, "destroy", label)
    finish(stage, "destroy")
    assert gone(stage)


def gone(stage: Stage) -> bool:
    return not any(stage.at(kind) for kind in (*mortal.KINDS, "charts"))


def test_an_apply_that_goes_on_without_its_npa_is_waited_for(stage: Stage) -> None:
    (stage.root / "hold").touch()
    assert stage.run("deploy", "made filesystems#1").killed
    for verb in ("deploy", "destroy"):
        ended = stage.run(verb)
        assert (ended.status, "still applies" in ended.message) == ("refused", True), ended
    assert stage.at("clusters") == []

    (stage.root / "hold").unlink()
    stage.settled()
    assert len(stage.at("clusters")) == 1  # it made what it was told to
    finish(stage, "deploy")
    assert stage.disagreements() == []


def test_a_destroy_by_recorded_ids_is_killed_and_then_finishes(stage: Stage) -> None:
    finish(stage, "deploy")
    for left in stage.installation.glob("terraform.tfstate*"):
        left.unlink()
    for label in ("before the provider deletes a cluster#1", "after the provider deletes a filesystem#1"):
        kill(stage, "destroy", label)
    ended = stage.run("destroy")

    assert (ended.status, stage.at("clusters"), stage.at("filesystems")) == ("destroy-incomplete", [], [])
    outside = stage.outside(mortal.Reaper(stage.root))
    accepted = NebiusTarget(outside).destroy("quick", NebiusOptions(accept_unknown=True), lambda _: None)
    assert accepted["status"] == "destroyed"


def test_an_apply_that_died_before_its_state_was_written_is_not_done_again(tmp_path: Path) -> None:
    with clouds.serve(tmp_path) as cloud:
        target = NebiusTarget(cloud.outside)

        def die(command: str) -> None:
            if command == "apply":
                raise KeyboardInterrupt

        cloud.after = die
        with pytest.raises(KeyboardInterrupt):
            target.deploy(clouds.spec(), NebiusOptions(), lambda *_: None, lambda _: None)
        cloud.after = lambda _: None
        records.forget_sidecar(cloud.installation)
        (cloud.installation / "terraform.tfstate").unlink()

        with pytest.raises(OwnershipError, match="unknown to the installation") as refused:
            target.deploy(clouds.spec(), NebiusOptions(), lambda *_: None, lambda _: None)
        assert "delete exactly these ids" in refused.value.hint
        assert len(cloud.ids("clusters")) == 1


def test_a_lost_state_is_not_made_anew(tmp_path: Path) -> None:
    with clouds.serve(tmp_path) as cloud:
        target = NebiusTarget(cloud.outside)
        target.deploy(clouds.spec(), NebiusOptions(), lambda *_: None, lambda _: None)
        (cloud.installation / "terraform.tfstate").unlink()

        with pytest.raises(OwnershipError, match="state is gone"):
            target.deploy(clouds.spec(), NebiusOptions(), lambda *_: None, lambda _: None)
        assert len(cloud.ids("clusters")) == 1
