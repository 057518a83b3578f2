"""`npa operator install`, `status`, `manifests` and `uninstall`, as a user runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest
import yaml
from tests.kube import bed as beds
from tests.kube.bed import Bed, until
from tests.kube.clusters import cluster

from npa.crds import definitions

HOME = "npa-system"


@pytest.fixture(scope="module")
def own() -> Iterator[Bed]:
    """A bed that nobody else uses: what is for the whole cluster comes and goes."""
    with beds.started("mini") as found:
        yield found


def npa(bed: Bed, *words: str) -> beds.Done:
    argv = [sys.executable, "-c", "import sys; from npa.cli.main import main; sys.exit(main())", "operator"]
    argv += [words[0], "--kubeconfig", str(bed.kubeconfig), *words[1:]]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
    return beds.Done(done.returncode, done.stdout, done.stderr)


def test_it_comes_and_goes_and_leaves_no_cluster_alone(own: Bed) -> None:
    absent = npa(own, "status")
    unasked = npa(own, "install", "--no-wait")
    shown = npa(own, "install", "--dry-run", "--output", "json")
    first = npa(own, "install", "--no-wait", "--yes", "--image", "i:1")
    again = npa(own, "install", "--no-wait", "--yes", "--image", "i:1")

    assert (absent.code, "not installed" in absent.out) == (4, True), str(absent)
    assert unasked.code == 3, str(unasked)
    assert len(json.loads(shown.out)["changes"]) == len(definitions.APIS) + 9
    assert first.code == 0, str(first)
    assert again.out == "nothing to do: all is as it should be\n", str(again)

    until(lambda: own.apply(cluster("one", "default")).code == 0, "a cluster is taken in")
    there = npa(own, "status", "--output", "json")
    refused = npa(own, "uninstall", "--yes")

    assert there.code == 4
    assert json.loads(there.out)["clusters"] == [["default", "one", ""]]
    assert refused.code == 3, str(refused)
    assert "SlurmCluster default/one" in refused.err

    kept = npa(own, "uninstall", "--yes", "--keep-clusters")
    assert kept.code == 0, str(kept)
    assert own.kubectl("get", "slurmcluster", "one").code == 0
    assert own.kubectl("get", "deployment", "-n", HOME, "npa-operator").code == 1

    lost = npa(own, "uninstall", "--yes", "--keep-clusters", "--crds")
    assert lost.code == 3, str(lost)
    assert own.kubectl("delete", "slurmcluster", "one").code == 0
    gone = npa(own, "uninstall", "--yes", "--crds")
    assert gone.code == 0, str(gone)
    until(lambda: own.kubectl("get", "crd", "-o", "name").out == "", "no definition is left")


def test_manifests_are_what_is_installed(own: Bed) -> None:
    argv = [sys.executable, "-c", "import sys; from npa.cli.main import main; sys.exit(main())", "operator"]
    done = subprocess.run(
        [*argv, "manifests", "--image", "i:1"], capture_output=True, text=True, timeout=60, check=True
    )
    crds = subprocess.run(
        [*argv, "manifests", "--crds"], capture_output=True, text=True, timeout=60, check=True
    )
    applied = own.kubectl("apply", "--server-side", "--dry-run=server", "-f", "-", given=crds.stdout)

    kinds = [each["kind"] for each in yaml.safe_load_all(done.stdout)]
    assert kinds.count("CustomResourceDefinition") == len(definitions.APIS)
    assert {"Deployment", "ClusterRole", "ValidatingWebhookConfiguration"} <= set(kinds)
    assert applied.code == 0, str(applied)
