"""May this node be drained, may it be given back: the rules, without reading or writing anything.

Whoever acts reads the node again right before, and asks with what it read: the reason may have become
somebody else's since.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

from npa.slurm import reasons
from npa.slurm.lookup import Found, Lookup
from npa.slurm.replies import SlurmNodeReply
from npa.slurm.states import NodeState

Verdict = Literal["ok", "fail", "unknown"]  # of a check; unknown: it could not tell
Reboot = Literal["", "asked", "under way", "overdue"]

REBOOT_DEADLINE = timedelta(minutes=30)  # within which a node has booted

_REBOOTING = frozenset({"REBOOT_REQUESTED", "REBOOT_ISSUED"})


def may_resume(observed: Lookup[SlurmNodeReply], reason: str) -> bool:
    """Say whether a drain may be undone by who set exactly this reason.

    Only where the node was found, is drained still, does not reboot, and bears that reason to the letter: a
    reason that was edited, emptied or appended to is no longer only ours.
    """
    return (
        isinstance(observed, Found)
        and not observed.value.state.unknown
        and "DRAIN" in observed.value.state.flags
        and not observed.value.state.flags & _REBOOTING
        and bool(reason)
        and observed.value.reason == reason
    )


def may_resume_ours(observed: Lookup[SlurmNodeReply]) -> bool:
    """Say whether a drain that npa set some time ago may be undone, whatever npa set it for."""
    if not isinstance(observed, Found) or not reasons.ours(observed.value.reason):
        return False
    parsed = reasons.parse(observed.value.reason)
    return not parsed.also and may_resume(observed, observed.value.reason)


def after_check(
    verdict: Verdict, base: str, observed: Lookup[SlurmNodeReply], checked_at: datetime
) -> Literal["nothing", "drain", "resume"]:
    """Return what a check's verdict does to a node; `base` is how the check's own reasons begin.

    A check that cannot tell does nothing. A passed check gives back only what it took itself, and only where
    it ran on the node as it is now started.
    """
    if verdict == "unknown" or not isinstance(observed, Found) or observed.value.state.unknown:
        return "nothing"
    node = observed.value
    if verdict == "fail":
        return "nothing" if "DRAIN" in node.state.flags else "drain"
    if not reasons.of_check(node.reason, base) or not may_resume(observed, node.reason):
        return "nothing"
    if node.boot_time is not None and checked_at < node.boot_time:
        return "nothing"
    return "resume"


def verdict(exit_status: int) -> Verdict:
    """Return what a check's exit status says: 1 alone is a failure.

    A tool that is missing (127), may not be run (126), timed out (124) or was killed (negative, or over 128)
    cannot tell.
    """
    return {0: "ok", 1: "fail"}.get(exit_status, "unknown")  # type: ignore[return-value]


def blind(verdicts: int, unknown: int, percent: int = 20) -> bool:
    """Say whether so many nodes' checks cannot tell that it is one alert of the cluster, not of each node."""
    return unknown * 100 > verdicts * percent


def reboot(
    state: NodeState, since: datetime | None, now: datetime, deadline: timedelta = REBOOT_DEADLINE
) -> Reboot:
    """Return how far a reboot through Slurm is; `since` is when its reason was set.

    A node that reboots is down or drained by design: it is neither unhealthy nor to be given back, until the
    deadline has passed.
    """
    if not state.flags & _REBOOTING:
        return ""
    if "REBOOT_ISSUED" not in state.flags:
        return "asked"  # it waits for its jobs, however long they take
    return "overdue" if since is not None and now - since > deadline else "under way"
