"""What several clusters need of the tenant's quotas together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from npa.render.nebius import quotas
from npa.render.nebius.quotas import Need


def beyond(needed: Iterable[Need], owned: Iterable[Need]) -> tuple[Need, ...]:
    """Return what is needed on top of what one cluster has already: its usage is in the records."""
    has = {each.quota: each.amount for each in owned}
    more = (
        replace(
            each,
            amount=max(0, each.amount - has.get(each.quota, 0)),
            grown=max(0, each.grown - has.get(each.quota, 0)),
        )
        for each in needed
    )
    return tuple(each for each in more if each.grown)


def together(clusters: Iterable[Iterable[Need]]) -> tuple[Need, ...]:
    """Return what several clusters need of each quota in all, sorted by name."""
    return quotas.summed(each for needed in clusters for each in needed)
