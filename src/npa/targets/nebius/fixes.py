"""Repairs, carried out: read, decide, act, and read again to see that it held."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from npa.errors import KubeError, NpaError
from npa.render.nebius.fix_model import (
    Action,
    All,
    Apply,
    Context,
    Delete,
    Fix,
    One,
    Patch,
    Scontrol,
    Seen,
    SlurmNodes,
    State,
)
from npa.targets.nebius import controller
from npa.targets.nebius.ports import Clock, Deadline, KubeApi

POLL = 15.0

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class FixOutcome:
    """How a repair ended: done, or the last that was known of it."""

    fix: str
    state: State
    why: str
    acted: bool = False
    required: bool = False

    @property
    def ok(self) -> bool:
        """Say whether nothing is left to repair."""
        return self.state == "done"

    @property
    def warning(self) -> str:
        """The outcome in a line for people; "" where it is fine."""
        return "" if self.ok else f"{self.fix}: {self.state}: {self.why}"


def read(kube: KubeApi, fix: Fix) -> Seen:
    """Read what a repair looks at."""
    ones = {
        query: kube.get(query.kind, query.name, query.namespace)
        for query in fix.reads
        if isinstance(query, One)
    }
    lists = {query: kube.list(query.kind, query.namespace) for query in fix.reads if isinstance(query, All)}
    if any(isinstance(query, SlurmNodes) for query in fix.reads):
        return Seen(ones, lists, controller.nodes(kube))
    return Seen(ones, lists)


def act(kube: KubeApi, action: Action) -> None:
    """Change one thing; raises KubeError."""
    match action:
        case Apply(wanted):
            kube.apply(wanted)
        case Patch(target, body, how):
            kube.patch(target.kind, target.name, target.namespace, body, how)
        case Delete(target):
            kube.delete(target.kind, target.name, target.namespace)
        case Scontrol(argv):
            done = controller.on_controller(kube, argv)
            if done.code:
                said = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no output"]
                raise KubeError(f"`{' '.join(argv[:3])}` exited {done.code}: {said[0]}")


def once(kube: KubeApi, fix: Fix, context: Context) -> FixOutcome:
    """Detect, apply where it is needed, and verify by detecting again."""
    verdict = fix.decide(read(kube, fix), context)
    if verdict.state != "needed":
        return FixOutcome(fix.name, verdict.state, verdict.why, required=fix.required)
    try:
        for action in verdict.actions:
            act(kube, action)
    except NpaError as error:
        return FixOutcome(fix.name, "needed", f"{verdict.why}; {error}", required=fix.required)
    after = fix.decide(read(kube, fix), context)
    why = verdict.why if after.state == "done" else after.why
    return FixOutcome(fix.name, after.state, why, acted=True, required=fix.required)


def until_done(
    kube: KubeApi,
    fixes: Sequence[Fix],
    context: Callable[[], Context],
    clock: Clock,
    *,
    timeout: float,
    stop: Callable[[], bool] = lambda: False,
    told: Tell = lambda _: None,
) -> tuple[FixOutcome, ...]:
    """Repeat each repair until it is done or cannot go on, `stop` says so, or the time is over.

    `context` is asked anew for each round, so that each request to reconcile bears a stamp of its own.
    """
    deadline = Deadline(clock, timeout)
    outcomes: dict[str, FixOutcome] = {}
    while True:
        for fix in fixes:
            before = outcomes.get(fix.name)
            if before and (before.ok or before.state == "blocked"):
                continue
            outcome = once(kube, fix, context())
            if before is None or (outcome.state, outcome.why) != (before.state, before.why):
                told(f"{fix.name}: {outcome.state}: {outcome.why}")
            outcomes[fix.name] = outcome
        settled = all(each.ok or each.state == "blocked" for each in outcomes.values())
        if settled or stop() or deadline.left <= 0:
            return tuple(outcomes.values())
        clock.sleep(deadline.cap(POLL))


def unmet(outcomes: Sequence[FixOutcome]) -> tuple[FixOutcome, ...]:
    """Return the required repairs that are not done: between the phases, the apply must not go on."""
    return tuple(each for each in outcomes if each.required and not each.ok)
