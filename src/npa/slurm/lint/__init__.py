"""The checker that reads Slurm's files before Slurm does.

Its judgement is that of the programs: what it calls an error stops a daemon there, or makes it do another
thing than the file says. Pure: texts in, findings out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from npa.cluster.model import Machine
from npa.slurm import keys_values
from npa.slurm.lint import (
    confinement,
    grammar,
    gres,
    model,
    nodes,
    partitions,
    sections,
    settings,
    together,
    topology,
)
from npa.slurm.lint import custom as _custom
from npa.slurm.lint import files as _files
from npa.slurm.lint.finding import Finding, Severity, errors
from npa.slurm.lint.grammar import Page, Pair
from npa.slurm.version import at_least
from npa.spec import nearest

__all__ = ["KNOWN", "Finding", "Severity", "check", "check_custom", "errors"]

MAIN = "slurm.conf"
# The files that are read; what they include is told by them.
KNOWN = (
    MAIN,
    "gres.conf",
    "cgroup.conf",
    "mpi.conf",
    "topology.yaml",
    "topology.conf",
    "plugstack.conf",
    "slurmdbd.conf",
)


def check(
    files: Mapping[str, str], *, version: str, machine: Machine | None = None, limited: bool = False
) -> tuple[Finding, ...]:
    """Return what is wrong with a folder's files, by name, in the order of the text.

    With slurm.conf alone, nothing is said about files that are not there. `machine` is what a node really
    has; `limited` says that the files must fit into a ConfigMap.
    """
    found = list(_files.check(files, limited=limited))
    pages = {name: grammar.read(name, files) for name in KNOWN if _is_conf(name) and name in files}
    for page in pages.values():
        found += page.findings
    conf = model.parse(
        pages[MAIN].statements if MAIN in pages else (), version, whole=MAIN in pages and len(files) > 1
    )
    if MAIN in pages:
        found += settings.check(conf)
        found += nodes.check(conf, machine)
        found += partitions.check(conf)
        found += together.check(conf)
        found += confinement.check(conf, _cgroup_plugin(pages.get("cgroup.conf")))
    found += _others(files, pages, conf, version)
    return tuple(sorted(set(found)))


def check_custom(text: str, *, version: str, file: str = "settings") -> tuple[Finding, ...]:
    """Return what is wrong with settings that are to be added to a file of ours."""
    page = grammar.read(file, {file: text}, MAIN)
    found = [*_files.check({file: text}, limited=False), *page.findings]
    return tuple(sorted({*found, *_custom.check(page.statements, version)}))


def _is_conf(name: str) -> bool:
    return name not in ("topology.yaml", "plugstack.conf")


def _others(
    files: Mapping[str, str], pages: Mapping[str, Page], conf: model.Conf, version: str
) -> Iterator[Finding]:
    if MAIN in pages or "gres.conf" in pages:
        yield from gres.check(conf, pages["gres.conf"].statements if "gres.conf" in pages else None)
    if "mpi.conf" in pages:
        pairs = [statement.head for statement in pages["mpi.conf"].statements]
        yield from sections.check_settings(pairs, "mpi.conf", version)
    if "cgroup.conf" in pages:
        yield from _cgroup(pages["cgroup.conf"], version)
    text = files.get("topology.yaml") if version_reads_yaml(version) else None
    page = pages.get("topology.conf")
    yield from topology.check(conf, page.statements if page else None, text)
    if "plugstack.conf" in files:
        yield from _files.plugstack("plugstack.conf", files["plugstack.conf"])
    if "slurmdbd.conf" in pages:
        pairs = [statement.head for statement in pages["slurmdbd.conf"].statements]
        yield from sections.check_settings(pairs, "slurmdbd.conf", version)
        yield from together.check_daemon(conf if MAIN in pages else None, {pair.name: pair for pair in pairs})


def version_reads_yaml(version: str) -> bool:
    """Whether a release reads topology.yaml; an older one looks at topology.conf alone."""
    return at_least(version, "25.05")


def _cgroup_plugin(page: Page | None) -> Pair | None:
    heads = [statement.head for statement in page.statements] if page else []
    return next((pair for pair in reversed(heads) if pair.name == "cgroupplugin"), None)


def _cgroup(page: Page, version: str) -> Iterator[Finding]:
    pairs = [statement.head for statement in page.statements]
    yield from sections.check_settings(pairs, "cgroup.conf", version)
    legal = ("autodetect", "disabled", *(f"cgroup/{each}" for each in keys_values.PLUGINS["cgroup"].split()))
    for pair in pairs:
        if pair.name == "cgroupplugin" and pair.value.lower() not in legal:
            yield pair.says(f"there is no plugin {pair.value!r}", nearest.hint(pair.value, legal))
