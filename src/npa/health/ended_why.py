"""How a job ended, and why: its state, exit code and signal put into words."""

from __future__ import annotations

import signal

from npa.health import explain as words
from npa.health.explain import Cause, Place, Verdict
from npa.slurm import quantity
from npa.slurm.job_detail import JobDetail
from npa.slurm.lookup import Found, Lookup
from npa.slurm.quantity import UNLIMITED
from npa.slurm.replies import SlurmNodeReply
from npa.slurm.wire import ExitCode

Told = tuple[Verdict, str, tuple[Cause, ...], str]  # verdict, summary, causes, next command

_OOM_SIGNAL = 125  # SIG_OOM of slurm.h
_SHELL = 128  # a shell's exit status for a command that a signal ended: 128 + the signal
_STATUSES = {
    126: "a command was found and may not be run",
    127: "a command was not found",
}


def explain(
    job: JobDetail, place: Place, nodes: Lookup[tuple[SlurmNodeReply, ...]], *, accounting: bool
) -> Told:
    """Return how a job ended."""
    base = job.job.state.base
    look = place.slurm(f"sacct -j {job.job.id} --format=JobID,State,ExitCode,MaxRSS,ReqMem,NodeList")
    if not accounting:
        look = place.slurm(f"scontrol show job {job.job.number}")
    if base == "COMPLETED":
        return "fine", f"completed, {exit_words(job.job.exit_code)}", (), look
    cause = _PLAIN.get(base) or _RULES.get(base, _failed)(job, nodes)
    verdict: Verdict = "fine" if base == "CANCELLED" else "action"
    named = cause.command.replace("CLUSTER", place.cluster)
    written = place.read(job.output) if base == "FAILED" and _is_path(job.output) else ""
    shown = base.lower().replace("_", " ")
    causes = (cause,) if cause.evidence or cause.remedy else ()
    return verdict, f"{shown}: {cause.what}", causes, named or written or look


def _is_path(output: str) -> bool:
    """Say whether a job's output can be read there: older versions leave `%j` in it."""
    return output.startswith("/") and output != "/dev/null" and "%" not in output


def exit_words(code: ExitCode | None) -> str:
    """Return an exit code in words."""
    if code is None:
        return "exit code not known"
    if code.signal:
        return f"ended by signal {code.signal} ({_signal(code.signal)})"
    if code.code > _SHELL:
        number = code.code - _SHELL
        return f"exit code {code.code}: a command was ended by signal {number} ({_signal(number)})"
    told = _STATUSES.get(code.code)
    return f"exit code {code.code}: {told}" if told else f"exit code {code.code}"


def _signal(number: int) -> str:
    if number == _OOM_SIGNAL:
        return "out of memory"
    try:
        return signal.Signals(number).name
    except ValueError:
        return "no signal that is known"


def _failed(job: JobDetail, _: Lookup[tuple[SlurmNodeReply, ...]]) -> Cause:
    where = f"read what it wrote: {job.output}" if job.output else "read what it wrote"
    reason = (f"slurmctld says: {job.job.reason}",) if job.job.reason else ()
    return Cause(exit_words(job.job.exit_code), reason, where)


def _out_of_memory(job: JobDetail, _: Lookup[tuple[SlurmNodeReply, ...]]) -> Cause:
    asked = job.request.memory_per_node or job.request.memory_per_cpu
    per = "node" if job.request.memory_per_node else "CPU"
    limit = (
        f"it asked for {words.memory(asked)} on each {per}" if asked else "it did not say how much it needs"
    )
    return Cause(
        "the kernel ended it when it took more memory than it asked for",
        (limit, exit_words(job.job.exit_code)),
        "ask for more with `--mem` or `--mem-per-cpu`: MaxRSS of `sacct` is the most that it had",
    )


def _timeout(job: JobDetail, _: Lookup[tuple[SlurmNodeReply, ...]]) -> Cause:
    limit = job.job.time_limit
    told = "" if limit is None or limit is UNLIMITED else f" of {quantity.format_time(limit * 60)}"
    return Cause(
        f"Slurm ended it at its time limit{told}",
        (),
        "ask for more with `--time`; `--signal=B:USR1@120` tells it two minutes before, to save its state",
    )


def _node_fail(job: JobDetail, nodes: Lookup[tuple[SlurmNodeReply, ...]]) -> Cause:
    there = {node.name: node for node in nodes.value} if isinstance(nodes, Found) else {}
    bad = [name for name in job.job.nodes if name in there and _bad(there[name])]
    named = [job.failed_node] if job.failed_node else bad
    evidence = tuple(_now(there[name]) for name in named if name in there)
    what = f"its node {', '.join(named)} failed" if named else "one of its nodes failed"
    first = next(iter(named or job.job.nodes), "")
    command = f"npa soperator explain-node {first} --cluster CLUSTER" if first else ""
    return Cause(what, evidence, "see what is wrong with the node; submit the job anew", command)


def _now(node: SlurmNodeReply) -> str:
    return f"{node.name} is {str(node.state).lower()} now" + (f": {node.reason}" if node.reason else "")


def _bad(node: SlurmNodeReply) -> bool:
    return node.state.base == "DOWN" or "NOT_RESPONDING" in node.state.flags


def _cancelled(job: JobDetail, _: Lookup[tuple[SlurmNodeReply, ...]]) -> Cause:
    when = "" if job.job.nodes else " before it started"
    evidence = [] if job.cancelled_by else ["only accounting keeps who it was"]
    if job.job.reason and not job.job.nodes:
        evidence.append(f"it waited because of {job.job.reason}")
    return Cause(f"by {job.cancelled_by or 'somebody'}{when}", tuple(evidence))


def _boot_fail(job: JobDetail, _: Lookup[tuple[SlurmNodeReply, ...]]) -> Cause:
    return Cause(
        f"its nodes did not start: {words.names(job.job.nodes)}", (), "see why the nodes do not start"
    )


_PLAIN = {
    "PREEMPTED": Cause("a job of a higher priority took its nodes", (), "submit it anew, with `--requeue`"),
    "DEADLINE": Cause("it could no longer end before its deadline", (), "give it a later `--deadline`"),
}
_RULES = {
    "OUT_OF_MEMORY": _out_of_memory,
    "TIMEOUT": _timeout,
    "NODE_FAIL": _node_fail,
    "CANCELLED": _cancelled,
    "BOOT_FAIL": _boot_fail,
}
