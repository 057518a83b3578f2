"""Everything that a page shows of a cluster; nothing in it is a judgement of the page's own."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from npa.health.assess import Report
from npa.plan.history import History
from npa.slurm.job_detail import JobDetail
from npa.slurm.lookup import Absent, Found, Lookup, Unknown
from npa.slurm.replies import Rows, SlurmNodeReply
from npa.slurm.usage import PastJob

NOT_READ = Unknown("it was not read")
UNKNOWN_SWITCH = "on which switch is not known"  # a switch for nodes of which nobody says


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes under one name: a pool, a partition or a switch."""

    name: str
    nodes: tuple[str, ...]
    about: str = ""  # what a pool's nodes have, a partition's limits


@dataclass(frozen=True, slots=True)
class Topology:
    """How a cluster is put together."""

    controllers: tuple[str, ...]
    logins: tuple[str, ...]
    others: tuple[str, ...] = ()  # accounting, REST
    pools: tuple[Group, ...] = ()
    partitions: tuple[Group, ...] = ()
    switches: tuple[Group, ...] = ()  # leaves only


@dataclass(frozen=True, slots=True)
class Past:
    """What accounting says of a span of time."""

    since: datetime
    jobs: Rows[PastJob]


@dataclass(frozen=True, slots=True)
class Facts:
    """One cluster, as it was read at one time."""

    name: str
    target: str
    now: datetime
    report: Report
    topology: Topology | None = None  # None: not known
    nodes: Found[Rows[SlurmNodeReply]] | Unknown = NOT_READ
    jobs: Found[Rows[JobDetail]] | Unknown = NOT_READ
    past: Lookup[Past] = NOT_READ  # absent: the cluster keeps no accounts
    history: Lookup[History] = field(default_factory=Absent)  # absent: its target writes none


@dataclass(frozen=True, slots=True)
class Member:
    """A cluster of a fleet: what was read of it, or why nothing was."""

    project: str
    name: str
    target: str
    status: str
    ok: bool
    message: str = ""
    facts: Facts | None = None
