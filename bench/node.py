"""From a SlurmCluster that is applied to one that runs jobs, on a real node with pods."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import pytest
from bench.report import Row
from tests.e2e.kube import bed
from tests.e2e.kube.cluster import Cluster, keys
from tests.e2e.kube.conftest import NAMESPACE, Operator
from tests.kube import operating
from tests.kube.bed import until

WITHIN = 300.0  # seconds
WHAT = "two workers, accounting and REST; images on the node, the jail filled on the way"


def rows() -> list[Row]:
    """Measure; nothing where there is no node to run pods, which is said."""
    try:
        with bed.place() as place, tempfile.TemporaryDirectory() as folder:
            operating.define(place.bed)
            operator = Operator(place)
            operator.start()
            try:
                return _measured(Cluster(place, "one", NAMESPACE, keys(Path(folder))[1]))
            finally:
                operator.stop()
    except pytest.skip.Exception as why:
        print(f"no real node: {why}", file=sys.stderr)
        return []


def _measured(cluster: Cluster) -> list[Row]:
    asked = ("-n", NAMESPACE, "get", "slurmcluster", "one", "-o", "jsonpath={.status.phase}")
    began = time.monotonic()
    cluster.apply()
    until(lambda: cluster.place.bed.kubectl(*asked).out == "Available", "the cluster is available", WITHIN)
    available = time.monotonic() - began
    cluster.await_workers(2)
    return [
        Row("a cluster applied, until it is `Available`, on a real node", "s", (available,), bound=WHAT),
        Row("the same, until its workers take jobs", "s", (time.monotonic() - began,)),
    ]
