"""The latest answer to a question that is asked again and again of each of some things.

For pure functions whose arguments cannot be hashed, though they can be compared: an answer is given again
only where every argument equals that of before.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def answers(size: int, of: Callable[P, Hashable]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Have a function remember its latest answer about each of `size` things; `of` says about which."""

    def remembering(function: Callable[P, T]) -> Callable[P, T]:
        held: OrderedDict[Hashable, tuple[object, T]] = OrderedDict()

        @wraps(function)
        def answer(*args: P.args, **kwargs: P.kwargs) -> T:
            asked, thing = (args, kwargs), of(*args, **kwargs)
            before = held.pop(thing, None)
            found = before[1] if before and before[0] == asked else function(*args, **kwargs)
            held[thing] = (asked, found)  # the last: what was not asked for longest is forgotten first
            if len(held) > size:
                held.popitem(last=False)
            return found

        return answer

    return remembering
