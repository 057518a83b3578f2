"""Slurm's files as the ConfigMap that slurmctld has them from, and whether they may be delivered at all."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from npa.plan import policy
from npa.render import latest
from npa.render.kube import names
from npa.render.kube.cluster import Resolved
from npa.render.kube.context import Context
from npa.render.objects import CONFIG_MAP
from npa.slurm import conf, files, lint, slurm_conf, topology
from npa.slurm.lint.finding import Finding

DIGEST = "digest"  # the file that says which files these are
POWER = "power"
STATIC = "static-nodes"  # hostlist of the nodes that nobody switches on: until they register, they are down
CUSTOM = "spec.customSlurmConfig"
_PLANNED = ("topology/tree", "topology/block")
_SLURMDBD = "slurmdbd.conf"
# slurmctld asks for nodes and gives them back through it (slurm.conf(5), ResumeProgram); the operator sees
# what slurmctld waits for, so there is nothing left to do.
_POWER_PROGRAM = "#!/bin/sh\n# Written by npa; what slurmctld waits for is seen by the operator\nexit 0\n"


@dataclass(frozen=True, slots=True)
class Files:
    """The files of slurmctld, with what tells them from others."""

    texts: Mapping[str, str]
    digest: str
    slurmdbd: str = ""  # slurmdbd.conf without its password; "" without accounting


def _place(resolved: Resolved, topology_text: str = "") -> str:
    """Return what no two clusters have in common, whatever their topology."""
    del topology_text
    return resolved.runtime.site.controller_address


@latest.answers(256, of=_place)  # most passes over a cluster change nothing of its files
def render(resolved: Resolved, topology_text: str = "") -> Files:
    """Return the files of a cluster; `topology_text` replaces what follows from fabrics alone."""
    name = topology.name(resolved.cluster)
    texts = _texts(resolved)
    plugin = conf_value(texts["slurm.conf"], "TopologyPlugin")
    if plugin in _PLANNED and topology_text:
        texts[name] = topology_text
    elif plugin == "topology/block":
        # which nodes are in a block is not known yet: without a topology all of them can be used
        texts = _texts(_without_topology(resolved))
        texts.pop(name, None)
    elif plugin != "topology/tree":
        texts.pop(name, None)
    slurmdbd = texts.pop(_SLURMDBD, "")
    texts[POWER] = _POWER_PROGRAM
    static = conf_value(texts["slurm.conf"], "SuspendExcNodes")
    if static:
        texts[STATIC] = f"{static}\n"
    return Files(texts, digest(texts), slurmdbd)


def _texts(resolved: Resolved) -> dict[str, str]:
    return {file.name: file.text for file in files.render(resolved.cluster, resolved.runtime)}


def _without_topology(resolved: Resolved) -> Resolved:
    site = resolved.runtime.site
    others = tuple(pair for pair in site.settings if pair[0] != "TopologyPlugin")
    site = dataclasses.replace(site, settings=(*others, ("TopologyPlugin", "")))
    return dataclasses.replace(resolved, runtime=dataclasses.replace(resolved.runtime, site=site))


def digest(texts: Mapping[str, str]) -> str:
    """Return what tells these files from others.

    What is before the hyphen changes only with what slurmctld reads when it starts: with another one it has
    to be started anew.
    """
    once = sorted(
        (line.key, str(line)) for line in conf.parse(texts["slurm.conf"]) if line.key in policy.RESTART_KEYS
    )
    every = [(name, texts[name]) for name in sorted(texts)]
    return f"{_hash(repr(once))[:8]}-{_hash(repr(every))[:16]}"


def starts_alike(one: str, other: str) -> bool:
    """Say whether slurmctld gets from the files of one digest to those of the other without a restart."""
    return one.partition("-")[0] == other.partition("-")[0]


def check(resolved: Resolved, found: Files) -> tuple[Finding, ...]:
    """Return what is wrong with the files; lines of the user's own are numbered as the user wrote them."""
    version = resolved.cluster.slurm_version
    texts = {**found.texts, **({_SLURMDBD: found.slurmdbd} if found.slurmdbd else {})}
    custom = resolved.runtime.site.slurm_conf
    begins = _own_part(found.texts["slurm.conf"]) if custom.strip() else 0
    found_wrong = _linted(tuple(sorted(texts.items())), version)
    findings = {_placed(each, begins) for each in found_wrong}
    if custom.strip():
        findings |= set(lint.check_custom(custom, version=version, file=CUSTOM))
    return tuple(sorted(findings))


@lru_cache(maxsize=256)  # files that did not change are as good as they were
def _linted(texts: tuple[tuple[str, str], ...], version: str) -> tuple[Finding, ...]:
    return lint.check(dict(texts), version=version, limited=True)


def errors(findings: Iterable[Finding]) -> tuple[str, ...]:
    """Return why files are not delivered, one sentence each, in the order of the text."""
    return tuple(str(each.problem()) for each in lint.errors(findings))


def config_map(context: Context, found: Files) -> dict[str, Any]:
    """Return the ConfigMap of the files."""
    return context.object(
        CONFIG_MAP,
        names.config(context.name),
        "common",
        annotations={names.CONFIG: found.digest},
        data={**found.texts, DIGEST: found.digest},
    )


def conf_value(text: str, key: str) -> str:
    """Return what a file says for a key; the last line counts."""
    values = [line.get(key) for line in conf.parse(text) if line.key == key.lower()]
    return values[-1] if values else ""


def _own_part(text: str) -> int:
    """Return the number of the line above the user's own lines."""
    mark = str(conf.comment(slurm_conf.OWN))
    return next((number for number, line in enumerate(text.split("\n"), 1) if line == mark), 0)


def _placed(finding: Finding, begins: int) -> Finding:
    if not begins or finding.file != "slurm.conf" or finding.line <= begins:
        return finding
    return dataclasses.replace(finding, file=CUSTOM, line=finding.line - begins)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
