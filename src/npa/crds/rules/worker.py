"""What a worker has, and what it is told."""

from __future__ import annotations

from collections.abc import Iterator

from npa.crds.nodeset import NodeSet
from npa.crds.rules.found import problem
from npa.crds.rules.login import amount_or_none
from npa.errors import Problem

GPU = "nvidia.com/gpu"
RESERVED = frozenset({"SOPERATOR_NODE_REAL_MEMORY_BYTES"})  # what a worker is told of its own memory


def resources_are_said(nodeset: NodeSet) -> Iterator[Problem]:
    """Slurm has to know how many CPUs and how much memory a worker has."""
    at, resources = "spec.slurmd.resources", nodeset.spec.slurmd.resources
    for key, example in (("cpu", "8"), ("memory", "64Gi")):
        value = amount_or_none(resources.get(key, ""))
        if key not in resources:
            yield problem(f"{at}.{key}", "is required", f"write how much, as in {example}")
        elif value is None or value <= 0:
            yield problem(f"{at}.{key}", f"{resources[key]!r} is nothing", f"write how much, as in {example}")
    for key, written in resources.items():
        value = amount_or_none(written)
        if key not in ("cpu", "memory") and (value is None or value < 0):
            yield problem(f"{at}[{key!r}]", f"{written!r} is no amount", "write a number")


def reserved_variables_are_left(nodeset: NodeSet) -> Iterator[Problem]:
    """A variable that the operator sets is not set by the user as well."""
    for index, each in enumerate(nodeset.spec.slurmd.custom_env):
        if each.get("name") in RESERVED:
            text = f"{each['name']} is set by the operator"
            yield problem(f"spec.slurmd.customEnv[{index}].name", text, "remove it")


def gpus_can_be_given(nodeset: NodeSet) -> Iterator[str]:
    """Yield a warning where nodes are said to have GPUs and none is asked for."""
    if nodeset.spec.gpu.enabled and not amount_or_none(nodeset.spec.slurmd.resources.get(GPU, 0)):
        yield f"gpu.enabled, but slurmd.resources names no {GPU}: jobs cannot ask for GPUs"
