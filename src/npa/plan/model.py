"""A Plan: the steps between what is there and what the spec asks for, each with a reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

SCHEMA_VERSION = "npa.soperator.plan/v1"

# What a step does to the world. `wait` changes nothing: it is the point where the next step depends on
# daemons or nodes having come up, or jobs having ended.
Verb = Literal[
    "build", "create", "write", "start", "restart", "reconfigure", "drain", "resume", "stop", "remove", "wait"
]


@dataclass(frozen=True, slots=True)
class JobRef:
    """A job that a step touches."""

    id: str  # as squeue prints it: `12`, `12_3`
    user: str
    name: str
    state: str
    nodes: tuple[str, ...] = ()
    partition: str = ""
    wants: tuple[str, ...] = ()  # nodes that it names itself (`--nodelist`)


@dataclass(frozen=True, slots=True)
class Change:
    """A field of the spec that is not as it was, and what its change does (see `plan.policy`)."""

    kind: str  # cluster, pool, partition, setting, user
    subject: str  # the name of that pool, …
    field: str
    old: str
    new: str
    effect: str
    reason: str


@dataclass(frozen=True, slots=True)
class Step:
    """One change, shown before it is done and done exactly as shown."""

    verb: Verb
    subject: str  # what is changed, in the reader's words: `pool cpu8`, `slurm.conf`, `accounting-0`
    reason: str
    key: str  # what the target looks the step up by; unique in a plan
    nodes: tuple[str, ...] = ()
    jobs: tuple[JobRef, ...] = ()  # running jobs on these nodes
    pending: tuple[JobRef, ...] = ()  # jobs that wait for these nodes and for no others
    kills_jobs: bool = False  # the jobs above end with this step
    diff: str = ""  # unified diff of a file, without secrets


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps in the order they are done; none means that nothing is left to do."""

    cluster: str
    target: str
    steps: tuple[Step, ...]
    changes: tuple[Change, ...] = ()  # of the spec, since it was last deployed
    unchanged: tuple[str, ...] = ()  # what was compared and is as asked, in the reader's words
    notes: tuple[str, ...] = ()  # what this target does not do with the spec, and why

    @property
    def killed_jobs(self) -> tuple[JobRef, ...]:
        """Jobs that would end with this plan, once each."""
        return tuple(dict.fromkeys(job for step in self.steps if step.kills_jobs for job in step.jobs))


@dataclass(frozen=True, slots=True)
class Options:
    """What the caller allows."""

    force: bool = False  # end running jobs wherever a step needs their node
    force_steps: tuple[str, ...] = ()  # keys of the steps that may
    wait_for_jobs: float = 0.0  # seconds that a drain waits for running jobs to end by themselves

    def ends_jobs(self, key: str) -> bool:
        """Say whether this step may end running jobs."""
        return self.force or key in self.force_steps


@dataclass(frozen=True, slots=True)
class Event:
    """What happened while a plan was applied."""

    kind: Literal["started", "progress", "done", "note"]
    step: str  # the step's key, or ""
    message: str
    seconds: float = 0.0
    fraction: float | None = field(default=None)  # of a step that knows how far it is
