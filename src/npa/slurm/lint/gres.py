"""Generic resources: slurm.conf says what nodes have, gres.conf which devices that is; both must agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from npa.slurm import hostlist
from npa.slurm.hostlist import HostlistError
from npa.slurm.lint import nodes, sections, values
from npa.slurm.lint.finding import Finding
from npa.slurm.lint.grammar import Pair, Statement
from npa.slurm.lint.model import Conf, Node, names
from npa.slurm.quantity import Gres, QuantityError, parse_gres
from npa.spec import nearest

FILE = "gres.conf"
_SHARED = ("mps", "shard")  # both are parts of GPUs
_DETECTS = frozenset({"nvidia", "nvml", "rsmi", "oneapi", "nrt", "full"})
_LEGAL_DETECTS = ("nvidia", "nvml", "rsmi", "oneapi", "nrt", "full", "off")


def check(conf: Conf, lines: Iterable[Statement] | None) -> Iterator[Finding]:
    """Yield what is wrong with resources; `lines` are those of gres.conf, None where there is none."""
    yield from _types(conf)
    by_line = {id(node.line): node for node in conf.nodes.values()}
    claimed: dict[int, tuple[Gres, ...]] = {}
    for key, node in by_line.items():
        pair = node.get("Gres")
        if pair:
            yield from _claim(conf, node, pair)
            claimed[key] = _parsed(pair)
    if lines is None and not conf.whole:
        return
    listed = tuple(lines or ())
    for line in listed:
        yield from _line(conf, line)
    yield from _agree(conf, by_line, claimed, listed)


def _types(conf: Conf) -> Iterator[Finding]:
    pair = conf.settings.get("grestypes")
    if pair is None:
        return
    given = [word.strip() for word in pair.value.split(",")]
    for word in _SHARED:
        if word in given and "gpu" not in given:
            yield pair.says(f"{word} needs gpu beside it", f"write `GresTypes=gpu,{word}`")
    for word, count in Counter(given).items():
        if count > 1:
            yield pair.says(f"{word} is there twice", "remove one", severity="warning")


def _claim(conf: Conf, node: Node, pair: Pair) -> Iterator[Finding]:
    at = f"{node.line.head.key} {node.line.head.value[:40]}: {pair.key}"
    try:
        found = parse_gres(pair.value)
    except QuantityError:
        yield pair.says(f"{pair.value!r} is no resource", "write `gpu:TYPE:COUNT`", at=at)
        return
    types = conf.words("GresTypes")
    for gres in found:
        if gres.name.lower() not in types:
            message = f"{gres.name} is not in GresTypes: no job can ask for it"
            hint = nearest.hint(gres.name, types) if types else ""
            yield pair.says(message, hint or f"add `GresTypes={gres.name}`", at=at)


def _parsed(pair: Pair) -> tuple[Gres, ...]:
    try:
        return parse_gres(pair.value)
    except QuantityError:
        return ()


def _line(conf: Conf, line: Statement) -> Iterator[Finding]:
    for pair in line.pairs:
        yield from sections.check_pair(pair, "gres.conf", conf.release, "")
    found: dict[str, Pair] = {}
    for pair in line.pairs:
        if pair.name in found:
            yield sections.twice(pair, found[pair.name], pair.key)
        found[pair.name] = pair
    if "nodename" in found and conf.nodes:
        yield from nodes.unknown_nodes(conf, found["nodename"], "NodeName", sets=False)
    name = found.get("name")
    if name and conf.settings and name.value.lower() not in conf.words("GresTypes"):
        message = f"{name.value} is not in GresTypes of slurm.conf"
        hint = nearest.hint(name.value, conf.words("GresTypes"))
        yield name.says(message, hint or f"add `GresTypes={name.value}` to slurm.conf")
    if "autodetect" in found:
        wrong = values.word_fault(found["autodetect"].value, _LEGAL_DETECTS)
        if wrong:
            yield found["autodetect"].says(*wrong)
    yield from _devices(line, found)


def _devices(line: Statement, found: Mapping[str, Pair]) -> Iterator[Finding]:
    name, file, count = found.get("name"), found.get("file") or found.get("files"), found.get("count")
    if name is None:
        if "autodetect" not in found:
            yield line.head.says("names no resource", "add `Name=`")
        return
    if name.value.lower() == "gpu" and not (file or "multiplefiles" in found or _detects(found)):
        yield name.says("a GPU without `File` is ignored", "add `File=/dev/nvidia[0-7]`")
    if file:
        try:
            paths = hostlist.expand(file.value)
        except HostlistError as error:
            yield file.says(error.what, "write paths as in `/dev/nvidia[0-7]`")
            return
        if any(not path.startswith("/dev/") for path in paths):
            yield file.says(f"{file.value} is not in /dev", "name the device's file", severity="warning")
        number = values.integer(count.value) if count else None
        if count and number is not None and number != len(paths) and name.value.lower() == "gpu":
            yield count.says(f"{number} for {len(paths)} files", "remove `Count`, it is the number of files")


def _detects(found: Mapping[str, Pair]) -> bool:
    return "autodetect" in found and found["autodetect"].value.lower() in _DETECTS


def _agree(
    conf: Conf,
    by_line: Mapping[int, Node],
    claimed: Mapping[int, tuple[Gres, ...]],
    lines: tuple[Statement, ...],
) -> Iterator[Finding]:
    """Compare, for a node of each NodeName line, what it claims with what gres.conf has for it."""
    detecting = any(
        pair.name == "autodetect" and pair.value.lower() in _DETECTS for line in lines for pair in line.pairs
    )
    devices = _per_node(lines)
    for key, node in by_line.items():
        have = devices.get(node.name, Counter()) + devices.get("", Counter())
        want: Counter[str] = Counter()
        for gres in claimed.get(key, ()):
            want[gres.name.lower()] += gres.count
        pair = node.get("Gres")
        for name in want:
            if (
                pair
                and have[name] != want[name]
                and not (detecting and name == "gpu")
                and name not in _SHARED
            ):
                yield pair.says(_disagreement(name, want[name], have[name]), _fix(name), at=_at(node))
        for name in have:
            if name not in want and conf.nodes:
                message = f"gres.conf has {have[name]} {name} for {node.name}, and its line has no `Gres`"
                yield node.line.head.says(message, f"add `Gres={name}:{have[name]}`", at=_at(node))


def _disagreement(name: str, want: int, have: int) -> str:
    if not have:
        return f"gres.conf has no {name} for it: the node would be drained"
    return f"{want} {name} here, {have} in gres.conf" + (": the node would be drained" if have < want else "")


def _fix(name: str) -> str:
    return "give gres.conf as many files" if name == "gpu" else "make both the same"


def _at(node: Node) -> str:
    return f"{node.line.head.key} {node.line.head.value[:40]}: Gres"


def _per_node(lines: tuple[Statement, ...]) -> dict[str, Counter[str]]:
    """Return how many of each resource gres.conf has for each node; "" stands for every node."""
    found: dict[str, Counter[str]] = {}
    for line in lines:
        pairs = {pair.name: pair.value for pair in line.pairs}
        name = pairs.get("name", "").lower()
        if not name:
            continue
        files = pairs.get("file") or pairs.get("files") or pairs.get("multiplefiles") or ""
        counts = [gres.count for gres in _count(pairs.get("count", ""))]
        count = len(names(files)) if files else sum(counts) or 1
        if name == "gpu" and not files:
            count = 0
        for node in names(pairs["nodename"]) if "nodename" in pairs else [""]:
            found.setdefault(node, Counter())[name] += count
    return found


def _count(text: str) -> tuple[Gres, ...]:
    try:
        return parse_gres(f"x:{text}") if text else ()
    except QuantityError:
        return ()
