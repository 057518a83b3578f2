"""The volumes of a worker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from npa.crds.nodeset import Mount, NodeSet
from npa.crds.rules.found import problem
from npa.crds.rules.volumes import apart, one_source
from npa.errors import Problem

AT = "spec.slurmd.volumes"


def volumes_come_from_one_place(nodeset: NodeSet) -> Iterator[Problem]:
    """A volume is one source, or a claim of the pod's own."""
    volumes = nodeset.spec.slurmd.volumes
    yield from one_source(f"{AT}.spool", volumes.spool)
    yield from one_source(f"{AT}.jail", volumes.jail)
    for at, mount in _mounts(nodeset):
        if (mount.volume_source is None) == (mount.volume_claim_template_spec is None):
            both = mount.volume_source is not None
            text = "is both a source and a claim" if both else "is neither a source nor a claim"
            yield problem(at, text, "give it either `volumeSource` or `volumeClaimTemplateSpec`")
        elif mount.volume_source is not None:
            yield from one_source(f"{at}.volumeSource", mount.volume_source)


def mounts_are_apart(nodeset: NodeSet) -> Iterator[Problem]:
    """Each mount has its own name and its own place."""
    yield from apart(_mounts(nodeset))


def claims(nodeset: NodeSet) -> dict[str, Mapping[str, Any]]:
    """Return the claims that each worker has of its own, by their paths."""
    found = {at: mount.volume_claim_template_spec for at, mount in _mounts(nodeset)}
    spool = nodeset.spec.slurmd.volumes.spool.get("volumeClaimTemplateSpec")
    if isinstance(spool, Mapping):
        found[f"{AT}.spool"] = spool
    return {at: claim for at, claim in found.items() if claim is not None}


def _mounts(nodeset: NodeSet) -> list[tuple[str, Mount]]:
    volumes = nodeset.spec.slurmd.volumes
    fields = {
        "jailSubMounts": volumes.jail_sub_mounts,
        "customVolumeMounts": volumes.custom_volume_mounts,
    }
    return [
        (f"{AT}.{field}[{index}]", mount)
        for field, listed in fields.items()
        for index, mount in enumerate(listed)
    ]
