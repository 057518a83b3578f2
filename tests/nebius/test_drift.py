"""What changes behind Terraform's back, through a real plugin: it is told, judged, and never half seen."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes import cloud as clouds
from tests.fakes import drifting, standin
from tests.fakes.cloud import Cloud
from tests.fakes.standin import needs_terraform

from npa.errors import ToolError
from npa.render.nebius import plan_text, tfguard, tfjson
from npa.render.nebius.adapter import NodeGroups
from npa.render.nebius.tfguard import Request, Verdict
from npa.targets.nebius.options import NebiusOptions
from npa.targets.nebius.target import NebiusTarget
from npa.tools import terraform
from npa.tools.terraform import Terraform

pytestmark = needs_terraform

ADAPTER = replace(standin.standin(), node_groups=(NodeGroups("drifting_pool"),))
ADDRESS = "drifting_pool.worker_v2[0]"
CHANGED = "pool cpu was changed outside Terraform"


class Installation:
    """A pool of two nodes that the plugin made."""

    def __init__(self, place: Path) -> None:
        self.truth = place / "truth.json"
        self._place, self._config = place, drifting.install(place)
        self.write(2)
        self.tool.init()
        self.apply()
        self._as_made = [(path, path.read_bytes()) for path in (place / "terraform.tfstate", self.truth)]

    def again(self) -> None:
        """Have it as it was made."""
        self.write(2)
        for path, content in self._as_made:
            path.write_bytes(content)

    @property
    def tool(self) -> Terraform:
        """Terraform, where it finds the plugin."""
        return standin.tool(self._place, **self._found)

    def write(self, nodes: int, count: int = 1) -> None:
        """Ask for so many nodes in so many pools."""
        pool = f'  count = {count}\n  name = "cpu-${{count.index}}"\n  fixed_node_count = {nodes}\n'
        text = f'{drifting.header(self.truth)}resource "drifting_pool" "worker_v2" {{\n{pool}}}\n'
        (self._place / "main.tf").write_text(text)

    def apply(self) -> None:
        """Make it what is asked for."""
        with self.tool.planned() as saved:
            self.tool.apply(saved)

    def judged(self) -> Verdict:
        """Return the verdict on a plan of now."""
        with self.tool.planned() as saved:
            return tfguard.decide(
                tfjson.decode(self.tool.show(saved)), ADAPTER, Request(saved.exit_code, saved.targeted)
            )

    def outside(self, **changed: object) -> None:
        """Change every pool without Terraform."""
        things = drifting.load(self.truth)
        drifting.save(self.truth, {key: {**each, **changed} for key, each in things.items()})

    def refresh_only(self) -> None:
        """Have somebody take what is there into the state."""
        argv = ["terraform", "apply", "-refresh-only", "-auto-approve", "-input=false"]
        env = terraform.environment({"PATH": "/usr/local/bin:/usr/bin:/bin"}, self._found)
        subprocess.run(argv, cwd=self._place, env=env, check=True, capture_output=True, timeout=60)

    @property
    def _found(self) -> dict[str, str]:
        return {"TF_CLI_CONFIG_FILE": str(self._config), "HOME": str(self._place)}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return Installation(tmp_path_factory.mktemp("installation"))


@pytest.fixture
def installation(made: Installation) -> Installation:
    made.again()
    return made


def test_nodes_that_went_outside_come_back(installation: Installation) -> None:
    installation.outside(fixed_node_count=1)
    verdict = installation.judged()
    shown = plan_text.plan(verdict, plan_text.Context("small", ADAPTER))

    assert (verdict.ok, verdict.notes) == (True, (CHANGED,))
    assert CHANGED in shown.notes
    assert [step.subject for step in shown.steps] == [f"pool cpu ({ADDRESS})"]
    assert "fixed_node_count: 1 -> 2" in shown.steps[0].diff
    installation.apply()
    assert [each["fixed_node_count"] for each in drifting.load(installation.truth).values()] == [2]
    assert installation.judged().notes == ()


def test_nodes_that_came_outside_are_not_taken_away_unasked(installation: Installation) -> None:
    installation.outside(fixed_node_count=5)
    verdict = installation.judged()

    assert [each.text for each in verdict.refused] == ["pool cpu would shrink from 5 nodes to 2 nodes"]
    assert verdict.notes == (CHANGED,)


def test_drift_that_is_nobodys_wish_changes_nothing_and_is_told(installation: Installation) -> None:
    installation.outside(status="sick")
    verdict = installation.judged()

    assert (verdict.nothing_to_do, verdict.notes) == (True, (CHANGED,))
    installation.refresh_only()
    again = installation.judged()
    assert (again.nothing_to_do, again.notes) == (True, ())


def test_a_refresh_alone_hides_no_shrink(installation: Installation) -> None:
    installation.outside(fixed_node_count=5)
    installation.refresh_only()
    verdict = installation.judged()

    assert [each.text for each in verdict.refused] == ["pool cpu would shrink from 5 nodes to 2 nodes"]
    assert verdict.notes == ()


def test_a_pool_that_is_gone_is_made_anew(installation: Installation) -> None:
    drifting.save(installation.truth, {})
    verdict = installation.judged()

    assert verdict.ok
    assert verdict.notes == ("pool cpu was deleted outside Terraform, and is created anew",)
    installation.apply()
    assert len(drifting.load(installation.truth)) == 1


def test_a_pool_that_is_gone_and_not_wanted_needs_no_leave(installation: Installation) -> None:
    drifting.save(installation.truth, {})
    installation.write(2, count=0)
    verdict = installation.judged()

    assert (verdict.ok, verdict.notes) == (True, ("pool cpu was deleted outside Terraform",))


def test_what_cannot_be_read_is_not_gone(installation: Installation) -> None:
    kept = installation.truth.read_text()
    installation.truth.write_text("{")
    with pytest.raises(ToolError) as failed:
        installation.judged()

    assert failed.value.hint == terraform.SAFE
    installation.truth.write_text(kept)
    assert installation.judged().nothing_to_do


@pytest.fixture
def cloud(tmp_path: Path) -> Iterator[Cloud]:
    truth = tmp_path / "truth.json"
    pool = 'resource "drifting_pool" "beside" {\n  name = "beside"\n  fixed_node_count = 2\n}\n'
    more = {"soperator/installations/example/beside.tf": drifting.header(truth) + pool}
    with clouds.serve(tmp_path, more=more) as serving:
        serving.environ["TF_CLI_CONFIG_FILE"] = str(drifting.install(tmp_path))
        yield serving


def test_a_dry_run_says_what_changed_outside(cloud: Cloud, tmp_path: Path) -> None:
    target, options = NebiusTarget(cloud.outside), NebiusOptions(fixes=False)
    target.deploy(clouds.spec(), options, lambda *_: None, lambda _: None)
    truth = tmp_path / "truth.json"
    things = drifting.load(truth)
    drifting.save(truth, {key: {**each, "fixed_node_count": 1} for key, each in things.items()})

    shown = target.planned(clouds.spec(), options, lambda _: None)
    assert shown.refusal is None
    assert "drifting_pool.beside was changed outside Terraform" in shown.plan.notes
    assert [step.subject for step in shown.plan.steps] == ["drifting_pool.beside"]
    drifting.save(truth, {})
    target.deploy(clouds.spec(), options, lambda *_: None, lambda _: None)
    assert [each["fixed_node_count"] for each in drifting.load(truth).values()] == [2]
