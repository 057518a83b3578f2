"""Which clusters of a fleet are meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from npa.errors import UsageError
from npa.fleet.member import Claim
from npa.spec import nearest


@dataclass(frozen=True, slots=True)
class Selection:
    """Patterns as a shell has them; of an empty list all are meant."""

    projects: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()

    def takes(self, claim: Claim) -> bool:
        """Say whether a cluster is meant."""
        return _any(claim.project, self.projects) and _any(claim.cluster, self.clusters)

    @property
    def whole(self) -> bool:
        """Whether nothing is left out."""
        return not self.projects and not self.clusters


def chosen(claims: Sequence[Claim], selection: Selection) -> tuple[Claim, ...]:
    """Return what is meant; raises UsageError for patterns that mean nothing."""
    for patterns, what, known in (
        (selection.projects, "project", [each.project for each in claims]),
        (selection.clusters, "cluster", [each.cluster for each in claims]),
    ):
        for pattern in patterns:
            if not any(fnmatchcase(each, pattern) for each in known):
                hint = nearest.hint(pattern, dict.fromkeys(known))
                raise UsageError(f"no {what} {pattern!r} in the fleet", hint=hint)
    return tuple(each for each in claims if selection.takes(each))


def _any(word: str, patterns: Iterable[str]) -> bool:
    patterns = tuple(patterns)
    return not patterns or any(fnmatchcase(word, each) for each in patterns)
