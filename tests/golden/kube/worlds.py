"""Worlds made of manifests, and what becomes of one when everything that was decided has been done."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from npa.reconcile import slurmcluster
from npa.reconcile.decision import Decision
from npa.reconcile.settings import Settings
from npa.reconcile.world import Key, SlurmView, World
from npa.render.kube import names
from npa.render.objects import Object, dig, name_of
from npa.slurm.lookup import Found
from npa.slurm.replies import Rows

HERE = Path(__file__).parent
NOW = 1_800_000_000.0
SETTINGS = Settings()


def load(case: str) -> World:
    """Return the world of a case's resources, in which nothing has been done yet."""
    resources = list(yaml.safe_load_all((HERE / case / "resources.yaml").read_text(encoding="utf-8")))
    cluster = next(each for each in resources if each["kind"] == "SlurmCluster")
    nodesets = tuple(each for each in resources if each["kind"] == "NodeSet")
    return World(cluster, nodesets, now=NOW)


def done(world: World, decision: Decision) -> World:
    """Return the world after a decision, as the API server and the controllers of Kubernetes leave it."""
    objects: dict[Key, Object] = dict(world.objects)
    cluster = world.cluster
    for secret in decision.secrets:
        made = (*secret.random, *secret.passwords)
        data = {key: base64.b64encode(b"x" * count).decode() for key, count in made}
        objects["Secret", name_of(secret.wanted)] = {**secret.wanted, "data": data}
    for each in (*decision.create, *decision.apply):
        if each["kind"] == "SlurmCluster":
            assert cluster is not None
            finalizers = dig(each, "metadata", "finalizers")
            cluster = {**cluster, "metadata": {**cluster["metadata"], "finalizers": finalizers}}
            continue
        objects[str(each["kind"]), name_of(each)] = _lives(each)
    for gone in decision.delete:
        objects.pop((gone.kind.kind, gone.name), None)
    if decision.status is not None and cluster is not None:
        cluster = {**cluster, "status": decision.status}
    return replace(world, cluster=cluster, objects=objects, slurm=_answer(world, decision))


def settled(world: World, settings: Settings = SETTINGS, most: int = 10) -> World:
    """Return the world once nothing is left to be done, which has to come soon."""
    for _ in range(most):
        decision = slurmcluster.decide(world, settings)
        if decision.settled:
            return world
        world = done(world, decision)
    raise AssertionError(f"not settled after {most} passes: {decision}")


def _lives(found: Object) -> Object:
    metadata = {**found["metadata"], "uid": f"uid-of-{name_of(found)}", "generation": 1}
    replicas = dig(found, "spec", "replicas")
    status: Mapping[str, Any] = {}
    if found["kind"] in ("StatefulSet", "Deployment"):
        status = {"readyReplicas": replicas, "updatedReplicas": replicas, "observedGeneration": 1}
    if found["kind"] == "Job":
        status = {"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]}
    return {**found, "metadata": metadata, "status": status}


def _answer(world: World, decision: Decision) -> SlurmView:
    """Return what slurmctld says: it starts with the files that there are, and takes others when told."""
    told = [action.digest for action in decision.slurm if hasattr(action, "digest")]
    digest = world.slurm.digest
    if told:
        digest = Found(told[-1])
    elif not isinstance(digest, Found):
        delivered = next((each for each in decision.apply if each["kind"] == "ConfigMap"), {})
        said = dig(delivered, "metadata", "annotations", names.CONFIG)
        digest = Found(said) if said else digest
    return SlurmView(Found(Rows(())), Found(Rows(())), digest, NOW)
