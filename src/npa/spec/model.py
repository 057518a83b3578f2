"""The spec as typed, frozen values. What holds between fields is in `rules`; nothing here reads text."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from npa.spec import catalog
from npa.spec.base import Listed, Model, Setting, says
from npa.spec.roles import AccountingSpec, ControllerSpec, ControlPlaneSpec, LoginSpec, SystemSpec

__all__ = [
    "AccountingSpec",
    "ControlPlaneSpec",
    "ControllerSpec",
    "LoginSpec",
    "Model",
    "PartitionSpec",
    "SlurmSpec",
    "SoperatorSpec",
    "SystemSpec",
    "UserSpec",
    "WorkerPoolSpec",
]

CapacityMode = Literal["on-demand", "preemptible", "reserved"]
TargetName = Literal["local", "kubernetes", "nebius"]

NAME_PATTERN = "^[a-z][a-z0-9-]*[a-z0-9]$"
PARTITION_PATTERN = "^[A-Za-z][A-Za-z0-9_-]*$"
USER_PATTERN = "^[a-z_][a-z0-9_-]*$"
FEATURE_PATTERN = "^[A-Za-z_][A-Za-z0-9_.-]*$"
SETTING_PATTERN = "^[A-Za-z][A-Za-z0-9_]*$"

# Fields that select reserved capacity: their values are in no message, plan or repr.
SELECTORS = frozenset({"capacity_block_group", "capacity_block_group_name"})


class WorkerPoolSpec(Model):
    """Workers of one shape, named `<name>-0`, `<name>-1` and so on."""

    name: Annotated[
        str,
        says(
            "name of the pool, and the beginning of its nodes' names",
            "lower-case letters, digits and hyphens, a letter first and no hyphen last; unique; "
            "`<name>-<size-1>` within 63 characters",
            pattern=NAME_PATTERN,
            maxLength=61,
        ),
    ]
    platform: Annotated[
        str,
        says("kind of machine", "one that the region offers", enum=list(catalog.PLATFORMS)),
    ] = "cpu-d3"
    preset: Annotated[
        str, says("machine shape", "one of the platform's; with GPUs one that can join a fabric")
    ] = "8vcpu-32gb"
    size: Annotated[
        int,
        says("workers in the pool", "at least 1; on gpu-gb300 fewer than 18 or a multiple of 18", minimum=1),
    ] = 1
    boot_disk_gib: Annotated[
        int,
        says("boot disk of each worker, in GiB", "at least 512", minimum=catalog.WORKER_BOOT_DISK_MIN_GIB),
    ] = catalog.WORKER_BOOT_DISK_MIN_GIB
    fabric: Annotated[str, says("InfiniBand fabric", "required with GPUs, forbidden without")] = ""
    preemptible: Annotated[
        bool, says("take cheaper machines that the provider may stop", "not together with a reservation")
    ] = False
    capacity_block_group: Annotated[
        str,
        says(
            "id of the reservation to run in",
            "GPU pools only; not with preemptible or capacity_block_group_name",
            shown=False,
        ),
    ] = ""
    capacity_block_group_name: Annotated[
        str,
        says(
            "name of the reservation to run in",
            "GPU pools only; not with preemptible or capacity_block_group",
            shown=False,
        ),
    ] = ""
    docker_cache: Annotated[bool, says("give each worker its own disk for container images")] = False
    docker_cache_gib: Annotated[
        int, says("size of that disk, in GiB", "a multiple of 93, at most 262074", minimum=1)
    ] = 372
    docker_cache_disk_type: Annotated[
        str, says("kind of that disk", "one that the recipe takes", enum=list(catalog.CACHE_DISK_TYPES))
    ] = "NETWORK_SSD_IO_M3"
    features: Annotated[
        tuple[str, ...],
        Listed,
        says(
            "Slurm features of the nodes, for `--constraint`",
            "letters, digits and `_ . -`, each once",
            items={"type": "string", "pattern": FEATURE_PATTERN},
        ),
    ] = ()
    ephemeral: Annotated[
        bool, says("whether nodes are powered up for jobs and down when idle, not kept running")
    ] = False

    @property
    def has_gpus(self) -> bool:
        """Whether the platform is one with GPUs."""
        return self.platform.startswith(catalog.GPU_PREFIX)

    @property
    def capacity_mode(self) -> CapacityMode:
        """How the machines are paid for."""
        if self.capacity_block_group.strip() or self.capacity_block_group_name.strip():
            return "reserved"
        return "preemptible" if self.preemptible else "on-demand"

    @property
    def racks(self) -> tuple[tuple[str, int], ...]:
        """Effective pools as (name, size): one for each rack where the platform has racks, else the pool."""
        if self.platform != catalog.RACK_PLATFORM:
            return ((self.name, self.size),)
        whole, rest = divmod(self.size, catalog.RACK_SIZE)
        sizes = (*(catalog.RACK_SIZE for _ in range(whole)), *((rest,) if rest else ()))
        return tuple((f"{self.name}-rack{rack}", size) for rack, size in enumerate(sizes))


class PartitionSpec(Model):
    """A Slurm partition over whole pools."""

    name: Annotated[
        str,
        says(
            "name of the partition",
            "letters, digits, `_` and `-`, a letter first; unique; not `hidden`",
            pattern=PARTITION_PATTERN,
            maxLength=32,
        ),
    ]
    is_all: Annotated[bool, says("hold every worker", "either this or pools")] = False
    pools: Annotated[
        tuple[str, ...], Listed, says("pools that it holds", "names of workers; either this or is_all")
    ] = ()
    default: Annotated[bool, says("take jobs that name no partition", "on exactly one partition")] = False
    hidden: Annotated[bool, says("keep it out of `sinfo` and `squeue`")] = False
    max_time: Annotated[
        str,
        says(
            "longest run of a job; absent: no limit",
            "a Slurm time, quoted: `minutes`, `hours:minutes:seconds`, `days-hours`, `days-hours:minutes`",
        ),
    ] = ""
    priority_tier: Annotated[
        int,
        says("jobs of a higher tier start first", "0 to 65533", minimum=0, maximum=65533),
    ] = 10
    oversubscribe: Annotated[bool, says("let jobs that ask for it share their CPUs")] = True


class UserSpec(Model):
    """A person who logs in: one account, the same on every node."""

    name: Annotated[
        str,
        says(
            "name of the account",
            "lower-case letters, digits, `_` and `-`, no digit or hyphen first; no system account; unique",
            pattern=USER_PATTERN,
            maxLength=32,
        ),
    ]
    uid: Annotated[
        int | None,
        says("number of the account; null or absent: the next free from 2000", "at least 1000; unique"),
    ] = None
    ssh_public_keys: Annotated[
        tuple[str, ...], Listed, says("keys that log in", "one OpenSSH public key each")
    ] = ()


class SlurmSpec(Model):
    """Slurm itself."""

    version: Annotated[str, says("version of Slurm", "quoted", enum=list(catalog.SLURM_VERSIONS))] = (
        catalog.SLURM_VERSIONS[0]
    )
    settings: Annotated[
        dict[str, Setting],
        says(
            "more lines for slurm.conf, as `Key: value`",
            "one line each; not a setting that npa writes itself",
            propertyNames={"pattern": SETTING_PATTERN},
        ),
    ] = Field(default_factory=dict)


class SoperatorSpec(Model):
    """A Slurm cluster as the user asked for it: the whole file."""

    apiVersion: Annotated[  # noqa: N815 - the key in the file
        str, says("version of this format", f"`{catalog.API_VERSION}`", const=catalog.API_VERSION)
    ] = catalog.API_VERSION
    name: Annotated[
        str,
        says(
            "name of the cluster; the kube context is `nebius-<name>-slurm`",
            "2 to 32 lower-case letters, digits and hyphens, a letter first, no hyphen last; not `example`",
            pattern=NAME_PATTERN,
            maxLength=32,
        ),
    ]
    target: Annotated[
        TargetName | None,
        says("where the cluster runs; null or absent: decided by `--target`, else nebius"),
    ] = None
    region: Annotated[
        str, says("region of the provider; empty: looked up at deploy", "one of the catalogue's")
    ] = ""
    tenant_id: Annotated[str, says("tenant of the provider; empty: looked up at deploy")] = ""
    project_id: Annotated[str, says("project of the provider; empty: looked up at deploy")] = ""
    subnet_id: Annotated[str, says("subnet of the provider; empty: looked up at deploy")] = ""
    root_login_ssh_public_key: Annotated[
        str,
        says(
            "key that logs in as root; empty: this machine's own",
            "one OpenSSH public key; not together with ssh_public_keys",
        ),
    ] = ""
    ssh_public_keys: Annotated[
        tuple[str, ...],
        Listed,
        says(
            "older name of root_login_ssh_public_key",
            "at most one OpenSSH public key; not together with root_login_ssh_public_key",
            maxItems=1,
        ),
    ] = ()
    control_plane: Annotated[ControlPlaneSpec, says("the machines around the workers")] = ControlPlaneSpec()
    workers: Annotated[
        tuple[WorkerPoolSpec, ...], Listed, says("pools of workers", "at least one", minItems=1)
    ]
    partitions: Annotated[
        tuple[PartitionSpec, ...],
        Listed,
        says(
            "Slurm partitions; absent: `main` over every worker",
            "exactly one is the default; `hidden`, for health checks, is added",
        ),
    ] = ()
    users: Annotated[tuple[UserSpec, ...], Listed, says("people who log in", "names and uids unique")] = ()
    slurm: Annotated[SlurmSpec, says("Slurm itself")] = SlurmSpec()
    accounting: Annotated[bool, says("keep a database of jobs")] = False
    slurm_rest_enabled: Annotated[
        bool | None, says("serve Slurm's REST API; null or absent: as accounting", "needs accounting")
    ] = None
    telemetry: Annotated[bool, says("send metrics and logs to the provider")] = False
    use_default_apparmor_profile: Annotated[
        bool, says("confine the daemons", "false only with operator 4.1.6")
    ] = False
    jail_size_gib: Annotated[int, says("size of the shared root, in GiB", "at least 1", minimum=1)] = 512
    slurm_operator_version: Annotated[
        str,
        says("version of the operator's chart", "quoted", enum=list(catalog.OPERATOR_VERSIONS)),
    ] = catalog.OPERATOR_VERSIONS[0]
    k8s_version: Annotated[
        str, says("version of Kubernetes", 'quoted, as in "1.34"', pattern=r"^[0-9]+\.[0-9]+$")
    ] = "1.34"
    node_group_version: Annotated[
        str, says("bundle of kernel and drivers", 'quoted, as in "72"', pattern="^[0-9]+$")
    ] = "72"

    @property
    def rest(self) -> bool:
        """Whether the REST API is served once absence is decided."""
        return self.accounting if self.slurm_rest_enabled is None else self.slurm_rest_enabled

    @property
    def worker_count(self) -> int:
        """Workers of all pools together; it decides the sizing tier."""
        return sum(pool.size for pool in self.workers)

    @property
    def root_keys(self) -> tuple[str, ...]:
        """The key of root as written, under either of its names."""
        if self.root_login_ssh_public_key:
            return (self.root_login_ssh_public_key,)
        return self.ssh_public_keys
