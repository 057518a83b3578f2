"""Clusters of a fleet on Kubernetes: whose they are is read from this machine's records."""

from __future__ import annotations

from pathlib import Path

import pytest

from npa.api import places
from npa.api.identity import Identity
from npa.errors import UsageError
from npa.fleet.member import Claim
from npa.fleet.soperator import SoperatorBackend
from npa.slurm.lookup import Absent, Found, Unknown
from npa.targets.kubernetes import record
from npa.targets.kubernetes.options import KubeOptions
from npa.targets.kubernetes.record import Record


@pytest.mark.parametrize(
    ("said", "new", "then"),
    [
        (None, True, KubeOptions(namespace="slurm-alpha")),
        (KubeOptions(context="lab", jail_path="/srv/jail/"), True,
         KubeOptions(context="lab", namespace="slurm-alpha", jail_path="/srv/jail/alpha")),
        (KubeOptions(jail_path="/srv/jail"), False, KubeOptions(jail_path="/srv/jail/alpha")),
    ],
)  # fmt: skip
def test_clusters_of_a_fleet_share_nothing(said: KubeOptions | None, new: bool, then: KubeOptions) -> None:
    with places.reaching(said), places.apart("alpha", new=new):
        inside = places.given()

    assert inside == then


def test_what_is_there_is_read_from_the_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPA_STATE_DIR", str(tmp_path))
    folder = tmp_path / "kubernetes"
    folder.mkdir()

    def there(target: str) -> object:
        return SoperatorBackend().identity(Claim("lab", "team", "alpha", "soperator", target))

    assert there("kubernetes") == Absent()
    made = Record("alpha", "", "here", "team", "https://k8s.example", "2026-01-01T00:00:00+00:00")
    record.save(folder, made)
    assert there("kubernetes") == Found(Identity(made.created, made.created))
    (folder / "alpha.json").write_text("{}")
    assert isinstance(there("kubernetes"), Unknown), "a damaged record is not absence"
    with pytest.raises(UsageError, match="moon"):
        there("moon")
