"""What is done for one SlurmCluster: its Secrets, files, jail, daemons, Services and status.

Nothing waits for more than it needs. Only what differs is written; what could not be read is left alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from npa.crds import rules
from npa.crds import slurmcluster as crd
from npa.crds.slurmcluster import SlurmCluster
from npa.errors import Problem, SpecError
from npa.reconcile import (
    database,
    deletion,
    jail,
    rotation,
    slurmcluster_config,
    slurmcluster_parts,
    slurmcluster_status,
)
from npa.reconcile.conditions import Condition, some
from npa.reconcile.decision import Decision, NewSecret
from npa.reconcile.jail import Jail
from npa.reconcile.settings import Settings
from npa.reconcile.slurmcluster_config import VALID, Configured
from npa.reconcile.slurmcluster_parts import Parts
from npa.reconcile.world import World
from npa.render.kube import differs, keys, mariadb
from npa.render.kube import jail as jail_job
from npa.render.kube import volumes as shared
from npa.render.kube.context import Context
from npa.render.objects import CLAIM, DEPLOYMENT, SECRET, STATEFUL_SET, Object, dig, name_of

_CGROUP = "v2"  # unless the operator was told of another: then that is what all nodes have
_READ_KEYS = (STATEFUL_SET.kind, DEPLOYMENT.kind)
_LOOK = 30.0  # seconds between two looks at what is not watched


def decide(world: World, settings: Settings) -> Decision:
    """Return the next move for a SlurmCluster."""
    if world.cluster is None:
        return Decision()
    if dig(world.cluster, "metadata", "deletionTimestamp"):
        return deletion.decide(world, settings)
    try:
        cluster = crd.parse(world.cluster)
    except SpecError as error:
        return _refused(world, error.problems)
    wrong = rules.cluster_problems(cluster)
    return _refused(world, wrong) if wrong else _Pass(world, cluster, settings).decide()


def _refused(world: World, problems: Iterable[Problem]) -> Decision:
    """Leave what runs as it is, and say what is wrong with the resource, all of it."""
    text = some(dict.fromkeys(str(each) for each in problems))
    invalid = Condition(VALID, "False", "InvalidSpec", text)
    return slurmcluster_status.refused(world, slurmcluster_config.kept(world, invalid))


class _Pass:
    """One look at one cluster."""

    def __init__(self, world: World, cluster: SlurmCluster, settings: Settings) -> None:
        assert world.cluster is not None
        self.world, self.cluster, self.settings, self.found = world, cluster, settings, world.cluster
        asked = context(cluster, settings)
        self.database = database.choose(world, asked)
        self.context = replace(asked, chosen=self.database.kind)

    def decide(self) -> Decision:
        """Return the next move."""
        problems: list[Problem] = []
        accounting = slurmcluster_parts.accounting_ready(self.world, self.context)
        configured = slurmcluster_config.decide(
            self.world, self.context, self.settings, may_account=accounting
        )
        filled = self._jail(problems)
        parts = slurmcluster_parts.decide(
            self.world, self.context, configured, filled, problems, about_database=self.database.why
        )
        if problems:
            return _refused(self.world, problems)
        return self._decision(configured, filled, parts)

    def _decision(self, configured: Configured, filled: Jail, parts: Parts) -> Decision:
        world = self.world
        wanted = [*([configured.config_map] if configured.config_map else []), *parts.wanted]
        stays = {*world.unread, *(_READ_KEYS if rotation.unknown(world) else ())}
        readable = [each for each in wanted if each["kind"] not in stays]
        status, notices = slurmcluster_status.decide(world, self.context, configured, filled, parts)
        waits = [] if filled.again_in is None else [filled.again_in]
        if configured.waits or parts.waits or (status or {}).get("phase", "Available") != "Available":
            waits.append(self.settings.poll)
        if rotation.goes_on(world):
            waits.append(self.settings.poll)
        if self._names_others():
            waits.append(_LOOK)
        return Decision(
            secrets=tuple(self._secrets()),
            keys=tuple(rotation.changes(world, parts.states)),
            slurm=configured.slurm,
            create=(*self._claims(), *filled.create),
            apply=(*self._held(), *differs.pending(readable, world.find), *parts.sized.apply),
            delete=(*filled.delete, *parts.delete),
            status=status,
            notices=notices,
            again_in=min(waits, default=None),
        )

    def _held(self) -> Iterator[Object]:
        if not deletion.held(self.found):
            yield deletion.hold(self.found)

    def _names_others(self) -> bool:
        """Say whether the cluster names objects that are not labelled as its own, and so are not watched."""
        nodes = self.cluster.spec.slurm_nodes
        external = nodes.accounting.enabled and nodes.accounting.external_db.enabled
        return bool(external or nodes.login.sshd_config_map_ref_name)

    def _secrets(self) -> Iterator[NewSecret]:
        if SECRET.kind in self.world.unread:
            return
        auth, jwt, ssh = keys.auth(self.context), keys.jwt(self.context), keys.ssh(self.context)
        for wanted, key in ((auth, keys.AUTH), (jwt, keys.JWT)):
            if self.world.find(SECRET.kind, name_of(wanted)) is None:
                yield NewSecret(wanted, random=((key, keys.BYTES[key]),))
        for each in self._passwords():
            if self.world.find(SECRET.kind, name_of(each)) is None:
                yield NewSecret(each, passwords=((mariadb.KEY, mariadb.LETTERS),))
        if ssh is not None and self.world.find(SECRET.kind, name_of(ssh)) is None:
            yield NewSecret(ssh, ssh_host_keys=True)

    def _passwords(self) -> tuple[Object, ...]:
        """Return the Secrets of a database that is not there yet."""
        enabled = self.cluster.spec.slurm_nodes.accounting.enabled
        if not enabled or self.context.database != "operated" or database.unread(self.world, self.context):
            return ()
        found = self.world.find(mariadb.MARIADB.kind, mariadb.name(self.context.name))
        return mariadb.secrets(self.context) if found is None else ()

    def _claims(self) -> Iterator[Object]:
        if CLAIM.kind in self.world.unread:
            return
        for wanted in shared.claims(self.context):
            if self.world.find(CLAIM.kind, name_of(wanted)) is None:
                yield wanted

    def _jail(self, problems: list[Problem]) -> Jail:
        job = jail_job.render(self.context, overwrite=False, problems=problems)
        overwriting = jail_job.render(self.context, overwrite=True, problems=[])
        return jail.decide(self.world, self.cluster, job, overwriting, self.settings)


def context(cluster: SlurmCluster, settings: Settings) -> Context:
    """Return what the cluster's objects are rendered from."""
    return Context(
        cluster,
        image_override=settings.image_override,
        jail_image_override=settings.jail_image_override,
        operator_image=settings.operator_image,
        domain=settings.cluster_domain,
        slurm_version=settings.slurm_version,
        cgroup=settings.cgroup_version if settings.cgroup_version != _CGROUP else "",
    )
