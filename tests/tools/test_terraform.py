"""Terraform itself on the stand-in recipe: what it says of each kind of change, and what is made of it."""

from __future__ import annotations

import json
import stat
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import standin
from tests.fakes.standin import needs_terraform

from npa.errors import PreflightError, RefusedError, ToolError, ToolTimeoutError
from npa.render.nebius import hcl, tfguard, tfjson, tfvars
from npa.render.nebius.adapter import PIN, adapter
from npa.render.nebius.tfguard import Request, Verdict
from npa.render.nebius.tfvars import Resolved
from npa.spec.model import SoperatorSpec, WorkerPoolSpec
from npa.tools import terraform
from npa.tools.terraform import Deadlines, Saved, Terraform

pytestmark = needs_terraform

HOSTILE = (
    "${a}", "%{if true}", "$${a}", "$$${a}", "%%{a}", "%$${a}", "$", "$$", "${", "a\"b\\c", "\\u0041", "\\",
    "'", "a\nb\rc\t", "\x00\x01\x1b\x7f", "é ü 漢字", "😀", "\u2028\u2029",
    "EOT", "<<EOT", "# x", "/* x", "~", "", " ",
    "${file(\"/etc/passwd\")}", "$%{x}", "\"}", "{{x}}",
)  # fmt: skip

FAILING_CHECK = """
variable "n" { default = 1 }
check "quota" {
  assert {
    condition     = var.n > 2
    error_message = "quota low"
  }
}
resource "terraform_data" "a" {}
"""
FAILING_PRECONDITION = """
variable "n" { default = 1 }
resource "terraform_data" "a" {
  lifecycle {
    precondition {
      condition     = var.n > 2
      error_message = "too small"
    }
  }
}
"""
SLOW = """
resource "terraform_data" "a" {}
resource "terraform_data" "b" {
  depends_on = [terraform_data.a]
  provisioner "local-exec" { command = "exec sleep 60" }
}
"""


def spec(*pools: tuple[str, int], **more: Any) -> str:
    workers = tuple(WorkerPoolSpec(name=name, size=size) for name, size in pools)
    return tfvars.render(SoperatorSpec(name="small", workers=workers, **more), Resolved("ssh-ed25519 AAAA"))


def judge(tool: Terraform, saved: Saved, *approvals: str) -> Verdict:
    request = Request(saved.exit_code, saved.targeted, saved.destroying, approvals)
    return tfguard.decide(tfjson.decode(tool.show(saved)), standin.standin(), request)


def deployed(place: Path, *pools: tuple[str, int], **more: Any) -> Terraform:
    tool = standin.tool(standin.install(place, spec(*pools, **more)))
    tool.init()
    with tool.planned() as saved:
        assert judge(tool, saved).ok
        tool.apply(saved)
    return tool


def planned(place: Path, tool: Terraform, tfvars_text: str, **more: Any) -> Verdict:
    standin.install(place, tfvars_text)
    with tool.planned(**more) as saved:
        return judge(tool, saved)


def small(place: Path, text: str) -> Terraform:
    (place / "main.tf").write_text(text)
    tool = standin.tool(place)
    tool.init()
    return tool


def test_hostile_strings_come_back_as_they_were(tmp_path: Path) -> None:
    tool = small(tmp_path, 'variable "all" { type = list(string) }\noutput "all" { value = var.all }\n')
    (tmp_path / "terraform.tfvars").write_text(hcl.assignments({"all": HOSTILE}))
    with tool.planned() as saved:
        shown = tool.show(saved)

    assert tuple(shown["variables"]["all"]["value"]) == HOSTILE


def test_a_cluster_from_nothing_to_nothing(tmp_path: Path) -> None:
    tool = deployed(tmp_path, ("cpu", 2))
    again = planned(tmp_path, tool, spec(("cpu", 2)))
    with tool.planned(destroy=True) as saved:
        end = judge(tool, saved)
        tool.apply(saved)

    assert again.refreshed == ("module.k8s.terraform_data.kubectl_cluster_context",)
    assert (again.ok, end.ok) == (True, True)
    assert tool.state_pull()["resources"] == []


def test_the_first_phase_alone(tmp_path: Path) -> None:
    tool = standin.tool(standin.install(tmp_path, spec(("cpu", 2))))
    tool.init()
    with tool.planned(target="module.k8s") as saved:
        verdict = judge(tool, saved)

    assert (verdict.ok, verdict.plan.complete) == (True, False)
    assert not [each for each in verdict.plan.resources if each.module == "module.slurm"]


def test_growing_passes_and_shrinking_does_not(tmp_path: Path) -> None:
    tool = deployed(tmp_path, ("cpu", 2))
    grown, shrunk = (planned(tmp_path, tool, spec(("cpu", size))) for size in (3, 1))

    assert grown.ok
    assert [each.text for each in shrunk.refused] == ["pool cpu would shrink from 2 nodes to 1 node"]


def test_c20_removing_a_pool_in_the_middle(tmp_path: Path) -> None:
    tool = deployed(tmp_path, ("cpu", 1), ("gpu", 1), ("viz", 1))
    verdict = planned(tmp_path, tool, spec(("cpu", 1), ("viz", 1)))

    assert [each.key for each in verdict.refused] == [
        "module.k8s.terraform_data.worker_v2[1]",
        "module.k8s.terraform_data.worker_v2[2]",
    ]
    assert "pool gpu would be deleted" in verdict.refused[0].text
    assert "pool viz would be rebuilt because pools are keyed by position" in verdict.refused[1].text
    approved = [verdict.approval(each) for each in verdict.refused]
    with tool.planned() as saved:
        assert judge(tool, saved, *approved).ok


def test_the_jail_neither_shrinks_nor_goes(tmp_path: Path) -> None:
    tool = deployed(tmp_path, ("cpu", 1))
    verdict = planned(tmp_path, tool, spec(("cpu", 1), jail_size_gib=100))

    assert [(each.text, each.approvable) for each in verdict.refused] == [
        ("filesystem soperator-small-jail would shrink from 512 GiB to 100 GiB", False)
    ]


KINDS = {
    "delete-first": (
        'resource "terraform_data" "a" { triggers_replace = [var.n] }',
        "terraform_data.a would be rebuilt: forced by triggers_replace",
    ),
    "create-first": (
        'resource "terraform_data" "a" {\n triggers_replace = [var.n]\n'
        " lifecycle { create_before_destroy = true }\n}",
        "terraform_data.a would be rebuilt: forced by triggers_replace",
    ),
    "each-key": (
        'resource "terraform_data" "a" { for_each = toset(var.n == 1 ? ["x", "y"] : ["x"]) }',
        'terraform_data.a["y"] would be deleted: the recipe no longer asks for it',
    ),
    "count-index": (
        'resource "terraform_data" "a" { count = 3 - var.n }',
        "terraform_data.a[1] would be deleted: the recipe asks for fewer",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_c12_c20_what_terraform_says_of_an_end(tmp_path: Path, kind: str) -> None:
    text, says = KINDS[kind]
    variable = 'variable "n" { type = number }\n'
    tool = small(tmp_path, variable + text)
    (tmp_path / "terraform.tfvars").write_text("n = 1\n")
    with tool.planned() as saved:
        tool.apply(saved)
    (tmp_path / "terraform.tfvars").write_text("n = 2\n")
    with tool.planned() as saved:
        verdict = judge(tool, saved)

    assert [each.text for each in verdict.refused] == [says]


def change(tmp_path: Path, before: str, after: str) -> Verdict:
    tool = small(tmp_path, before)
    with tool.planned() as saved:
        tool.apply(saved)
    (tmp_path / "main.tf").write_text(after)
    with tool.planned() as saved:
        return judge(tool, saved)


def test_c14_a_rename_that_terraform_knows_of(tmp_path: Path) -> None:
    moved = "moved {\n from = terraform_data.a\n to = terraform_data.b\n}\n"
    verdict = change(tmp_path, 'resource "terraform_data" "a" {}', moved + 'resource "terraform_data" "b" {}')

    assert (verdict.ok, verdict.notes) == (True, ("terraform_data.a is moved to terraform_data.b",))


def test_what_the_recipe_wants_forgotten(tmp_path: Path) -> None:
    removed = "removed {\n from = terraform_data.a\n lifecycle { destroy = false }\n}\n"
    verdict = change(tmp_path, 'resource "terraform_data" "a" {}', removed)

    assert [each.approvable for each in verdict.refused] == [False]


def test_c16_a_sensitive_value_is_only_in_the_json_of_terraform(tmp_path: Path) -> None:
    variable = 'variable "p" {\n sensitive = true\n default = "hunter2"\n}\n'
    tool = small(tmp_path, variable + 'resource "terraform_data" "a" { input = var.p }')
    with tool.planned() as saved:
        shown = tool.show(saved)
        verdict = judge(tool, saved)

    assert "hunter2" in json.dumps(shown)
    assert "hunter2" not in repr(verdict)


def test_c17_a_failing_check_does_not_stop_terraform_and_stops_us(tmp_path: Path) -> None:
    tool = small(tmp_path, FAILING_CHECK)
    with tool.planned() as saved:
        verdict = judge(tool, saved)

    assert [each.text for each in verdict.refused] == ["check.quota failed: quota low"]


def test_c13_a_failed_precondition_leaves_no_plan(tmp_path: Path) -> None:
    tool = small(tmp_path, FAILING_PRECONDITION)
    with pytest.raises(ToolError, match="Resource precondition failed") as caught, tool.planned():
        pass

    assert caught.value.hint == terraform.SAFE
    assert "too small" in caught.value.stderr
    assert not list(tmp_path.glob(".npa-plan-*"))


def test_c18_nothing_to_do(tmp_path: Path) -> None:
    verdict = change(tmp_path, 'resource "terraform_data" "a" {}', 'resource "terraform_data" "a" {}')

    assert verdict.nothing_to_do


def test_c21_a_plan_is_applied_once(tmp_path: Path) -> None:
    tool = small(tmp_path, 'resource "terraform_data" "a" {}')
    with tool.planned() as saved:
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (saved.path, saved.path.parent)]
        tool.apply(saved)
        with pytest.raises(RefusedError, match="applied already"):
            tool.apply(saved)

    assert modes == [0o600, 0o700]
    assert len(tool.state_pull()["resources"]) == 1
    assert not list(tmp_path.glob(".npa-plan-*"))


def test_c21_a_plan_that_is_not_the_inspected_one_is_not_applied(tmp_path: Path) -> None:
    tool = small(tmp_path, 'resource "terraform_data" "a" {}')
    with tool.planned() as saved:
        saved.path.write_bytes(saved.path.read_bytes() + b" ")
        with pytest.raises(RefusedError, match="not the one that was made"):
            tool.apply(saved)

    assert tool.state_pull() == {}


def test_c21_a_plan_that_an_earlier_run_left_is_gone(tmp_path: Path) -> None:
    tool = small(tmp_path, 'resource "terraform_data" "a" {}')
    left = tmp_path / ".npa-plan-left" / "plan"
    left.parent.mkdir()
    left.write_text("old")
    with tool.planned():
        there = left.exists()

    assert not there


def test_an_interrupted_apply_keeps_what_it_made(tmp_path: Path) -> None:
    small(tmp_path, SLOW)
    env = terraform.environment({"PATH": "/usr/local/bin:/usr/bin:/bin"}, {})
    tool = Terraform(tmp_path, env, deadlines=Deadlines(apply=3))
    begin = time.monotonic()
    with pytest.raises(ToolTimeoutError) as caught, tool.planned() as saved:
        tool.apply(saved)
    with tool.planned() as saved:
        verdict = judge(tool, saved)

    assert time.monotonic() - begin < 40
    assert caught.value.hint == terraform.AGAIN
    assert "terraform_data.a" not in [each.key for each in verdict.plan.resources if each.changes]
    assert "tainted" in verdict.refused[0].text


def test_c21_ctrl_c_lets_terraform_write_its_state(tmp_path: Path) -> None:
    def interrupt(line: str) -> None:
        if "terraform_data.b: Provisioning" in line:
            raise KeyboardInterrupt

    tool = small(tmp_path, SLOW)
    with pytest.raises(KeyboardInterrupt), tool.planned() as saved:
        tool.apply(saved, interrupt)

    assert [each["name"] for each in tool.state_pull()["resources"]] == ["a", "b"]
    assert not list(tmp_path.glob(".npa-plan-*"))


@pytest.mark.parametrize("name", ["cpu-only", "gpu-and-cpu"])
def test_the_recipe_knows_every_variable_that_is_written(tmp_path: Path, name: str) -> None:
    golden = Path(__file__).parents[1] / "golden" / "nebius" / f"{name}.tfvars"
    tool = standin.tool(standin.install(tmp_path, golden.read_text()))
    tool.init()
    lines: list[str] = []
    with tool.planned(heard=lines.append) as saved:
        assert judge(tool, saved).ok

    assert not [line for line in lines if "undeclared" in line]


@pytest.mark.parametrize(
    ("told", "ok"),
    [("1.11.4", False), ("1.12.0", True), ("1.12.0-rc1", True), ("2.0.0", True), ("0.15.5", False)],
)
def test_the_recipe_needs_terraform_1_12(tmp_path: Path, told: str, ok: bool) -> None:
    def run(argv: Any, **_more: Any) -> str:
        assert argv == ["terraform", "version", "-json"]
        return json.dumps({"terraform_version": told})

    tool, needed = Terraform(tmp_path, {}, run=run), adapter(PIN).terraform
    if ok:
        assert tool.require(needed)[:2] >= needed
        return
    with pytest.raises(PreflightError) as caught:
        tool.require(needed)

    assert caught.value.lacks == (
        (f"terraform {told} is older than 1.12", "install terraform 1.12 or later"),
    )


@pytest.mark.parametrize("out", ["", "[]", "{", '{"terraform_version": 1}', '{"terraform_version": "x"}'])
def test_a_version_that_cannot_be_read_is_no_version(tmp_path: Path, out: str) -> None:
    with pytest.raises(ToolError):
        Terraform(tmp_path, {}, run=lambda *_argv, **_more: out).version()


def test_the_version_gate(tmp_path: Path) -> None:
    tool = standin.tool(tmp_path)
    found = tool.require((1, 5))
    with pytest.raises(PreflightError, match=r"is older than 99\.0"):
        tool.require((99, 0))

    assert found >= (1, 5, 0)


def test_secrets_are_in_no_argv_and_in_no_error(tmp_path: Path) -> None:
    seen: list[str] = []

    def stream(argv: Any, heard: Any, **_more: Any) -> None:
        seen.extend(argv)
        heard("│ Error: token s3cr3t-value is no good")
        raise ToolError(argv, 1, "s3cr3t-value")

    env = terraform.environment({"PATH": "/bin", "TF_CLI_ARGS": "-x"}, {"TF_VAR_iam_token": "s3cr3t-value"})
    heard: list[str] = []
    with pytest.raises(ToolError, match=r"Error: token \*\*\* is no good") as caught:
        Terraform(tmp_path, env, stream=stream).init(heard.append)

    assert "TF_CLI_ARGS" not in env
    assert "s3cr3t" not in f"{seen} {caught.value} {caught.value.stderr} {heard}"


def test_progress_is_heard(tmp_path: Path) -> None:
    lines: list[str] = []
    tool = small(tmp_path, 'resource "terraform_data" "a" {}\noutput "x" { value = 1 }')
    with tool.planned() as saved:
        tool.apply(saved, lines.append)

    assert any("Creation complete" in line for line in lines)
    assert tool.output()["x"]["value"] == 1
    assert threading.active_count() < 5
