"""`--approve ADDRESS@DIGEST`: leave for one destructive change of one plan, and for nothing else; pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Approval:
    """What somebody allowed."""

    key: str  # the address; of a deposed object `ADDRESS:deposed:KEY`
    digest: str

    def __str__(self) -> str:
        return f"{self.key}@{self.digest}"


def parse(text: str) -> Approval:
    """Return the approval in a text; one without a digest or an address matches no plan."""
    key, _, digest = text.strip().rpartition("@")  # an address may have an @ in its index
    return Approval(key, digest)


def granted(given: Iterable[str], digest: str, wanted: Collection[str]) -> frozenset[str]:
    """Return the keys that are allowed by these texts."""
    found = map(parse, given)
    return frozenset(each.key for each in found if each.digest == digest and each.key in wanted)


def problems(given: Iterable[str], digest: str, wanted: Collection[str]) -> Iterator[str]:
    """Yield what is wrong with the approvals: one that does nothing was meant for another plan."""
    for text in dict.fromkeys(given):
        each = parse(text)
        if not each.key or not each.digest or set(each.key) & set("*?"):
            yield f"{text!r} is no approval: it is `ADDRESS@DIGEST`, and one address only"
        elif each.digest != digest:
            yield f"the approval {text!r} is for another plan: this one is {digest}"
        elif each.key not in wanted:
            yield f"the approval {text!r} allows nothing: no such change of this plan needs one"
