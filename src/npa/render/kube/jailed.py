"""The Job that puts files of ConfigMaps into the jail, each whole or not at all."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from npa.crds.jailedconfig import JailedConfig
from npa.errors import Problem
from npa.render.kube import contract, names, pods, volumes
from npa.render.kube.context import Context
from npa.render.objects import JOB

FILES = "/mnt/files"  # where the entry point finds them, each at its path in the jail
GROUP = f"{names.PREFIX}jailed-aggregation"  # label of JailedConfigs that are written together
COMPONENT: names.Component = "sconfigcontroller"
_MODE = 0o644
_TRIES = 1_000_000  # the kubelet starts it again, every 5 minutes in the end


@dataclass(frozen=True, slots=True)
class Content:
    """A file as it is to be in the jail."""

    path: str
    mode: int
    data: bytes


def contents(config: JailedConfig, held: dict[str, bytes], problems: list[Problem]) -> tuple[Content, ...]:
    """Return the files of a JailedConfig; `held` is what its ConfigMap holds."""
    found = []
    for index, item in enumerate(config.spec.items):
        if item.key not in held:
            text = f"ConfigMap {config.spec.config_map.name} has no key {item.key!r}"
            problems.append(Problem(0, 0, f"spec.items[{index}].key", text, "name one that it has"))
            continue
        found.append(Content(item.path, _mode(config, item.mode), held[item.key]))
    return tuple(found)


def digest(group: str, files: Sequence[Content]) -> str:
    """Return what tells the files of a group from others."""
    listed = sorted((each.path, each.mode, each.data) for each in files)
    return hashlib.sha256(repr((group, listed)).encode()).hexdigest()[:16]


def name(context: Context, mark: str) -> str:
    """Name of the Job that writes the files with this digest."""
    return f"{context.name}-files-{mark}"


def render(
    context: Context, group: str, members: Sequence[JailedConfig], mark: str, problems: list[Problem]
) -> dict[str, Any]:
    """Return the Job."""
    ctld = context.spec.slurm_nodes.controller
    mounted = volumes.jail(
        context, ctld.volumes.jail, "spec.slurmNodes.controller.volumes.jail", problems
    ) + volumes.Volumes(
        volumes=({"name": "files", "projected": {"sources": [_source(each) for each in members]}},),
        mounts=({"name": "files", "mountPath": FILES, "readOnly": True},),
    )
    container = {
        "name": "files",
        "image": context.image(ctld.slurmctld.image),
        "imagePullPolicy": ctld.slurmctld.image_pull_policy,
        "command": [contract.ROLE, "files"],
        "securityContext": pods.confinement(ctld.slurmctld),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": list(mounted.mounts),
    }
    spec = {
        "restartPolicy": "OnFailure",
        "enableServiceLinks": False,
        "automountServiceAccountToken": False,
        "containers": [container],
        "volumes": volumes.unique(mounted.volumes),
        "imagePullSecrets": pods.pull_secrets([ctld.slurmctld]),
        **pods.placed(context, ctld, "spec.slurmNodes.controller", problems),
    }
    template = {
        "metadata": {"labels": names.labels(context.name, COMPONENT)},
        "spec": {key: value for key, value in spec.items() if value not in (None, [], {}, "")},
    }
    job = {"backoffLimit": _TRIES, "parallelism": 1, "completions": 1, "template": template}
    return context.object(JOB, name(context, mark), COMPONENT, annotations={GROUP: group}, spec=job)


def _source(config: JailedConfig) -> dict[str, Any]:
    items = [
        {"key": item.key, "path": item.path.lstrip("/"), "mode": _mode(config, item.mode)}
        for item in config.spec.items
    ]
    return {"configMap": {"name": config.spec.config_map.name, "items": items}}


def _mode(config: JailedConfig, mode: int | None) -> int:
    if mode is not None:
        return mode
    return _MODE if config.spec.default_mode is None else config.spec.default_mode
