"""One look at many clusters: what they share on this machine is read once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def moment() -> Iterator[None]:
    """Take the block for one moment: what runs here, and what images are made of, is read once in it."""
    from npa.tools import proc, rootfs

    with proc.moment(), rootfs.moment():
        yield
