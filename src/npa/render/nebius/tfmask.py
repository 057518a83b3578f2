"""What may be shown of a resource in a plan: secrets never, and what is unknown as unknown; pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

SENSITIVE = "(sensitive)"
UNKNOWN = "(known after apply)"
LONGEST = 80  # characters of a value on screen: rendered files would bury the change

# What selects a reservation is told by kind and never by value.
PRIVATE = frozenset({"reservation_ids"})


class Hidden:
    """Stands for a value that is not shown; equal to one that hides the same."""

    __slots__ = ("_value", "word")

    def __init__(self, word: str, value: Any = None) -> None:
        self.word = word
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hidden) and (self.word, self._value) == (other.word, other._value)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return self.word


def masked(value: Any, mask: Any) -> Any:
    """Return the value with a Hidden in the place of all that the mask marks, at any depth.

    A mask of a form that is not understood hides everything below it.
    """
    if mask is False or mask is None or mask in ({}, []):
        return value
    if isinstance(mask, dict) and isinstance(value, dict):
        return {key: masked(each, mask.get(key)) for key, each in value.items()}
    if isinstance(mask, list) and isinstance(value, list) and len(mask) >= len(value):
        return [masked(each, inside) for each, inside in zip(value, mask, strict=False)]
    if value is None and mask is not True:
        return None
    return value if isinstance(value, Hidden) else Hidden(SENSITIVE, value)


def with_unknown(value: Any, unknown: Any) -> Any:
    """Return the value with a Hidden in the place of all that is known only after the apply."""
    if unknown is True:
        return Hidden(UNKNOWN)
    if isinstance(unknown, dict) and (value is None or isinstance(value, dict)):
        inside = value or {}
        found = {key: with_unknown(inside.get(key), each) for key, each in unknown.items()}
        return {**inside, **{key: each for key, each in found.items() if each is not None}} or value
    if isinstance(unknown, list) and isinstance(value, list):
        masks = [*unknown, *(False for _ in range(len(value) - len(unknown)))]
        values = [*value, *(None for _ in range(len(masks) - len(value)))]
        return [with_unknown(each, mask) for each, mask in zip(values, masks, strict=True)]
    return value


def differences(
    before: Any, after: Any, masks: tuple[Any, Any], unknown: Any
) -> Iterator[tuple[str, Any, Any]]:
    """Yield (attribute, old, new) for all that changes; the values are for `shown`.

    A value is secret where the mask of either side says so.
    """
    if isinstance(before, dict) and isinstance(after, dict) and isinstance(unknown, dict):
        # Most of a resource stays as it is, and a plan may have thousands.
        same = {key for key in before.keys() & after if before[key] == after[key] and not unknown.get(key)}
        before, after = (
            {key: each for key, each in side.items() if key not in same} for side in (before, after)
        )
    old = masked(masked(before, masks[0]), masks[1])
    new = with_unknown(masked(masked(after, masks[1]), masks[0]), unknown)
    yield from _differences("", old, new)


def shown(value: Any) -> str:
    """Return a value as a line shows it."""
    if isinstance(value, Hidden):
        return value.word
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict | list):
        return f"({len(value)} entries)" if value else "(empty)"
    text = str(value)
    return text if len(text) <= LONGEST and text.isprintable() else f"({len(text)} characters)"


def _differences(at: str, old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            before, after = old.get(key), new.get(key)
            path = f"{at}.{key}" if at else key
            if key not in PRIVATE:
                yield from _differences(path, before, after)
            elif before != after:
                yield path, Hidden(SENSITIVE), Hidden(SENSITIVE)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from _differences(f"{at}[{index}]", before, after)
    elif old != new:
        yield at, old, new
