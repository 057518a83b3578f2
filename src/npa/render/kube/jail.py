"""The Job that fills the jail. It can be run again at any time: a jail that is filled is left as it is."""

from __future__ import annotations

from typing import Any

from npa.crds.parts import NodeVolume
from npa.errors import Problem
from npa.render.kube import contract, names, pods, volumes
from npa.render.kube.context import Context
from npa.render.kube.volumes import Volumes
from npa.render.objects import JOB

NAME = "populate-jail"
OVERWRITE = f"{names.PREFIX}overwrite"  # annotation of the Job: it fills a jail that is filled already
# The kubelet starts a container that failed again, every 5 minutes in the end, and the rest of the copy with
# it: there is no number of tries after which trying has become useless.
_TRIES = 1_000_000
_AT = "spec.populateJail"


def render(context: Context, *, overwrite: bool, problems: list[Problem]) -> dict[str, Any]:
    """Return the Job."""
    asked = context.spec.populate_jail
    source = context.spec.slurm_nodes.controller.volumes.jail
    mounted = volumes.jail(context, source, "spec.slurmNodes.controller.volumes.jail", problems)
    mounted += _snapshot(context, asked.jail_snapshot_volume, problems)
    container = {
        "name": NAME,
        "image": context.jail_image_override or asked.image,
        "imagePullPolicy": asked.image_pull_policy,
        "command": [contract.ROLE, "populate"],
        "env": [{"name": "OVERWRITE", "value": "1" if overwrite or asked.overwrite else "0"}],
        "securityContext": {
            **pods.confinement(asked),
            "capabilities": {"add": ["SYS_ADMIN", "SETFCAP"]},  # files with capabilities keep them
        },
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": list(mounted.mounts),
    }
    spec = {
        "restartPolicy": "OnFailure",
        "enableServiceLinks": False,
        "automountServiceAccountToken": False,
        "containers": [container],
        "volumes": volumes.unique(mounted.volumes),
        "priorityClassName": asked.priority_class,
        "hostUsers": asked.host_users,
        "imagePullSecrets": pods.pull_secrets([asked]),
        **pods.filtered(context, asked.k8s_node_filter_name, _AT, problems),
    }
    labels = names.labels(context.name, "populate-jail")
    template = {
        "metadata": {"labels": labels},
        "spec": {key: value for key, value in spec.items() if value not in (None, [], {}, "")},
    }
    job = {"backoffLimit": _TRIES, "parallelism": 1, "completions": 1, "template": template}
    notes = {OVERWRITE: "true"} if overwrite else None
    return context.object(JOB, names.populate_job(context.name), "populate-jail", annotations=notes, spec=job)


def _snapshot(context: Context, source: NodeVolume | None, problems: list[Problem]) -> Volumes:
    if source is None or source.volume_claim_template_spec is not None:
        return Volumes()
    return volumes.named(context, "snapshot", source, "/jail", f"{_AT}.jailSnapshotVolume", problems)
