"""The variables of the pinned recipe from a spec, and the text of `terraform.tfvars`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from npa.render.nebius import hcl
from npa.render.nebius.hcl import Value
from npa.spec.model import PartitionSpec, SoperatorSpec, WorkerPoolSpec

NOTHING: Mapping[str, str] = MappingProxyType({})

CONTROL_PLATFORM = "cpu-d3"
BOOT_DISK_GIB = 128
LOGIN_BOOT_DISK_GIB = 256
CONTROLLER_SPOOL_GIB = 128
ACCOUNTING_GIB = 512
NFS_GIB = 186
NFS_VERSION = "1.2.0"
SHARED_MEMORY_GIB = 16
MAX_PODS = 32

# Profiling for users who are not root, and stream memory operations for RDMA.
NVIDIA_CONFIG_LINES = (
    "options nvidia NVreg_RestrictProfilingToAdminUsers=0",
    "options nvidia NVreg_EnableStreamMemOPs=1",
)


@dataclass(frozen=True, slots=True)
class Resolved:
    """What the spec leaves to be looked up before it can be rendered."""

    root_ssh_public_key: str
    reservations: Mapping[str, str] = field(
        default_factory=lambda: NOTHING, repr=False
    )  # id of the reservation by pool
    pool_order: tuple[str, ...] = ()  # pools as they were deployed last: the recipe keys groups by position


Variables = Callable[[SoperatorSpec, Resolved], Mapping[str, Value]]


def variables(spec: SoperatorSpec, resolved: Resolved) -> dict[str, Value]:
    """Return every variable that npa sets; what is not here keeps the recipe's default.

    Raises ValueError where a reserved pool has no id.
    """
    return {
        **_cluster(spec),
        **_nodes(spec, resolved),
        **_login(resolved),
        **_services(spec),
        **_versions(spec),
    }


def render(spec: SoperatorSpec, resolved: Resolved, mapping: Variables = variables) -> str:
    """Return `terraform.tfvars`: the same bytes for the same input."""
    return hcl.assignments(mapping(spec, resolved))


def ordered(workers: tuple[WorkerPoolSpec, ...], before: tuple[str, ...]) -> tuple[WorkerPoolSpec, ...]:
    """Return the pools, those that are deployed in the places they have; new ones follow as written."""
    place = {name: index for index, name in enumerate(before)}
    return tuple(sorted(workers, key=lambda pool: place.get(pool.name, len(place))))


def _cluster(spec: SoperatorSpec) -> dict[str, Value]:
    return {
        "company_name": spec.name,
        "production": False,
        "controller_state_on_filestore": False,
        "filestore_controller_spool": _filestore(CONTROLLER_SPOOL_GIB),
        "filestore_jail": _filestore(spec.jail_size_gib),
        "filestore_jail_submounts": (),
        "allow_empty_jail_submounts": True,
        "filestore_accounting": _filestore(ACCOUNTING_GIB) if spec.accounting else None,
        "nfs_in_k8s": {
            "enabled": True,
            "version": NFS_VERSION,
            "use_stable_repo": True,
            "size_gibibytes": NFS_GIB,
            "disk_type": "NETWORK_SSD_IO_M3",
            "filesystem_type": "ext4",
            "threads": 8,
        },
        "slurm_operator_version": spec.slurm_operator_version,
        "slurm_operator_stable": True,
    }


def _nodes(spec: SoperatorSpec, resolved: Resolved) -> dict[str, Value]:
    planes = spec.control_plane
    workers = ordered(spec.workers, resolved.pool_order)
    return {
        "slurm_nodesets_partitions": _partitions(spec),
        "slurm_partition_config_type": "default",
        "slurm_nodeset_system": {
            "min_size": planes.system.min_size,
            "max_size": planes.system.effective_max_size,
            **_machine(planes.system.preset),
        },
        "slurm_nodeset_controller": {"size": 1, **_machine(planes.controller.preset)},
        "slurm_nodeset_workers": tuple(_worker(pool, resolved.reservations) for pool in workers),
        "use_preinstalled_gpu_drivers": True,
        "slurm_nodeset_login": {"size": 1, **_machine(planes.login.preset, LOGIN_BOOT_DISK_GIB)},
        # The recipe's validation looks into it even where accounting is off.
        "slurm_nodeset_accounting": _machine(planes.accounting.preset),
        "slurm_nodeset_nfs": None,
    }


def _login(resolved: Resolved) -> dict[str, Value]:
    return {
        "slurm_login_public_ip": True,
        "slurm_login_ssh_root_public_keys": (resolved.root_ssh_public_key,),
    }


def _services(spec: SoperatorSpec) -> dict[str, Value]:
    checked = spec.rest and spec.accounting and any(pool.has_gpus for pool in spec.workers)
    return {
        "slurm_exporter_enabled": spec.telemetry,
        "telemetry_enabled": spec.telemetry,
        "public_o11y_enabled": spec.telemetry,
        "dcgm_job_mapping_enabled": spec.telemetry,
        "active_checks_scope": "dev" if checked else "essential",
        "slurm_shared_memory_size_gibibytes": SHARED_MEMORY_GIB,
        "slurm_topology_block_size": None,
        "maintenance_ignore_node_groups": ("controller", "nfs"),
        "opentelemetry_delete_jail_logs_after_read": False,
        "soperator_notifier": {"enabled": False},
        "nccl_inspector_profiling": {"enabled": False},
        "accounting_enabled": spec.accounting,
        "slurm_rest_enabled": spec.rest,
        "backups_enabled": "force_disable",
        "backups_password": "unused",  # the recipe demands one; no backup is made
        "backups_schedule": "@daily-random",
        "backups_prune_schedule": "@daily-random",
        "backups_retention": {"keepDaily": 7},
        "cleanup_bucket_on_destroy": False,
    }


def _versions(spec: SoperatorSpec) -> dict[str, Value]:
    return {
        "k8s_version": spec.k8s_version,
        "node_group_version": spec.node_group_version,
        "nvidia_config_lines": NVIDIA_CONFIG_LINES,
        "use_default_apparmor_profile": spec.use_default_apparmor_profile,
    }


def _worker(pool: WorkerPoolSpec, reservations: Mapping[str, str]) -> dict[str, Value]:
    return {
        "name": pool.name,
        "size": pool.size,
        "autoscaling": {"enabled": False},
        "resource": {"platform": pool.platform, "preset": pool.preset},
        "boot_disk": _disk(pool.boot_disk_gib),
        "gpu_cluster": {"infiniband_fabric": pool.fabric} if pool.has_gpus else None,
        "preemptible": {} if pool.preemptible else None,
        "reservation_policy": _reservation(pool, reservations),
        "features": pool.features or None,
        "create_partition": None,
        "ephemeral_nodes": pool.ephemeral,
        "initial_number_ephemeral_nodes": 0,
        "persistent_volume_claim_retention_policy": {"when_deleted": "Delete", "when_scaled": "Delete"},
        "max_pods": MAX_PODS,
        "node_local_jail_submounts": (),
        "node_local_image_disk": _image_disk(pool),
    }


def _reservation(pool: WorkerPoolSpec, reservations: Mapping[str, str]) -> Value:
    if pool.capacity_mode != "reserved":
        return None
    written, found = pool.capacity_block_group.strip(), reservations.get(pool.name, "").strip()
    if written and found and written != found:
        raise ValueError(
            f"pool {pool.name}: the reservation that was checked is not the one that is asked for"
        )
    if not (found or written):
        raise ValueError(f"pool {pool.name}: its reservation has not been looked up")
    # AUTO may fall back to on-demand machines, at another price.
    return {"policy": "STRICT", "reservation_ids": (found or written,)}


def _image_disk(pool: WorkerPoolSpec) -> Value:
    if not pool.docker_cache:
        return {"enabled": False}
    spec: Value = {
        "size_gibibytes": pool.docker_cache_gib,
        "filesystem_type": "ext4",
        "disk_type": pool.docker_cache_disk_type,
    }
    return {"enabled": True, "spec": spec}


def _partitions(spec: SoperatorSpec) -> Value:
    written = spec.partitions or (PartitionSpec(name="main", is_all=True, default=True),)
    racks = {pool.name: tuple(name for name, _ in pool.racks) for pool in spec.workers}
    return tuple(_partition(each, racks) for each in (*written, PartitionSpec(name="hidden", hidden=True)))


def _partition(written: PartitionSpec, racks: Mapping[str, tuple[str, ...]]) -> Value:
    everything = written.is_all or not written.pools
    words = {
        "Default": "YES" if written.default else "NO",
        **({"Hidden": "YES"} if written.hidden else {}),
        "PriorityTier": str(written.priority_tier),
        "PreemptMode": "OFF",
        "MaxTime": written.max_time or "INFINITE",
        "State": "UP",
        "OverSubscribe": "YES" if written.oversubscribe else "NO",
    }
    return {
        "name": written.name,
        "is_all": everything,
        "slurm_nodeset_refs": ()
        if everything
        else tuple(rack for name in written.pools for rack in racks[name]),
        "config": " ".join(f"{key}={value}" for key, value in words.items()),
    }


def _machine(preset: str | None, boot_disk_gib: int = BOOT_DISK_GIB) -> dict[str, Value]:
    # No preset: the recipe chooses one by its sizing tier.
    return {
        "resource": {"platform": CONTROL_PLATFORM, "preset": preset},
        "boot_disk": _disk(boot_disk_gib),
    }


def _disk(gib: int) -> Value:
    return {"type": "NETWORK_SSD", "size_gibibytes": gib, "block_size_kibibytes": 4}


def _filestore(gib: int) -> Value:
    return {"spec": {"size_gibibytes": gib, "block_size_kibibytes": 4, "forbid_deletion": False}}
