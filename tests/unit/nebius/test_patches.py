from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.nebius import repository

from npa.errors import SourceError
from npa.render.nebius import patches
from npa.render.nebius.patches import PIN, Legacy, Patch

PINNED = patches.for_ref(PIN)
PRISTINE = {patch.path: repository.FILES[patch.path] for patch in PINNED}
USERNS = PINNED[3]

OLD_BLOCK = "      # old tool\n      x = 1\n"
OLD = Legacy("# old tool", 2, hashlib.sha256(OLD_BLOCK.encode()).hexdigest())
PATCH = Patch("a.tf", "why", "    essential = {\n", "    essential = {\n      # npa\n", legacy=(OLD,))
FILE = "locals {\n    essential = {\n      a = 1\n    }\n}\n"
LEGACY = FILE.replace(PATCH.before, PATCH.before + OLD_BLOCK)


@pytest.mark.parametrize("patch", PINNED, ids=lambda patch: patch.path.rsplit("/", 1)[-1])
def test_each_patch_finds_its_place_and_no_second_one(patch: Patch) -> None:
    pristine = PRISTINE[patch.path]
    patched = patches.render(patch, pristine, pristine, wanted=True)

    assert patch.state(pristine, pristine) == "pristine"
    assert patch.state(pristine, patched) == "patched"
    assert patches.render(patch, pristine, patched, wanted=True) == patched
    assert patches.render(patch, pristine, patched, wanted=False) == pristine
    assert "# npa:" in patched


@pytest.mark.parametrize("patch", PINNED, ids=lambda patch: patch.path.rsplit("/", 1)[-1])
def test_a_changed_patch_is_refused(patch: Patch) -> None:
    pristine = PRISTINE[patch.path]
    changed = patch.applied(pristine).replace("# npa:", "# npa: and", 1)

    with pytest.raises(SourceError, match="has been modified"):
        patches.render(patch, pristine, changed, wanted=True)


@pytest.mark.parametrize("times", [0, 2])
def test_a_file_without_one_place_is_refused(times: int) -> None:
    with pytest.raises(SourceError, match=f"found {times} times"):
        PATCH.applied(f"locals {{\n{PATCH.before * times}}}\n")


def test_a_place_begins_a_line() -> None:
    with pytest.raises(SourceError, match="found 0 times"):
        USERNS.applied("values:\n  resources:\n")


@pytest.mark.parametrize("wanted", [True, False])
def test_an_older_tools_patch_is_migrated(wanted: bool) -> None:
    assert PATCH.state(FILE, LEGACY) == "legacy"
    assert patches.render(PATCH, FILE, LEGACY, wanted=wanted) == (PATCH.applied(FILE) if wanted else FILE)


@pytest.mark.parametrize(
    "changed",
    [LEGACY.replace("x = 1", "x = 2"), LEGACY.replace("a = 1", "a = 2"), LEGACY + LEGACY],
    ids=["its-block", "elsewhere", "twice"],
)
def test_an_older_tools_patch_that_was_changed_is_refused(changed: str) -> None:
    with pytest.raises(SourceError, match="has been modified"):
        patches.render(PATCH, FILE, changed, wanted=True)


def test_user_namespaces_are_left_alone_under_the_default_profile() -> None:
    assert patches.wanted(PINNED, default_apparmor=False) == PINNED
    assert patches.wanted(PINNED, default_apparmor=True) == PINNED[:3]


def test_an_unknown_commit_has_no_patches() -> None:
    with pytest.raises(SourceError, match="no adapter") as raised:
        patches.for_ref("0" * 40)

    assert PIN in raised.value.hint


def userns_values() -> dict[str, Any]:
    text = "".join(line for line in USERNS.after.splitlines(keepends=True) if "%{" not in line)
    (resource,) = yaml.safe_load(text)["resources"]
    assert resource["metadata"] == {
        "name": "terraform-nodeconfigurator",
        "labels": {"reconcile.fluxcd.io/watch": "Enabled"},
    }
    values: dict[str, Any] = yaml.safe_load(resource["data"]["values.yaml"])
    return values


def script() -> str:
    values = userns_values()
    assert list(values) == ["initContainers"]
    (container,) = values["initContainers"]
    assert container["image"] == "docker.io/library/busybox:stable"
    assert container["securityContext"]["privileged"] is True
    assert container["command"][:2] == ["/bin/sh", "-c"]
    return str(container["command"][2])


def run(tmp_path: Path, text: str, failing: str = "never") -> tuple[int, list[str]]:
    calls = tmp_path / "calls"
    calls.touch()
    program = tmp_path / "sysctl"
    program.write_text(f'#!/bin/sh\necho "$*" >>{calls}\ncase "$*" in *{failing}*) exit 17;; esac\n')
    program.chmod(0o755)
    done = subprocess.run(["/bin/sh", "-c", text], env={"PATH": str(tmp_path)}, check=False)
    return done.returncode, calls.read_text().splitlines()


@pytest.mark.parametrize(("apparmor", "opened"), [("false", True), ("true", False)])
def test_the_gate_opens_only_where_daemons_run_unconfined(
    tmp_path: Path, apparmor: str, opened: bool
) -> None:
    gate = tmp_path / "gate"
    gate.touch()
    text = script().replace("${apparmor_enabled}", apparmor)
    text = text.replace("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", str(gate))
    code, calls = run(tmp_path, text)

    assert code == 0
    assert calls[0] == "-w kernel.unprivileged_userns_clone=1"
    assert ("-w kernel.apparmor_restrict_unprivileged_userns=0" in calls) is opened
    assert "-w net.core.wmem_max=536870912" in calls
    assert "-w net.ipv4.tcp_rmem=4096 131072 536870912" in calls


@pytest.mark.parametrize("setting", ["unprivileged_userns_clone", "rmem_max", "tcp_wmem"])
def test_a_setting_that_fails_fails_the_container(tmp_path: Path, setting: str) -> None:
    assert run(tmp_path, script().replace("${apparmor_enabled}", "true"), setting)[0] == 17


def test_the_templates_language_is_used_once() -> None:
    assert USERNS.after.count("${") == 1
    assert "%{" not in USERNS.after
