"""What a node's state and reason in Slurm mean: one rule for each."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from npa.health.explain import DEPLOY, Cause, Place, moment
from npa.slurm import drains, reasons, slurm_reasons
from npa.slurm.reasons import Reason
from npa.slurm.replies import SlurmNodeReply

POWER = frozenset({"POWERED_DOWN", "POWERING_UP", "POWERING_DOWN", "POWER_UP"})
# flags that go away without anybody doing anything
BY_THEMSELVES = POWER | {"MAINT", "BLOCKED", "NOT_RESPONDING"}

_FLAGS = {
    "POWERED_DOWN": ("it is powered down to save power", "wait: a job that needs it powers it up"),
    "POWERING_DOWN": ("it is being powered down", "wait: a job that needs it powers it up afterwards"),
    "POWER_DOWN": ("it is about to be powered down", "wait: a job that needs it powers it up afterwards"),
    "POWER_DRAIN": ("it is powered down once its jobs have ended", "wait"),
    "MAINT": ("a maintenance reservation holds it", "wait until the reservation ends: `scontrol show res`"),
    "BLOCKED": ("another job has the topology block that it is in to itself", "wait until that job ends"),
    "DYNAMIC_FUTURE": ("it is only reserved for a node to come", "start a slurmd that registers as it"),
}
_CHECK_REMEDY = {
    "user_problem": "remove what a user left (processes, files), then the check gives it back by itself",
    "node_problem": "let the machine be replaced or repaired; the check's owner gives it back",
    "hardware_problem": "let the machine be replaced or repaired",
    "node_replacement": "wait: the machine is being replaced",
    "maintenance": "wait: the machine is being replaced or rebooted, and given back afterwards",
}


def causes(node: SlurmNodeReply, now: datetime, place: Place) -> Iterator[Cause]:
    """Yield why a node that Slurm knows takes no jobs; nothing for one that does."""
    flags = node.state.flags
    if node.state.unknown and "INVAL" not in flags:
        yield Cause("Slurm does not tell its state", (f"flags: {', '.join(sorted(flags)) or 'none'}",))
        return
    reboot = drains.reboot(node.state, node.reason_changed_at, now)
    if reboot:
        yield _rebooting(node, reboot, now, place)
        return
    if "DRAIN" in flags or "FAIL" in flags:
        yield _drained(node, now, place)
    elif node.state.base in ("DOWN", "ERROR"):
        yield _down(node, now, place)
    elif "INVAL" in flags:
        yield Cause(
            "it registered with less than slurm.conf says of it",
            said(node, now),
            command=place.logs(node.name),
        )
    if "NOT_RESPONDING" in flags and reasons.parse(node.reason).kind != "not_responding":
        yield Cause(
            "slurmctld has had no answer from its slurmd yet",
            ("it is asked again all the time, and counts as down after SlurmdTimeout",),
            "wait a few seconds where it was started or resumed just now; else see that the network works",
            place.logs(node.name),
        )
    if node.state.base == "FUTURE":
        yield Cause("it has never registered", (), "start its slurmd", place.logs(node.name))
    yield from (Cause(what, (), remedy) for flag, (what, remedy) in _FLAGS.items() if flag in flags)


def _rebooting(node: SlurmNodeReply, reboot: drains.Reboot, now: datetime, place: Place) -> Cause:
    if reboot == "asked":
        what, remedy = "somebody asked Slurm to reboot it, once its jobs have ended", "wait"
    elif reboot == "under way":
        what, remedy = "it reboots, as Slurm was asked to", "wait until it is back and its checks have passed"
    else:
        return Cause(
            "it was rebooted and has not come back in time",
            said(node, now),
            "look at its console and start it, then give it back",
            place.resume(node.name),
        )
    return Cause(what, said(node, now), remedy)


def _drained(node: SlurmNodeReply, now: datetime, place: Place) -> Cause:
    """Say who drained it: what helps depends on that."""
    parsed = reasons.parse(node.reason, node.reason_user)
    evidence = said(node, now)
    who = node.reason_user or "somebody"
    match parsed.owner:
        case "npa":
            what = f"npa drained it: {parsed.text.removeprefix(reasons.PREFIX)}"
            remedy = "deploy the same spec again: it goes on with what it began, or gives the node back"
            return Cause(what, evidence, remedy, DEPLOY)
        case "soperator":
            check = f"Soperator's check {parsed.check}" if parsed.check else "Soperator"
            return Cause(f"{check} drained it", evidence, _CHECK_REMEDY[parsed.kind], place.logs(node.name))
        case "slurm":
            return _by_slurm(node, parsed, evidence, place)
        case "nobody":
            what = f"{who} drained it and did not say why"
        case _:
            what = f"{who} drained it"
    remedy = "it is theirs to give back; once the cause is gone, resume it"
    return Cause(what, evidence, remedy, place.resume(node.name))


def _down(node: SlurmNodeReply, now: datetime, place: Place) -> Cause:
    parsed = reasons.parse(node.reason, node.reason_user)
    if parsed.owner == "slurm":
        return _by_slurm(node, parsed, said(node, now), place)
    who = f"{node.reason_user or 'somebody'} set it down" if parsed.owner == "person" else "it is down"
    return Cause(who, said(node, now), "once the cause is gone, resume it", place.resume(node.name))


def _by_slurm(node: SlurmNodeReply, parsed: Reason, evidence: tuple[str, ...], place: Place) -> Cause:
    known = slurm_reasons.find(parsed.text)
    assert known is not None  # or the reason would not be Slurm's
    command = place.logs(node.name) if known.heals else place.resume(node.name)
    return Cause(known.meaning, evidence, known.remedy, command)


def said(node: SlurmNodeReply, now: datetime) -> tuple[str, ...]:
    """Return the reason to the letter, and who set it when."""
    parsed = reasons.parse(node.reason, node.reason_user)
    if not parsed.text:
        return ("no reason was given",)
    lines = [f"reason: {parsed.text}"]
    if node.reason_user or node.reason_changed_at:
        lines.append(f"set by {node.reason_user or 'unknown'} at {moment(node.reason_changed_at, now)}")
    lines += [f"slurmctld added since: {more}" for more in parsed.also]
    return tuple(lines)
