"""The stand-in recipe as an installation on disk, and what the guard is told of it."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from npa.render.nebius.adapter import BUILTIN, PIN, Adapter, NodeGroups, Refresh, Volumes, adapter
from npa.tools import terraform
from npa.tools.terraform import Terraform

RECIPE = Path(__file__).parent / "recipe"
GROUPS = ("system", "controller", "login", "accounting", "worker_v2")
IDENTITY = {
    "TF_VAR_region": "eu-north1",
    "TF_VAR_iam_tenant_id": "tenant-t",
    "TF_VAR_iam_project_id": "project-p",
    "TF_VAR_vpc_subnet_id": "vpcsubnet-s",
    "TF_VAR_o11y_iam_tenant_id": "tenant-o",
    "TF_VAR_o11y_profile": "profile",
}

needs_terraform = pytest.mark.skipif(
    shutil.which("terraform") is None,
    reason="REAL TERRAFORM IS MISSING: what it says of a plan is not tested",
)


def standin(terraform_minimum: tuple[int, int] = (1, 5)) -> Adapter:
    """Return the adapter of the pin for the stand-in: all is `terraform_data`, its attributes in `input`."""
    refreshes = tuple(
        Refresh(address, "terraform_data", BUILTIN, "replace_because_cannot_update", (("triggers_replace",),))
        for address in (
            "module.k8s.terraform_data.kubectl_cluster_context",
            "module.login_script.terraform_data.lb_service_ip",
        )
    )
    return replace(
        adapter(PIN),
        terraform=terraform_minimum,
        refreshes=refreshes,
        node_groups=tuple(NodeGroups("terraform_data", name, ("input",)) for name in GROUPS),
        volumes=tuple(
            Volumes("terraform_data", name, ("input",))
            for name in ("jail", "controller_spool", "accounting_fs")
        ),
    )


def install(place: Path, tfvars: str) -> Path:
    """Copy the recipe, write the variables, and return the directory in which Terraform runs."""
    root = place / "recipe"
    if not root.exists():
        shutil.copytree(RECIPE, root)
    directory = root / "soperator" / "installations" / "cluster"
    if not directory.exists():
        shutil.copytree(root / "soperator" / "installations" / "example", directory)
    (directory / "terraform.tfvars").write_text(tfvars)
    return directory


def tool(directory: Path, **more: str) -> Terraform:
    """Return Terraform in a directory."""
    return Terraform(directory, terraform.environment(os.environ, {**IDENTITY, **more}))
