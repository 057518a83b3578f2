"""A cluster as it was written for the existing operator, looked after by ours."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from tests.golden.kube.worlds import NOW, SETTINGS, settled

from npa.reconcile import slurmcluster
from npa.reconcile.conditions import said
from npa.reconcile.world import World
from npa.render.objects import dig

MANIFESTS = Path(__file__).parents[4] / "shared/data/existing-manifests"


def written() -> World:
    if not MANIFESTS.is_dir():
        pytest.skip(f"no manifests of the existing operator: {MANIFESTS} is missing")
    found = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(MANIFESTS.glob("*.yaml"))]
    cluster = next(each for each in found if each["kind"] == "SlurmCluster")
    cluster["metadata"] |= {"uid": "1", "generation": 1}
    nodesets = tuple(each for each in found if each["kind"] == "NodeSet")
    return World(cluster, nodesets, now=NOW)


def test_it_becomes_available_with_usable_nodes() -> None:
    world = settled(written())
    files = dig(world.find("ConfigMap", "slurm1-slurm-configs") or {}, "data")

    assert world.cluster is not None
    assert world.cluster["status"]["phase"] == "Available"
    assert "NodeName=worker-gpu-[0-2] " in files["slurm.conf"]  # with the default partitions, too
    assert "PartitionName=main Nodes=ALL Default=YES" in files["slurm.conf"]


def test_what_it_says_in_vain_is_told() -> None:
    world = settled(written())
    told = said(world.cluster or {}, "IgnoredFields")

    assert told is not None
    assert told.holds
    assert "spec.slurmNodes.controller.munge" in told.message


def test_one_image_replaces_all_of_the_existing_operators() -> None:
    ours = replace(SETTINGS, image_override="localhost/npa:1", jail_image_override="localhost/jail:1")
    world = settled(written(), ours)
    images = {
        container["image"]
        for found in world.objects.values()
        for container in dig(found, "spec", "template", "spec", "containers") or ()
    }

    assert images == {"localhost/npa:1", "localhost/jail:1"}
    assert slurmcluster.decide(world, ours).settled
