"""Which Slurm: its releases are named by year and month, its REST API by the data parser's version."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from npa.errors import SlurmError, UnknownError

SUPPORTED_API = tuple(f"v0.0.{minor}" for minor in range(40, 46))
_API = re.compile(r"v[0-9]{1,4}\.[0-9]{1,4}\.[0-9]{1,4}")


def at_least(release: str, least: str) -> bool:
    """Say whether a release (`26.05`, `26.05.5`) is `least` or a later one."""
    return _month(release) >= _month(least)


def _month(release: str) -> tuple[int, int]:
    year, _, month = release.partition(".")
    return int(year), int(month.partition(".")[0])


def pick_version(offered: Iterable[str], supported: Sequence[str] = SUPPORTED_API) -> str:
    """Return the highest REST version that both sides know.

    `offered` may be versions or paths that hold one, as in GET /openapi/v3.
    """
    theirs = {found[0] for text in offered if (found := _API.search(text))}
    both = theirs & set(supported)
    if both:
        return max(both, key=_order)
    if not theirs:
        raise UnknownError("slurmrestd names no version of its API", hint="is this the URL of slurmrestd?")
    raise SlurmError(
        f"slurmrestd offers {_span(theirs)}, npa supports {_span(supported)}",
        hint="use a Slurm release that npa supports, or a newer npa",
    )


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version[1:].split("."))


def _span(versions: Iterable[str]) -> str:
    ordered = sorted(versions, key=_order)
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]} to {ordered[-1]}"
