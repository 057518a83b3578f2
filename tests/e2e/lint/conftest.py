"""The images of both releases, built once, and a place in which their programs run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.e2e.lint.reality import Reality
from tests.e2e.local.harness import CACHE

from npa.tools import disk
from npa.tools.rootfs import Image, Rootfs

ROOT = Path(__file__).parents[3]
RELEASES = ("26.05", "24.11")


@pytest.fixture(scope="session")
def image() -> Callable[[str], Image]:
    rootfs = Rootfs(CACHE / "rootfs", ROOT)

    def find(release: str) -> Image:
        found = rootfs.find(release)
        if found is None:
            with disk.lock(rootfs.lock, "another command builds images"):
                found = rootfs.find(release) or rootfs.build(release, lambda *_: None)
        return found

    return find


@pytest.fixture(scope="session")
def reality(image: Callable[[str], Image]) -> Iterator[Callable[[str], Reality]]:
    """Return the place of a release; both stay for the session."""
    with ExitStack() as stack:
        places: dict[str, Reality] = {}

        def place(release: str) -> Reality:
            if release not in places:
                places[release] = stack.enter_context(Reality(image(release).root))
            return places[release]

        yield place
