"""Names of the cluster, its pools, and the nodes that come of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from npa.spec import catalog
from npa.spec.finding import Finding
from npa.spec.model import NAME_PATTERN, SoperatorSpec, WorkerPoolSpec
from npa.spec.rules import words

CLUSTER_LONGEST = 32
HOST_LONGEST = 63  # a DNS label, which every node's name is

# Nodes of the control plane are called `<role>-<ordinal>`.
ROLES = ("controller", "accounting", "login", "rest")
# Slurm gives these a meaning of their own wherever it reads a node or a partition, in any case.
SLURM_WORDS = ("all", "default")

_LEGAL = "a-z0-9-"
_STYLE = "use lower-case letters, digits and hyphens, a letter first and no hyphen last"


def _name_hint(name: str) -> str:
    """Offer the name itself with its characters put right, where that is enough."""
    plain = re.sub(r"[_ .\u2010-\u2015\u2212\ufe63\uff0d]", "-", name.strip().lower())
    return f"write `{plain}`" if re.fullmatch(NAME_PATTERN, plain) and len(plain) <= 32 else _STYLE


def cluster_name_is_one_of_the_recipe(spec: SoperatorSpec) -> Iterator[Finding]:
    """The recipe and the provider take no other name, and find out only half-way."""
    message = words.fault(spec.name, NAME_PATTERN, _LEGAL, CLUSTER_LONGEST)
    if message:
        yield Finding("name", message, _name_hint(spec.name))


def cluster_name_is_not_example(spec: SoperatorSpec) -> Iterator[Finding]:
    """The recipe keeps its own template in the directory of that name."""
    if spec.name == "example":
        yield Finding("name", "'example' is the recipe's own template", "choose another name")


def pool_names_are_host_names(spec: SoperatorSpec) -> Iterator[Finding]:
    """A pool's name begins the host names of its nodes."""
    for index, pool in enumerate(spec.workers):
        message = words.fault(pool.name, NAME_PATTERN, _LEGAL)
        if message:
            yield Finding(f"workers[{index}].name", message, _name_hint(pool.name))


def pool_names_are_not_reserved(spec: SoperatorSpec) -> Iterator[Finding]:
    """A pool called like a node of the control plane, or like a word of Slurm's, would be taken for it."""
    for index, pool in enumerate(spec.workers):
        role, _, ordinal = pool.name.rpartition("-")
        if pool.name in ROLES or (role in ROLES and ordinal.isdecimal()):
            message = f"{pool.name!r} is a name of the control plane"
        elif pool.name in SLURM_WORDS:
            message = f"{pool.name!r} means something else to Slurm"
        else:
            continue
        yield Finding(f"workers[{index}].name", message, "choose another name")


def node_names_fit_in_a_host_name(spec: SoperatorSpec) -> Iterator[Finding]:
    """What counts is the longest name that comes of a pool, not the name that was written."""
    for index, pool in enumerate(spec.workers):
        node = _longest_node(pool)
        rests_on = tuple(f"workers[{index}].{name}" for name in ("size", "platform"))
        for name, what, also in ((node, "its node", ()), (f"{spec.name}-{node}", "its machine", ("name",))):
            if len(name) > HOST_LONGEST:
                yield Finding(
                    f"workers[{index}].name",
                    f"{what} `{name[: 2 * HOST_LONGEST]}` would have {len(name)} characters, "
                    f"at most {HOST_LONGEST} are allowed",
                    f"shorten the name by {len(name) - HOST_LONGEST}",
                    (*rests_on, *also),
                )
                break


def _longest_node(pool: WorkerPoolSpec) -> str:
    last = max(pool.size, 1) - 1
    if pool.platform != catalog.RACK_PLATFORM:
        return f"{pool.name}-{last}"
    return f"{pool.name}-rack{last // catalog.RACK_SIZE}-{min(last, catalog.RACK_SIZE - 1)}"


def racks_are_full(spec: SoperatorSpec) -> Iterator[Finding]:
    """The provider sells whole racks; one rack alone may hold fewer nodes."""
    for index, pool in enumerate(spec.workers):
        rack = catalog.RACK_SIZE
        if pool.platform == catalog.RACK_PLATFORM and pool.size > rack and pool.size % rack:
            below = pool.size // rack * rack
            yield Finding(
                f"workers[{index}].size",
                f"{pool.size} is not a multiple of {rack}, the nodes of one rack",
                f"use {below} or {below + rack}",
                (f"workers[{index}].platform",),
            )


def effective_pool_names_are_unique(spec: SoperatorSpec) -> Iterator[Finding]:
    """Racks make names that nobody wrote; each is one NodeSet, so each may come of one pool only."""
    first: dict[str, int] = {}
    for index, pool in enumerate(spec.workers):
        for name in _effective(pool):
            other = first.setdefault(name, index)
            if other == index:
                continue
            written = spec.workers[other]
            here, there = f"workers[{index}]", f"workers[{other}]"
            if written.name == pool.name:
                message = f"a second pool {words.shown(pool.name)}, the first is {there}"
            else:
                message = f"{_origin(name, pool, here)} and {_origin(name, written, there)} are both {name!r}"
            fields = [f"{each}.{field}" for each in (here, there) for field in ("name", "platform", "size")]
            yield Finding(f"{here}.name", message, "rename one of them", tuple(fields))
            break


def _effective(pool: WorkerPoolSpec) -> tuple[str, ...]:
    # A size out of bounds is told by its own rule, and would make racks without end here.
    return tuple(name for name, _ in pool.racks) if 0 < pool.size <= catalog.MAX_NODES else (pool.name,)


def _origin(name: str, pool: WorkerPoolSpec, at: str) -> str:
    what = f"pool {pool.name!r} ({at})"
    return what if pool.name == name else f"rack {name.rpartition('-rack')[2]} of {what}"


def pool_names_are_not_node_names(spec: SoperatorSpec) -> Iterator[Finding]:
    """Slurm refuses a NodeSet called like a node (slurm.conf(5), NodeSet)."""
    sizes = {
        name: (size, index)
        for index, pool in enumerate(spec.workers)
        if 0 < pool.size <= catalog.MAX_NODES
        for name, size in pool.racks
    }
    for index, pool in enumerate(spec.workers):
        for name in _effective(pool):
            prefix, _, ordinal = name.rpartition("-")
            size, other = sizes.get(prefix, (0, 0))
            if re.fullmatch("0|[1-9][0-9]{0,8}", ordinal) and int(ordinal) < size:
                yield Finding(
                    f"workers[{index}].name",
                    f"{name!r} is also the name of node {ordinal} of pool {spec.workers[other].name!r}",
                    "rename one of them",
                    tuple(f"workers[{other}].{field}" for field in ("name", "platform", "size")),
                )


RULES = (
    cluster_name_is_one_of_the_recipe,
    cluster_name_is_not_example,
    pool_names_are_host_names,
    pool_names_are_not_reserved,
    node_names_fit_in_a_host_name,
    racks_are_full,
    effective_pool_names_are_unique,
    pool_names_are_not_node_names,
)
