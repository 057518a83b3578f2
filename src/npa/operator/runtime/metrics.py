"""What an operator counts of itself, for Prometheus."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.001, 0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 60.0)


class Metrics:
    """The figures of one operator; nothing that a user chose is a label."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.reconciles = Counter(
            "npa_operator_reconciles",
            "Looks at one object, by how they ended: settled, written, failed.",
            ("controller", "result"),
            registry=self.registry,
        )
        self.seconds = Histogram(
            "npa_operator_reconcile_seconds",
            "How long one look at an object took, its writes among it.",
            ("controller",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.writes = Counter(
            "npa_operator_writes", "Writes to the API server.", ("kind", "verb"), registry=self.registry
        )
        self.slurm = Counter(
            "npa_operator_slurm_calls",
            "Commands in controller pods.",
            ("what", "result"),
            registry=self.registry,
        )
        self.reviews = Counter(
            "npa_operator_admission_reviews", "Objects reviewed.", ("kind", "allowed"), registry=self.registry
        )

    def gauge(self, name: str, about: str, read: Callable[[], float]) -> None:
        """Show a figure that is read when somebody asks."""
        Gauge(name, about, registry=self.registry).set_function(read)

    def text(self) -> bytes:
        """Return all figures as Prometheus reads them."""
        return generate_latest(self.registry)
