"""An Explanation: why a node or a job is as it is, what shows it, and what to do; for people and as JSON."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from npa.slurm import hostlist, quantity

NODE_SCHEMA = "npa.soperator.explain-node/v1"
JOB_SCHEMA = "npa.soperator.explain-job/v1"

DEPLOY = "npa soperator deploy --target local --spec cluster.yaml"

# fine: nothing to explain away · waits: it goes on by itself · action: somebody has to do something ·
# unknown: what would tell could not be read
Verdict = Literal["fine", "waits", "action", "unknown"]


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason for what is seen."""

    what: str
    evidence: tuple[str, ...] = ()
    remedy: str = ""
    command: str = ""  # what does it, or looks into it


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a node or a job is as it is."""

    subject: str  # `node cpu-1`, `job 12_3`
    cluster: str
    verdict: Verdict
    state: str
    summary: str
    causes: tuple[Cause, ...] = ()  # the first counts most
    facts: tuple[tuple[str, str], ...] = ()
    log: tuple[str, ...] = ()  # the last lines of the daemons' logs that are about it
    unread: tuple[str, ...] = ()  # reads that failed, in words
    next_command: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where commands about a cluster are run."""

    cluster: str
    controller: str = "controller-0"
    login: str = "login-0"

    def slurm(self, command: str) -> str:
        """Return the command line that runs one of Slurm's commands."""
        return f"npa soperator exec {self.controller} --cluster {self.cluster} -- {command}"

    def read(self, path: str) -> str:
        """Return the command line that shows the end of a user's file."""
        return f"npa soperator exec {self.login} --cluster {self.cluster} -- tail -n 40 {shlex.quote(path)}"

    def resume(self, node: str) -> str:
        """Return the command line that gives a drained or down node back."""
        return self.slurm(f"scontrol update nodename={node} state=resume")

    def logs(self, node: str = "") -> str:
        """Return the command line that shows a node's logs; without a node slurmctld's."""
        return f"npa soperator logs {node or self.controller} --cluster {self.cluster}"


def text(explanations: Sequence[Explanation]) -> str:
    """Return the explanations as lines; each ends by naming the next command."""
    return "\n".join("\n".join(_lines(each)) for each in explanations) + "\n"


def to_dict(schema: str, explanations: Sequence[Explanation]) -> dict[str, Any]:
    """Return the explanations as JSON has them, lists for tuples included."""
    plain: list[dict[str, Any]] = json.loads(json.dumps([asdict(each) for each in explanations]))
    for each in plain:
        each["facts"] = dict(each["facts"])
    return {"schema_version": schema, "explanations": plain}


def _lines(found: Explanation) -> Iterator[str]:
    yield _plain(f"{found.subject}: {found.summary}")
    width = max((len(name) for name, _ in found.facts), default=0)
    for name, value in found.facts:
        yield _plain(f"  {name.ljust(width)}  {value}", keep=width + 4)
    for cause in found.causes:
        yield _plain(f"cause: {cause.what}")
        yield from (_plain(f"  {line}", keep=2) for line in cause.evidence)
        if cause.remedy:
            yield _plain(f"hint: {cause.remedy}")
    if found.log:
        yield "log:"
        yield from (_plain(f"  {line}", keep=2) for line in found.log)
    yield from (_plain(f"unknown: {line}") for line in found.unread)
    if found.next_command:
        yield f"next: {found.next_command}"


def _plain(line: str, keep: int = 0) -> str:
    """Return other people's text as one line; the first characters are our own columns."""
    return (line[:keep] + " ".join(line[keep:].split())).rstrip()


def moment(when: datetime | None, now: datetime) -> str:
    """Return a moment as people and programs read it, and how long ago it is or how far away."""
    if when is None:
        return "not known"
    seconds = int((now - when).total_seconds())
    said = f"in {_span(-seconds)}" if seconds < 0 else f"{_span(seconds)} ago"
    return f"{when.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ} ({said})"


def _span(seconds: int) -> str:
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def memory(mib: int) -> str:
    """Return an amount of memory in the unit that people would use: `16G`, `50M`, `1.5G`."""
    exact = quantity.format_memory(quantity.Memory(mib))
    return exact if not exact.endswith("M") or mib < 10_240 else f"{mib / 1024:.1f}G"


def names(nodes: Sequence[str]) -> str:
    """Return node names as Slurm writes them."""
    return hostlist.compress(hostlist.ordered(nodes)) if nodes else "none"
