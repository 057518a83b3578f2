"""Whether an object may be taken in: everything that is wrong with it, and what is only worth saying.

Pure: the object, what it was before, and its neighbours go in. What was wrong before does not stop a change
of something else, so that a broken object can be mended step by step; it is said again as a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from npa.crds import (
    activecheck,
    definitions,
    ignored,
    jailedconfig,
    nodeconfigurator,
    nodeset,
    powerstate,
    rules,
    slurmcluster,
)
from npa.crds.nodeset import NodeSet
from npa.crds.resource import Object
from npa.crds.rules import change, elsewhere, filters, name, partitions, worker
from npa.crds.slurmcluster import SlurmCluster
from npa.errors import Problem, SpecError

Found = tuple[list[Problem], list[str]]  # problems, warnings
# Says what is wrong with the files that a cluster and its NodeSets would be rendered to.
Lint = Callable[[SlurmCluster, Sequence[NodeSet]], Sequence[Problem]]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The other objects of the namespace, as far as they are known."""

    clusters: tuple[Object, ...] = ()
    nodesets: tuple[Object, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is wrong with an object, and what is only worth saying."""

    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def allowed(self) -> bool:
        """Whether it may be taken in."""
        return not self.problems

    @property
    def message(self) -> str:
        """What is wrong, one problem a line, each with what to do."""
        return "\n".join(f"{each}{f' ({each.hint})' if each.hint else ''}" for each in self.problems)


def review(
    new: Object, old: Object | None = None, around: Neighbours | None = None, lint: Lint | None = None
) -> Verdict:
    """Return whether an object may be taken in; one that goes, or that does not change, always may."""
    metadata = new.get("metadata")
    if isinstance(metadata, Mapping) and metadata.get("deletionTimestamp"):
        return Verdict()
    if old is not None and old.get("spec") == new.get("spec"):
        return Verdict()
    around = around or Neighbours()
    problems, warnings = _judge(new, old, around, lint)
    if old is not None and problems:
        known = set(_judge(old, None, around, lint)[0])
        warnings += [f"still wrong: {each}" for each in problems if each in known]
        problems = [each for each in problems if each not in known]
    return Verdict(tuple(dict.fromkeys(problems)), tuple(dict.fromkeys(warnings)))


def _judge(new: Object, old: Object | None, around: Neighbours, lint: Lint | None) -> Found:
    judges: dict[str, Callable[[], Found]] = {
        "SlurmCluster": lambda: _cluster(slurmcluster.parse(new), old, around, lint),
        "NodeSet": lambda: _nodeset(nodeset.parse(new), old, around, lint),
        "ActiveCheck": lambda: (list(rules.check_problems(activecheck.parse(new))), []),
        "JailedConfig": lambda: (list(elsewhere.files_have_places(jailedconfig.parse(new))), []),
        "NodeConfigurator": lambda: (
            list(elsewhere.what_runs_has_an_image(nodeconfigurator.parse(new))),
            [],
        ),
        "NodeSetPowerState": lambda: (list(elsewhere.ordinals_are_counts(powerstate.parse(new))), []),
    }
    kind = new.get("kind")
    judge = judges.get(kind) if isinstance(kind, str) else None
    if judge is None:
        known = ", ".join(each.kind for each in definitions.APIS)
        return [Problem(0, 0, "kind", f"{str(kind)[:60]!r} is no kind of ours", f"one of {known}")], []
    try:
        problems, warnings = judge()
    except SpecError as error:
        return list(error.problems), []
    if left := ignored.ignored_in(new):
        warnings.append(f"ignored fields: {', '.join(left)}")
    return problems, warnings


def _cluster(cluster: SlurmCluster, old: Object | None, around: Neighbours, lint: Lint | None) -> Found:
    sets = [each for each in _read(nodeset.parse, around.nodesets) if each.cluster in ("", cluster.name)]
    problems = list(rules.cluster_problems(cluster))
    for each in sets:
        problems += name.names_are_apart(each, cluster.name, ())
    warnings = [
        *partitions.unknown_nodesets(cluster, [each.name for each in sets]),
        *filters.both_must_hold(cluster),
    ]
    for before in _read(slurmcluster.parse, (old,) if old else ()):
        problems += [each for rule in rules.CLUSTER_CHANGE for each in rule(cluster, before)]
        warnings += change.state_stays_behind(cluster, before)
        warnings += change.accounts_stay_behind(cluster, before)
    if lint and not problems:
        problems += lint(cluster, sets)
    return problems, warnings


def _nodeset(held: NodeSet, old: Object | None, around: Neighbours, lint: Lint | None) -> Found:
    siblings = [each for each in _read(nodeset.parse, around.nodesets) if each.name != held.name]
    clusters = list(_read(slurmcluster.parse, around.clusters))
    owner = _owner(held, clusters)
    problems = list(rules.nodeset_problems(held))
    problems += name.names_are_apart(held, owner.name if owner else held.cluster, siblings)
    warnings = list(worker.gpus_can_be_given(held))
    if owner is None:
        warnings.append(_orphan(held, clusters))
    for before in _read(nodeset.parse, (old,) if old else ()):
        problems += [each for rule in rules.NODE_SET_CHANGE for each in rule(held, before)]
    if lint and owner and not problems:
        own = [each for each in siblings if _owner(each, clusters) == owner]
        problems += lint(owner, sorted([*own, held], key=lambda each: each.name))
    return problems, warnings


def _owner(held: NodeSet, clusters: Sequence[SlurmCluster]) -> SlurmCluster | None:
    """Return the cluster that a NodeSet belongs to: the one it names, else the only one there is."""
    if not held.cluster:
        return clusters[0] if len(clusters) == 1 else None
    return next((each for each in clusters if each.name == held.cluster), None)


def _orphan(held: NodeSet, clusters: Sequence[SlurmCluster]) -> str:
    if held.cluster:
        return f"there is no SlurmCluster {held.cluster!r} in this namespace (yet): no worker is started"
    if clusters:
        return "clusterName is not set, and there are several clusters: no worker is started"
    return "there is no SlurmCluster in this namespace (yet): no worker is started"


def _read(parse: Callable[[Object], Any], objects: Sequence[Object]) -> Iterator[Any]:
    """Yield those that can be read: what is wrong with another object is told where that one is reviewed."""
    for each in objects:
        try:
            yield parse(each)
        except SpecError:
            continue
