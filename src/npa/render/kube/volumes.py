"""The volumes of a component: named sources, claims of each pod, and the jail that all pods share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from npa.crds.parts import NodeVolume, NodeVolumeMount
from npa.errors import Problem
from npa.render.kube import contract, names
from npa.render.kube.context import Context
from npa.render.objects import CLAIM

JAIL = "jail"


@dataclass(frozen=True, slots=True)
class Volumes:
    """What a pod mounts: its volumes, the claims that are made for it, and where each goes."""

    volumes: tuple[dict[str, Any], ...] = ()
    templates: tuple[dict[str, Any], ...] = ()
    mounts: tuple[dict[str, Any], ...] = ()
    claims: tuple[str, ...] = field(default=())  # names of the templates

    def __add__(self, other: Volumes) -> Volumes:
        return Volumes(
            (*self.volumes, *other.volumes),
            (*self.templates, *other.templates),
            (*self.mounts, *other.mounts),
            (*self.claims, *other.claims),
        )


def secret(name: str, secret_name: str, path: str, mode: int = 0o400) -> Volumes:
    """Return a Secret that is mounted as a folder."""
    source = {"secretName": secret_name, "defaultMode": mode}
    return _plain(name, {"secret": source}, path, read_only=True)


def config_map(name: str, map_name: str, path: str, sub_path: str = "") -> Volumes:
    """Return a ConfigMap that is mounted as a folder, or as one file, which then never changes."""
    return _plain(name, {"configMap": {"name": map_name}}, path, read_only=True, sub_path=sub_path)


def empty(name: str, path: str, **limits: Any) -> Volumes:
    """Return a volume that lives as long as its pod."""
    return _plain(name, {"emptyDir": limits}, path)


def jail(context: Context, source: NodeVolume, at: str, problems: list[Problem], **how: Any) -> Volumes:
    """Return the jail. A claim is one for all pods: each with its own would share nothing."""
    if source.volume_claim_template_spec is not None and not source.volume_source_name:
        claim = {"persistentVolumeClaim": {"claimName": jail_claim(context)}}
        return _plain(JAIL, claim, contract.JAIL, **how)
    return named(context, JAIL, source, contract.JAIL, at, problems, **how)


def jail_claim(context: Context) -> str:
    """Name of the claim of the jail, where the cluster asks for one."""
    return f"{context.name}-jail"


def claims(context: Context) -> tuple[dict[str, Any], ...]:
    """Return the claims that pods share; they live as long as their data are wanted, so nothing owns them."""
    nodes = context.spec.slurm_nodes
    asked = (nodes.controller.volumes.jail, nodes.login.volumes.jail)
    spec = next((each.volume_claim_template_spec for each in asked if each.volume_claim_template_spec), None)
    if spec is None:
        return ()
    wanted = {"accessModes": ["ReadWriteMany"], **spec}
    return (context.object(CLAIM, jail_claim(context), "common", owned=False, spec=wanted),)


def mounted(
    context: Context, mounts: Iterable[NodeVolumeMount], below: str, at: str, problems: list[Problem]
) -> Volumes:
    """Return a user's own volumes; what is mounted `below` the jail appears in it."""
    found = Volumes()
    for index, mount in enumerate(mounts):
        path = below + mount.mount_path
        found += named(
            context,
            mount.name,
            mount,
            path,
            f"{at}[{index}]",
            problems,
            read_only=mount.read_only,
            sub_path=mount.sub_path,
        )
    return found


def named(
    context: Context,
    name: str,
    source: NodeVolume,
    path: str,
    at: str,
    problems: list[Problem],
    *,
    read_only: bool = False,
    sub_path: str = "",
) -> Volumes:
    """Return a volume by its named source, or as a claim of the pod's own."""
    mount = _mount(name, path, read_only=read_only, sub_path=sub_path)
    spec = source.volume_claim_template_spec
    if source.volume_source_name and spec is not None:
        text = "names a source and asks for a claim"
        problems.append(Problem(0, 0, at, text, "keep one of volumeSourceName, volumeClaimTemplateSpec"))
    elif source.volume_source_name:
        found = next(
            (each for each in context.spec.volume_sources if each.name == source.volume_source_name), None
        )
        if found is None:
            text = f"there is no volume source {source.volume_source_name!r}"
            problems.append(Problem(0, 0, f"{at}.volumeSourceName", text, "add it to spec.volumeSources"))
        else:
            return Volumes(volumes=({"name": name, **found.source},), mounts=(mount,))
    elif spec is not None:
        wanted = {"accessModes": ["ReadWriteOnce"], **spec}
        template = {"metadata": {"name": name}, "spec": wanted}
        return Volumes(templates=(template,), mounts=(mount,), claims=(name,))
    else:
        text = "is no volume"
        problems.append(Problem(0, 0, at, text, "give it volumeSourceName or volumeClaimTemplateSpec"))
    return Volumes()


def unique(volumes: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the volumes once each: two mounts may be of one volume."""
    return list({each["name"]: each for each in volumes}.values())


def limits(context: Context, component: names.Component, text: str) -> Volumes:
    """Return where a component's resource limits (limits.conf) are mounted."""
    if not text.strip():
        return Volumes()
    return config_map("npa-limits", limits_name(context, component), contract.LIMITS, "limits.conf")


def limits_name(context: Context, component: names.Component) -> str:
    """Name of the ConfigMap with a component's resource limits."""
    return f"{context.name}-{component}-security-limits"


def _plain(
    name: str, source: dict[str, Any], path: str, *, read_only: bool = False, sub_path: str = ""
) -> Volumes:
    mount = _mount(name, path, read_only=read_only, sub_path=sub_path)
    return Volumes(volumes=({"name": name, **source},), mounts=(mount,))


def _mount(name: str, path: str, *, read_only: bool, sub_path: str) -> dict[str, Any]:
    found: dict[str, Any] = {"name": name, "mountPath": path}
    if read_only:
        found["readOnly"] = True
    if sub_path:
        found["subPath"] = sub_path
    return found
