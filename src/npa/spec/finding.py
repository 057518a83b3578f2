"""What a rule finds wrong, before anything is known of lines and columns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing wrong with a spec.

    `rests_on` names the other fields that were read to say so: where one of them could not be decoded the
    finding would be about a stand-in, and is dropped.
    """

    at: str  # path of the field: `workers[1].fabric`
    message: str
    hint: str = ""
    rests_on: tuple[str, ...] = ()
    on_key: bool = False  # the key is wrong and not its value

    def survives(self, unread: frozenset[str]) -> bool:
        """Whether everything that this rests on could be read."""
        return not any(_within(path, bad) for bad in unread for path in (self.at, *self.rests_on))


def _within(path: str, outer: str) -> bool:
    rest = path.removeprefix(outer)
    return path.startswith(outer) and (not rest or not outer or rest[0] in ".[")
