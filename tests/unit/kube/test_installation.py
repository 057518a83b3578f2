from __future__ import annotations

from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest

from npa.cli.app import build
from npa.render.kube import installation
from npa.render.kube.installation import Installation
from npa.render.objects import dig, name_of

EVERYWHERE = installation.render(Installation("i:1"))
NARROW = installation.render(Installation("i:1", "home", ("a", "b"), replicas=2, arguments=("--workers=4",)))


def named(made: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [each for each in made if each["kind"] == kind]


@pytest.mark.parametrize("made", [*EVERYWHERE, *NARROW], ids=lambda made: f"{made['kind']}-{name_of(made)}")
def test_kubernetes_knows_every_field(made: dict[str, Any]) -> None:
    if made["kind"] == "CustomResourceDefinition":
        pytest.skip("tried on a real API server")
    kubernetes_validate.validate(made, "1.33", strict=True)


def test_secrets_are_read_only_where_clusters_are() -> None:
    def reads_secrets(role: dict[str, Any]) -> bool:
        return any(
            "secrets" in rule["resources"] and "list" in rule["verbs"] and "" in rule["apiGroups"]
            for rule in role["rules"]
        )

    roles = [each for each in NARROW if each["kind"] in ("Role", "ClusterRole") and reads_secrets(each)]

    assert {(each["kind"], dig(each, "metadata", "namespace")) for each in roles} == {
        ("Role", "a"),
        ("Role", "b"),
    }
    assert any(map(reads_secrets, named(EVERYWHERE, "ClusterRole")))


def test_the_program_is_told_what_it_is_installed_for() -> None:
    (deployment,) = named(NARROW, "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]

    assert {"--namespace=a", "--namespace=b", "--workers=4", "--leader-elect"} <= set(container["args"])
    assert "--webhook-name=npa-operator.home.svc" in container["args"]


def test_the_program_understands_what_it_is_told() -> None:
    import typer.main

    (deployment,) = named(NARROW, "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    command: Any = typer.main.get_command(build())
    for word in container["command"][1:]:
        command = command.commands[word]

    with command.make_context("run", list(container["args"]), resilient_parsing=False) as context:
        assert context.params["namespace"] == ["a", "b"]
        assert context.params["workers"] == 4


def test_only_the_namespaces_that_are_watched_are_reviewed() -> None:
    (everywhere,), (narrow,) = (
        named(made, "ValidatingWebhookConfiguration") for made in (EVERYWHERE, NARROW)
    )

    assert everywhere["webhooks"][0]["namespaceSelector"] == {}
    assert narrow["webhooks"][0]["namespaceSelector"]["matchExpressions"][0]["values"] == ["a", "b"]


def test_it_runs_with_no_more_than_it_needs() -> None:
    (deployment,) = named(EVERYWHERE, "Deployment")
    pod = deployment["spec"]["template"]["spec"]

    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["containers"][0]["securityContext"]["readOnlyRootFilesystem"]
    assert pod["containers"][0]["securityContext"]["capabilities"] == {"drop": ["ALL"]}
