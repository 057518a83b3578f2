"""What the exporter says of itself."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

from npa.metrics.snapshot import SOURCES, Source

_SECONDS = (0.01, 0.05, 0.2, 1.0, 5.0, 20.0, 60.0)


class Own:
    """The figures of one exporter."""

    def __init__(self, age: Callable[[Source], float | None]) -> None:
        self._age = age
        self.registry, self._process = CollectorRegistry(), CollectorRegistry()
        self._errors = self._counter("collector_errors", "Questions without a readable answer.")
        self._skipped = self._counter("collector_skipped", "Questions not asked: one before was still open.")
        self._attempts = self._plain("collection_attempts", "Questions asked.")
        self._failures = self._plain("collection_failures", "Questions without a readable answer.")
        self._requests = self._plain("metrics_requests", "How often somebody looked.")
        name, about = "slurm_exporter_collector_duration_seconds", "How long an answer took."
        self._seconds = Histogram(name, about, ("collector",), buckets=_SECONDS, registry=self.registry)
        self._open = self._gauge("collector_inflight", "Questions that are open.")
        self._unread = self._gauge("collector_unread_rows", "Rows of the last answer that were not readable.")
        about = "How long one question to Slurm took last."
        name = "slurm_exporter_collection_duration_seconds"
        self._last = Gauge(name, about, registry=self.registry)
        about = "Bytes of figures that were shown last."
        self._shown = Gauge("slurm_exporter_metrics_exported_bytes", about, registry=self.registry)
        about = "How old the last good answer is; without one there is no figure."
        self._ages = Gauge(
            "slurm_exporter_snapshot_age_seconds", about, ("collector",), registry=self.registry
        )
        for source in SOURCES:  # a counter begins at 0, not when it first counts
            for each in (self._errors, self._skipped):
                each.labels(source)
        ProcessCollector(registry=self._process)

    def asked(self, source: Source, open_now: int) -> None:
        """Count a question."""
        self._attempts.inc()
        self._open.labels(source).set(open_now)

    def answered(self, source: Source, seconds: float, open_now: int) -> None:
        """Count how long a question took, however it ended."""
        self._seconds.labels(source).observe(seconds)
        self._last.set(seconds)
        self._open.labels(source).set(open_now)

    def read(self, source: Source, unread: int) -> None:
        """Say how much of a good answer could not be read."""
        self._unread.labels(source).set(unread)

    def failed(self, source: Source) -> None:
        """Count a question without a readable answer."""
        self._errors.labels(source).inc()
        self._failures.inc()

    def skipped(self, source: Source) -> None:
        """Count a question that was not asked."""
        self._skipped.labels(source).inc()

    def text(self, shown: int | None = None) -> bytes:
        """Return the figures; with how much was shown besides, where that was asked for."""
        if shown is not None:
            self._requests.inc()
            self._shown.set(shown)
        for source in SOURCES:
            age = self._age(source)
            if age is not None:
                self._ages.labels(source).set(age)
        own = generate_latest(self.registry)
        return own if shown is not None else own + generate_latest(self._process)

    def _counter(self, name: str, about: str) -> Counter:
        return Counter(f"slurm_exporter_{name}", about, ("collector",), registry=self.registry)

    def _plain(self, name: str, about: str) -> Counter:
        return Counter(f"slurm_exporter_{name}", about, registry=self.registry)

    def _gauge(self, name: str, about: str) -> Gauge:
        return Gauge(f"slurm_exporter_{name}", about, ("collector",), registry=self.registry)
