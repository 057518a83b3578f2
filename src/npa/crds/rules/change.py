"""What a change of an object must not do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from npa.crds.nodeset import NodeSet
from npa.crds.parts import NodeVolume
from npa.crds.rules import worker_volumes
from npa.crds.rules.found import NODES, mounts, problem
from npa.crds.rules.login import amount_or_none
from npa.crds.slurmcluster import SlurmCluster
from npa.errors import Problem


def workers_stay_with_their_cluster(nodeset: NodeSet, old: NodeSet) -> Iterator[Problem]:
    """Workers of one cluster do not become another's while they run."""
    if old.cluster and nodeset.cluster != old.cluster:
        text = f"its workers belong to cluster {old.cluster!r}"
        yield problem("spec.clusterName", text, "make another NodeSet, and delete this one")


def worker_claims_do_not_shrink(nodeset: NodeSet, old: NodeSet) -> Iterator[Problem]:
    """Kubernetes makes no volume smaller."""
    before = worker_volumes.claims(old)
    for at, claim in worker_volumes.claims(nodeset).items():
        yield from _shrinks(at, claim, before.get(at))


def claims_do_not_shrink(cluster: SlurmCluster, old: SlurmCluster) -> Iterator[Problem]:
    """Kubernetes makes no volume smaller."""
    before = {name: claim for name, (_, claim) in _claims(old).items()}
    for name, (at, claim) in _claims(cluster).items():
        yield from _shrinks(at, claim, before.get(name))
    now, then = _database(cluster), _database(old)
    yield from _smaller(f"{NODES}.accounting.mariadbOperator.storage.size", now, then)


def _claims(cluster: SlurmCluster) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """Return the claims that a cluster asks for, and their paths, by what they are of."""
    controller, login = cluster.spec.slurm_nodes.controller.volumes, cluster.spec.slurm_nodes.login.volumes
    listed: list[tuple[str, str, NodeVolume]] = [
        ("controller spool", f"{NODES}.controller.volumes.spool", controller.spool),
        ("controller jail", f"{NODES}.controller.volumes.jail", controller.jail),
        ("login jail", f"{NODES}.login.volumes.jail", login.jail),
    ]
    for component, found in mounts(cluster).items():
        listed += [(f"{component} {mount.name}", at, mount) for at, mount in found]
    return {
        name: (f"{at}.volumeClaimTemplateSpec", volume.volume_claim_template_spec)
        for name, at, volume in listed
        if volume.volume_claim_template_spec is not None
    }


def _database(cluster: SlurmCluster) -> int | str:
    operator = cluster.spec.slurm_nodes.accounting.mariadb_operator
    size = (operator.storage or {}).get("size") if operator is not None else None
    return size if isinstance(size, int | str) else ""


def state_stays_behind(cluster: SlurmCluster, old: SlurmCluster) -> Iterator[str]:
    """Yield a warning where slurmctld would start without what it knows."""
    now, before = (each.spec.slurm_nodes.controller.volumes.spool for each in (cluster, old))
    moved = now.volume_source_name != before.volume_source_name
    if moved or (now.volume_claim_template_spec is None) != (before.volume_claim_template_spec is None):
        yield "the controller gets another spool: copy its state there first, or slurmctld forgets its jobs"


def accounts_stay_behind(cluster: SlurmCluster, old: SlurmCluster) -> Iterator[str]:
    """Yield a warning where accounting would go on in another database."""
    now, before = (each.spec.slurm_nodes.accounting for each in (cluster, old))
    if not (now.enabled and before.enabled):
        return
    external = now.external_db.enabled, before.external_db.enabled
    moved = (now.external_db.host, now.external_db.port) != (before.external_db.host, before.external_db.port)
    operated = [bool(each.mariadb_operator and each.mariadb_operator.enabled) for each in (now, before)]
    if external[0] != external[1] or (all(external) and moved) or operated[0] < operated[1]:
        yield "accounting gets another database: copy its data there first, or it begins anew"


def _shrinks(at: str, now: Mapping[str, Any], before: Mapping[str, Any] | None) -> Iterator[Problem]:
    yield from _smaller(f"{at}.resources.requests.storage", _storage(now), _storage(before or {}))


def _smaller(at: str, asked: int | str, held: int | str) -> Iterator[Problem]:
    least, most = amount_or_none(held), amount_or_none(asked)
    if least is not None and most is not None and most < least:
        text = f"asks for {asked} where there are {held}"
        yield problem(at, text, f"ask for {held} or more")


def _storage(claim: Mapping[str, Any]) -> int | str:
    found: Any = claim
    for key in ("resources", "requests", "storage"):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, int | str) else ""
