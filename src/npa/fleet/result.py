"""How a verb ended, cluster by cluster: one's failure never hides another's result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from npa.fleet.errors import FleetFailedError
from npa.fleet.member import Claim

SCHEMA = "npa.fleet.result/v1"

# healthy, degraded: there; absent: gone, as asked or not; failed: a change did not end as it should; refused:
# not touched; skipped: not begun, as another failed; interrupted: stopped on request, or not begun for that;
# unknown: nobody could say.
Status = Literal["healthy", "degraded", "absent", "failed", "refused", "skipped", "interrupted", "unknown"]
PARTIAL, FAILED, REFUSED, DEGRADED, INTERRUPTED = 5, 1, 3, 4, 130
BAD = frozenset({"failed", "refused", "skipped", "unknown", "interrupted"})


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ended for one cluster."""

    claim: Claim
    status: str  # a Status, or a word of a backend's own for what is there
    ok: bool
    message: str = ""
    hint: str = ""
    seconds: float = 0.0
    document: dict[str, Any] = field(default_factory=dict)  # the target's own answer
    error: dict[str, Any] = field(default_factory=dict)  # as every surface tells an error

    def public(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "project": self.claim.project,
            "cluster": self.claim.cluster,
            "backend": self.claim.backend,
            "target": self.claim.target,
            "status": self.status,
            "ok": self.ok,
            "message": self.message,
            "hint": self.hint,
            "seconds": round(self.seconds, 1),
            "result": self.document or None,
            "error": self.error or None,
        }


@dataclass(frozen=True, slots=True)
class Network:
    """How it ended for a project's network."""

    project: str
    ok: bool
    message: str

    def public(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {"project": self.project, "ok": self.ok, "message": self.message}


@dataclass(frozen=True, slots=True)
class Result:
    """How a verb ended."""

    fleet: str
    verb: Literal["deploy", "status", "destroy"]
    outcomes: tuple[Outcome, ...]
    networks: tuple[Network, ...] = ()  # what could not be cleaned up, or was
    unreadable: tuple[tuple[str, str], ...] = ()  # records on disk that nobody can read
    interrupted: bool = False
    next_command: str = ""

    @property
    def ok(self) -> bool:
        """Whether every cluster is as asked."""
        return self.exit_code == 0

    @property
    def exit_code(self) -> int:
        """What the command ends with."""
        if self.interrupted:
            return INTERRUPTED
        if self.verb == "status":
            return 0 if all(each.ok for each in self.outcomes) and not self.unreadable else DEGRADED
        leftover = any(not each.ok for each in self.networks)
        return code(self.outcomes) or (PARTIAL if leftover else 0)

    def require(self) -> None:
        """Raise FleetFailedError unless every cluster is as asked."""
        if not self.ok:
            told = ", ".join(f"{number} {status}" for status, number in counts(self.outcomes).items())
            hint = next((each.hint for each in self.outcomes if each.hint), "")
            raise FleetFailedError(f"fleet {self.fleet}: {told}", self.public(), self.exit_code, hint=hint)

    def public(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "schema_version": SCHEMA,
            "ok": self.ok,
            "fleet": self.fleet,
            "verb": self.verb,
            "exit_code": self.exit_code,
            "interrupted": self.interrupted,
            "counts": counts(self.outcomes),
            "clusters": [each.public() for each in self.outcomes],
            "networks": [each.public() for each in self.networks],
            "unreadable": [{"record": name, "message": why} for name, why in self.unreadable],
            "next_command": self.next_command,
        }


def code(outcomes: Sequence[Outcome]) -> int:
    """Return the exit code of a change: all, some or none of the clusters are as asked."""
    bad = [each for each in outcomes if each.status in BAD]
    if not bad:
        return 0 if all(each.ok for each in outcomes) else DEGRADED
    if len(bad) < len(outcomes):
        return PARTIAL
    return REFUSED if all(each.status == "refused" for each in bad) else FAILED


def counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Return how many clusters ended in which way."""
    return dict(sorted(Counter(each.status for each in outcomes).items()))
