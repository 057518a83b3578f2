"""The spec as typed, frozen values. What holds between fields is in `rules`; nothing here reads text."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from npa.spec import catalog

CapacityMode = Literal["on-demand", "preemptible", "reserved"]
TargetName = Literal["local", "kubernetes", "nebius"]

NAME_PATTERN = "^[a-z][a-z0-9-]*[a-z0-9]$"
PARTITION_PATTERN = "^[A-Za-z][A-Za-z0-9_-]*$"
USER_PATTERN = "^[a-z_][a-z0-9_-]*$"
FEATURE_PATTERN = "^[A-Za-z_][A-Za-z0-9_.-]*$"
SETTING_PATTERN = "^[A-Za-z][A-Za-z0-9_]*$"

# Fields that select reserved capacity: their values are in no message, plan or repr.
SELECTORS = frozenset({"capacity_block_group", "capacity_block_group_name"})


def _says(meaning: str, rule: str = "", *, shown: bool = True, **schema: Any) -> Any:
    """Describe a field: what it means, the rule it keeps in words, and that rule in JSON Schema's words."""
    return Field(description=meaning, json_schema_extra={"x-rule": rule, **schema}, repr=shown)


def _listed(value: object) -> object:
    # Strict mode takes only a tuple for a tuple, and every reader of YAML or JSON makes lists.
    return tuple(value) if isinstance(value, list) else value


def _scalar(value: object) -> object:
    # A union of types would report one problem for each member, none of them in the user's words.
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise PydanticCustomError("setting_type", "a string or a whole number")
    return value


_Listed = BeforeValidator(_listed)
Setting = Annotated[str | int, BeforeValidator(_scalar)]


class Model(BaseModel):
    """A frozen part of the spec: no unknown keys, no value taken for one of another type."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)


class SystemSpec(Model):
    """Nodes that run Kubernetes' and Slurm's own services."""

    min_size: Annotated[int, _says("nodes to start with", "at least 3", minimum=catalog.SYSTEM_MIN_SIZE)] = (
        catalog.SYSTEM_MIN_SIZE
    )
    max_size: Annotated[
        int | None,
        _says("nodes to grow to; null or absent: 24, or min_size where that is more", "at least min_size"),
    ] = None
    preset: Annotated[
        str | None,
        _says(
            "machine shape; null or absent: chosen from the number of workers",
            "a cpu-d3 preset that is enough for the sizing tier",
        ),
    ] = None

    @property
    def effective_max_size(self) -> int:
        """How far the system nodes may grow once absence is decided."""
        return max(self.min_size, catalog.SYSTEM_DEFAULT_MAX_SIZE) if self.max_size is None else self.max_size


class ControllerSpec(Model):
    """The node of slurmctld."""

    size: Annotated[int, _says("controllers", "exactly 1", const=1)] = 1
    preset: Annotated[
        str | None,
        _says(
            "machine shape; null or absent: chosen from the number of workers",
            "a cpu-d3 preset that is enough for the sizing tier",
        ),
    ] = None


class AccountingSpec(Model):
    """The node of slurmdbd and its database."""

    preset: Annotated[
        str | None,
        _says(
            "machine shape; null or absent: chosen from the number of workers",
            "a cpu-d3 preset that is enough for the sizing tier; read only with `accounting: true`",
        ),
    ] = None


class LoginSpec(Model):
    """The node where people log in."""

    preset: Annotated[str, _says("machine shape", "a cpu-d3 preset of at least 16 vCPUs")] = "16vcpu-64gb"


class ControlPlaneSpec(Model):
    """The machines around the workers."""

    system: Annotated[SystemSpec, _says("nodes of Kubernetes' and Slurm's own services")] = SystemSpec()
    controller: Annotated[ControllerSpec, _says("the node of slurmctld")] = ControllerSpec()
    accounting: Annotated[AccountingSpec, _says("the node of slurmdbd and its database")] = AccountingSpec()
    login: Annotated[LoginSpec, _says("the node where people log in")] = LoginSpec()


class WorkerPoolSpec(Model):
    """Workers of one shape, named `<name>-0`, `<name>-1` and so on."""

    name: Annotated[
        str,
        _says(
            "name of the pool, and the beginning of its nodes' names",
            "lower-case letters, digits and hyphens, a letter first and no hyphen last; unique; "
            "`<name>-<size-1>` within 63 characters",
            pattern=NAME_PATTERN,
            maxLength=61,
        ),
    ]
    platform: Annotated[
        str,
        _says("kind of machine", "one that the region offers", enum=list(catalog.PLATFORMS)),
    ] = "cpu-d3"
    preset: Annotated[
        str, _says("machine shape", "one of the platform's; with GPUs one that can join a fabric")
    ] = "8vcpu-32gb"
    size: Annotated[
        int,
        _says("workers in the pool", "at least 1; on gpu-gb300 fewer than 18 or a multiple of 18", minimum=1),
    ] = 1
    boot_disk_gib: Annotated[
        int,
        _says("boot disk of each worker, in GiB", "at least 512", minimum=catalog.WORKER_BOOT_DISK_MIN_GIB),
    ] = catalog.WORKER_BOOT_DISK_MIN_GIB
    fabric: Annotated[str, _says("InfiniBand fabric", "required with GPUs, forbidden without")] = ""
    preemptible: Annotated[
        bool, _says("take cheaper machines that the provider may stop", "not together with a reservation")
    ] = False
    capacity_block_group: Annotated[
        str,
        _says(
            "id of the reservation to run in",
            "GPU pools only; not with preemptible or capacity_block_group_name",
            shown=False,
        ),
    ] = ""
    capacity_block_group_name: Annotated[
        str,
        _says(
            "name of the reservation to run in",
            "GPU pools only; not with preemptible or capacity_block_group",
            shown=False,
        ),
    ] = ""
    docker_cache: Annotated[bool, _says("give each worker its own disk for container images")] = False
    docker_cache_gib: Annotated[
        int, _says("size of that disk, in GiB", "a multiple of 93, at most 262074", minimum=1)
    ] = 372
    docker_cache_disk_type: Annotated[
        str, _says("kind of that disk", "one that the recipe takes", enum=list(catalog.CACHE_DISK_TYPES))
    ] = "NETWORK_SSD_IO_M3"
    features: Annotated[
        tuple[str, ...],
        _Listed,
        _says(
            "Slurm features of the nodes, for `--constraint`",
            "letters, digits and `_ . -`, each once",
            items={"type": "string", "pattern": FEATURE_PATTERN},
        ),
    ] = ()

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
        _says(
            "name of the partition",
            "letters, digits, `_` and `-`, a letter first; unique; not `hidden`",
            pattern=PARTITION_PATTERN,
            maxLength=32,
        ),
    ]
    is_all: Annotated[bool, _says("hold every worker", "either this or pools")] = False
    pools: Annotated[
        tuple[str, ...], _Listed, _says("pools that it holds", "names of workers; either this or is_all")
    ] = ()
    default: Annotated[bool, _says("take jobs that name no partition", "on exactly one partition")] = False
    hidden: Annotated[bool, _says("keep it out of `sinfo` and `squeue`")] = False
    max_time: Annotated[
        str,
        _says(
            "longest run of a job; absent: no limit",
            "a Slurm time, quoted: `minutes`, `hours:minutes:seconds`, `days-hours`, `days-hours:minutes`",
        ),
    ] = ""
    priority_tier: Annotated[
        int,
        _says("jobs of a higher tier start first", "0 to 65533", minimum=0, maximum=65533),
    ] = 10
    oversubscribe: Annotated[bool, _says("let jobs that ask for it share their CPUs")] = True


class UserSpec(Model):
    """A person who logs in: one account, the same on every node."""

    name: Annotated[
        str,
        _says(
            "name of the account",
            "lower-case letters, digits, `_` and `-`, no digit or hyphen first; no system account; unique",
            pattern=USER_PATTERN,
            maxLength=32,
        ),
    ]
    uid: Annotated[
        int | None,
        _says("number of the account; null or absent: the next free from 2000", "at least 1000; unique"),
    ] = None
    ssh_public_keys: Annotated[
        tuple[str, ...], _Listed, _says("keys that log in", "one OpenSSH public key each")
    ] = ()


class SlurmSpec(Model):
    """Slurm itself."""

    version: Annotated[str, _says("version of Slurm", "quoted", enum=list(catalog.SLURM_VERSIONS))] = (
        catalog.SLURM_VERSIONS[0]
    )
    settings: Annotated[
        dict[str, Setting],
        _says(
            "more lines for slurm.conf, as `Key: value`",
            "one line each; not a setting that npa writes itself",
            propertyNames={"pattern": SETTING_PATTERN},
        ),
    ] = Field(default_factory=dict)


class SoperatorSpec(Model):
    """A Slurm cluster as the user asked for it: the whole file."""

    apiVersion: Annotated[  # noqa: N815 - the key in the file
        str, _says("version of this format", f"`{catalog.API_VERSION}`", const=catalog.API_VERSION)
    ] = catalog.API_VERSION
    name: Annotated[
        str,
        _says(
            "name of the cluster; the kube context is `nebius-<name>-slurm`",
            "2 to 32 lower-case letters, digits and hyphens, a letter first, no hyphen last; not `example`",
            pattern=NAME_PATTERN,
            maxLength=32,
        ),
    ]
    target: Annotated[
        TargetName | None,
        _says("where the cluster runs; null or absent: decided by `--target`, else nebius"),
    ] = None
    region: Annotated[
        str, _says("region of the provider; empty: looked up at deploy", "one of the catalogue's")
    ] = ""
    tenant_id: Annotated[str, _says("tenant of the provider; empty: looked up at deploy")] = ""
    project_id: Annotated[str, _says("project of the provider; empty: looked up at deploy")] = ""
    subnet_id: Annotated[str, _says("subnet of the provider; empty: looked up at deploy")] = ""
    root_login_ssh_public_key: Annotated[
        str,
        _says(
            "key that logs in as root; empty: this machine's own",
            "one OpenSSH public key; not together with ssh_public_keys",
        ),
    ] = ""
    ssh_public_keys: Annotated[
        tuple[str, ...],
        _Listed,
        _says(
            "older name of root_login_ssh_public_key",
            "at most one OpenSSH public key; not together with root_login_ssh_public_key",
            maxItems=1,
        ),
    ] = ()
    control_plane: Annotated[ControlPlaneSpec, _says("the machines around the workers")] = ControlPlaneSpec()
    workers: Annotated[
        tuple[WorkerPoolSpec, ...], _Listed, _says("pools of workers", "at least one", minItems=1)
    ]
    partitions: Annotated[
        tuple[PartitionSpec, ...],
        _Listed,
        _says(
            "Slurm partitions; absent: `main` over every worker",
            "exactly one is the default; `hidden`, for health checks, is added",
        ),
    ] = ()
    users: Annotated[tuple[UserSpec, ...], _Listed, _says("people who log in", "names and uids unique")] = ()
    slurm: Annotated[SlurmSpec, _says("Slurm itself")] = SlurmSpec()
    accounting: Annotated[bool, _says("keep a database of jobs")] = False
    slurm_rest_enabled: Annotated[
        bool | None, _says("serve Slurm's REST API; null or absent: as accounting", "needs accounting")
    ] = None
    telemetry: Annotated[bool, _says("send metrics and logs to the provider")] = False
    use_default_apparmor_profile: Annotated[
        bool, _says("confine the daemons", "false only with operator 4.1.6")
    ] = False
    jail_size_gib: Annotated[int, _says("size of the shared root, in GiB", "at least 1", minimum=1)] = 512
    slurm_operator_version: Annotated[
        str,
        _says("version of the operator's chart", "quoted", enum=list(catalog.OPERATOR_VERSIONS)),
    ] = catalog.OPERATOR_VERSIONS[0]
    k8s_version: Annotated[
        str, _says("version of Kubernetes", 'quoted, as in "1.34"', pattern=r"^[0-9]+\.[0-9]+$")
    ] = "1.34"
    node_group_version: Annotated[
        str, _says("bundle of kernel and drivers", 'quoted, as in "72"', pattern="^[0-9]+$")
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
