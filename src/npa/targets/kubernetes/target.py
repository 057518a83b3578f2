"""The kubernetes target: plans, applies, inspects and removes clusters that the operator keeps right."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

from npa.cluster.facts import Facts
from npa.cluster.model import Cluster
from npa.errors import NotFoundError, OwnershipError, RefusedError
from npa.health.observation import Observation
from npa.plan import guard
from npa.plan.model import Plan, Step
from npa.render.kube import asked, deployment, installation
from npa.render.kube.asked import Place
from npa.render.kube.installation import Installation
from npa.render.objects import SLURM_CLUSTER
from npa.slurm.lint import rendered
from npa.spec.model import SoperatorSpec
from npa.targets import login_keys
from npa.targets.base import Listener, Options, Summary
from npa.targets.kubernetes import access, apply, installing, options, reading, rotate
from npa.targets.kubernetes import record as records
from npa.targets.kubernetes.installing import Change
from npa.targets.kubernetes.options import KubeOptions
from npa.targets.kubernetes.record import Record
from npa.tools import disk, kube_access
from npa.tools.kube import Kube

# not the operator's own: what npa writes of a SlurmCluster and what the operator does are kept apart
MANAGER = "npa-soperator"
OPERATOR = "npa-system"  # the operator's namespace


class KubernetesTarget:
    """Clusters on one Kubernetes, or on those that their records name."""

    def __init__(self, state: Path, given: KubeOptions | None = None) -> None:
        self._state, self._given = state, given or KubeOptions()
        self._kubes: dict[str, Kube] = {}

    @classmethod
    def here(cls, given: KubeOptions | None = None) -> KubernetesTarget:
        """Return the target with this machine's records; NPA_STATE_DIR moves them."""
        return cls(records.folder(), given)

    def facts(self, spec: SoperatorSpec) -> Facts:
        """Look up root's key."""
        return Facts(root_keys=() if spec.root_keys else login_keys.find())

    def plan(self, cluster: Cluster, options: Options) -> Plan:  # noqa: ARG002 - the operator ends no job
        """Compare what is asked with what is there; changes nothing."""
        return self._plan(cluster)[0]

    def apply(self, cluster: Cluster, plan: Plan, options: Options, heard: Listener) -> None:  # noqa: ARG002
        """Do exactly the steps of the plan, but for what has come up by itself.

        Raises RefusedError when the world has moved on since.
        """
        with self._locked(cluster.name):
            now, place, operator = self._plan(cluster)
            if not guard.still_agreed(now, plan):
                raise RefusedError(
                    f"the world has moved on since this plan for {cluster.name} was made",
                    hint="plan again, and look at what changed",
                )
            kube = self._kube(cluster.name)
            records.save(self._state, self._record(cluster, place, kube))
            apply.Deployment(kube, cluster, place, operator, OPERATOR, heard).run(now)

    def plan_destroy(self, name: str, options: Options) -> Plan:
        """Return the steps that leave nothing of a cluster; raises NotFoundError where there is none."""
        kube, known = self._kube(name), self._known(name)
        there = reading.whole(kube, name, known.namespace)
        found = there.find(SLURM_CLUSTER.kind, name)
        cluster, place = asked.said(found), asked.placed(found)
        if found is None and not there.objects:
            forgotten = Step("remove", f"record of {name}", "nothing of it is there", "remove:record")
            return Plan(name, "kubernetes", (forgotten,))
        if found is not None and (cluster is None or place is None):
            raise OwnershipError(
                f"SlurmCluster {known.namespace}/{name} was not made by npa",
                expected=f"its annotation {asked.SAID}",
                found="none",
                hint=f"kubectl -n {known.namespace} delete slurmcluster {name}",
            )
        fallback = Place(known.namespace, "", "")
        return deployment.plan_removal(
            cluster or Cluster(name, "kubernetes", (), ()), place or fallback, there, force=options.force
        )

    def destroy(self, name: str, plan: Plan, options: Options, heard: Listener) -> None:
        """Do them; raises RefusedError when jobs have started that the plan does not name."""
        with self._locked(name):
            now = self.plan_destroy(name, options)
            if not set(now.killed_jobs) <= set(plan.killed_jobs):
                raise RefusedError(
                    f"jobs have started on {name} since the plan was made", hint="run the command again"
                )
            place = Place(self._known(name).namespace, "", "")
            apply.destroy(self._kube(name), name, place, now, force=options.force, heard=heard)
            records.remove(self._state, name)

    def plan_rotation(self, name: str, key: rotate.KeyName, options: Options) -> Plan:
        """Return the steps that give a cluster a new key; raises NotFoundError where there is no cluster."""
        there = reading.there(self._kube(name), name, self._known(name).namespace, (), users=False)
        return rotate.plan(name, rotate.of(name, key), there, force=options.force)

    def rotate(self, name: str, key: rotate.KeyName, agreed: Plan, options: Options, heard: Listener) -> None:
        """Have the operator do it; raises RefusedError when jobs have started that the plan does not name."""
        with self._locked(name):
            now = self.plan_rotation(name, key, options)
            if not {job for step in now.steps for job in step.jobs} <= set(agreed.killed_jobs):
                raise RefusedError(
                    f"jobs have started on {name} since the plan was made", hint="run the command again"
                )
            kube, namespace, wanted = self._kube(name), self._known(name).namespace, rotate.of(name, key)
            word = rotate.ask(kube, name, namespace, wanted, force=bool(now.killed_jobs))
            rotate.wait(kube, name, namespace, wanted, word, agreed, heard)

    def inspect(self, name: str) -> Observation:
        """Read what is there now."""
        return reading.observe(self._kube(name), name, self._known(name).namespace)

    def list(self) -> Iterator[Summary]:
        """Return the clusters known here, by name."""
        yield from records.summaries(self._state)

    def execute(self, name: str, node: str, argv: Sequence[str], *, root: str, network: str) -> int:  # noqa: ARG002
        """Run a command on a node with our own terminal."""
        return access.execute(self._kube(name), self._known(name), node, argv, root=root)

    def ssh(self, name: str, user: str, argv: Sequence[str]) -> int:
        """Log in to the first login node."""
        return access.login(self._known(name), user, argv)

    def logs(self, name: str, node: str, *, lines: int, follow: bool) -> Iterator[str]:
        """Return the lines of a node's logs."""
        return access.logs(self._kube(name), self._known(name), node, lines=lines, follow=follow)

    def _plan(self, cluster: Cluster) -> tuple[Plan, Place, tuple[Change, ...]]:
        rendered.refuse(cluster)
        kube, known = self._kube(cluster.name), records.load(self._state, cluster.name)
        namespace = self._given.namespace or (known.namespace if known else options.NAMESPACE)
        if known and known.namespace != namespace:
            raise RefusedError(
                f"{cluster.name} is in namespace {known.namespace}, and cannot move to {namespace}",
                hint=f"leave `--namespace` away, or destroy it first: npa soperator destroy {cluster.name}",
            )
        operator = self._operator(kube)
        there = reading.there(kube, cluster.name, namespace, [str(each) for each in operator], users=True)
        before = asked.placed(there.find(SLURM_CLUSTER.kind, cluster.name))
        place = options.place(self._given, before)
        return deployment.plan(cluster, place, there), place, operator

    def _operator(self, kube: Kube) -> tuple[Change, ...]:
        """Return what has to be written for the operator to be there; one that is there stays as it is."""
        image = self._given.operator_image or os.environ.get("NPA_OPERATOR_IMAGE", "")
        if not self._given.with_operator or installing.is_there(kube, OPERATOR):
            return ()
        return installing.plan(kube, Installation(image or installation.NAME, OPERATOR))

    def _kube(self, name: str) -> Kube:
        """Return the API of a cluster: as the caller says, else as its record does."""
        if name not in self._kubes:
            known = records.load(self._state, name)
            path = self._given.kubeconfig or (Path(known.kubeconfig) if known and known.kubeconfig else None)
            found = kube_access.find(path, self._given.context or (known.context if known else ""))
            if known and known.endpoint != found.endpoint:
                raise OwnershipError(
                    f"{name} is at another Kubernetes",
                    expected=known.endpoint,
                    found=found.endpoint,
                    hint="name its kubeconfig and context",
                )
            self._kubes[name] = Kube(found, manager=MANAGER)
        return self._kubes[name]

    def _known(self, name: str) -> Record:
        found = records.load(self._state, name)
        if found is None:
            raise NotFoundError(
                f"no cluster {name!r} on Kubernetes is known", hint="see `npa soperator list`"
            )
        return found

    def _record(self, cluster: Cluster, place: Place, kube: Kube) -> Record:
        before = records.load(self._state, cluster.name)
        path = self._given.kubeconfig or os.environ.get("KUBECONFIG", "").split(os.pathsep)[0]
        return Record(
            name=cluster.name,
            kubeconfig=str(Path(path).resolve()) if path else (before.kubeconfig if before else ""),
            context=kube.cluster_id,
            namespace=place.namespace,
            endpoint=kube.endpoint,
            created=before.created if before else datetime.now(UTC).isoformat(timespec="seconds"),
            workers=len(cluster.workers),
            slurm_version=cluster.slurm_version,
        )

    def _locked(self, name: str) -> AbstractContextManager[None]:
        return disk.lock(self._state / f".{name}.lock", f"another command is changing cluster {name}")
