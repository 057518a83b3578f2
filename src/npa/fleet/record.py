"""What a fleet has written down of each of its clusters: a value, and its JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

from npa.errors import RefusedError
from npa.fleet.member import Claim

SCHEMA = "npa.fleet.record/v1"

# changing: a run is making or changing it, or was killed at that; deployed: made, and once seen, well or not;
# failed: a deploy did not end as it should; destroying: on its way out.
Phase = Literal["changing", "deployed", "failed", "destroying"]


@dataclass(frozen=True, slots=True)
class Record:
    """One cluster of the fleet, as last written down. Its being there is the mark of ownership."""

    claim: Claim
    phase: Phase
    claimed: str  # RFC 3339, UTC: nothing of this name was there then
    changed: str
    identity: str = ""  # what the target knows it by; "" until it is known
    status: str = ""  # how it was when it was last looked at
    message: str = ""  # why the last change failed
    project_id: str = ""
    region: str = ""

    def moved(
        self, phase: Phase, changed: str, *, identity: str = "", status: str = "", message: str = ""
    ) -> Record:
        """Return it in another phase; what it is known by stays."""
        return replace(
            self,
            phase=phase,
            changed=changed,
            identity=identity or self.identity,
            status=status,
            message=message,
        )


def encode(record: Record) -> dict[str, Any]:
    """Return a record as JSON has it."""
    return {"schema": SCHEMA, **asdict(record)}


def decode(found: dict[str, Any], where: str) -> Record:
    """Return the record that `encode` wrote; raise RefusedError for anything else."""
    fields = dict(found)
    try:
        if fields.pop("schema") != SCHEMA:
            raise ValueError("another schema")
        record = Record(**{**fields, "claim": Claim(**fields["claim"])})
        words = [*asdict(record.claim).values(), *(v for k, v in asdict(record).items() if k != "claim")]
        if record.phase not in get_args(Phase) or not all(isinstance(each, str) for each in words):
            raise ValueError("a value of another kind")
    except (KeyError, TypeError, ValueError) as error:
        raise RefusedError(
            f"{where} is not a record of this version of npa: {error!r}",
            hint="restore it, or use the version that wrote it; nothing is assumed in its place",
        ) from error
    return record
