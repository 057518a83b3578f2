"""When each repair runs: before Slurm is applied, beside that, and after it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import yaml

from npa.errors import KubeError, NpaError, UsageError
from npa.render.nebius import fixes as known
from npa.render.nebius.fix_model import Context, Fix
from npa.render.objects import Object
from npa.targets.nebius import fixes, worker_checks
from npa.targets.nebius.ports import Clock, KubeApi

PREREQUISITES = 300.0  # seconds
BESIDE = 86_400.0  # as long as the apply takes
AFTER = 1200.0
JOIN = 120.0  # seconds for the calls that are under way to end

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Repairs:
    """What the repairs of one cluster need."""

    kube: KubeApi
    chart: str
    workers: tuple[str, ...]
    clock: Clock
    told: Tell

    def context(self, crds: Mapping[str, Object] | None = None) -> Context:
        """Return a context with a stamp of its own."""
        return Context(datetime.now(UTC).isoformat(), self.workers, crds or {})

    def applicable(self, fixed: tuple[Fix, ...]) -> tuple[Fix, ...]:
        """Return those that this version of the chart needs."""
        return known.applicable(fixed, self.chart)


def prerequisites(repairs: Repairs, definitions: Path | None) -> None:
    """Make what the charts need before they are applied; raises KubeError where it cannot be made."""
    crds = load_definitions(definitions)
    outcomes = fixes.until_done(
        repairs.kube,
        repairs.applicable(known.MONITORING_FIXES),
        lambda: repairs.context(crds),
        repairs.clock,
        timeout=PREREQUISITES,
        told=repairs.told,
    )
    if lacking := fixes.unmet(outcomes):
        raise KubeError(
            "; ".join(each.warning for each in lacking),
            hint="correct it and run the same deploy again",
        )


def load_definitions(path: Path | None) -> Mapping[str, Object]:
    """Return the prometheus operator's definitions in a file of YAML documents."""
    if path is None:
        return {}
    try:
        documents = list(yaml.safe_load_all(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(
            f"{path}: cannot be read as YAML", hint="give a file that holds the definitions"
        ) from error
    return known.given(iter(documents))


@contextlib.contextmanager
def beside(repairs: Repairs) -> Iterator[Callable[[], tuple[str, ...]]]:
    """Repair what the charts make while the block applies them; yields how to ask for what is left."""
    outcomes: list[fixes.FixOutcome] = []
    waking = _Waking(repairs.clock)

    def work() -> None:
        outcomes.extend(
            fixes.until_done(
                repairs.kube,
                repairs.applicable(known.APPLY_FIXES),
                repairs.context,
                waking,
                timeout=BESIDE,
                stop=waking.event.is_set,
                told=repairs.told,
            )
        )

    thread = threading.Thread(target=_quiet(work, repairs.told), daemon=True)
    thread.start()
    try:
        yield lambda: tuple(each.warning for each in outcomes if each.state == "blocked")
    finally:
        waking.event.set()
        thread.join(JOIN)


def after(repairs: Repairs, timeout: float = AFTER) -> tuple[str, ...]:
    """Repair what is left once everything is applied; returns a warning for each that did not hold."""
    chosen = repairs.applicable((*known.APPLY_FIXES, known.MONITORING_FIXES[2], *known.AFTER_FIXES))
    outcomes = fixes.until_done(
        repairs.kube, chosen, repairs.context, repairs.clock, timeout=timeout, told=repairs.told
    )
    warnings = (each.warning for each in outcomes)
    unable = worker_checks.user_namespaces(repairs.kube, repairs.workers)
    return (
        *(each for each in warnings if each),
        *unable,
        *worker_checks.plugins(repairs.kube, repairs.workers),
    )


class _Waking:
    """A clock whose sleepers can be woken."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.event = threading.Event()

    def monotonic(self) -> float:
        """Return seconds since some moment."""
        return self._clock.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait, or until woken."""
        self.event.wait(seconds)


def _quiet(work: Callable[[], None], told: Tell) -> Callable[[], None]:
    """Return what raises nothing of ours: whatever these repairs leave is done again after."""

    def run() -> None:
        try:
            work()
        except NpaError as error:
            told(f"a repair ended early: {error}")

    return run
