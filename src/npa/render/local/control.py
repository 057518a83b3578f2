"""The steps of the control plane: what starts, and who reads its files anew, and in which way; pure."""

from __future__ import annotations

from collections.abc import Iterator

from npa.cluster.model import ACCOUNTING, CONTROLLER
from npa.plan import policy
from npa.plan.model import Step
from npa.render.local import changes
from npa.render.local.changes import Changes
from npa.render.local.desired import Desired
from npa.render.local.world import World


def steps(desired: Desired, found: Changes, world: World) -> Iterator[Step]:
    """Yield the steps of all nodes that are no workers, in the order of starting."""
    starting = {node.name for node in (*found.start, *found.replace)}
    restarts = _restarts(desired, found, world)
    unread = _unread(desired, world, "slurmctld")
    workers, first = set(desired.cluster.workers), desired.cluster.controllers[0]
    anew = first in starting or (first, "slurmctld") in restarts
    in_control = _in_control(desired, found, world) if anew else ()
    for name in in_control:
        yield _restart(name, ("slurmctld",), "writes its state down before the first one reads it")
    restarts = tuple(each for each in restarts if each[0] not in in_control)
    for node in desired.nodes:
        if node.name in workers:
            continue
        role = node.name.rpartition("-")[0]
        daemons = ", ".join(process.name for process in node.processes)
        ours = tuple(daemon for name, daemon in restarts if name == node.name)
        if node.name in starting:
            yield Step("start", node.name, daemons, f"start:{node.name}", (node.name,))
        elif ours:
            yield _restart(node.name, ours, _why(node.name, ours, found))
        if role in (ACCOUNTING, CONTROLLER) and (node.name in starting or ours):
            yield Step("wait", node.name, "until it answers", f"wait:{node.name}", (node.name,))
    if unread and not anew:
        yield Step("reconfigure", "slurmctld", "its files change", "reconfigure")
    elif unread and any(node.name in workers for node in found.keep):
        yield Step("reconfigure", "slurmd", "it reads the changed files, too", "reconfigure")


def _in_control(desired: Desired, found: Changes, world: World) -> tuple[str, ...]:
    """Return the controllers that may be in control while the first one's slurmctld does not run.

    Asked by the first one to step back, slurmctld needs half a minute to end its threads and lets the other
    one read its state before it has written it; asked to end, it writes it at once.
    """
    first, *others = desired.cluster.controllers
    running = world.nodes.get(first)
    if running and "slurmctld" in running.daemons:
        return ()
    dead = {node for node, daemon in found.daemons if daemon == "slurmctld"}
    kept = {node.name for node in found.keep}
    return tuple(name for name in others if name in kept and name not in dead)


def _why(node: str, daemons: tuple[str, ...], found: Changes) -> str:
    dead = {daemon for name, daemon in found.daemons if name == node}
    return "not running" if dead.issuperset(daemons) else "reads its changed settings only when it starts"


def _restart(node: str, daemons: tuple[str, ...], why: str) -> Step:
    subject = f"{', '.join(daemons)} on {node}"
    return Step("restart", subject, why, f"restart:{node}:{','.join(daemons)}", (node,))


def _restarts(desired: Desired, found: Changes, world: World) -> tuple[tuple[str, str], ...]:
    """Return (node, daemon) of the control plane that must start anew, among those on running nodes."""
    cluster, running = desired.cluster, {node.name for node in found.keep}
    workers = set(cluster.workers)
    wanted = [each for each in found.daemons if each[0] not in workers]
    if cluster.accounting and _unread(desired, world, "slurmdbd"):
        wanted.append((cluster.accounting_node, "slurmdbd"))
    if _unread(desired, world, "slurmctld") and _reads_at_start(desired, found, world):
        wanted += [(node, "slurmctld") for node in cluster.controllers]
    return tuple(dict.fromkeys(each for each in wanted if each[0] in running))


def _unread(desired: Desired, world: World, daemon: str) -> bool:
    """Say whether a daemon's files are not those that it last read, written already or not."""
    return world.record is not None and world.record.loaded.get(daemon) != desired.reads(daemon)


def _reads_at_start(desired: Desired, found: Changes, world: World) -> bool:
    """Say whether slurmctld must start anew: for what it reads once, or where the old text is gone."""
    path = f"{desired.layout.daemons_etc}/slurm.conf"
    old = world.files.get(path)
    written = [each for each in (*found.write, *found.delete) if desired.is_read(each, "slurmctld")]
    if old is None or not written:
        return True
    new = next(file.text for file in desired.files if file.path == path)
    return policy.needs_restart(changes.changed_keys(old, new))
