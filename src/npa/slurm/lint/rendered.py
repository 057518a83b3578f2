"""A cluster's own files, before they are written: what is wrong is told in the words of the spec."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from npa.cluster.model import Cluster
from npa.errors import SpecError
from npa.slurm import files as slurm_files
from npa.slurm import lint
from npa.slurm.lint import custom
from npa.slurm.lint.finding import Finding, errors
from npa.slurm.lint.grammar import Pair, Statement
from npa.slurm.runtime import Runtime

SETTINGS = "slurm.settings"


def check(cluster: Cluster, runtime: Runtime) -> tuple[Finding, ...]:
    """Return what is wrong with the files that a cluster would get; settings that npa refuses end it."""
    found = check_settings(cluster)
    if errors(found):
        return found
    texts = {file.name: file.text for file in slurm_files.render(cluster, runtime)}
    return check_texts(cluster, texts)


def check_texts(cluster: Cluster, texts: Mapping[str, str]) -> tuple[Finding, ...]:
    """Return what is wrong with files rendered for a cluster."""
    written = {key.lower(): key for key, _ in cluster.slurm_settings}
    found = {*check_settings(cluster)}
    for each in lint.check(texts, version=cluster.slurm_version):
        key = written.get(each.at.lower()) if each.file == lint.MAIN else None
        found.add(_placed(each, key) if key else each)
    return tuple(sorted(found))


def check_settings(cluster: Cluster) -> tuple[Finding, ...]:
    """Return what is wrong with the spec's own settings, each by itself."""
    lines = [
        Statement((Pair(lint.MAIN, key, key.lower(), value, 0, 0, 0),))
        for key, value in cluster.slurm_settings
    ]
    found = custom.check(lines, cluster.slurm_version)
    return tuple(sorted(_placed(each, each.at) for each in found))


def refuse(cluster: Cluster, texts: Mapping[str, str] | None = None) -> None:
    """Raise SpecError with every error: of the spec's settings, or of all files where they are rendered."""
    found = check_settings(cluster) if texts is None else check_texts(cluster, texts)
    wrong = errors(found)
    if wrong:
        raise SpecError([each.problem() for each in wrong])


def _placed(finding: Finding, key: str) -> Finding:
    return dataclasses.replace(finding, file="", line=0, column=0, at=f"{SETTINGS}.{key}")
