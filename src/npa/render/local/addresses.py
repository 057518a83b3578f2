"""An address for every node, kept for as long as the node is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

# Only ever seen inside the lab's own network namespace, so it meets no network of the machine's.
_FIRST = (10 << 24) | (77 << 16) | 2
_LAST = (10 << 24) | (77 << 16) | 0xFFFE


def assign(previous: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Return an IPv4 address per name: the previous one, or the lowest that is free.

    Raises ValueError past 65,533 nodes.
    """
    wanted = tuple(names)
    kept = {name: previous[name] for name in wanted if name in previous}
    taken = set(kept.values())
    free = (text for number in range(_FIRST, _LAST + 1) if (text := _text(number)) not in taken)
    assigned = {}
    for name in wanted:
        address = kept.get(name) or next(free, "")
        if not address:
            raise ValueError(f"no address is left for {name}")
        assigned[name] = address
    return assigned


def _text(number: int) -> str:
    return ".".join(str(number >> shift & 0xFF) for shift in (24, 16, 8, 0))
