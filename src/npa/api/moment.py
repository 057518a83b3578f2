"""One look at many clusters: what they share on this machine is read once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def moment() -> Iterator[None]:
    """Take the block for one moment: what runs on this machine is what ran when it was first asked for."""
    from npa.tools import proc

    with proc.moment():
        yield
