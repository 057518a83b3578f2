"""How a Kubernetes cluster is reached, and what a Slurm cluster is put on there."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Literal

from npa.errors import PreflightError
from npa.render.kube.asked import Place, Service

NAMESPACE = "slurm"


@dataclass(frozen=True, slots=True)
class KubeOptions:
    """What the caller says; whatever is None is as at the last deploy, else the default."""

    kubeconfig: Path | None = None
    context: str = ""
    namespace: str | None = None
    slurm_image: str | None = None
    jail_image: str | None = None
    operator_image: str = ""
    pull_policy: Literal["IfNotPresent", "Always", "Never"] | None = None
    storage_class: str | None = None
    jail_size: str | None = None
    jail_path: str | None = None
    service: Service | None = None
    cgroup: Literal["v1", "v2"] | None = None
    worker_cpu: str | None = None
    worker_memory: str | None = None
    with_operator: bool = True  # install the operator where it is missing


def place(options: KubeOptions, before: Place | None) -> Place:
    """Return where a cluster is put; raises PreflightError where nobody names the images."""
    images = {
        "slurm_image": options.slurm_image or os.environ.get("NPA_SLURM_IMAGE"),
        "jail_image": options.jail_image or os.environ.get("NPA_JAIL_IMAGE"),
    }
    if before is None:
        missing = [name for name, image in images.items() if not image]
        if missing:
            raise PreflightError(
                [(f"no {_said(name)} is named", f"name it with --{_flag(name)}") for name in missing]
            )
        before = Place(options.namespace or NAMESPACE, str(images["slurm_image"]), str(images["jail_image"]))
    known = {each.name for each in fields(Place)}
    given = {
        each.name: getattr(options, each.name)
        for each in fields(options)
        if each.name in known and getattr(options, each.name) is not None
    }
    return replace(before, **given)


def _flag(name: str) -> str:
    return name.replace("_", "-")


def _said(name: str) -> str:
    return name.replace("_", " ")
