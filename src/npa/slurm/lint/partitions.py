"""PartitionName lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from npa.slurm import keys_values
from npa.slurm.lint import nodes, sections, values
from npa.slurm.lint.finding import Finding
from npa.slurm.lint.grammar import Pair, Statement
from npa.slurm.lint.model import Conf, is_default
from npa.slurm.quantity import QuantityError, parse_time
from npa.spec import nearest

_SHARE = re.compile(r"NO|EXCLUSIVE|(?:YES|FORCE)(?::[1-9][0-9]*)?", re.IGNORECASE)
_ON = frozenset({"yes", "up", "true", "1"})
_WORDS = {
    "selecttypeparameters": keys_values.PARTITION_SELECT,
    "exclusive": keys_values.EXCLUSIVES,
}


def check(conf: Conf) -> Iterator[Finding]:
    """Yield what is wrong with the partitions."""
    lines = conf.lines.get("partitionname", ())
    named = [line for line in lines if not is_default(line)]
    first: dict[str, Pair] = {}
    for line in lines:
        yield from sections.check_line(line, "PartitionName", conf.release)
        for pair in line.pairs[1:]:
            yield from _value(pair, f"{line.head.key} {line.head.value[:40]}: {pair.key}")
    for line in named:
        head = line.head
        if head.value in first:
            message = f"a second partition {head.value}, the first is in line {first[head.value].line}"
            yield head.says(message, "rename one, or make it one line")
        first.setdefault(head.value, head)
        yield from _members(conf, line, {each.head.value for each in named})
        yield from _limits(line)
    if conf.nodes:
        yield from _default(conf, named)


def _value(pair: Pair, at: str) -> Iterator[Finding]:
    wrong = None
    if pair.name in ("maxtime", "defaulttime"):
        wrong = values.time_fault(pair.value)
    elif pair.name == "state":
        # Slurm looks at the beginning alone: `UPX` is UP to it.
        states = keys_values.PARTITION_STATES.split()
        if not pair.value.upper().startswith(tuple(states)):
            wrong = values.word_fault(pair.value, states)
    elif pair.name in _WORDS:
        wrong = values.word_fault(pair.value, _WORDS[pair.name].split())
    elif pair.name in ("oversubscribe", "shared") and not _SHARE.fullmatch(pair.value):
        meant = nearest.nearest(pair.value, ("YES", "NO", "EXCLUSIVE", "FORCE"))
        hint = f"did you mean `{meant}`" if meant else "write YES, NO, EXCLUSIVE or FORCE, or `YES:4`"
        wrong = (f"{pair.value!r} is unknown", hint)
    elif pair.name == "preemptmode":
        wrong = _preemption(pair.value)
    elif pair.name == "tresbillingweights":
        wrong = values.weights_fault(pair.value)
    if wrong:
        yield pair.says(*wrong, at=at)


def _preemption(text: str) -> values.Wrong | None:
    words = text.split(",")
    if "GANG" in (word.upper() for word in words):
        return "GANG is for the whole cluster", "set `PreemptMode` on a line of its own"
    legal = keys_values.PARTITION_PREEMPT.split()
    return next((wrong for word in words if (wrong := values.word_fault(word, legal))), None)


def _members(conf: Conf, line: Statement, names: set[str]) -> Iterator[Finding]:
    at = f"{line.head.key} {line.head.value[:40]}"
    pair = line.get("Nodes")
    if pair:
        yield from nodes.unknown_nodes(conf, pair, f"{at}: {pair.key}")
    other = line.get("Alternate")
    if other and other.value not in names:
        message = f"there is no partition {other.value!r}"
        yield other.says(message, nearest.hint(other.value, names), at=f"{at}: {other.key}")


def _limits(line: Statement) -> Iterator[Finding]:
    at = f"{line.head.key} {line.head.value[:40]}"
    least, most = line.get("MinNodes"), line.get("MaxNodes")
    low, high = (values.integer(pair.value) if pair else None for pair in (least, most))
    if least and low is not None and high is not None and low > high:
        yield least.says(
            f"{low} is more than MaxNodes={high}: no job can run", "write less", at=f"{at}: MinNodes"
        )
    usual, limit = _seconds(line.text("DefaultTime")), _seconds(line.text("MaxTime"))
    default = line.get("DefaultTime")
    if default and usual is not None and limit is not None and usual > limit:
        message = f"{default.value} is longer than MaxTime={line.text('MaxTime')}"
        yield default.says(message, "write a shorter time", at=f"{at}: DefaultTime", severity="warning")


def _seconds(text: str) -> int | None:
    try:
        found = parse_time(text)
    except QuantityError:
        return None
    return found if isinstance(found, int) else None


def _default(conf: Conf, named: list[Statement]) -> Iterator[Finding]:
    if not named:
        yield Finding(
            "slurm.conf", 0, 0, "PartitionName", "there is no partition: no job can be submitted", "add one"
        )
        return
    chosen = [pair for line in named if (pair := line.get("Default")) and pair.value.lower() in _ON]
    for pair in chosen[1:]:
        message = f"a second default, the first is in line {chosen[0].line}: Slurm takes the last"
        yield pair.says(message, "keep one of them")
    if not chosen and not any(
        line.get("Default") for line in conf.lines["partitionname"] if is_default(line)
    ):
        message = "no partition is the default: a job must name one"
        pair = named[0].head
        yield pair.says(message, "set `Default=YES` on one of them", severity="warning")
