from __future__ import annotations

import pytest

from npa.api.identity import Identity
from npa.fleet import ownership
from npa.fleet.errors import BackendOwnershipError
from npa.fleet.member import Claim
from npa.fleet.record import Phase, Record
from npa.slurm.lookup import Absent, Found, Lookup, Unknown

CLAIM = Claim("lab", "team", "alpha", "soperator", "local")
OLD, NOW, LATER = (f"2026-01-0{day}T00:00:00+00:00" for day in (1, 2, 3))


def record(phase: Phase = "deployed", identity: str = "id-1", claim: Claim = CLAIM) -> Record:
    return Record(claim, phase, NOW, NOW, identity)


def there(value: str = "", since: str = "") -> Found[Identity]:
    return Found(Identity(value, since))


@pytest.mark.parametrize(
    ("known", "found", "note"),
    [
        pytest.param(None, Absent(), "", id="nobody-s"),
        pytest.param(record(), there("id-1"), "", id="ours"),
        pytest.param(record("changing"), there("id-1"), "a run before this one", id="ours-interrupted"),
        pytest.param(record("changing", ""), there(), "a run before this one", id="begun"),
        pytest.param(
            record("changing", ""), there(LATER, LATER), "a run before this one", id="made-by-a-killed-run"
        ),
        pytest.param(record(), there(), "", id="target-lost-its-record"),
        pytest.param(record(), Absent(), "removed by other hands", id="removed"),
        pytest.param(record("failed", ""), Absent(), "", id="never-made"),
    ],
)
def test_ours_may_be_changed(known: Record | None, found: Lookup[Identity], note: str) -> None:
    said = ownership.require(CLAIM, known, found)

    assert note in said
    assert bool(note) == bool(said)


@pytest.mark.parametrize(
    ("known", "found", "other", "message"),
    [
        pytest.param(None, there("id-2"), "", "did not make", id="a-person-s"),
        pytest.param(None, there(), "", "did not make", id="begun-by-a-person"),
        pytest.param(None, Absent(), "prod", "fleet prod has", id="another-fleet-s"),
        pytest.param(record(), there("id-2"), "", "not the one", id="made-anew"),
        pytest.param(record("changing", ""), there(OLD, OLD), "", "older than", id="hidden-when-claimed"),
        pytest.param(record(), Unknown("no answer"), "", "cannot tell", id="unknown"),
        pytest.param(None, Unknown("no answer"), "", "cannot tell", id="unknown-and-new"),
        pytest.param(
            record(claim=Claim("lab", "other", "alpha", "soperator", "local")),
            there("id-1"),
            "",
            "project 'other'",
            id="moved-to-another-project",
        ),
        pytest.param(
            record(claim=Claim("lab", "team", "alpha", "soperator", "nebius")),
            Absent(),
            "",
            "target 'nebius'",
            id="moved-to-another-target",
        ),
    ],
)
def test_what_is_not_ours_is_refused_with_guidance(
    known: Record | None, found: Lookup[Identity], other: str, message: str
) -> None:
    with pytest.raises(BackendOwnershipError, match=message) as refused:
        ownership.require(CLAIM, known, found, other)

    assert refused.value.hint
    assert refused.value.exit_code == 3
    assert isinstance(refused.value, RuntimeError)
