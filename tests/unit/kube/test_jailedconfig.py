"""Files of ConfigMaps in the jail: written by one Job for a group, told to slurmctld once."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
from tests.golden.kube.worlds import SETTINGS, done, load, settled

from npa.reconcile import jailedconfig
from npa.reconcile.decision import Decision, Reread
from npa.reconcile.world import SlurmView, World
from npa.render.kube import jailed, names
from npa.render.objects import Object, dig, name_of
from npa.slurm.lookup import Unknown

ROLE = Path(__file__).parents[3] / "images/kube/roles/files"


def config(name: str, path: str, *, group: str = "", key: str = "a", actions: tuple[str, ...] = ()) -> Object:
    labels = {**names.labels("small", "common"), **({jailed.GROUP: group} if group else {})}
    return {
        "kind": "JailedConfig",
        "metadata": {"name": name, "namespace": "team-a", "labels": labels, "generation": 1},
        "spec": {
            "configMap": {"name": f"{name}-map"},
            "items": [{"key": key, "path": path}],
            "updateActions": list(actions),
        },
    }


def world(*configs: Object, texts: Mapping[str, str] | None = None) -> World:
    """Return a settled cluster with these JailedConfigs, and a ConfigMap for each that has a text."""
    found = settled(load("minimal"))
    held = {name_of(each): "text" for each in configs} if texts is None else texts
    objects: dict[tuple[str, str], Object] = dict(found.objects)
    for each in configs:
        objects["JailedConfig", name_of(each)] = each
    for name, text in held.items():
        meta = {"name": f"{name}-map", "namespace": "team-a"}
        objects["ConfigMap", f"{name}-map"] = {"kind": "ConfigMap", "metadata": meta, "data": {"a": text}}
    return replace(found, objects=objects)


def decide(found: World, name: str) -> Decision:
    return jailedconfig.decide(found, name, SETTINGS)


def after(found: World, name: str, decision: Decision) -> World:
    """Return the world when a decision about one JailedConfig has been done."""
    there = done(replace(found), replace(decision, status=None))
    objects = dict(there.objects)
    if decision.status is not None:
        objects["JailedConfig", name] = {**objects["JailedConfig", name], "status": decision.status}
    return replace(there, objects=objects, slurm=found.slurm)


def said(found: World, name: str) -> list[tuple[str, str, str]]:
    rows = dig(found.objects["JailedConfig", name], "status", "conditions")
    return [(row["type"], row["status"], row["reason"]) for row in rows]


def test_files_are_written_and_slurmctld_told_once() -> None:
    first = world(config("hc", "/etc/site/hc.conf", actions=("Reconfigure",)))
    begun = decide(first, "hc")
    there = after(first, "hc", begun)
    told = decide(there, "hc")
    rest = decide(after(there, "hc", told), "hc")

    job = begun.create[0]
    assert begun.slurm == ()
    assert told.slurm == (Reread(name_of(job).removeprefix("small-files-")),)
    assert rest.settled
    assert said(after(there, "hc", told), "hc") == [
        ("FilesWritten", "True", "Success"),
        ("UpdateActionsCompleted", "True", "Success"),
    ]
    kubernetes_validate.validate(dict(job), "1.33", strict=True)


def test_another_text_is_another_job_and_the_old_one_goes() -> None:
    there = world(config("hc", "/etc/site/hc.conf"))
    there = after(there, "hc", decide(there, "hc"))
    there = after(there, "hc", decide(there, "hc"))
    assert decide(there, "hc").settled
    old = next(name for kind, name in there.objects if kind == "Job" and "-files-" in name)
    changed = world(config("hc", "/etc/site/hc.conf"), texts={"hc": "another"}).objects["ConfigMap", "hc-map"]
    edited = replace(there, objects={**there.objects, ("ConfigMap", "hc-map"): changed})
    begun = decide(edited, "hc")
    ended = decide(after(edited, "hc", begun), "hc")

    assert [each.name for each in begun.delete] == []
    assert name_of(begun.create[0]) != old
    assert [each.name for each in ended.delete] == [old]


def test_a_group_is_written_at_once_by_its_first_member() -> None:
    pair = (
        config("b", "/etc/site/b", group="g", actions=("Reconfigure",)),
        config("a", "/etc/site/a", group="g"),
    )
    there = world(*pair)
    follower, leader = decide(there, "b"), decide(there, "a")
    sources = dig(leader.create[0], "spec", "template", "spec", "volumes")[1]["projected"]["sources"]
    there = after(there, "a", leader)
    told = decide(there, "a")
    there = after(there, "a", told)
    there = after(there, "b", decide(there, "b"))

    assert follower.create == ()
    assert {dig(each, "configMap", "items")[0]["path"] for each in sources} == {"etc/site/a", "etc/site/b"}
    assert len(told.slurm) == 1
    assert decide(there, "a").settled
    assert decide(there, "b").settled
    assert said(there, "b") == said(there, "a")


def test_a_missing_config_map_holds_up_nobody_else() -> None:
    pair = (config("a", "/etc/site/a", group="g"), config("b", "/etc/site/b", group="g"))
    there = world(*pair, texts={"b": "text"})
    missing, other = decide(there, "a"), decide(there, "b")

    assert said(after(there, "a", missing), "a") == [
        ("FilesWritten", "False", "NotFound"),
        ("UpdateActionsCompleted", "False", "NotWritten"),
    ]
    assert [each.reason for each in missing.notices] == ["NotFound"]
    assert len(other.create) == 1


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(config("a", "../etc/passwd"), id="relative"),
        pytest.param(config("a", "/etc/../../x"), id="leads-out"),
        pytest.param(config("a", "/etc/a", key="other"), id="no-such-key"),
    ],
)
def test_what_makes_no_sense_is_not_written(broken: Object) -> None:
    there = world(broken)
    decision = decide(there, "a")

    assert decision.create == ()
    assert said(after(there, "a", decision), "a")[0] == ("FilesWritten", "False", "Invalid")


def test_two_that_write_one_file_are_not_both_written() -> None:
    there = world(config("a", "/etc/x", group="g"), config("b", "/etc/x", group="g"))

    assert len(decide(there, "a").create) == 1
    assert said(after(there, "b", decide(there, "b")), "b")[0] == ("FilesWritten", "False", "Invalid")


def test_nothing_is_written_into_a_jail_that_is_not_filled() -> None:
    there = world(config("a", "/etc/x"))
    bare = replace(there, cluster=load("minimal").cluster)

    assert decide(bare, "a").create == ()


def test_a_silent_slurmctld_is_told_later() -> None:
    there = world(config("a", "/etc/x", actions=("Reconfigure",)))
    there = after(there, "a", decide(there, "a"))
    silent = replace(there, slurm=SlurmView(digest=Unknown("no answer")))
    decision = decide(silent, "a")

    assert decision.slurm == ()
    assert said(after(silent, "a", decision), "a")[1] == ("UpdateActionsCompleted", "False", "Refresh")


@pytest.mark.parametrize("kind", ["ConfigMap", "Job", "JailedConfig"])
def test_what_cannot_be_read_is_waited_for(kind: str) -> None:
    decision = decide(replace(world(config("a", "/etc/x")), unread=(kind,)), "a")

    assert decision.settled
    assert decision.again_in == SETTINGS.poll


def place(root: Path, *lines: str) -> subprocess.CompletedProcess[str]:
    """Run the entry point on folders below `root`."""
    text = ROLE.read_text(encoding="utf-8")
    text = text.replace("/mnt/jail", f"{root}/jail").replace("/mnt/files", f"{root}/files")
    script = "\n".join(("set -eu", 'say() { echo "$*" >&2; }', "mountpoint() { :; }", *lines, text))
    return subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False, timeout=60)


def given(root: Path, files: Mapping[str, Any]) -> None:
    (root / "jail").mkdir(exist_ok=True)
    for path, (text, mode) in files.items():
        target = root / "files/..data" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        target.chmod(mode)


def test_the_program_puts_each_file_in_place_once(tmp_path: Path) -> None:
    given(tmp_path, {"etc/site/a": ("one", 0o640), "opt/b.sh": ("two", 0o755)})
    first, second = place(tmp_path), place(tmp_path)

    assert first.returncode == second.returncode == 0
    assert first.stderr.splitlines() == ["wrote /etc/site/a", "wrote /opt/b.sh"]
    assert second.stderr == ""
    assert (tmp_path / "jail/etc/site/a").read_text() == "one"
    assert (tmp_path / "jail/opt/b.sh").stat().st_mode & 0o777 == 0o755
    assert sorted(path.name for path in (tmp_path / "jail").rglob("*") if path.is_file()) == ["a", "b.sh"]


def test_the_program_follows_no_link_out_of_the_jail(tmp_path: Path) -> None:
    given(tmp_path, {"etc/a": ("one", 0o644), "out/b": ("two", 0o644)})
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "jail/out").symlink_to(tmp_path / "elsewhere")
    done_ = place(tmp_path)

    assert done_.returncode != 0
    assert "leads through a link" in done_.stderr
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert not (tmp_path / "jail/etc/a").exists()
