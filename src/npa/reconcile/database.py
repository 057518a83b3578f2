"""Where accounting is kept: beside slurmdbd, with mariadb-operator, or in a database of somebody else's.

What holds data already is never exchanged for something empty because a definition came or went.
"""

from __future__ import annotations

from dataclasses import dataclass

from npa.reconcile.world import World
from npa.render.kube import accounting, mariadb, names
from npa.render.kube.context import Context, Database
from npa.render.kube.mariadb import GRANT, MARIADB
from npa.render.objects import CLAIM, STATEFUL_SET, dig

_NEEDED = (STATEFUL_SET.kind, CLAIM.kind, MARIADB.kind, GRANT.kind)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The database, and why it is another one than is asked for."""

    kind: Database
    why: str = ""


def unread(world: World, context: Context) -> tuple[str, ...]:
    """Return the kinds without which nobody can tell where the data are."""
    return tuple(kind for kind in _NEEDED if kind in world.unread) if _asked(context) else ()


def choose(world: World, context: Context) -> Chosen:
    """Return where accounting is kept; to be asked where nothing that it needs is unread."""
    if context.spec.slurm_nodes.accounting.external_db.enabled:
        return Chosen("external")
    if not _asked(context):
        return Chosen("embedded")
    if world.find(MARIADB.kind, mariadb.name(context.name)) is not None:
        return Chosen("operated")
    absent, holds = bool({MARIADB.crd, GRANT.crd} & world.absent_apis), _embedded_data(world, context)
    if absent and (holds or not _runs(world, context)):
        return Chosen("embedded", "mariadb-operator is not installed: the database is beside slurmdbd")
    if holds:
        why = "its data are beside slurmdbd, and stay there: mariadb-operator is asked for nothing"
        return Chosen("embedded", why)
    # what runs without a database beside it has its data elsewhere
    return Chosen("operated", "mariadb-operator is no longer installed" if absent else "")


def _asked(context: Context) -> bool:
    asked = context.spec.slurm_nodes.accounting
    operator = asked.mariadb_operator
    return asked.enabled and not asked.external_db.enabled and operator is not None and operator.enabled


def _embedded_data(world: World, context: Context) -> bool:
    """Say whether a database beside slurmdbd has, or may have, data."""
    workload = names.workload(context.name, "accounting")
    found = world.find(STATEFUL_SET.kind, workload)
    listed = dig(found, "spec", "template", "spec", "containers") or ()
    embedded = any(each.get("name") == accounting.DATABASE for each in listed)
    return embedded or world.find(CLAIM.kind, f"{accounting.CLAIM}-{workload}-0") is not None


def _runs(world: World, context: Context) -> bool:
    return world.find(STATEFUL_SET.kind, names.workload(context.name, "accounting")) is not None
