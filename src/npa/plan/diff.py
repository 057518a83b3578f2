"""Two Clusters to the changes between them, each classified by the policy table; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields

from npa.cluster.model import Cluster, Partition, Pool, User
from npa.plan import policy
from npa.plan.model import Change

# compared on their own, or no part of what a cluster is
_APART = {"name", "pools", "partitions", "users", "slurm_settings", "origins"}


def diff(old: Cluster | None, new: Cluster) -> tuple[Change, ...]:
    """Return what changes, none for a cluster that is made anew."""
    if old is None:
        return ()
    return (
        *_fields("cluster", new.name, old, new, _APART),
        *_pools(old.pools, new.pools),
        *_partitions(old.partitions, new.partitions),
        *_settings(dict(old.slurm_settings), dict(new.slurm_settings)),
        *_users(old.users, new.users),
    )


def refused(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Return the changes that cannot be made in place."""
    return tuple(change for change in changes if change.effect in ("refuse", "recreate"))


def _change(kind: str, subject: str, field: str, old: object, new: object) -> Change:
    found = policy.rule(kind, field)
    return Change(kind, subject, field, _text(old), _text(new), found.effect, found.reason)


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


def _fields(kind: str, subject: str, old: object, new: object, apart: set[str]) -> Iterator[Change]:
    for field in fields(new):  # type: ignore[arg-type]
        before, after = getattr(old, field.name), getattr(new, field.name)
        if field.name not in apart and before != after:
            secret = field.name in ("root_keys", "ssh_public_keys")
            shown = (_keys(before), _keys(after)) if secret else (before, after)
            yield _change(kind, subject, field.name, *shown)


def _keys(keys: tuple[str, ...]) -> str:
    return f"{len(keys)} keys"


def _pools(old: tuple[Pool, ...], new: tuple[Pool, ...]) -> Iterator[Change]:
    before, after = {pool.name: pool for pool in old}, {pool.name: pool for pool in new}
    for name, pool in before.items():
        if name not in after:
            yield _change("pool", name, "removed", f"{pool.size} nodes", "")
    for name, pool in after.items():
        if name not in before:
            yield _change("pool", name, "added", "", f"{pool.size} nodes")
            continue
        was = before[name]
        yield from _fields("pool", name, was, pool, {"name", "size", "machine"})
        if was.machine != pool.machine:
            yield _change("pool", name, "machine", _machine(was), _machine(pool))
        if was.size != pool.size:
            yield _change("pool", name, "grown" if pool.size > was.size else "shrunk", was.size, pool.size)


def _machine(pool: Pool) -> str:
    machine = pool.machine
    return f"{machine.cpus} CPUs, {machine.memory_mib} MiB, {machine.gpus} GPUs"


def _partitions(old: tuple[Partition, ...], new: tuple[Partition, ...]) -> Iterator[Change]:
    before, after = {each.name: each for each in old}, {each.name: each for each in new}
    yield from (_change("partition", name, "removed", name, "") for name in before if name not in after)
    if before.keys() == after.keys() and list(before) != list(after):
        yield _change("partition", "all", "order", ", ".join(before), ", ".join(after))
    for name, partition in after.items():
        if name not in before:
            yield _change("partition", name, "added", "", name)
        elif before[name] != partition:
            changed = [
                field.name
                for field in fields(partition)
                if getattr(before[name], field.name) != getattr(partition, field.name)
            ]
            yield _change("partition", name, "changed", "", ", ".join(changed))


def _settings(old: dict[str, str], new: dict[str, str]) -> Iterator[Change]:
    for key in dict.fromkeys((*old, *new)):
        if old.get(key) != new.get(key):
            yield _change("setting", key, "changed", old.get(key), new.get(key))


def _users(old: tuple[User, ...], new: tuple[User, ...]) -> Iterator[Change]:
    before, after = {user.name: user for user in old}, {user.name: user for user in new}
    yield from (
        _change("user", name, "removed", user.uid, "") for name, user in before.items() if name not in after
    )
    for name, user in after.items():
        if name not in before:
            yield _change("user", name, "added", "", user.uid)
        else:
            yield from _fields("user", name, before[name], user, {"name"})
