"""A stand-in for the recipe's repository: real git, and files shaped as the pinned commit's are."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from npa.render.nebius import source
from npa.render.nebius.patches import PIN
from npa.render.nebius.source import Contract

K8S = """\
resource "nebius_mk8s_v1_cluster" "this" {
  name = var.name
}

resource "terraform_data" "kubectl_cluster_context" {
  triggers_replace = [
    nebius_mk8s_v1_cluster.this.id,
    timestamp(),
  ]
}
"""
LOGIN = """\
resource "terraform_data" "lb_service_ip" {
  triggers_replace = [
    one(data.kubernetes_service_v1.slurm_login.metadata).resource_version
  ]

  input = one(one(one(data.kubernetes_service_v1.slurm_login.status).load_balancer).ingress).ip
}
"""
CHECKS = """\
locals {
  active_checks_scopes = {
    essential = {
      gpu-checks = {
        runAfterCreation = false
      }
    }
    prod_quick = {
    }
  }
}
"""
VALUES = """\
resources:
  - apiVersion: v1
    kind: ConfigMap
    metadata:
      name: terraform-fluxcd-values
    data:
      values.yaml: |
        soperator:
          nodeConfigurator:
            enabled: true
            values:
              resources: {}
          anotherRelease:
            enabled: true
            %{~ if telemetry_enabled ~}
            values: {}
            %{~ endif ~}
"""
TIER = """\
locals {
  sizing_tier = coalesce(
    var.sizing_tier_override,
    var.worker_count < 10 ? "XS" :
    var.worker_count < 100 ? "S" :
    var.worker_count < 500 ? "M" :
    var.worker_count < 2000 ? "L" : "XL"
  )
  node_presets = { system = {
    L  = "32vcpu-128gb"
    XL = "64vcpu-256gb"
  } }
}
"""
EXAMPLE = {
    "terraform.tfvars": 'slurm_operator_version = "4.1.6"\nk8s_version = 1.34\nnode_group_version = 72\n',
    "main.tf": (
        "module slurm {\n  rest_enabled                    = var.slurm_rest_enabled\n"
        "  accounting_enabled              = var.accounting_enabled\n"
        "  sizing_tier_override = module.sizing.sizing_tier\n}\n"
    ),
    "variables.tf": "".join(
        f'variable "{name}" {{}}\n'
        for name in ("slurm_rest_enabled", "accounting_enabled", "sizing_tier_override")
    ),
    "terraform.tf": 'provider "nebius" {\n  domain = "api.eu.nebius.cloud:443"\n}\n',
    "driver_presets.tf": "locals {}\n",
    "weka.tf": "# one that a newer recipe adds\n",
    ".envrc": "exit 1\n",
    "README.md": "read me\n",
    "assets/logo.txt": "logo\n",
}
FILES = {
    "soperator/modules/k8s/k8s_cluster.tf": K8S,
    "soperator/modules/login/main.tf": LOGIN,
    "soperator/modules/slurm/locals_active_checks.tf": CHECKS,
    "soperator/modules/slurm/templates/helm_values/terraform_fluxcd_values.yaml.tftpl": VALUES,
    "soperator/modules/sizing_tier/main.tf": TIER,
    "soperator/VERSION": "4.1.6-1\n",
    **{f"soperator/installations/example/{name}": text for name, text in EXAMPLE.items()},
}


def git(folder: Path, *arguments: str) -> str:
    """Run git as somebody, without the configuration of this machine."""
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        check=True,
        capture_output=True,
        text=True,
        env={
            "PATH": "/usr/bin:/bin",
            "HOME": str(folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_{what}": "t@t" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        },
    )
    return done.stdout.strip()


@dataclass(frozen=True, slots=True)
class Upstream:
    """A repository with the pinned commit, and a branch that has moved on from it."""

    path: Path
    before: str
    pin: str
    after: str

    @property
    def url(self) -> str:
        return f"file://{self.path}"

    @property
    def contract(self) -> Contract:
        """What holds at the stand-in's pinned commit: the real one's contract, under another id."""
        return replace(source.contract(PIN), ref=self.pin)


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def commit(root: Path, files: dict[str, str], subject: str) -> str:
    write(root, files)
    git(root, "add", "-A", "-f")
    git(root, "commit", "-q", "-m", subject)
    return git(root, "rev-parse", "HEAD")


def upstream(path: Path, files: dict[str, str] | None = None) -> Upstream:
    """Make the repository; `files` replace some of the pinned commit's."""
    path.mkdir(parents=True)
    git(path, "init", "-q", "-b", "main")
    git(path, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(path, "config", "uploadpack.allowFilter", "true")
    before = commit(path, {**FILES, "soperator/VERSION": "4.1.5-1\n"}, "before")
    pin = commit(path, {**FILES, **(files or {})}, "pin")
    after = commit(path, {"soperator/VERSION": "4.2.0-1\n"}, "after")
    return Upstream(path, before, pin, after)
