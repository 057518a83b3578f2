"""The built-in backend where it is more than a call of the api."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.fleet import fleet

from npa.api.identity import Identity
from npa.errors import NpaError
from npa.fleet import provider
from npa.fleet.backends import Lack, Options
from npa.fleet.member import Claim, Project
from npa.fleet.soperator import SoperatorBackend
from npa.slurm.lookup import Absent, Found, Unknown


def test_what_is_there_is_read_from_this_machine_s_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NPA_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    backend, folder = SoperatorBackend(), tmp_path / "local/alpha"

    def there(target: str) -> object:
        return backend.identity(Claim("lab", "team", "alpha", "soperator", target))

    assert there("local") == there("nebius") == Absent()
    folder.mkdir(parents=True)
    assert there("local") == Found(Identity())
    (folder / "record.json").write_text("{}")
    assert isinstance(there("local"), Unknown), "a damaged record is not absence"
    with pytest.raises(NpaError, match="moon"):
        there("moon")


class Says:
    """A provider that says what stands against everything."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def check_all(self, asked: object) -> tuple[str, ...]:
        assert isinstance(asked, list)
        self.asked += [f"{spec.name} {options.project}" for spec, options in asked]
        return ("quota x: needs 2 more",)


def test_all_clusters_of_the_provider_are_asked_about_at_once() -> None:
    provider = Says()
    backend = SoperatorBackend(provider)  # type: ignore[arg-type]
    cloud = {"target": "nebius", "tenant_id": "tenant-1", "region": "eu-north1"}
    members = fleet("alpha", "bravo", **cloud).members

    lacks = backend.preflight(members, Options())
    assert [(each.about, each.message) for each in lacks] == [("the provider", "quota x: needs 2 more")]
    assert provider.asked == ["alpha team", "bravo team"], "without an id the project's name is its alias"
    assert backend.preflight(members, Options(check=False)) == ()
    assert all(isinstance(each, Lack) for each in lacks)


def test_a_project_with_an_id_needs_no_alias() -> None:
    assert provider.options_of(Project("team", "team", "project-1")).project == ""
    assert provider.options_of(Project("team", "ml-team")).project == "ml-team"
