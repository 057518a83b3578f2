"""What all clusters of a deploy need together, asked before the first of them is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from npa.api.identity import Identity
from npa.errors import NpaError, PreflightError
from npa.fleet.backends import Lack
from npa.fleet.member import Claim, Member
from npa.slurm.lookup import Found, Lookup

if TYPE_CHECKING:
    from npa.fleet.provider import Provider

THIS_MACHINE, PROVIDER = "this machine", "the provider"
_RAISE = "ask the provider for more, or make fewer or smaller clusters at once"


def lacks(
    members: Sequence[Member], there: Callable[[Claim], Lookup[Identity]], provider: Provider | None
) -> tuple[Lack, ...]:
    """Return everything that this machine, or the provider where it is given, lacks for all together."""
    by_target: dict[str, list[Member]] = {}
    for member in members:
        by_target.setdefault(member.claim.target, []).append(member)
    return (
        *_local([each for each in by_target.get("local", ()) if not isinstance(there(each.claim), Found)]),
        *(_nebius(provider, by_target.get("nebius", ())) if provider else ()),
    )


def _local(new: Sequence[Member]) -> Iterator[Lack]:
    from npa.api import room

    if not new:
        return
    try:
        found = room.lacks([each.spec for each in new])
    except PreflightError as error:
        found = error.lacks
    yield from (Lack(THIS_MACHINE, message, hint) for message, hint in found)


def _nebius(provider: Provider, members: Sequence[Member]) -> Iterator[Lack]:
    from npa.fleet.provider import options_of

    if not members:
        return
    try:
        asked = [(each.spec, options_of(each.project)) for each in members]
        found: Sequence[str] = provider.check_all(asked)
    except NpaError as error:
        yield Lack(PROVIDER, str(error), error.hint)
        return
    yield from (Lack(PROVIDER, each, _RAISE) for each in found)
