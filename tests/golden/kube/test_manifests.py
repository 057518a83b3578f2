"""Every object of a cluster, byte for byte. NPA_GOLDEN=rewrite writes them anew; read the diff."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
import yaml
from tests.golden.kube.worlds import HERE, SETTINGS, load, settled

from npa.reconcile import slurmcluster
from npa.render.objects import name_of
from npa.slurm import lint

CASES = ("minimal", "full", "database")
BUILT_IN = ("v1", "apps/v1", "batch/v1", "policy/v1")


def objects(case: str) -> dict[str, Mapping[str, Any]]:
    """Return everything that is there of a settled cluster, Secrets without their data."""
    world = settled(load(case))
    found = {}
    for (kind, name), each in sorted(world.objects.items()):
        kept = {key: value for key, value in each.items() if key != "status"}
        metadata = {key: value for key, value in each["metadata"].items() if key not in ("uid", "generation")}
        if kind == "Secret" and name.endswith(("-key", "-keys")):
            kept.pop("data", None)
        found[f"{kind}-{name}"] = json.loads(json.dumps({**kept, "metadata": metadata}, default=dict))
    return found


class _Dumper(yaml.SafeDumper):
    """Writes text of several lines as such."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def _written(value: Mapping[str, Any]) -> str:
    return yaml.dump(value, Dumper=_Dumper, sort_keys=True, width=200)


@pytest.mark.parametrize("case", CASES)
def test_objects(case: str) -> None:
    rendered = {name: _written(each) for name, each in objects(case).items()}
    folder = HERE / case / "objects"
    if os.environ.get("NPA_GOLDEN") == "rewrite":
        folder.mkdir(exist_ok=True)
        for path in folder.iterdir():
            path.unlink()
        for name, text in rendered.items():
            (folder / f"{name}.yaml").write_text(text, encoding="utf-8")

    assert rendered == {path.stem: path.read_text(encoding="utf-8") for path in folder.iterdir()}


@pytest.mark.parametrize("case", CASES)
def test_status(case: str) -> None:
    world = settled(load(case))
    assert world.cluster is not None
    status = json.loads(json.dumps(world.cluster["status"]))
    # which fields are not acted on is a table of its own, with tests of its own
    status["conditions"] = [row for row in status["conditions"] if row["type"] != "IgnoredFields"]
    text = _written(status)
    path = HERE / case / "status.yaml"
    if os.environ.get("NPA_GOLDEN") == "rewrite":
        path.write_text(text, encoding="utf-8")

    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("case", CASES)
def test_kubernetes_knows_every_field(case: str) -> None:
    checked = 0
    for each in objects(case).values():
        if each["apiVersion"] in BUILT_IN:
            kubernetes_validate.validate(dict(each), "1.33", strict=True)
            checked += 1

    assert checked >= 10


@pytest.mark.parametrize("case", CASES)
def test_slurm_knows_every_line(case: str) -> None:
    found = objects(case)
    files = next(each["data"] for each in found.values() if name_of(each).endswith("-slurm-configs"))

    assert [str(each) for each in lint.check(files, version=SETTINGS.slurm_version, limited=True)] == []


@pytest.mark.parametrize("case", CASES)
def test_a_settled_cluster_is_left_alone(case: str) -> None:
    world = settled(load(case))

    decision = slurmcluster.decide(world, SETTINGS)

    assert decision.settled
    assert decision.again_in is None
