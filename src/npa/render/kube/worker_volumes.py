"""The volumes of a worker: what a whole set shares, what each claims for itself, where they are mounted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from npa.crds.nodeset import Mount, NodeSet, NodeSetSpec
from npa.render.kube import contract, names
from npa.render.objects import CLAIM, CONFIG_MAP, dig

KEY, RUN, TMP, SHM, LIMITS, NVIDIA = (
    "npa-slurm-key",
    "npa-run",
    "npa-tmp",
    "npa-shm",
    "npa-limits",
    "npa-nvidia",
)
WHEN_DELETED = f"{names.PREFIX}when-deleted"  # annotation of claims: what becomes of them without their set
_CLAIM = "volumeClaimTemplateSpec"
_NVIDIA_RUN = "/run/nvidia"


def shared(spec: NodeSetSpec, cluster: str, nodeset: str) -> list[dict[str, Any]]:
    """Return the volumes that have the same source in every pod of a set."""
    volumes = spec.slurmd.volumes
    shm = {"medium": "Memory", "sizeLimit": volumes.shared_memory_size}
    found: list[dict[str, Any]] = [
        {"name": RUN, "emptyDir": {"medium": "Memory"}},
        {"name": TMP, "emptyDir": {}},
        {"name": SHM, "emptyDir": shm},
        {"name": KEY, "secret": {"secretName": names.auth_key(cluster), "defaultMode": 0o400}},
        {"name": "jail", **volumes.jail},
    ]
    if not volumes.spool.get(_CLAIM):
        source = {key: value for key, value in volumes.spool.items() if key != _CLAIM}
        found.append({"name": "spool", **(source or {"emptyDir": {}})})
    for mount in _extra(spec):
        if not mount.volume_claim_template_spec:
            found.append({"name": mount.name, **(mount.volume_source or {"emptyDir": {}})})
    if spec.slurmd.security.limits_config:
        found.append({"name": LIMITS, "configMap": {"name": limits_name(cluster, nodeset)}})
    if spec.gpu.enabled:
        found.append({"name": NVIDIA, "hostPath": {"path": _NVIDIA_RUN, "type": "DirectoryOrCreate"}})
    return found


def claimed(spec: NodeSetSpec, pod: str) -> list[dict[str, Any]]:
    """Return the volumes that a pod has claims of its own for."""
    return [
        {"name": name, "persistentVolumeClaim": {"claimName": claim_name(name, pod)}}
        for name, _ in _templates(spec)
    ]


def claims(nodeset: NodeSet, cluster: str, pod: str, ordinal: int) -> tuple[dict[str, Any], ...]:
    """Return the claims that have to be there before a pod."""
    extra = {names.NODE_SET: nodeset.name, names.ORDINAL: str(ordinal)}
    labels = names.labels(cluster, "worker", **extra)
    when = nodeset.spec.slurmd.volumes.retention.when_deleted
    found = []
    for name, spec in _templates(nodeset.spec):
        claim = CLAIM.object(claim_name(name, pod), nodeset.namespace, spec=spec)
        claim["metadata"] |= {"labels": labels, "annotations": {WHEN_DELETED: when}}
        found.append(claim)
    return tuple(found)


def sizes(nodeset: NodeSet) -> dict[str, object]:
    """Return how large the volumes are to be that each worker has of its own, by their names."""
    return {name: dig(spec, "resources", "requests", "storage") for name, spec in _templates(nodeset.spec)}


def claim_name(volume: str, pod: str) -> str:
    """Return what a StatefulSet would call the claim, so that one that is there is found again."""
    return f"{volume}-{pod}"


def mounts(spec: NodeSetSpec) -> list[dict[str, Any]]:
    """Return where the volumes are mounted in slurmd's container."""
    volumes = spec.slurmd.volumes
    found = [
        _mount(RUN, "/run"),
        _mount(TMP, "/tmp"),
        _mount(SHM, "/dev/shm"),
        {**_mount(KEY, contract.KEY), "readOnly": True},
        _mount("spool", contract.SPOOL),
        _mount("jail", contract.JAIL),
    ]
    found += [_extra_mount(mount, contract.JAIL_UPPER) for mount in volumes.jail_sub_mounts]
    found += [_extra_mount(mount, "") for mount in volumes.custom_volume_mounts]
    if spec.slurmd.security.limits_config:
        found.append({**_mount(LIMITS, contract.LIMITS), "subPath": "limits.conf", "readOnly": True})
    if spec.gpu.enabled:
        found.append({**_mount(NVIDIA, _NVIDIA_RUN), "mountPropagation": "HostToContainer"})
    return found


def limits_name(cluster: str, nodeset: str) -> str:
    """Name of the ConfigMap with the resource limits of a set's slurmd."""
    return f"{cluster}-nodeset-{nodeset}-security-limits"


def limits(nodeset: NodeSet, cluster: str) -> dict[str, Any] | None:
    """Return the ConfigMap with a set's limits.conf, or None where it has none."""
    text = nodeset.spec.slurmd.security.limits_config
    if not text:
        return None
    rendered = CONFIG_MAP.object(
        limits_name(cluster, nodeset.name), nodeset.namespace, data={"limits.conf": text}
    )
    rendered["metadata"]["labels"] = names.labels(cluster, "worker", **{names.NODE_SET: nodeset.name})
    return rendered


def _extra(spec: NodeSetSpec) -> tuple[Mount, ...]:
    volumes = spec.slurmd.volumes
    by_name = {mount.name: mount for mount in (*volumes.jail_sub_mounts, *volumes.custom_volume_mounts)}
    return tuple(by_name.values())


def _templates(spec: NodeSetSpec) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the volumes that each pod has of its own, and what is asked of each."""
    own = [("spool", spec.slurmd.volumes.spool.get(_CLAIM))]
    own += [(mount.name, mount.volume_claim_template_spec) for mount in _extra(spec)]
    for name, asked in own:
        if asked:
            yield name, {"accessModes": ["ReadWriteOnce"], **asked}


def _mount(name: str, path: str) -> dict[str, Any]:
    return {"name": name, "mountPath": path}


def _extra_mount(mount: Mount, below: str) -> dict[str, Any]:
    found: dict[str, Any] = _mount(mount.name, f"{below}{mount.mount_path}")
    if mount.sub_path:
        found["subPath"] = mount.sub_path
    if mount.read_only:
        found["readOnly"] = True
    return found
