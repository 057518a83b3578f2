"""The example that the documentation begins with."""

from __future__ import annotations

from pathlib import Path

import yaml

from npa.crds import resource, rules
from npa.crds.nodeset import NodeSet
from npa.crds.slurmcluster import SlurmCluster

EXAMPLE = Path(__file__).parents[3] / "examples/kubernetes/cluster.yaml"


def test_the_example_is_taken_as_it_is() -> None:
    cluster, nodeset = yaml.safe_load_all(EXAMPLE.read_text(encoding="utf-8"))

    assert rules.cluster_problems(resource.parse(SlurmCluster, cluster)) == ()
    assert rules.nodeset_problems(resource.parse(NodeSet, nodeset)) == ()
