"""NodeName, NodeSet and DownNodes lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from npa.cluster.model import Machine
from npa.slurm import hostlist, keys_values
from npa.slurm.hostlist import HostlistError
from npa.slurm.lint import sections, values
from npa.slurm.lint.finding import Finding
from npa.slurm.lint.grammar import Pair, Statement
from npa.slurm.lint.model import Conf, Node, is_default, names
from npa.spec import nearest

# A suffix changes nothing of how many there are: `gpu-[0-3].workers.example` is four addresses.
_SUFFIX = re.compile(r"(?<=\])[A-Za-z0-9._-]+(?=,|$)")
_COUNTED = ("NodeAddr", "NodeHostname", "Port")  # one for each node of the line, or one for all


def check(conf: Conf, machine: Machine | None) -> Iterator[Finding]:
    """Yield what is wrong with the nodes."""
    taken: dict[str, Pair] = {}
    sound = set[object]()  # what lines say after their names: a thousand nodes mostly say the same
    for line in conf.lines.get("nodename", ()):
        if line.tail not in sound:
            wrong = [*sections.check_line(line, "NodeName", conf.release), *_state(line)]
            yield from wrong
            sound |= set() if wrong else {line.tail}
        if not is_default(line):
            yield from _names(line, taken)
            yield from _counted(line)
    for node in {id(each.line): each for each in conf.nodes.values()}.values():
        key = (node.line.tail, id(node.defaults))
        if key not in sound:
            wrong = [*_shape(node), *_fits(node, conf, machine)]
            yield from wrong
            sound |= set() if wrong else {key}
    yield from _room(conf)
    yield from _sets(conf)
    yield from _down(conf)


def _names(line: Statement, taken: dict[str, Pair]) -> Iterator[Finding]:
    head = line.head
    try:
        found = hostlist.expand(head.value)
    except HostlistError as error:
        yield head.says(error.what, "write names as in `gpu-[0-3]`")
        return
    if not found:
        yield head.says("names no node", "remove the line, or name nodes as in `gpu-[0-3]`")
    for name in found:
        other = taken.get(name)
        if other:
            where = f"line {other.line}" if other is not head else "this line"
            yield head.says(f"node {name} is in {where} already", "name each node once")
            return
        taken[name] = head


def _state(line: Statement) -> Iterator[Finding]:
    state = line.get("State")
    if state:
        wrong = values.word_fault(state.value, keys_values.NODE_STATES.split())
        if wrong:
            yield state.says(*wrong, at=_at(line, state))


def _counted(line: Statement) -> Iterator[Finding]:
    for key in _COUNTED:
        pair = line.get(key)
        if pair is None:
            continue
        count = len(names(line.head.value))
        found = names(_SUFFIX.sub("", pair.value))
        if len(found) not in (1, count):
            message = f"{len(found)} for {count} nodes"
            yield pair.says(message, "give one for each node, or one for all", at=_at(line, pair))
        elif key == "Port" and not all(port.isdecimal() and 0 < int(port) < 65_536 for port in found):
            message = f"{pair.value!r} is no port"
            yield pair.says(message, "write a number from 1 to 65535", at=_at(line, pair))


def _number(node: Node, *keys: str) -> int | None:
    pair = node.get(*keys)
    return values.integer(pair.value) if pair else None


def _shape(node: Node) -> Iterator[Finding]:
    """CPUs must be the sockets, the cores or the threads (slurm.conf(5), CPUs); else Slurm takes its own."""
    cpus = node.get("CPUs", "Procs")
    count = values.integer(cpus.value) if cpus else None
    if cpus and count == 0:
        yield cpus.says("a node needs at least 1 CPU", "write how many it has", at=_at(node.line, cpus))
    sockets = _number(node, "Sockets") or _number(node, "SocketsPerBoard")
    cores, threads = _number(node, "CoresPerSocket"), _number(node, "ThreadsPerCore")
    if cpus and count and (sockets or cores or threads):
        total = (sockets or 1) * (_number(node, "Boards") or 1)
        legal = [total, total * (cores or 1), total * (cores or 1) * (threads or 1)]
        if count not in legal:
            message = f"{count} CPUs are neither the sockets, the cores nor the threads of the line"
            yield cpus.says(message, f"write CPUs={legal[-1]}", at=_at(node.line, cpus))
    memory, spared = node.get("RealMemory"), node.get("MemSpecLimit")
    size = values.integer(memory.value) if memory else None
    if memory and size == 0:
        yield memory.says("a node needs at least 1 MiB", "write it in MiB", at=_at(node.line, memory))
    if spared and size and (values.integer(spared.value) or 0) >= size:
        message = f"{spared.value} MiB for daemons leave nothing of RealMemory={size}"
        yield spared.says(message, "write less", at=_at(node.line, spared))
    kept = node.get("CoreSpecCount")
    if kept and count and (values.integer(kept.value) or 0) >= count:
        message = f"{kept.value} cores for daemons leave nothing of {count} CPUs"
        yield kept.says(message, "write less", at=_at(node.line, kept))


def _fits(node: Node, conf: Conf, machine: Machine | None) -> Iterator[Finding]:
    """What a node claims and has not got drains it as soon as it registers."""
    if machine is None or "config_overrides" in conf.words("SlurmdParameters"):
        return
    for key, other, there, unit in (
        ("RealMemory", "RealMemory", machine.memory_mib, " MiB"),
        ("CPUs", "Procs", machine.cpus, ""),
    ):
        pair = node.get(key, other)
        claimed = values.integer(pair.value) if pair else None
        if pair and claimed and claimed > there:
            message = f"{claimed}{unit} are more than the machine's {there}{unit}: its nodes will be drained"
            yield pair.says(message, f"write {key}={there} or less", at=_at(node.line, pair))


def _room(conf: Conf) -> Iterator[Finding]:
    most = conf.settings.get("maxnodecount")
    number = values.integer(most.value) if most else None
    if most and number is not None and number < len(conf.nodes):
        message = f"{len(conf.nodes)} nodes do not fit into {number}"
        yield most.says(message, f"write {len(conf.nodes)} or more")


def _sets(conf: Conf) -> Iterator[Finding]:
    seen: dict[str, Pair] = {}
    features = _features(conf)
    for line in conf.lines.get("nodeset", ()):
        yield from sections.check_line(line, "NodeSet", conf.release)
        head = line.head
        if head.value in conf.nodes:
            yield head.says(f"{head.value} is the name of a node", "give the set another name")
        elif head.value in seen:
            yield head.says(
                f"a second set {head.value}, the first is in line {seen[head.value].line}", "rename it"
            )
        seen.setdefault(head.value, head)
        nodes, feature = line.get("Nodes"), line.get("Feature")
        if nodes:
            yield from unknown_nodes(conf, nodes, _at(line, nodes), sets=False)
        if feature and feature.value not in features:
            message = f"no node has the feature {feature.value!r}"
            hint = nearest.hint(feature.value, features) or "the set is empty until one has"
            yield feature.says(message, hint, at=_at(line, feature), severity="warning")
        if not nodes and not feature:
            yield head.says("has neither nodes nor a feature", "add `Nodes=`", severity="warning")


def _features(conf: Conf) -> set[str]:
    lines = conf.lines.get("nodename", ())
    return {word for line in lines for word in line.text("Feature", "Features").split(",") if word}


def _down(conf: Conf) -> Iterator[Finding]:
    for line in conf.lines.get("downnodes", ()):
        yield from sections.check_line(line, "DownNodes", conf.release)
        yield from _state(line)
        yield from unknown_nodes(conf, line.head, line.head.key, sets=False)


def unknown_nodes(conf: Conf, pair: Pair, at: str, *, sets: bool = True) -> Iterator[Finding]:
    """Yield the names that are no node, nor a set where `sets`; the first few stand for all."""
    try:
        listed = hostlist.expand(pair.value)
    except HostlistError as error:
        yield pair.says(error.what, "write names as in `gpu-[0-3]`", at=at)
        return
    missing = [
        name
        for name in listed
        if name not in conf.nodes and not (sets and (name in conf.sets or name.upper() == "ALL"))
    ]
    if missing:
        first = ", ".join(missing[:3]) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
        known = [*conf.sets, *list(conf.nodes)[:1000]] if sets else list(conf.nodes)[:1000]
        yield pair.says(f"there is no node {first}", nearest.hint(missing[0], known), at=at)


def _at(line: Statement, pair: Pair) -> str:
    return f"{line.head.key} {line.head.value[:40]}: {pair.key}"
