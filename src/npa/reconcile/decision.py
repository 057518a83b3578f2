"""What may happen after one look at the world: everything that a reconcile does is said here first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from npa.render.objects import Kind, Object

Event = Literal["Normal", "Warning"]


@dataclass(frozen=True, slots=True)
class Drain:
    """`scontrol update nodename=NODE state=drain reason=REASON`; the reason bears our prefix."""

    node: str
    reason: str


@dataclass(frozen=True, slots=True)
class Resume:
    """`scontrol update nodename=NODE state=resume`, of a drain that is ours; looked at once more before."""

    node: str
    reason: str  # the drain that is undone: another reason since then keeps the node as it is


@dataclass(frozen=True, slots=True)
class Reconfigure:
    """Have slurmctld take the configuration with this digest, once; nothing where it runs with it already.

    With `restart` it starts anew for it, in its pod: jobs go on, and it finds them again.
    """

    digest: str
    restart: bool = False


@dataclass(frozen=True, slots=True)
class PowerUp:
    """`scontrol update nodename=NODE state=power_up`: of an elastic node, as a job would ask for it."""

    node: str


@dataclass(frozen=True, slots=True)
class PowerDown:
    """`scontrol update nodename=NODE state=power_down_force reason=REASON`: it goes back to its pool.

    Jobs that wait for the node to boot are put back in the queue. One that has booted stays, unless it goes
    `with_others`: then with `power_down`, not before no job runs on it.
    """

    node: str
    reason: str
    with_others: bool = False


@dataclass(frozen=True, slots=True)
class Reread:
    """`scontrol reconfigure`: something changed in the jail that daemons read, though not their own files."""

    why: str  # digest of what changed


SlurmAction = Drain | Resume | Reconfigure | Reread | PowerUp | PowerDown


@dataclass(frozen=True, slots=True)
class NewSecret:
    """A Secret that is made once, of random bytes that only the hands know, and then never written again."""

    wanted: Object  # without data; created, never updated
    random: tuple[tuple[str, int], ...] = ()  # key -> so many random bytes
    passwords: tuple[tuple[str, int], ...] = ()  # key -> so many random letters and digits
    ssh_host_keys: bool = False  # ssh_host_{ecdsa,ed25519}_key, and .pub of each


NewKey = Literal["replace", "restore", "settle", "mark"]


@dataclass(frozen=True, slots=True)
class KeyChange:
    """A change of a Secret with a key, in one write of the version that was seen.

    `replace` puts random bytes in the place of the key, which is kept beside them; `restore` takes it back,
    `settle` drops it, and `mark` writes annotations alone.
    """

    how: NewKey
    namespace: str
    secret: str
    entry: str  # of its data
    size: int  # bytes
    resource_version: str
    annotations: tuple[tuple[str, str | None], ...]  # None: removed
    cluster: str = ""  # of which no daemon may run, as the API itself says right before; empty: any may


@dataclass(frozen=True, slots=True)
class Deletion:
    """An object to delete: exactly the one that was seen, or none."""

    kind: Kind
    namespace: str
    name: str
    uid: str
    resource_version: str = ""  # where it must not have changed since it was seen
    orphan: bool = False  # leave what it owns
    # A Slurm node: slurmctld is asked once more right before, and nothing is deleted where
    # `removable.slurm_says` does not say yes of what it answers then.
    worker: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """A Kubernetes Event about the object that is reconciled."""

    type: Event
    reason: str  # CamelCase
    message: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do now, in this order; all empty when the world is as it should be.

    `apply` holds only what differs from the world that was seen. The first action that fails ends the pass:
    the next one starts from what is there then.
    """

    secrets: tuple[NewSecret, ...] = ()
    keys: tuple[KeyChange, ...] = ()
    slurm: tuple[SlurmAction, ...] = ()
    create: tuple[Object, ...] = ()  # made if absent; what is there stays as it is (worker pods)
    apply: tuple[Object, ...] = ()  # server-side apply, forced, field manager `npa`
    merge: tuple[Object, ...] = ()  # merge patch of exactly the version that was seen: lists as a whole
    delete: tuple[Deletion, ...] = ()
    status: dict[str, Any] | None = None  # the whole wanted status where it differs
    notices: tuple[Notice, ...] = ()
    again_in: float | None = None  # seconds; besides what is watched

    @property
    def settled(self) -> bool:
        """Whether nothing would be written anywhere."""
        written = (self.secrets, self.keys, self.slurm, self.create, self.apply, self.merge, self.delete)
        return not any((*written, self.notices)) and self.status is None

    @property
    def only_says(self) -> bool:
        """Whether nothing would be written but what is said of the object."""
        return not self.settled and replace(self, status=None, notices=()).settled
