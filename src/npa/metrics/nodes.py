"""Figures of nodes: what each is, has and gives away."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from npa.metrics import family
from npa.metrics.family import Family, Labels
from npa.metrics.seen import Node
from npa.slurm import reasons

MIB = 1024 * 1024
_LONGEST = 50  # characters of a reservation's name
# label of `slurm_node_info` -> the flag that it tells of
FLAGS = {
    "state_is_drain": "DRAIN",
    "state_is_maintenance": "MAINT",
    "state_is_reserved": "RESERVED",
    "state_is_completing": "COMPLETING",
    "state_is_fail": "FAIL",
    "state_is_planned": "PLANNED",
    "state_is_not_responding": "NOT_RESPONDING",
    "state_is_invalid": "INVAL",
    "state_is_cloud": "CLOUD",
    "state_is_power_down": "POWER_DOWN",
    "state_is_power_drain": "POWER_DRAIN",
    "state_is_powered_down": "POWERED_DOWN",
    "state_is_powering_down": "POWERING_DOWN",
    "state_is_powering_up": "POWERING_UP",
    "state_is_power_up": "POWER_UP",
}
# what counters of nodes are told apart by
STATE = ("state_base", "state_is_drain", "state_is_maintenance", "state_is_reserved")
_NODE = ("node_name",)
_POWER = frozenset({"POWER_DOWN", "POWER_DRAIN", "POWERED_DOWN", "POWERING_DOWN", "POWERING_UP", "POWER_UP"})
_BAD_BASES = frozenset({"DOWN", "UNKNOWN", "ERROR"})
_BAD_FLAGS = frozenset({"NOT_RESPONDING", "FAIL", "INVAL"})
_INFO = (
    *("node_name", "instance_id", "state_base", *FLAGS, "is_unavailable"),
    *("reservation_name", "address", "reason", "comment"),
)

_AMOUNTS: tuple[tuple[str, str, Callable[[Node], int]], ...] = (
    ("cpus_total", "CPUs of a node.", lambda n: n.cpus),
    ("cpus_allocated", "CPUs that jobs have.", lambda n: n.alloc_cpus),
    ("cpus_idle", "CPUs that no job has.", lambda n: max(0, n.cpus - n.alloc_cpus)),
    ("cpus_effective", "CPUs that jobs may have.", lambda n: n.effective_cpus),
    ("memory_total_bytes", "Memory of a node.", lambda n: n.memory * MIB),
    ("memory_allocated_bytes", "Memory that jobs have.", lambda n: n.alloc_memory * MIB),
    (
        "memory_effective_bytes",
        "Memory that jobs may have.",
        lambda n: max(0, n.memory - n.reserved_memory) * MIB,
    ),
)


def unavailable(node: Node) -> bool:
    """Say whether nobody can use a node, though nobody switched it off."""
    base, flags = node.state.base, node.state.flags
    if flags & _POWER:
        return False
    return base in _BAD_BASES or bool(flags & _BAD_FLAGS) or (base == "IDLE" and "DRAIN" in flags)


def state(node: Node) -> Labels:
    """Return the labels of `STATE`."""
    return (node.state.base, *(_said(FLAGS[label] in node.state.flags) for label in STATE[1:]))


def families(nodes: Iterable[Node]) -> Iterator[Family]:
    """Yield every figure of the nodes."""
    listed = tuple(nodes)
    yield family.gauge(
        "slurm_node_info", "1 for each node, with its state.", _INFO, ((_info(n), 1.0) for n in listed)
    )
    for name, about, read in _AMOUNTS:
        yield family.gauge(f"slurm_node_{name}", about, _NODE, (((n.name,), float(read(n))) for n in listed))
    free = (((n.name,), float(n.free_memory * MIB)) for n in listed if n.free_memory is not None)
    yield family.gauge("slurm_node_memory_free_bytes", "Memory of the machine that is free.", _NODE, free)
    yield family.gauge(
        "slurm_node_partition",
        "1 for each partition that a node is in.",
        ("node_name", "partition"),
        (((n.name, each), 1.0) for n in listed for each in n.partitions),
    )


def _info(node: Node) -> Labels:
    return (
        node.name,
        node.instance,
        node.state.base,
        *(_said(flag in node.state.flags) for flag in FLAGS.values()),
        _said(unavailable(node)),
        node.reservation[:_LONGEST],
        node.address,
        reason(node),
        node.comment,
    )


def reason(node: Node) -> str:
    """Return what kind of reason a node has: its words are somebody's, and would be a series each."""
    return reasons.parse(node.reason, node.reason_user).label if node.reason else ""


def _said(so: bool) -> str:
    return "true" if so else "false"
