"""Where the volumes of a SlurmCluster come from, and where they are mounted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Protocol

from npa.crds.parts import NodeVolume
from npa.crds.rules.found import NODES, mounts, problem
from npa.crds.slurmcluster import SlurmCluster
from npa.errors import Problem

_VOLUME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
JAIL = "jail"  # names of volumes that each pod has of its own
SPOOL = "spool"


class Mounted(Protocol):
    """A volume and where it is mounted."""

    @property
    def name(self) -> str:
        """Its name in the pod."""

    @property
    def mount_path(self) -> str:
        """Where it is mounted."""

    @property
    def sub_path(self) -> str:
        """Which part of it is mounted."""


def sources_are_one_each(cluster: SlurmCluster) -> Iterator[Problem]:
    """A volume is of exactly one kind, as Kubernetes demands of a pod's."""
    for index, each in enumerate(cluster.spec.volume_sources):
        at = f"spec.volumeSources[{index}]"
        yield from one_source(at, each.source)
        if not _VOLUME.fullmatch(each.name):
            text = f"{each.name[:60]!r} is no name of a volume"
            yield problem(f"{at}.name", text, "use at most 63 lower-case letters, digits and hyphens")


def one_source(at: str, source: Iterable[str]) -> Iterator[Problem]:
    """A volume source names exactly one kind of volume."""
    kinds = sorted(source)
    if not kinds:
        yield problem(at, "is no volume", "say what it is, as in `persistentVolumeClaim`")
    elif len(kinds) > 1:
        yield problem(at, f"is several volumes: {', '.join(kinds)}", "keep one of them")


def sources_have_unique_names(cluster: SlurmCluster) -> Iterator[Problem]:
    """A source's name means one volume."""
    seen: set[str] = set()
    for index, each in enumerate(cluster.spec.volume_sources):
        if each.name in seen:
            text = f"there is another volume source {each.name!r}"
            yield problem(f"spec.volumeSources[{index}].name", text, "give each a name of its own")
        seen.add(each.name)


def volumes_come_from_one_place(cluster: SlurmCluster) -> Iterator[Problem]:
    """A component's volume is a named source, which exists, or a claim of the pod's own."""
    known = [each.name for each in cluster.spec.volume_sources]
    for at, volume in _volumes(cluster):
        name, claim = volume.volume_source_name, volume.volume_claim_template_spec
        if bool(name) == (claim is not None):
            text = "is both a named source and a claim" if name else "is neither a named source nor a claim"
            yield problem(at, text, "give it either `volumeSourceName` or `volumeClaimTemplateSpec`")
        if name and name not in known:
            hint = f"choose one of {', '.join(known)}" if known else "add it to `volumeSources`"
            yield problem(f"{at}.volumeSourceName", f"there is no volume source {name!r}", hint)


def _volumes(cluster: SlurmCluster) -> Iterator[tuple[str, NodeVolume]]:
    nodes = cluster.spec.slurm_nodes
    yield f"{NODES}.controller.volumes.spool", nodes.controller.volumes.spool
    yield f"{NODES}.controller.volumes.jail", nodes.controller.volumes.jail
    yield f"{NODES}.login.volumes.jail", nodes.login.volumes.jail
    if cluster.spec.populate_jail.jail_snapshot_volume is not None:
        yield "spec.populateJail.jailSnapshotVolume", cluster.spec.populate_jail.jail_snapshot_volume
    for listed in mounts(cluster).values():
        yield from listed


def mounts_are_apart(cluster: SlurmCluster) -> Iterator[Problem]:
    """Within a component, each mount has its own name and its own place."""
    for listed in mounts(cluster).values():
        yield from apart(listed)


def apart(listed: Iterable[tuple[str, Mounted]]) -> Iterator[Problem]:
    """Mounts of one pod have names and places of their own; those within the jail are elsewhere."""
    names: set[str] = set()
    places: set[tuple[str, str]] = set()
    for at, mount in listed:
        if not _VOLUME.fullmatch(mount.name):
            text = f"{mount.name[:60]!r} is no name of a volume"
            yield problem(f"{at}.name", text, "use at most 63 lower-case letters, digits and hyphens")
        if mount.name in (*names, JAIL, SPOOL):
            text = f"there is another volume {mount.name!r} in the pod"
            yield problem(f"{at}.name", text, "give each a name of its own")
        field, path = at.partition("[")[0], mount.mount_path.rstrip("/") or "/"
        if not path.startswith("/") or path == "/" or ".." in path.split("/") or ":" in path:
            yield problem(f"{at}.mountPath", f"{path[:60]!r} is no place in a container", "begin it with `/`")
        elif (field, path) in places:
            yield problem(f"{at}.mountPath", f"{path!r} is mounted twice", "keep one of them")
        if ".." in mount.sub_path.split("/") or mount.sub_path.startswith("/"):
            text = f"{mount.sub_path[:60]!r} leads out of the volume"
            yield problem(f"{at}.subPath", text, "write a path within the volume")
        names.add(mount.name)
        places.add((field, path))
