"""Families as the text that Prometheus reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from npa.metrics.family import Family


class _Shown(Collector):
    def __init__(self, families: Iterable[Family]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        """Give the families in Prometheus' own words."""
        yield from map(_metric, self._families)


def text(families: Iterable[Family]) -> bytes:
    """Return what Prometheus reads."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Shown(tuple(families)))
    return generate_latest(registry)


def _metric(family: Family) -> Metric:
    if family.kind == "histogram":
        return _histogram(family)
    kind = CounterMetricFamily if family.kind == "counter" else GaugeMetricFamily
    made: Metric = kind(family.name, family.about, labels=family.labels)
    for labels, value in family.samples:
        made.add_metric(labels, value)  # type: ignore[attr-defined]  # of both kinds
    return made


def _histogram(family: Family) -> Metric:
    made = HistogramMetricFamily(family.name, family.about, labels=family.labels)
    bounds = [*(f"{bound:g}" for bound in family.bounds), "+Inf"]
    for labels, held in family.histograms:
        made.add_metric(labels, list(zip(bounds, map(float, held.counts), strict=True)), held.total)
    return made
