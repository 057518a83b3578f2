"""What Terraform is told through its environment: identities, a fresh token, and files of its own."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from npa.render.nebius.identity import Identity
from npa.tools import disk, terraform
from npa.tools.nebius_records import Kubernetes

KUBECONFIG = ".npa-kubeconfig"
_HELM = ".npa-helm"  # a stale cache of the user's own repositories once broke a first apply


def context(name: str) -> str:
    """Return what the recipe calls a cluster in a kubeconfig."""
    return f"nebius-{name}-slurm"


def of_terraform(
    environ: Mapping[str, str], who: Identity, *, profile: str, o11y_profile: str, token: str, folder: Path
) -> dict[str, str]:
    """Return the environment of one Terraform command.

    `token` is one that somebody gave us, and "" where a profile signs in: provider, scripts and kubeconfig
    ask it again whenever a token ends. One in the environment would be preferred to it, and never renewed.
    """
    given = {"TF_VAR_iam_token": token, "NEBIUS_IAM_TOKEN": token} if token else {}
    return terraform.environment(
        environ,
        {
            "PATH": _path(environ),
            **given,
            **({"NEBIUS_PROFILE": profile} if profile else {}),
            "TF_VAR_region": who.region,
            "TF_VAR_iam_tenant_id": who.tenant_id,
            "TF_VAR_iam_project_id": who.project_id,
            "TF_VAR_vpc_subnet_id": who.subnet_id,
            "TF_VAR_o11y_iam_tenant_id": who.tenant_id,
            "TF_VAR_o11y_profile": o11y_profile or profile or "default",
            "KUBECONFIG": str(folder / KUBECONFIG),
            "HELM_REPOSITORY_CONFIG": str(folder / _HELM / "repositories.yaml"),
            "HELM_REPOSITORY_CACHE": str(folder / _HELM / "cache"),
        },
    )


def write_kubeconfig(folder: Path, name: str, cluster: Kubernetes, profile: str, *, private: bool) -> Path:
    """Write how this cluster, and no other, is reached: never the user's own file."""
    path = folder / KUBECONFIG
    endpoint = cluster.private_endpoint if private else cluster.public_endpoint
    text = json.dumps(kubeconfig(name, endpoint, cluster.ca, profile), indent=2) + "\n"
    if disk.text(path) != text:
        disk.write(path, text, mode=0o600, uid=-1, gid=-1)
    return path


def kubeconfig(name: str, endpoint: str, ca: str, profile: str) -> dict[str, Any]:
    """Return a kubeconfig of one cluster, whose tokens the provider's CLI gives."""
    called = context(name)
    chosen = ["--profile", profile] if profile else []
    execute = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "nebius",
        "args": [*chosen, "mk8s", "v1", "cluster", "get-token", "--format", "json"],
        "interactiveMode": "IfAvailable",
        "provideClusterInfo": False,
    }
    authority = base64.b64encode(ca.encode()).decode()
    cluster = {"server": endpoint, "certificate-authority-data": authority}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": called, "cluster": cluster}],
        "users": [{"name": called, "user": {"exec": execute}}],
        "contexts": [{"name": called, "context": {"cluster": called, "user": called}}],
        "current-context": called,
    }


def _path(environ: Mapping[str, str]) -> str:
    """Return the search path with the programs that NPA_*_BIN name first: the recipe's scripts look there."""
    named = (environ.get(f"NPA_{each}_BIN", "") for each in ("TERRAFORM", "NEBIUS", "KUBECTL"))
    folders = [str(Path(each).parent) for each in named if os.sep in each]
    return os.pathsep.join([*dict.fromkeys(folders), environ.get("PATH", os.defpath)])
