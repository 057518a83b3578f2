"""The settings of slurm.conf that stand alone: their words, plugins, numbers and times."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from npa.slurm import keys
from npa.slurm import keys_values as tables
from npa.slurm.lint import sections, values
from npa.slurm.lint.finding import Finding, Severity
from npa.slurm.lint.grammar import Pair
from npa.slurm.lint.model import Conf
from npa.spec import nearest

_NUMBER = re.compile(r"-?[0-9]+[kKmM]?")
_NEEDED = {"clustername": "ClusterName", "slurmctldhost": "SlurmctldHost"}


def check(conf: Conf) -> Iterator[Finding]:
    """Yield what is wrong with the settings of a slurm.conf."""
    yield from check_values(conf.singles, conf.release)
    hosts: dict[str, Pair] = {}
    for pair in (each for each in conf.singles if each.name == "slurmctldhost"):
        if pair.value in hosts:
            yield pair.says(
                f"{pair.value} is in line {hosts[pair.value].line} already", "name each host once"
            )
        hosts[pair.value] = pair
    for key, name in _NEEDED.items():
        if key not in conf.settings:
            yield Finding(
                "slurm.conf", 0, 0, name, "is missing: slurmctld does not start without it", f"add `{name}=`"
            )


def check_values(singles: tuple[Pair, ...], release: str) -> Iterator[Finding]:
    """Yield what is wrong with settings, each by itself; for a file of settings alone too."""
    yield from sections.check_settings(singles, "slurm.conf", release)
    known = keys.known("slurm.conf", release)
    for pair in singles:
        if pair.name in known and not _is_good(pair.name, pair.value, release):
            yield from _judged(pair, release)


@lru_cache(maxsize=4096)  # what clusters have in common is judged once for all of them
def _is_good(name: str, value: str, release: str) -> bool:
    pair = Pair("", name, name, value, 0, 0, 0)
    return not any(True for _ in _judged(pair, release))


def _judged(pair: Pair, release: str) -> Iterator[Finding]:
    for rule in (_gone, _words, _parameters, _plugin, _number, _text):
        yield from rule(pair, release)


def _gone(pair: Pair, release: str) -> Iterator[Finding]:  # noqa: ARG001
    if pair.name in tables.REMOVED:
        message = "has been removed, and slurmctld does not start with it"
        yield pair.says(message, tables.REMOVED[pair.name], on_key=True)
    elif pair.name in tables.DEFUNCT:
        message = "is taken for nothing"
        yield pair.says(message, tables.DEFUNCT[pair.name], on_key=True, severity="warning")


def _words(pair: Pair, release: str) -> Iterator[Finding]:
    if pair.name in tables.STRICT_WORD:
        legal = keys.here(tables.STRICT_WORD[pair.name], release)
        given = [pair.value]
    elif pair.name in tables.STRICT_WORDS or pair.name in tables.SILENT_WORDS:
        table = {**tables.STRICT_WORDS, **tables.SILENT_WORDS}[pair.name]
        legal, given = keys.here(table, release), pair.value.split(",")
    else:
        return
    for word in given:
        wrong = values.word_fault(word.strip(), legal, exact=pair.name in tables.EXACT)
        if wrong:
            yield pair.says(*wrong)


def _parameters(pair: Pair, release: str) -> Iterator[Finding]:
    if pair.name not in tables.PARAMETERS:
        return
    legal = keys.here(tables.PARAMETERS[pair.name], release)
    for word in pair.value.split(","):
        name, _, given = (part.strip() for part in word.partition("="))
        if not name or name.lower() in {each.lower() for each in legal}:
            counts = pair.name == "schedulerparameters" and name.lower() not in tables.NO_NUMBERS.split()
            if given and counts and not _NUMBER.fullmatch(given):
                yield pair.says(f"{given!r} of {name} is not a number", "write a whole number")
            continue
        # A word of which nothing is known may be one of a newer patch; one that is nearly right is a slip.
        meant = nearest.nearest(name, legal)
        severity: Severity = "error" if meant else "warning"
        hint = f"did you mean `{meant}`" if meant else "Slurm takes it for nothing"
        yield pair.says(f"{name!r} is unknown", hint, severity=severity)


def _plugin(pair: Pair, release: str) -> Iterator[Finding]:
    if pair.name in tables.PLUGIN_OF:
        prefix = tables.PLUGIN_OF[pair.name][0]
        wrong = values.plugin_fault(pair.name, pair.value, keys.here(tables.PLUGINS[prefix], release))
        if wrong:
            yield pair.says(*wrong)


def _number(pair: Pair, release: str) -> Iterator[Finding]:  # noqa: ARG001  # one signature for every rule
    if pair.name in tables.TIMES:
        wrong = values.time_fault(pair.value)
        if wrong:
            yield pair.says(*wrong)
    bounds, number = tables.RANGES.get(pair.name), values.integer(pair.value)
    if bounds and number is not None and not bounds[0] <= number <= bounds[1]:
        stops = "slurmctld does not start with it" if bounds[2] else "Slurm takes another number for it"
        message = f"must be between {bounds[0]} and {bounds[1]}, is {pair.value}: {stops}"
        yield pair.says(message, f"write {min(max(number, bounds[0]), bounds[1])}")


def _text(pair: Pair, release: str) -> Iterator[Finding]:  # noqa: ARG001
    if '"' in pair.value:
        message = f"{pair.value[:40]!r} has a quote that Slurm takes for a part of the value"
        yield pair.says(message, "quote the whole value, or nothing of it")
    elif pair.name in _TEXTS:
        yield from _TEXTS[pair.name](pair)


def _path(pair: Pair) -> Iterator[Finding]:
    if pair.value[:1] != "/":
        yield pair.says(f"{pair.value!r} is no absolute path", "write the path from `/` on")


def _paths(pair: Pair) -> Iterator[Finding]:
    for word in pair.value.split(","):
        if word[:1] != "/" and word.lower() != "none":
            yield pair.says(f"{word!r} is no absolute path", "write paths from `/` on, or NONE")


def _tres(pair: Pair) -> Iterator[Finding]:
    for word in pair.value.split(","):
        if not values.is_tres(word.strip()):
            yield pair.says(f"{word!r} is no kind of resource", nearest.hint(word, tables.TRES_TYPES.split()))


def _weights(pair: Pair) -> Iterator[Finding]:
    wrong = values.weights_fault(pair.value)
    if wrong:
        yield pair.says(*wrong)


def _ports(pair: Pair) -> Iterator[Finding]:
    low, dash, high = pair.value.partition("-")
    numbers = [values.integer(part) for part in ((low, high) if dash else (low,))]
    if any(number is None or not 0 < number < 65_536 for number in numbers) or (
        dash and (numbers[0] or 0) > (numbers[1] or 0)
    ):
        yield pair.says(f"{pair.value!r} is no port and no range of ports", "write 6817, or `6817-6818`")


def _licenses(pair: Pair) -> Iterator[Finding]:
    for word in pair.value.split(","):
        parts = word.partition("(")[0].replace("=", ":").split(":")
        if len(parts) > 2 or (len(parts) == 2 and not parts[1].isdecimal()):
            yield pair.says(f"{word!r} is no license", "write `name:count`")


_TEXTS: Mapping[str, Callable[[Pair], Iterator[Finding]]] = {
    "resumeprogram": _path,
    "suspendprogram": _path,
    "resumefailprogram": _path,
    "bcastexclude": _paths,
    "slurmctldport": _ports,
    "accountingstoragetres": _tres,
    "priorityweighttres": _weights,
    "licenses": _licenses,
}
