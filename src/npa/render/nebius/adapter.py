"""What npa knows about each version of the recipe: one Adapter for each commit, looked up by its full sha."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from npa.errors import RefusedError
from npa.render.nebius import tfvars
from npa.render.nebius.tfvars import Variables

PIN = "7046fb3c68314a940cdb47ff5c4fd23c01a6711e"

BUILTIN = "terraform.io/builtin/terraform"
REGISTRY = "registry.terraform.io"

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Refresh:
    """A resource that is only local to this machine; its replacement was read and found harmless."""

    address: str
    type: str
    provider: str
    reason: str
    paths: tuple[Path, ...]  # the attributes that may force it, and no others


@dataclass(frozen=True, slots=True)
class NodeGroups:
    """Resources that hold nodes: where they say how many, and what makes the provider replace them."""

    type: str
    name: str = ""  # of the resource; empty: all of this type
    root: Path = ()  # where in the resource the attributes are
    workers: str = "worker_v2"  # name of the resource whose nodes run jobs
    rolls: tuple[str, ...] = ("template", "version")


@dataclass(frozen=True, slots=True)
class Volumes:
    """Resources that hold data: they may grow, and a deploy never ends them."""

    type: str
    name: str = ""
    root: Path = ()
    sizes: tuple[str, ...] = ("size_gibibytes", "size_kibibytes", "size_mebibytes", "size_bytes")


@dataclass(frozen=True, slots=True)
class Adapter:
    """One version of the recipe: what it takes, and what may happen to what it makes."""

    ref: str
    chart: str
    k8s_version: str
    node_bundle: str
    terraform: tuple[int, int]  # the oldest that reads the recipe
    variables: Variables
    refreshes: tuple[Refresh, ...]
    node_groups: tuple[NodeGroups, ...]
    volumes: tuple[Volumes, ...]
    provider: str = f"{REGISTRY}/nebius/nebius"
    target: str = "module.k8s"  # what is applied first, before anything can be done in Kubernetes


_AUDITED = (
    Refresh(
        "module.k8s.terraform_data.kubectl_cluster_context",
        "terraform_data",
        BUILTIN,
        "replace_because_cannot_update",
        (("triggers_replace",),),
    ),
    Refresh(
        "module.login_script.terraform_data.lb_service_ip",
        "terraform_data",
        BUILTIN,
        "replace_because_cannot_update",
        (("triggers_replace",),),
    ),
    Refresh(
        "module.login_script.local_file.this",
        "local_file",
        f"{REGISTRY}/hashicorp/local",
        "replace_because_cannot_update",
        (("content",),),
    ),
)

ADAPTERS: Mapping[str, Adapter] = MappingProxyType(
    {
        PIN: Adapter(
            ref=PIN,
            chart="4.1.6",
            k8s_version="1.34",
            node_bundle="72",
            terraform=(1, 12),
            variables=tfvars.variables,
            refreshes=_AUDITED,
            node_groups=(NodeGroups("nebius_mk8s_v1_node_group"),),
            volumes=(Volumes("nebius_compute_v1_filesystem"),),
        ),
    }
)


def adapter(ref: str) -> Adapter:
    """Return what is known about a commit; raises RefusedError for one that nobody has read."""
    found = ADAPTERS.get(ref.strip().lower())
    if found is None:
        raise RefusedError(
            f"this version of npa does not know the recipe at {ref[:60]!r}",
            hint=f"use one of: {', '.join(sorted(ADAPTERS))}",
        )
    return found
