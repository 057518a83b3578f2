"""Figures of slurmctld itself: who calls it, how often, and for how long it answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from npa.metrics import family
from npa.metrics.family import Family, Labels
from npa.metrics.seen import Calls, Diagnosis


def families(said: Diagnosis) -> Iterator[Family]:
    """Yield every figure of slurmctld; its counters begin anew when it does."""
    types: dict[Labels, Calls] = {(name,): calls for name, calls in (said.by_type or {}).items()}
    users: dict[Labels, Calls] = dict((said.by_user or {}).items())
    yield from _calls("slurm_controller_rpc", "by type", ("message_type",), types)
    yield from _calls("slurm_controller_rpc_user", "by user", ("user", "user_id"), users)
    if said.threads is not None:
        name = "slurm_controller_server_thread_count"
        yield family.gauge(name, "Threads of slurmctld that serve calls.", (), [((), float(said.threads))])


def _calls(name: str, how: str, labels: Labels, found: Mapping[Labels, Calls]) -> Iterator[Family]:
    yield family.counter(
        f"{name}_calls",
        f"Calls that slurmctld took, {how}.",
        labels,
        ((key, float(calls.count)) for key, calls in found.items()),
    )
    yield family.counter(
        f"{name}_duration_seconds",
        f"How long slurmctld took for them, {how}.",
        labels,
        ((key, calls.seconds) for key, calls in found.items()),
    )
