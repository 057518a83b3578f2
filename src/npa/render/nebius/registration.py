"""Workers that Slurm lost while they registered: which may be given back, and how; pure.

Only what slurmctld itself marked down is resumed. A node that a person or a check took away stays away.
"""

from __future__ import annotations

from npa.render.nebius.fix_model import SLURM_NAMESPACE, Context, Scontrol, Seen, Verdict
from npa.slurm.lookup import Found, Unknown
from npa.slurm.replies import SlurmNodeReply

_ADDRESS = "{node}.soperator-nodeset-svc." + SLURM_NAMESPACE + ".svc.cluster.local"
# What slurmctld writes itself (node_mgr.c, ping_nodes.c); whatever else stands there is somebody's reason.
_OWN_REASONS = ("Not responding", "Node unexpectedly rebooted")


def address(node: str) -> str:
    """Return the name under which a worker is reached, whatever its pod's address is."""
    return _ADDRESS.format(node=node)


def decide(seen: Seen, context: Context) -> Verdict:
    """Point Slurm at each lost worker's lasting name, and give it back."""
    if isinstance(seen.nodes, Unknown):
        return Verdict("unknown", seen.nodes.why)
    if not isinstance(seen.nodes, Found):
        return Verdict("waiting", "slurmctld is not there yet")
    rows = seen.nodes.value
    if rows.problems:
        return Verdict("unknown", rows.problems[0])
    known = {row.name: row for row in rows}
    absent = [name for name in context.workers if name not in known]
    lost = [known[name] for name in context.workers if name in known and _lost(known[name])]
    actions = tuple(step for row in lost for step in _recover(row))
    if lost:
        why = f"lost: {', '.join(row.name for row in lost)}"
        return Verdict("needed" if actions else "waiting", why, actions)
    if absent:
        return Verdict("waiting", f"not registered: {', '.join(absent)}")
    kept = [name for name in context.workers if known[name].state.base == "DOWN"]
    if kept:
        return Verdict("blocked", f"taken down by somebody, left so: {', '.join(kept)}")
    return Verdict("done", "no worker is lost")


def _lost(row: SlurmNodeReply) -> bool:
    down = row.state.base == "DOWN" or "NOT_RESPONDING" in row.state.flags
    own = not row.reason or row.reason.startswith(_OWN_REASONS)
    held = row.state.flags & {"DRAIN", "POWERED_DOWN", "POWERING_DOWN", "POWERING_UP", "MAINTENANCE"}
    return down and own and not held


def _recover(row: SlurmNodeReply) -> tuple[Scontrol, ...]:
    update = ("scontrol", "update", f"NodeName={row.name}")
    lasting = address(row.name)
    moved = () if row.address == lasting else (Scontrol((*update, f"NodeAddr={lasting}")),)
    # A node that only does not answer yet is not down: Slurm refuses to resume it.
    return (*moved, Scontrol((*update, "State=RESUME"))) if row.state.base == "DOWN" else moved
