"""Why a job waits: every reason that slurmctld gives, what it means and what helps.

The words are those of Slurm's common/job_state_reason.c, 24.11 to 26.05. Those of limits are put together
from parts (`QOS` `Max` `Memory` `PerUser`), and so is what is said of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Who = Literal["nobody", "user", "admin", "unknown"]  # who has to do something; nobody: it starts by itself


@dataclass(frozen=True, slots=True)
class Waiting:
    """One reason to wait."""

    meaning: str
    remedy: str
    who: Who = "nobody"


_HELD = "scontrol release ID"
_STARTS = "wait: it starts by itself"
_CHANGE = "change the job: `scontrol update jobid=ID ...`, or cancel and submit it anew"
_ADMIN = "ask whoever runs the cluster"

_NAMED: dict[str, Waiting] = {
    "": Waiting("slurmctld has not looked at it yet", "wait a few seconds"),
    "None": Waiting("slurmctld has not looked at it yet", "wait a few seconds"),
    "Resources": Waiting("what it asks for is in use", f"{_STARTS} once enough is free, or ask for less"),
    "Priority": Waiting("jobs of a higher priority wait for the same", f"{_STARTS} after them"),
    "Dependency": Waiting("it waits for another job", f"{_STARTS} once its dependency is met"),
    "DependencyNeverSatisfied": Waiting(
        "the job that it depends on ended in the wrong way, so this one never starts",
        "cancel it, or take the dependency away: `scontrol update jobid=ID dependency=`",
        "user",
    ),
    "BeginTime": Waiting(
        "its begin time is still to come, or it was requeued a moment ago", f"{_STARTS} then"
    ),
    "JobHeldUser": Waiting("its user held it", f"let it go: `{_HELD}`", "user"),
    "JobHeldAdmin": Waiting(
        "an administrator, or Slurm after a failed launch, held it",
        f"see why, then `{_HELD}` as an administrator",
        "admin",
    ),
    "JobHoldMaxRequeue": Waiting(
        "it was requeued too often, so it is held: its launch or its prolog fails on every try",
        f"look into the logs of its nodes, then `{_HELD}`",
        "admin",
    ),
    "JobArrayTaskLimit": Waiting(
        "as many tasks of its array run as may at a time",
        f"{_STARTS}, or raise the limit: `scontrol update jobid=ID arraytaskthrottle=...`",
    ),
    "ReqNodeNotAvail": Waiting(
        "a node that it needs is drained, down, reserved or kept for another job",
        "see what is wrong with the node, or let the job run elsewhere",
        "unknown",
    ),
    "NodeDown": Waiting(
        "a node that it needs is down", "bring the node back, or let the job run elsewhere", "admin"
    ),
    "PartitionDown": Waiting("its partition starts no jobs", f"{_ADMIN}, or use another partition", "admin"),
    "PartitionInactive": Waiting(
        "its partition takes no jobs at all", f"{_ADMIN}, or use another partition", "admin"
    ),
    "PartitionNodeLimit": Waiting(
        "it asks for more or fewer nodes than its partition has or lets a job use",
        f"ask for another number, or use another partition: {_CHANGE}",
        "user",
    ),
    "PartitionTimeLimit": Waiting(
        "it asks for more time than its partition allows",
        "shorten it: `scontrol update jobid=ID timelimit=...`, or use another partition",
        "user",
    ),
    "PartitionConfig": Waiting("its partition's settings rule it out", _CHANGE, "user"),
    "BadConstraints": Waiting("no node has what it asks for", _CHANGE, "user"),
    "Constraints": Waiting("no node has what it asks for", _CHANGE, "user"),
    "Licenses": Waiting("the licenses that it asks for are in use", _STARTS),
    "Reservation": Waiting("its reservation has not begun, or is in use", _STARTS),
    "ReservationDeleted": Waiting("its reservation is gone", _CHANGE, "user"),
    "ReservationInvalid": Waiting("its reservation cannot be used", _CHANGE, "user"),
    "MaxMemPerLimit": Waiting(
        "it asks for more memory than MaxMemPerNode or MaxMemPerCPU allow", _CHANGE, "user"
    ),
    "InvalidAccount": Waiting("its account does not exist, or its user is not in it", _CHANGE, "user"),
    "InvalidQOS": Waiting("its QOS does not exist", _CHANGE, "user"),
    "AccountNotAllowed": Waiting("its account may not use the partition", _CHANGE, "user"),
    "QOSNotAllowed": Waiting("its QOS may not be used by its account or partition", _CHANGE, "user"),
    "AccountingPolicy": Waiting("a limit of accounting stands in its way", _ADMIN, "admin"),
    "QOSUsageThreshold": Waiting("its account has used too much for the QOS", "wait until that decays"),
    "QOSJobLimit": Waiting("as many jobs of its QOS run as may", _STARTS),
    "QOSResourceLimit": Waiting(
        "the QOS's resources are in use, or it asks for too many", _CHANGE, "unknown"
    ),
    "QOSTimeLimit": Waiting("it asks for more time than its QOS allows", _CHANGE, "user"),
    "AssociationJobLimit": Waiting("as many jobs of its account run as may", _STARTS),
    "AssociationResourceLimit": Waiting(
        "its account's resources are in use, or it asks for too many", _CHANGE, "unknown"
    ),
    "AssociationTimeLimit": Waiting("it asks for more time than its account allows", _CHANGE, "user"),
    "Prolog": Waiting("its prolog runs", _STARTS),
    "Cleaning": Waiting("it was requeued, and its last run is still being cleaned up", _STARTS),
    "SchedDefer": Waiting("it asked to start at once, and scheduling is deferred", _STARTS),
    "JobLaunchFailure": Waiting(
        "it could not be launched: a node's slurmd, the user's account there or its files",
        "look into the logs of its nodes, then `scontrol requeue ID`",
        "admin",
    ),
    "SystemFailure": Waiting("Slurm failed it", "read slurmctld's log", "admin"),
    "BurstBufferResources": Waiting("the burst buffer is full", _STARTS),
    "BurstBufferStageIn": Waiting("its files are being staged in", _STARTS),
    "BurstBufferOperation": Waiting("its burst buffer failed", _ADMIN, "admin"),
    "FrontEndDown": Waiting("no front end is up", _ADMIN, "admin"),
    "FedJobLock": Waiting("the clusters of the federation agree on who runs it", _STARTS),
    "PowerNotAvail": Waiting("there is too little power", _STARTS),
    "PowerReserved": Waiting("the power is reserved", _STARTS),
    "DeadLine": Waiting("it can no longer meet its deadline", _CHANGE, "user"),
}

_LIMIT = re.compile(
    r"(?:(?P<whose>QOS|Assoc)(?P<kind>Grp|Max|Min)|Max)"
    r"(?P<what>SubmitJobs?|Jobs|WallDuration|Wall|Cpu|CPU|Memory|Mem|Node|GRES|License|BB|Billing|Energy|Unknown)"
    r"(?P<minutes>RunMinutes|RunMins|Minutes)?"
    r"(?P<per>PerJob|PerNode|PerUser|PerAccount)?(?:Limit|NotSatisfied)?"
)
_WHAT = {
    "cpu": "CPUs", "mem": "memory", "memory": "memory", "node": "nodes", "gres": "GPUs or other GRES",
    "license": "licenses", "bb": "burst buffer", "billing": "billing units", "energy": "energy",
    "unknown": "of some resource", "jobs": "jobs at a time", "submitjob": "submitted jobs",
    "submitjobs": "submitted jobs", "wall": "time", "wallduration": "time",
}  # fmt: skip


def explain(reason: str) -> Waiting:
    """Return what a reason means; one that is not known says so."""
    if reason in _NAMED:
        return _NAMED[reason]
    found = _LIMIT.fullmatch(reason)
    if found is None:
        return Waiting(f"slurmctld says {reason!r}, which this version does not know", _ADMIN, "unknown")
    return _limit(found)


def _limit(found: re.Match[str]) -> Waiting:
    """Return what a limit of a QOS, an account or a user means."""
    per = found["per"] or ""
    group = {"QOS": "QOS", "Assoc": "account", None: "account"}[found["whose"]]
    what = _WHAT[found["what"].lower()] + (" times minutes" if found["minutes"] else "")
    look = f"the limits: `sacctmgr show {'qos' if found['whose'] == 'QOS' else 'assoc'}`"
    if found["kind"] == "Min":
        return Waiting(
            f"it asks for fewer {what} than its {group} wants of a job", f"ask for more; {look}", "user"
        )
    if per in ("PerJob", "PerNode"):
        where = "a job" if per == "PerJob" else "a job on one node"
        return Waiting(
            f"it asks for more {what} than its {group} lets {where} have", f"ask for less; {look}", "user"
        )
    whose = {"PerUser": "its user's jobs", "PerAccount": "its account's jobs"}.get(
        per, f"the jobs of its {group}"
    )
    if found["minutes"] == "Minutes":
        return Waiting(
            f"{whose} have used up their {what}",
            f"wait until that decays, or have it raised; {look}",
            "admin",
        )
    return Waiting(f"{whose} have all the {what} that they may", f"{_STARTS} once some end; {look}")
