"""What a change of each field does to a cluster that runs jobs: one table, with the reason of each row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

# hot          nothing that runs notices
# reconfigure  slurmctld reads its files anew, or starts anew; jobs go on
# drain        the nodes are drained first, then replaced or removed; their jobs end before
# recreate     the whole cluster would have to be made again
# refuse       there is no safe way from the one to the other
Effect = Literal["hot", "reconfigure", "drain", "recreate", "refuse"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A row of the table."""

    effect: Effect
    reason: str


_NODE_TABLE = "slurmctld's table of nodes changes, which a reconfigure replaces under running jobs"
_FILES = "slurmctld reads it from its files"

TABLE: dict[tuple[str, str], Rule] = {
    ("cluster", "target"): Rule("refuse", "a cluster does not move between targets"),
    ("cluster", "slurm_version"): Rule(
        "refuse", "the jail and slurmctld's state are of the Slurm they began with"
    ),
    ("cluster", "region"): Rule("hot", "only a cloud reads it"),
    ("cluster", "accounting"): Rule(
        "reconfigure", "slurmctld starts anew with or without slurmdbd; jobs go on"
    ),
    ("cluster", "rest"): Rule("hot", "slurmrestd is a client of slurmctld"),
    ("cluster", "controllers"): Rule("reconfigure", "slurmctld starts anew; jobs go on without it"),
    ("cluster", "logins"): Rule("hot", "jobs run on workers"),
    ("cluster", "root_keys"): Rule("hot", "sshd reads keys at each login"),
    ("pool", "added"): Rule("reconfigure", _NODE_TABLE),
    ("pool", "removed"): Rule("drain", "its nodes go away, and with them what runs on them"),
    ("pool", "grown"): Rule("reconfigure", _NODE_TABLE),
    ("pool", "shrunk"): Rule("drain", "the nodes with the highest numbers go away"),
    ("pool", "machine"): Rule("drain", "a node cannot change its size under running jobs"),
    ("pool", "features"): Rule("reconfigure", _FILES),
    ("pool", "fabric"): Rule("reconfigure", "the topology is in slurmctld's files"),
    ("pool", "platform"): Rule("hot", "what Slurm sees of it is the machine"),
    ("pool", "preset"): Rule("hot", "what Slurm sees of it is the machine"),
    ("pool", "capacity"): Rule("hot", "only a cloud knows capacity modes"),
    ("pool", "ephemeral"): Rule("drain", "static and elastic nodes start and end differently"),
    ("pool", "origin"): Rule("hot", "a name in the spec"),
    ("partition", "added"): Rule("reconfigure", _FILES),
    ("partition", "removed"): Rule(
        "reconfigure", "its pending jobs are refused by slurmctld, its running ones go on"
    ),
    ("partition", "changed"): Rule("reconfigure", _FILES),
    ("partition", "order"): Rule("reconfigure", "sinfo lists partitions in this order"),
    ("setting", "changed"): Rule("reconfigure", _FILES),
    ("user", "added"): Rule("hot", "an account is made in the jail"),
    ("user", "removed"): Rule("hot", "the keys go; the account and its files stay in the jail"),
    ("user", "uid"): Rule("refuse", "the files in the jail belong to the old number"),
    ("user", "ssh_public_keys"): Rule("hot", "sshd reads keys at each login"),
}

# slurmctld reads these once, when it starts (slurm.conf(5) says so key by key; scontrol(1), `reconfigure`).
RESTART_KEYS = frozenset(
    {
        "accountingstoragehost",
        "accountingstoragetype",
        "acctgatherenergytype",
        "authtype",
        "credtype",
        "maxnodecount",
        "metricstype",
        "preempttype",
        "prioritytype",
        "proctracktype",
        "schedulertype",
        "selecttype",
        "slurmctldhost",
        "statesavelocation",
        "switchtype",
        "taskplugin",
        "topologyplugin",
    }
)


def rule(kind: str, field: str) -> Rule:
    """Return the row of a field; what is not in the table is refused, never guessed."""
    return TABLE.get((kind, field), Rule("refuse", "this version does not know what the change would do"))


def needs_restart(keys: Iterable[str]) -> bool:
    """Say whether a change of these slurm.conf keys reaches slurmctld only when it starts anew."""
    return not RESTART_KEYS.isdisjoint(key.lower() for key in keys)
