"""Which files slurmctld gets: none that a checker found wrong, and each set of them once."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, replace

from npa.crds import nodeset as crd
from npa.crds import rules
from npa.crds.nodeset import NodeSet
from npa.errors import Problem, SpecError
from npa.reconcile import database, retired, topology
from npa.reconcile.conditions import Condition, some
from npa.reconcile.decision import Reconfigure, SlurmAction
from npa.reconcile.retired import Retired
from npa.reconcile.settings import Settings
from npa.reconcile.topology import Planned
from npa.reconcile.world import World
from npa.render.kube import cluster, config, mariadb, names, slurmdbd
from npa.render.kube.cluster import Resolved
from npa.render.kube.config import Files
from npa.render.kube.context import Context
from npa.render.kube.slurmdbd import Password, Server
from npa.render.objects import CONFIG_MAP, SECRET, Object, dig, name_of
from npa.slurm.conf import ConfError
from npa.slurm.lookup import Absent, Found, Unknown

VALID = "ConfigurationValid"
APPLIED = "ConfigurationApplied"
RESOLVED = "NodeSetRefsResolved"
_NEEDED = ("ConfigMap", "NodeSet", "Pod", "Secret")  # kinds without which the files cannot be known


@dataclass(frozen=True, slots=True)
class Configured:
    """What becomes of Slurm's files in this pass."""

    conditions: tuple[Condition, ...]
    config_map: Object | None = None  # to be delivered; None: what is there stays
    slurmdbd: str = ""  # slurmdbd.conf as it is to be; "" without accounting, or where it cannot be known
    slurm: tuple[SlurmAction, ...] = ()
    delivered: str = ""  # digest of what the ConfigMap holds once this pass is over
    waits: bool = False  # slurmctld has not taken yet what was delivered


@dataclass(frozen=True, slots=True)
class _Made:
    """The files that are wanted now, and what they were made of."""

    resolved: Resolved
    files: Files
    leaving: Retired
    plan: Planned


def decide(world: World, context: Context, settings: Settings, *, may_account: bool) -> Configured:
    """Return what is delivered; `may_account` says that slurmdbd can be spoken to, or need not be."""
    there = world.find(CONFIG_MAP.kind, names.config(context.name))
    unread = [kind for kind in _NEEDED if kind in world.unread]
    unread += database.unread(world, context)
    if unread:
        text = f"{', '.join(unread)} could not be read: what is delivered stays"
        return _kept(world, there, Condition(VALID, "Unknown", "Unknown", text))
    problems: list[Problem] = []
    made = _made(world, context, settings, there, problems)
    if made is None:
        wrong = tuple(str(each) for each in problems)
        return _kept(world, there, _invalid("InvalidSpec", wrong, there))
    wrong = config.errors(config.check(made.resolved, made.files))
    if wrong:
        return _kept(world, there, _invalid("Refused", wrong, there), _refs(made.resolved))
    if not may_account and there is not None and not _accounts(there):
        valid = Condition(VALID, "True", "Valid", "with accounting once slurmdbd answers")
        kept = _kept(world, there, valid, _refs(made.resolved))
        return replace(kept, slurmdbd=made.files.slurmdbd)
    return _delivered(world, context, there, made)


def kept(world: World, valid: Condition) -> Configured:
    """Return that what is delivered stays, for a cluster of which nothing else is known."""
    unread = CONFIG_MAP.kind in world.unread
    name = names.config(name_of(world.cluster or {}))
    return _kept(world, None if unread else world.find(CONFIG_MAP.kind, name), valid)


def _delivered(world: World, context: Context, there: Object | None, made: _Made) -> Configured:
    valid = Condition(VALID, "True", "Valid", f"files {made.files.digest}")
    # it is said once they are written: what is true then
    applied, actions = _applied(world, made.files.digest)
    fresh = _digest(there) == made.files.digest
    return Configured(
        conditions=(valid, applied, _refs(made.resolved), *_places(made.resolved, made.plan)),
        config_map=config.config_map(context, made.files),
        slurmdbd=made.files.slurmdbd,
        # what is about to be replaced is not worth a reconfigure
        slurm=(*made.leaving.drain, *(actions if fresh else ())),
        delivered=made.files.digest,
        waits=not fresh or not applied.holds,
    )


def _made(
    world: World, context: Context, settings: Settings, there: Object | None, problems: list[Problem]
) -> _Made | None:
    """Return the files that are wanted; None, and problems, where they cannot be known."""
    nodesets = _nodesets(world, problems)
    held = {name: str(dig(there or {}, "data", name) or "") for name in ("slurm.conf", "gres.conf")}
    try:
        leaving = retired.retired(world, held["slurm.conf"], settings)
        resolved = cluster.resolve(
            context,
            nodesets,
            leaving.sizes,
            problems,
            dbd_settings=_slurmdbd(world, context, problems),
            retired=leaving.lines,
            gres=held["gres.conf"],
        )
        if problems:
            return None
        plan = _topology(world, context, resolved, settings)
        files = _render(resolved, plan.text)
        if _lacks_password(world, context):
            files = replace(files, slurmdbd="")
        return _Made(resolved, files, leaving, plan)
    except ConfError as error:
        problems.append(Problem(0, 0, "spec", str(error), "write it otherwise"))
        return None


def _nodesets(world: World, problems: list[Problem]) -> list[NodeSet]:
    found = []
    for each in world.nodesets:
        try:
            nodeset = crd.parse(each)
            wrong = list(rules.nodeset_problems(nodeset))
            found.append(nodeset)
        except SpecError as error:
            wrong = list(error.problems)
        problems += [replace(every, at=f"nodesets[{name_of(each)}].{every.at}") for every in wrong]
    return found


def _slurmdbd(world: World, context: Context, problems: list[Problem]) -> tuple[tuple[str, str], ...]:
    if not context.spec.slurm_nodes.accounting.enabled:
        return ()
    password = _password(world, context, problems)
    if context.database != "operated":
        return slurmdbd.settings(context, password, problems)
    host, port = mariadb.host(context)
    return slurmdbd.settings(context, password, problems, Server(host, port, mariadb.USER))


def _password(world: World, context: Context, problems: list[Problem]) -> Password:
    of, name, key = _secret(world, context)
    held = world.find(SECRET.kind, name) if name else None
    if not name or (held is None and of == "mariadbOperator"):
        return Password()
    text = dig(held or {}, "data", key)
    data = base64.b64decode(text) if isinstance(text, str) else None
    return slurmdbd.password_of(data, name, problems, of)


def _secret(world: World, context: Context) -> tuple[str, str, str]:
    """Return whose password slurmdbd needs, and the Secret and key that hold it; "" where it needs none."""
    ref = context.spec.slurm_nodes.accounting.external_db.password_secret_key_ref
    if context.database == "external" and ref is not None:
        return "externalDB", ref.name, ref.key
    if context.database != "operated":
        return "", "", ""
    found = world.find(mariadb.MARIADB.kind, mariadb.name(context.name))
    said = mariadb.password(context, found)
    return "mariadbOperator", said["name"], said["key"]


def _lacks_password(world: World, context: Context) -> bool:
    """Say whether slurmdbd's password is not made yet: its file waits for it."""
    of, name, _ = _secret(world, context)
    return of == "mariadbOperator" and world.find(SECRET.kind, name) is None


def _topology(world: World, context: Context, resolved: Resolved, settings: Settings) -> Planned:
    """Return where the nodes are, as far as labels say."""
    plugin = context.spec.slurm_config.topology_plugin
    return topology.plan(world, resolved.cluster, resolved.runtime.site.retired, plugin, settings)


def _places(resolved: Resolved, plan: Planned) -> tuple[Condition, ...]:
    """Return what is to be said of places: nothing where no nodes share a network of their own."""
    return (plan.condition,) if any(pool.fabric for pool in resolved.cluster.pools) else ()


def _render(resolved: Resolved, text: str) -> Files:
    """Return the files, with the topology that was found unless a checker has something against it."""
    found = config.render(resolved, text)
    if text and config.errors(config.check(resolved, found)):
        return config.render(resolved)
    return found


def _invalid(reason: str, wrong: Sequence[str], there: Object | None) -> Condition:
    kept = "the last good files stay" if there is not None else "nothing is delivered"
    return Condition(VALID, "False", reason, f"{kept}: {some(wrong)}")


def _kept(world: World, there: Object | None, valid: Condition, *others: Condition) -> Configured:
    """Return that what is delivered stays, and that slurmctld is to run with that."""
    applied, actions = _applied(world, _digest(there))
    return Configured(
        (valid, applied, *others), slurm=actions, delivered=_digest(there), waits=not applied.holds
    )


def _applied(world: World, delivered: str) -> tuple[Condition, tuple[Reconfigure, ...]]:
    """Say whether slurmctld runs with what was delivered, and what is to be done where it does not."""
    runs = world.slurm.digest
    if not delivered:
        return Condition(APPLIED, "False", "NotDelivered", "there are no files yet"), ()
    match runs:
        case Found(running) if running == delivered:
            return Condition(APPLIED, "True", "Applied", f"slurmctld runs with {delivered}"), ()
        case Found(running):
            restart = not config.starts_alike(running, delivered)
            how = "has to start anew for" if restart else "has not taken yet"
            text = f"slurmctld runs with {running}, and {how} {delivered}"
            return Condition(APPLIED, "False", "Pending", text), (Reconfigure(delivered, restart),)
        case Absent():
            return Condition(APPLIED, "False", "NotRunning", "slurmctld does not run yet"), ()
        case Unknown(why):
            return Condition(APPLIED, "Unknown", "Unknown", why), ()


def _refs(resolved: Resolved) -> Condition:
    if not resolved.dropped:
        return Condition(RESOLVED, "True", "AllNodeSetRefsResolved", "")
    listed = some(f"partition {name}: NodeSet {ref} has no nodes" for name, ref in resolved.dropped)
    return Condition(RESOLVED, "False", "IgnoredNodeSetRefs", listed)


def _digest(there: Object | None) -> str:
    return str(dig(there or {}, "metadata", "annotations", names.CONFIG) or "")


def _accounts(there: Object) -> bool:
    text = str(dig(there, "data", "slurm.conf") or "")
    return bool(config.conf_value(text, "AccountingStorageType"))
