"""Where local clusters live on this machine."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import npa
from npa.render.local.layout import Layout


@dataclass(frozen=True, slots=True)
class Paths:
    """Folders of all local clusters."""

    state: Path
    cache: Path
    sources: Path  # of the image: the folder that holds `images` and `native`

    @classmethod
    def here(cls) -> Paths:
        """Return the folders of this machine; NPA_STATE_DIR and NPA_CACHE_DIR move them."""
        return cls(
            state=Path(os.environ.get("NPA_STATE_DIR") or "/var/lib/npa") / "local",
            cache=Path(os.environ.get("NPA_CACHE_DIR") or "/var/cache/npa") / "rootfs",
            sources=_sources(),
        )

    def layout(self, name: str) -> Layout:
        """Return the folders of one cluster."""
        return Layout(str(self.state / name))

    def lock(self, name: str) -> Path:
        """Return the lock that a change of one cluster holds."""
        return self.state / f".{name}.lock"


@cache
def _sources() -> Path:
    """Return the folder that came with the package, else that of the checkout."""
    package = Path(npa.__file__).parent
    installed = package / "image"
    return installed if installed.is_dir() else package.parent.parent
