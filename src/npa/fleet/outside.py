"""Everything outside of a fleet that its verbs use; tests give their own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from npa.api.identity import Identity
from npa.fleet import backends, store
from npa.fleet.backends import Backend
from npa.fleet.member import Claim
from npa.fleet.network import Provider
from npa.fleet.store import Remove, Store, Write
from npa.slurm.lookup import Lookup


def _networks() -> AbstractContextManager[Provider]:
    from npa.api import nebius

    return nebius.networks()


@dataclass(frozen=True, slots=True)
class Outside:
    """Where inventories are, what makes clusters, and who has networks."""

    base: Path = field(default_factory=store.root)
    backend: Callable[[str], Backend] = backends.find
    networks: Callable[[], AbstractContextManager[Provider]] = _networks
    now: Callable[[], str] = store.now
    write: Write = store.write
    remove: Remove = store.remove

    def store(self, fleet: str) -> Store:
        """Return the inventory of a fleet."""
        return Store(fleet, self.base, self.write, self.remove)

    def there(self, claim: Claim) -> Lookup[Identity]:
        """Return what is there under a cluster's name."""
        return self.backend(claim.backend).identity(claim)

    def owner(self, claim: Claim) -> str:
        """Return another fleet that has a cluster of this name on the same target; "" where none has."""
        return store.owner(claim.target, claim.cluster, self.base, but=claim.fleet)
