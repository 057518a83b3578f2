"""What is wrong with a resource of ours, said before the API server takes it in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from npa.crds import admission
from npa.crds.admission import Neighbours
from npa.crds.nodeset import NodeSet
from npa.crds.slurmcluster import SlurmCluster
from npa.errors import Problem
from npa.operator import kinds
from npa.operator.caches import Caches
from npa.operator.runtime.store import name
from npa.operator.runtime.webhook import Asked, Review, Verdict
from npa.reconcile import deletion, slurmcluster
from npa.reconcile.settings import Settings
from npa.render.kube import cluster, config
from npa.render.objects import NODE_SET, SLURM_CLUSTER, Kind, Object
from npa.slurm.conf import ConfError

Lint = Callable[[SlurmCluster, Sequence[NodeSet]], Sequence[Problem]]


def reviewer(caches: Caches, settings: Settings) -> Review:
    """Return what judges an object by its rules, its neighbours, and the files that come of it."""
    lint = linter(settings)

    def review(asked: Asked) -> Verdict:
        if asked.new is None:
            gone = asked.old or {}
            why = deletion.refused(gone) if gone.get("kind") == SLURM_CLUSTER.kind else ""
            return Verdict((why,) if why else ())
        namespace = name(asked.new)[0]
        around = Neighbours(_of(caches, SLURM_CLUSTER, namespace), _of(caches, NODE_SET, namespace))
        verdict = admission.review(asked.new, asked.old, around, lint)
        return Verdict((verdict.message,) if verdict.message else (), verdict.warnings)

    return review


def linter(settings: Settings) -> Lint:
    """Return what says what is wrong with Slurm's files of a cluster."""

    def lint(found: SlurmCluster, nodesets: Sequence[NodeSet]) -> Sequence[Problem]:
        problems: list[Problem] = []
        context = slurmcluster.context(found, settings)
        try:
            resolved = cluster.resolve(context, nodesets, {}, problems)
            wrong = () if problems else config.errors(config.check(resolved, config.render(resolved)))
        except ConfError as error:
            wrong = (str(error),)
        return (*problems, *(Problem(0, 0, "", each) for each in wrong))

    return lint


def _of(caches: Caches, kind: Kind, namespace: str) -> tuple[Object, ...]:
    return caches.store(kind).by((namespace, kinds.EVERY))
