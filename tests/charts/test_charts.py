"""The charts make exactly what `npa operator manifests` prints, and what the API takes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from scripts import charts

from npa.crds import nodeset, slurmcluster
from npa.render.kube import installation
from npa.render.kube.installation import Installation

CHARTS = Path(__file__).parents[2] / "charts"
MANIFESTS = Path(__file__).parents[3] / "shared/data/existing-manifests"
IMAGE = "registry.example/npa-operator:1.2"

pytestmark = pytest.mark.slow


def _template(helm: str, chart: str, *arguments: str, values: Path | None = None) -> list[dict[str, Any]]:
    named = ["--values", str(values)] if values else []
    argv = [helm, "template", "release", str(CHARTS / chart), *named, *arguments]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return [made for made in yaml.safe_load_all(done.stdout) if made]


def _sorted(made: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(
        made, key=lambda each: (each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"])
    )


@pytest.mark.parametrize("path", sorted(charts.render()))
def test_the_files_are_up_to_date(path: str) -> None:
    assert (CHARTS / path).read_text(encoding="utf-8") == charts.render()[path], "run `make docs`"


@pytest.mark.parametrize("chart", ["npa-crds", "npa-operator", "npa-cluster"])
def test_helm_finds_nothing_wrong(helm: str, chart: str) -> None:
    values = ["--set", "cluster.populateJail.image=x"] if chart == "npa-cluster" else []
    argv = [helm, "lint", "--strict", str(CHARTS / chart), *values]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("watched", [(), ("research", "teaching")], ids=["all-namespaces", "two-namespaces"])
def test_the_operators_chart_makes_what_the_command_prints(helm: str, watched: tuple[str, ...]) -> None:
    asked = Installation(IMAGE, "sys", watched, replicas=2, arguments=("--image-override=x",))
    wanted = [each for each in installation.render(asked, crds=False) if each["kind"] != "Namespace"]
    made = _template(
        helm,
        "npa-operator",
        "--namespace=sys",
        "--set",
        "image.repository=registry.example/npa-operator,image.tag=1.2,replicas=2,arguments={--image-override=x}",
        "--set",
        f"namespaces={{{','.join(watched)}}}" if watched else "namespaces=null",
    )

    assert _sorted(made) == _sorted(wanted)


def test_the_chart_of_the_kinds_makes_what_the_command_prints_and_keeps_it(helm: str) -> None:
    made = _sorted(_template(helm, "npa-crds"))

    assert {each["metadata"].pop("annotations")["helm.sh/resource-policy"] for each in made} == {"keep"}
    assert made == _sorted(installation.crds())


def test_the_clusters_chart_makes_a_cluster_of_its_values(helm: str, tmp_path: Path) -> None:
    if not MANIFESTS.is_dir():
        pytest.skip(f"no manifests of the existing operator at {MANIFESTS}")
    cluster, workers = (
        yaml.safe_load((MANIFESTS / name).read_text(encoding="utf-8"))
        for name in ("slurmcluster-slurm1.yaml", "nodeset-worker-cpu.yaml")
    )
    values = tmp_path / "values.yaml"
    values.write_text(json.dumps({"cluster": cluster["spec"], "nodeSets": {"cpu": workers["spec"]}}))
    made = {
        each["kind"]: each for each in _template(helm, "npa-cluster", "--namespace=research", values=values)
    }

    assert made["SlurmCluster"]["spec"] == cluster["spec"]
    assert made["NodeSet"]["spec"] == {**workers["spec"], "clusterName": "release"}
    assert slurmcluster.parse(made["SlurmCluster"]).name == "release"
    assert nodeset.parse(made["NodeSet"]).name == "cpu"


def test_the_clusters_chart_says_what_is_missing(helm: str) -> None:
    argv = [helm, "template", "release", str(CHARTS / "npa-cluster")]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode != 0
    assert "set `cluster`: the spec of the SlurmCluster" in done.stderr
