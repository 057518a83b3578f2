"""A spec and the facts to the Cluster: every default decided, and who decided it."""

from __future__ import annotations

from collections.abc import Iterator

from npa.cluster.facts import Facts
from npa.cluster.model import CONTROLLER, Cluster, Machine, Origin, Partition, Pool, TargetName, User
from npa.spec import catalog, duration, load
from npa.spec.model import Model, PartitionSpec, SoperatorSpec, UserSpec, WorkerPoolSpec

DEFAULT_TARGET: TargetName = "nebius"
FIRST_UID = 2000
HIDDEN = "hidden"  # health checks reach every node through it


def resolve(spec: SoperatorSpec, facts: Facts, target: TargetName | None = None) -> Cluster:
    """Return the cluster that a spec means; raise SpecError where the spec breaks a rule.

    A spec that was parsed keeps the rules; one made in Python need not.
    """
    load.check(spec)
    return Cluster(
        name=spec.name,
        target=target or spec.target or DEFAULT_TARGET,
        pools=tuple(pool for written in spec.workers for pool in _pools(written)),
        partitions=_partitions(spec),
        region=spec.region,
        users=_users(spec.users),
        root_keys=tuple(key.strip() for key in spec.root_keys) or facts.root_keys,
        accounting=spec.accounting,
        rest=spec.rest,
        controllers=tuple(f"{CONTROLLER}-{index}" for index in range(spec.control_plane.controller.size)),
        slurm_version=spec.slurm.version,
        slurm_settings=tuple((key, str(value)) for key, value in spec.slurm.settings.items()),
        origins=dict(_origins(spec, facts, target)),
    )


def _pools(written: WorkerPoolSpec) -> Iterator[Pool]:
    shape = catalog.preset(written.platform, written.preset)
    assert shape is not None, "the rules let no unknown preset through"
    machine = Machine(
        cpus=shape.vcpus,
        memory_mib=shape.memory_gib * 1024,
        gpus=shape.gpus,
        gpu_type=catalog.PLATFORMS[written.platform].gres_type,
    )
    for name, size in written.racks:
        yield Pool(
            name=name,
            origin=written.name,
            size=size,
            machine=machine,
            platform=written.platform,
            preset=written.preset,
            fabric=written.fabric,
            features=written.features,
            capacity=written.capacity_mode,
            ephemeral=written.ephemeral,
        )


def _partitions(spec: SoperatorSpec) -> tuple[Partition, ...]:
    written = tuple(_partition(each, spec) for each in spec.partitions)
    return (*(written or (Partition("main", (), default=True),)), Partition(HIDDEN, (), hidden=True))


def _partition(written: PartitionSpec, spec: SoperatorSpec) -> Partition:
    racks = {pool.name: tuple(name for name, _ in pool.racks) for pool in spec.workers}
    # A pool of the spec stands for all its racks; a rack may also be named alone.
    names = (rack for name in written.pools for rack in racks.get(name, (name,)))
    return Partition(
        name=written.name,
        pools=() if written.is_all else tuple(dict.fromkeys(names)),
        default=written.default,
        hidden=written.hidden,
        max_time_minutes=duration.minutes(written.max_time),
        priority_tier=written.priority_tier,
        oversubscribe=written.oversubscribe,
    )


def _users(written: tuple[UserSpec, ...]) -> tuple[User, ...]:
    taken = {user.uid for user in written if user.uid is not None}
    users = []
    free = FIRST_UID
    for user in written:
        uid = user.uid
        if uid is None:
            while free in taken:
                free += 1
            uid, free = free, free + 1
        users.append(User(user.name, uid, tuple(key.strip() for key in user.ssh_public_keys)))
    return tuple(users)


def _origins(spec: SoperatorSpec, facts: Facts, target: TargetName | None) -> Iterator[tuple[str, Origin]]:
    yield from _written(spec, "")
    yield "target", "option" if target else "spec" if spec.target else "default"
    yield "root_keys", "spec" if spec.root_keys else "facts" if facts.root_keys else "default"
    yield "rest", "default" if spec.slurm_rest_enabled is None else "spec"
    yield "partitions", "spec" if spec.partitions else "default"


def _written(model: Model, path: str) -> Iterator[tuple[str, Origin]]:
    for name in type(model).model_fields:
        value, at = getattr(model, name), f"{path}.{name}" if path else name
        if isinstance(value, Model):
            yield from _written(value, at)
        elif isinstance(value, tuple) and value and isinstance(value[0], Model):
            for index, each in enumerate(value):
                yield from _written(each, f"{at}[{index}]")
        else:
            yield at, "spec" if name in model.model_fields_set else "default"
