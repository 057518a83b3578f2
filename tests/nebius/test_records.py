from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from npa.errors import IdentityError, OwnershipError, RefusedError, ToolError
from npa.render.nebius import sidecar as sidecars
from npa.render.nebius.sidecar import Sidecar
from npa.targets.nebius import config, records

RECORD = Sidecar("eu-north1", "tenant-1", "project-1", "vpcsubnet-1", "a1", ref="7" * 40)


def test_no_record_is_none(tmp_path: Path) -> None:
    assert records.load_sidecar(tmp_path) is None


def test_a_record_is_its_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        records.save_sidecar(tmp_path, RECORD)
    finally:
        os.umask(before)

    assert (tmp_path / sidecars.FILE).stat().st_mode & 0o777 == 0o600
    assert records.load_sidecar(tmp_path) == RECORD
    assert [path.name for path in tmp_path.iterdir()] == [sidecars.FILE]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b"null"])
def test_a_record_that_cannot_be_read_is_never_taken_for_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / sidecars.FILE).write_bytes(content)

    with pytest.raises(IdentityError):
        records.load_sidecar(tmp_path)


def test_a_record_behind_a_link_is_refused(tmp_path: Path) -> None:
    records.save_sidecar(tmp_path, RECORD)
    (tmp_path / sidecars.FILE).rename(tmp_path / "elsewhere")
    (tmp_path / sidecars.FILE).symlink_to(tmp_path / "elsewhere")

    with pytest.raises(IdentityError):
        records.load_sidecar(tmp_path)


def test_a_record_that_others_can_write_is_refused(tmp_path: Path) -> None:
    records.save_sidecar(tmp_path, RECORD)
    (tmp_path / sidecars.FILE).chmod(0o666)

    with pytest.raises(IdentityError, match="others can write"):
        records.load_sidecar(tmp_path)


def test_a_record_of_another_backend_is_refused(tmp_path: Path) -> None:
    (tmp_path / sidecars.FILE).write_text(json.dumps({"backend": "mk8s"}))

    with pytest.raises(OwnershipError):
        records.load_sidecar(tmp_path)


def test_a_write_that_fails_leaves_the_record_before(tmp_path: Path) -> None:
    records.save_sidecar(tmp_path, RECORD)
    (tmp_path / f".{sidecars.FILE}.{os.getpid()}").mkdir()  # in the way of the temporary file

    with pytest.raises(OSError, match="directory"):
        records.save_sidecar(tmp_path, Sidecar(region="elsewhere"))

    assert records.load_sidecar(tmp_path) == RECORD


def test_a_record_can_be_forgotten(tmp_path: Path) -> None:
    records.save_sidecar(tmp_path, RECORD)
    records.forget_sidecar(tmp_path)
    records.forget_sidecar(tmp_path)

    assert records.load_sidecar(tmp_path) is None


def test_phases_are_written_down_as_they_go(tmp_path: Path) -> None:
    with records.phase(tmp_path, "deploy", "source"):
        pass
    with pytest.raises(ToolError), records.phase(tmp_path, "deploy", "cluster"):
        raise ToolError(("terraform",), 1, "token=secret")
    found = records.load_journal(tmp_path)

    assert [(entry.phase, entry.outcome, entry.detail) for entry in found.entries] == [
        ("source", "begun", ""),
        ("source", "done", ""),
        ("cluster", "begun", ""),
        ("cluster", "failed", "ToolError"),
    ]
    assert "secret" not in (tmp_path / ".npa-soperator-journal.json").read_text()


def test_a_phase_that_is_interrupted_stays_begun(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), records.phase(tmp_path, "deploy", "cluster"):
        raise KeyboardInterrupt

    assert [entry.outcome for entry in records.load_journal(tmp_path).entries] == ["begun"]


def test_two_changes_of_one_installation_exclude_each_other(tmp_path: Path) -> None:
    with records.locked(tmp_path / "root", "a1"):
        with (
            pytest.raises(RefusedError, match="another npa is changing a1"),
            records.locked(tmp_path / "root", "a1"),
        ):
            pass
        with records.locked(tmp_path / "root", "b2"):
            pass

    assert list((tmp_path / "root").iterdir()) == []


def test_an_installation_elsewhere_is_held_where_it_is(tmp_path: Path) -> None:
    given = tmp_path / "mine/soperator/installations/a1"
    with (
        records.locked(tmp_path / "root", "a1", given),
        pytest.raises(RefusedError),
        records.locked(tmp_path / "another", "a1", given),
    ):
        pass


def test_a_log_is_its_owners_alone(tmp_path: Path) -> None:
    assert records.log_file(tmp_path).stat().st_mode & 0o777 == 0o600


# ── config.yaml ─────────────────────────────────────────────────────────────────────────────────────────


def env(home: Path, **more: str) -> dict[str, str]:
    return {"HOME": str(home), **more}


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_no_configuration_is_an_empty_one(tmp_path: Path) -> None:
    assert config.load(env(tmp_path)).default is None


def test_it_is_in_the_home_folder_unless_it_is_moved(tmp_path: Path) -> None:
    write(tmp_path / ".npa/config.yaml", "projects: {one: {region: eu-north1}}\n")
    write(tmp_path / "other/config.yaml", "projects: {two: {region: us-central1}}\n")

    assert set(config.load(env(tmp_path)).projects) == {"one"}
    moved = env(tmp_path, NPA_CONFIG_DIR=str(tmp_path / "other"))
    assert set(config.load(moved).projects) == {"two"}
    assert config.work_root(moved) == tmp_path / ".npa/soperator"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("projects: [", "config.yaml:"),
        ("- a\n", "not a mapping"),
        ("projects: {a: {region: 1}}\n", "projects.a.region is not text"),
        ("a: !!python/object:os.system x\n", "not YAML"),
    ],
)
def test_one_that_cannot_be_understood_is_refused(tmp_path: Path, text: str, says: str) -> None:
    write(tmp_path / ".npa/config.yaml", text)

    with pytest.raises(IdentityError, match=says):
        config.load(env(tmp_path))


def test_one_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".npa/config.yaml").mkdir(parents=True)

    with pytest.raises(IdentityError, match="cannot be read"):
        config.load(env(tmp_path))
