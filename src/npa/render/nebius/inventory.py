"""What one cluster consists of at the provider: machines, disks, filesystems. Quotas and cost count this."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from npa.render.nebius import tfvars
from npa.spec import catalog
from npa.spec.model import CapacityMode, SoperatorSpec, WorkerPoolSpec

CONTROL_PLATFORM = tfvars.CONTROL_PLATFORM
NETWORK_SSD = "NETWORK_SSD"
IO_M3 = "NETWORK_SSD_IO_M3"
CONTROL_BOOT_GIB = tfvars.BOOT_DISK_GIB
LOGIN_BOOT_GIB = tfvars.LOGIN_BOOT_DISK_GIB
HOME_GIB = tfvars.NFS_GIB  # the volume of the NFS server in the cluster
CONTROLLER_STATE_GIB = 279  # slurmctld's state is on a volume, not on a filesystem
METRICS_GIB = 512
CONTROLLER_SPOOL_GIB = tfvars.CONTROLLER_SPOOL_GIB
ACCOUNTING_GIB = tfvars.ACCOUNTING_GIB


@dataclass(frozen=True, slots=True)
class Machines:
    """Virtual machines of one shape, each with its boot disk."""

    what: str  # `pool 'gpu'`, `system nodes`
    platform: str
    preset: str
    count: int
    boot_gib: int
    capacity: CapacityMode = "on-demand"
    grown: int = 0  # how many the autoscaler may make of them; 0: it has no say
    fabric: str = ""

    @property
    def most(self) -> int:
        """How many there may ever be."""
        return max(self.count, self.grown)


@dataclass(frozen=True, slots=True)
class Disks:
    """Disks that are not boot disks."""

    what: str
    kind: str  # the provider's name: `NETWORK_SSD_IO_M3`
    count: int
    gib: int  # size of each


@dataclass(frozen=True, slots=True)
class Filesystem:
    """One shared filesystem; all are network SSD."""

    what: str
    gib: int


@dataclass(frozen=True, slots=True)
class Inventory:
    """Everything that the recipe creates, counted."""

    machines: tuple[Machines, ...] = ()
    disks: tuple[Disks, ...] = ()
    filesystems: tuple[Filesystem, ...] = ()
    clusters: int = 0
    addresses: int = 0  # static addresses next to those of the nodes

    @property
    def fabrics(self) -> tuple[str, ...]:
        """InfiniBand fabrics, each of which gets one GPU cluster."""
        return tuple(dict.fromkeys(each.fabric for each in self.machines if each.fabric))


def of_spec(spec: SoperatorSpec) -> Inventory:
    """Return what the whole cluster consists of."""
    parts = (of_control_plane(spec), *(of_pool(pool) for pool in spec.workers))
    return Inventory(
        machines=tuple(each for part in parts for each in part.machines),
        disks=tuple(each for part in parts for each in part.disks),
        filesystems=tuple(each for part in parts for each in part.filesystems),
        clusters=sum(part.clusters for part in parts),
        addresses=sum(part.addresses for part in parts),
    )


def of_pool(pool: WorkerPoolSpec) -> Inventory:
    """Return what one pool of workers adds."""
    what = f"pool {pool.name!r}"
    caches = Disks(f"{what} image cache", pool.docker_cache_disk_type, pool.size, pool.docker_cache_gib)
    machines = Machines(
        what,
        pool.platform,
        pool.preset,
        pool.size,
        pool.boot_disk_gib,
        capacity=pool.capacity_mode,
        fabric=pool.fabric,
    )
    return Inventory(machines=(machines,), disks=(caches,) if pool.docker_cache else ())


def of_control_plane(spec: SoperatorSpec) -> Inventory:
    """Return what is there whatever the pools: Kubernetes, Slurm's own nodes, storage."""
    return Inventory(
        machines=tuple(_control_machines(spec)),
        disks=tuple(_volumes(spec)),
        filesystems=tuple(_filesystems(spec)),
        clusters=1,
        addresses=1,  # that of the login nodes
    )


def _control_machines(spec: SoperatorSpec) -> Iterator[Machines]:
    plane, workers = spec.control_plane, spec.worker_count
    system = plane.system
    yield _control(
        "system nodes",
        system.preset or _smallest("system", workers),
        system.min_size,
        grown=system.effective_max_size,
    )
    controller = plane.controller.preset or _smallest("controller", workers)
    yield _control("controller", controller, plane.controller.size)
    # On racks the login pods run on the workers, and there is no login node.
    if all(pool.platform != catalog.RACK_PLATFORM for pool in spec.workers):
        yield _control("login node", plane.login.preset, 1, boot=LOGIN_BOOT_GIB)
    if spec.accounting:
        yield _control("accounting node", plane.accounting.preset or _smallest("accounting", workers), 1)


def _control(what: str, preset: str, count: int, *, grown: int = 0, boot: int = CONTROL_BOOT_GIB) -> Machines:
    return Machines(what, CONTROL_PLATFORM, preset, count, boot, grown=grown)


def _smallest(role: str, workers: int) -> str:
    """Return the preset that the recipe chooses for a role where the spec leaves it open."""
    needed = catalog.min_vcpus(role, workers)
    shapes = (catalog.preset(CONTROL_PLATFORM, name) for name in catalog.CONTROL_PLANE_PRESETS)
    return next(shape.name for shape in shapes if shape and shape.vcpus >= needed)


def _volumes(spec: SoperatorSpec) -> Iterator[Disks]:
    yield Disks("home volume", IO_M3, 1, HOME_GIB)
    yield Disks("controller state volume", IO_M3, 1, CONTROLLER_STATE_GIB)
    if spec.telemetry:
        yield Disks("metrics volume", NETWORK_SSD, 1, METRICS_GIB)


def _filesystems(spec: SoperatorSpec) -> Iterator[Filesystem]:
    yield Filesystem("jail", spec.jail_size_gib)
    yield Filesystem("controller spool", CONTROLLER_SPOOL_GIB)
    if spec.accounting:
        yield Filesystem("accounting", ACCOUNTING_GIB)
