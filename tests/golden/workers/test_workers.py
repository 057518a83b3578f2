"""What is made for NodeSets, byte for byte. NPA_GOLDEN=rewrite writes it anew; read the diff."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
import yaml

from npa.reconcile import nodeset
from npa.reconcile.settings import Settings
from npa.reconcile.world import World
from npa.render.objects import SLURM_CLUSTER, Object, dig, name_of

HERE = Path(__file__).parent
BUILT_IN = ("v1", "apps/v1", "batch/v1", "policy/v1")


def world() -> World:
    sets = tuple(yaml.safe_load_all((HERE / "resources.yaml").read_text(encoding="utf-8")))
    cluster = SLURM_CLUSTER.object("full", "team-a")
    cluster["metadata"]["uid"] = "11111111-1111-4111-8111-111111111111"
    return World(cluster, sets, now=1_800_000_000.0)


def made(name: str) -> dict[str, Object]:
    """Return whatever is made for a set, in two looks: an ephemeral one first gets its power state."""
    seen = world()
    objects: dict[tuple[str, str], Object] = {}
    for _ in range(2):
        decision = nodeset.decide(replace(seen, objects=objects), name, Settings())
        objects |= {(each["kind"], name_of(each)): each for each in (*decision.create, *decision.apply)}
    plain: dict[str, Any] = json.loads(
        json.dumps({f"{kind}-{of}": each for (kind, of), each in objects.items()})
    )
    return plain


@pytest.mark.parametrize("name", ["cpu", "gpu"])
def test_objects_of_a_set(name: str) -> None:
    rendered = {each: yaml.safe_dump(found, width=200) for each, found in sorted(made(name).items())}
    folder = HERE / name
    if os.environ.get("NPA_GOLDEN") == "rewrite":
        folder.mkdir(exist_ok=True)
        for path in folder.iterdir():
            path.unlink()
        for each, text in rendered.items():
            (folder / f"{each}.yaml").write_text(text, encoding="utf-8")

    assert rendered == {path.stem: path.read_text(encoding="utf-8") for path in folder.iterdir()}


@pytest.mark.parametrize("name", ["cpu", "gpu"])
def test_kubernetes_takes_them(name: str) -> None:
    found = [each for each in made(name).values() if each["apiVersion"] in BUILT_IN]
    for each in found:
        kubernetes_validate.validate(each, "1.36", strict=True)

    assert {each["kind"] for each in found} >= {"Pod", "Service"}


def test_all_workers_of_a_set_are_of_one_template() -> None:
    first = made("gpu")["Pod-gpu-0"]
    more = replace(
        world(),
        nodesets=tuple(
            {**each, "spec": {**each["spec"], "ephemeralNodes": False}} for each in world().nodesets
        ),
    )
    every = nodeset.decide(more, "gpu", Settings()).create
    hashes = {
        dig(each, "metadata", "annotations", "slurm.nebius.ai/template-hash")
        for each in every
        if each["kind"] == "Pod"
    }

    assert hashes == {dig(first, "metadata", "annotations", "slurm.nebius.ai/template-hash")}


def test_an_image_for_all_replaces_what_a_set_names() -> None:
    created = nodeset.decide(world(), "cpu", Settings(image_override="localhost/ours:2")).create
    pod = next(each for each in created if each["kind"] == "Pod")

    assert dig(pod, "spec", "containers")[0]["image"] == "localhost/ours:2"
