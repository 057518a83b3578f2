"""topology.yaml and topology.conf: every node in one place, every switch below one other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from npa.slurm import hostlist, version
from npa.slurm.hostlist import HostlistError
from npa.slurm.lint.finding import Finding
from npa.slurm.lint.grammar import Statement
from npa.slurm.lint.model import Conf
from npa.slurm.lint.topology_files import KEYS, YAML, Topology, Unit, from_conf, from_yaml
from npa.spec import nearest
from npa.spec.document import Document

_PLUGINS = ("topology/tree", "topology/block")


def check(conf: Conf, page: Iterable[Statement] | None, text: str | None) -> Iterator[Finding]:
    """Yield what is wrong with topology.conf (`page`) or topology.yaml (`text`), where they are there."""
    plugin = conf.settings.get("topologyplugin")
    if text is not None:
        document_, found = from_yaml(text)
        yield from _syntax(document_)
        if not document_.problems:
            yield from _named(conf, found)
    elif page is not None:
        found = (from_conf(tuple(page), conf.value("TopologyPlugin")),)
    else:
        if plugin and plugin.value in _PLUGINS and conf.whole:
            message = (
                f"{plugin.value} needs topology.conf or topology.yaml: slurmctld waits a minute and stops"
            )
            yield plugin.says(message, "add the file, or remove the line")
        return
    strict = not version.at_least(conf.release, "26.05")  # where 26.05 goes on, 24.11 stops
    for topology in found:
        yield from topology.faults
        yield from _units(conf, topology, strict=strict)
        if topology.kind == "tree":
            yield from _tree(topology)
        if topology.kind == "block":
            yield from _sizes(topology, strict=strict)
        yield from _cover(conf, topology, lone=len(found) == 1)


def _syntax(read: Document) -> Iterator[Finding]:
    for problem in read.problems:
        at = problem.at.removeprefix("topologies")
        yield Finding(
            YAML, max(0, problem.line - 1), max(0, problem.column - 2), at, problem.message, problem.hint
        )
    value = read.value.get("topologies") if isinstance(read.value, dict) else None
    if not read.problems and (not isinstance(value, list) or not value):
        yield Finding(YAML, 1, 1, "", "is not a list of topologies", "begin each with `- topology: NAME`")


def _named(conf: Conf, found: Sequence[Topology]) -> Iterator[Finding]:
    names = [topology.name for topology in found]
    for topology in found:
        if names.count(topology.name) > 1:
            yield topology.place.says(f"a second topology {topology.name!r}", "rename one")
            break
    chosen = [topology for topology in found if topology.default]
    for topology in chosen[1:]:
        message = f"a second default, the first is {chosen[0].name!r}"
        yield topology.place.says(message, "keep one `cluster_default: true`")
    for line in conf.lines.get("partitionname", ()):
        pair = line.get("Topology")
        if pair and pair.value not in names:
            message = f"there is no topology {pair.value!r}"
            yield pair.says(
                message, nearest.hint(pair.value, names), at=f"PartitionName {line.head.value}: Topology"
            )


def _units(conf: Conf, topology: Topology, *, strict: bool) -> Iterator[Finding]:
    if topology.kind in KEYS and not topology.units:
        what = "switch" if topology.kind == "tree" else "block"
        yield topology.place.says(
            f"has no {what}: slurmctld does not start", "add one, or remove the topology"
        )
    seen: set[str] = set()
    for unit in topology.units:
        if not unit.name:
            yield unit.place.says("has no name", "name it")
        elif unit.name in seen:
            yield unit.place.says(f"a second {unit.name!r}", "rename one")
        seen.add(unit.name)
        for text in (unit.nodes, unit.children):
            try:
                hostlist.expand(text)
            except HostlistError as error:
                yield unit.place.says(error.what, "write names as in `gpu-[0-3]`")
        missing = [name for name in _names(unit.nodes) if name not in conf.nodes] if conf.nodes else []
        if missing:
            hint = nearest.hint(missing[0], list(conf.nodes)[:1000])
            yield unit.place.says(f"there is no node {', '.join(missing[:3])}", hint)
        if unit.nodes and unit.children:
            yield unit.place.says("has both nodes and switches below it", "keep one of them")
        elif not unit.nodes and not unit.children:
            yield unit.place.says("has nothing below it", "give it nodes, or remove it", warns=not strict)


def _names(text: str) -> list[str]:
    try:
        return hostlist.expand(text)
    except HostlistError:
        return []


def _tree(topology: Topology) -> Iterator[Finding]:
    below = {unit.name: _names(unit.children) for unit in topology.units}
    parents: Counter[str] = Counter()
    for unit in topology.units:
        for child in below[unit.name]:
            if child not in below:
                yield unit.place.says(f"there is no switch {child!r}", nearest.hint(child, below))
            parents[child] += 1
            if parents[child] == 2:
                yield unit.place.says(f"switch {child!r} is below another one too", "keep one of them")
    circle = _circle(below)
    for unit in topology.units:
        if unit.name == circle:
            yield unit.place.says("is below itself", "remove one of the links")


def _circle(below: Mapping[str, Sequence[str]]) -> str:
    """Return a switch that can be reached from itself."""
    done: set[str] = set()
    for start in below:
        path: list[str] = [start]
        stack = [iter(below[start])]
        while stack:
            child = next(stack[-1], None)
            if child is None:
                stack.pop()
                done.add(path.pop())
            elif child in path:
                return child
            elif child in below and child not in done:
                path.append(child)
                stack.append(iter(below[child]))
    return ""


def _sizes(topology: Topology, *, strict: bool) -> Iterator[Finding]:
    """Block sizes are the smallest times a power of two (topology.conf(5), BlockSizes)."""
    for size in topology.sizes[1:]:
        base = topology.sizes[0]
        times = size // base if base > 0 and size % base == 0 else 0
        if times < 1 or times & (times - 1):
            message = f"block size {size} is not {base} times a power of two"
            yield topology.place.says(message, f"write {base}, {2 * base}, {4 * base} …")
    counts = [len(_names(unit.nodes)) for unit in topology.units]
    if topology.sizes and topology.sizes[0] <= 0:
        yield topology.place.says(f"a block of {topology.sizes[0]} nodes", "write a number above 0")
    elif topology.sizes and topology.kind == "block" and counts and min(counts) < topology.sizes[0]:
        unit = topology.units[counts.index(min(counts))]
        message = f"{min(counts)} nodes are fewer than the block size {topology.sizes[0]}"
        yield unit.place.says(message, "make the smallest block size as small", warns=not strict)


def _cover(conf: Conf, topology: Topology, *, lone: bool) -> Iterator[Finding]:
    """A node of the topology's partitions that is nowhere gets no job, one in two places confuses Slurm."""
    places: dict[str, Unit] = {}
    told: set[tuple[str, str]] = set()
    for unit in topology.units:
        for name in _names(unit.nodes):
            other = places.setdefault(name, unit)
            if other is not unit and (unit.name, other.name) not in told:
                told.add((unit.name, other.name))
                yield unit.place.says(f"node {name} is in {other.name} already", "keep one of them")
    if topology.kind not in KEYS or not topology.units or not (lone or topology.default):
        return
    lacking = [name for name in conf.nodes if name not in places]
    if lacking:
        shown = hostlist.compress(lacking[:1000])[:80]
        yield topology.place.says(
            f"{len(lacking)} nodes are nowhere in it: {shown}", "add them to a switch or block"
        )
