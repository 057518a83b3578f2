"""What the operator may do, on the real API server with its real RBAC."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Iterator

import pytest
from tests.kube import operating
from tests.kube.bed import Bed, until
from tests.kube.clusters import cluster, nodeset
from tests.kube.old_server import OLD

from npa.errors import KubeError
from npa.operator import kinds
from npa.operator.main import Options
from npa.operator.serving import Serving
from npa.reconcile.settings import Settings
from npa.render.kube import rbac
from npa.render.kube.installation import NAME, Installation
from npa.render.objects import CRON_JOB, LEASE, NAMESPACE, NODE, POD, SECRET, VALIDATING_WEBHOOK
from npa.targets.kubernetes import installing as install
from npa.tools.kube_access import Access
from npa.tools.kube_api import KubeApi

# The bed has no CronJob of batch/v1 either.
SERVED = tuple(each for each in kinds.CHILDREN if each != CRON_JOB)
HOME, SLURM, OTHER = "npa-system", "slurm", "other"


@pytest.fixture(scope="module")
def installed(strict: Bed) -> Iterator[Bed]:
    """A bed with the operator's installation for one namespace; nothing runs in it."""
    operating.define(strict)
    asked = Installation("operator:test", HOME, (SLURM,))
    strict.apply(NAMESPACE.object(SLURM), NAMESPACE.object(OTHER))
    kube = strict.kube()
    try:
        install.apply(kube, install.plan(kube, asked), lambda _: None)
        yield strict
        install.apply(kube, install.plan_removal(kube, HOME, keep_clusters=True), lambda _: None)
    finally:
        kube.close()


def access(bed: Bed) -> Access:
    """Reach the API server as the operator's service account does."""
    done = until(lambda: (d := bed.kubectl("create", "token", NAME, "-n", HOME)).code == 0 and d, "a token")
    return dataclasses.replace(bed.access, token=lambda: done.out.strip(), certificate=None)


def test_it_can_do_all_it_needs(installed: Bed) -> None:
    async def body() -> None:
        options = Options(
            leader_elect=True,
            namespace=HOME,
            serving=Serving(webhook_port=0, health_port=0, namespace=HOME, webhook_names=("localhost",)),
        )
        settings = Settings(namespaces=(SLURM,))
        async with operating.operating(access(installed), OLD, settings, options) as operator:
            done = installed.apply(cluster("one", SLURM), nodeset("gpu", "one", SLURM))
            assert done.code == 0, str(done)

            def waits() -> bool:
                pods = installed.kubectl("get", "pods", "-n", SLURM, "-o", "name").out.split()
                status = installed.get("slurmcluster", "one", SLURM).get("status") or {}
                return bool(status.get("conditions")) and "pod/one-controller-0" in pods

            await operating.eventually(waits, "it makes a cluster", 60)
            await operating.settled(operator)
            failed = operator.metrics.registry.get_sample_value(
                "npa_operator_reconciles_total", {"controller": "slurmcluster", "result": "failed"}
            )

            assert set(operator.caches.unread()) == {CRON_JOB.kind}
            assert not failed
            assert operator.leads()
            hook = installed.get("validatingwebhookconfiguration", NAME)["webhooks"][0]
            assert hook["clientConfig"].get("caBundle")

    operating.run(body())


def test_every_kind_that_it_watches_it_may_list(installed: Bed) -> None:
    async def body() -> None:
        api = KubeApi(access(installed))
        try:
            for kind in (*kinds.RESOURCES, *SERVED, NODE):
                await api.list(kind, SLURM if kind.namespaced else "")
        finally:
            await api.close()

    operating.run(body())


@pytest.mark.parametrize(
    ("kind", "namespace"),
    [
        pytest.param(SECRET, OTHER, id="secrets-of-another-namespace"),
        pytest.param(SECRET, HOME, id="other-secrets-beside-it"),
        pytest.param(SECRET, "", id="all-secrets"),
        pytest.param(POD, OTHER, id="pods-of-another-namespace"),
        pytest.param(LEASE, OTHER, id="leases"),
        pytest.param(VALIDATING_WEBHOOK, "", id="webhooks-of-others"),
    ],
)
def test_it_may_not_look_elsewhere(installed: Bed, kind: object, namespace: str) -> None:
    async def body() -> int:
        api = KubeApi(access(installed))
        try:
            await api.list(kind, namespace)  # type: ignore[arg-type]
        except KubeError as error:
            return error.status
        finally:
            await api.close()
        return 200

    assert asyncio.run(body()) == 403


def test_it_may_neither_write_roles_nor_become_somebody_else() -> None:
    rules = [*rbac.in_namespace(), *rbac.in_cluster(NAME), *rbac.at_home("s", "l")]
    groups = {group for rule in rules for group in rule["apiGroups"]}
    verbs = {verb for rule in rules for verb in rule["verbs"]}

    assert "rbac.authorization.k8s.io" not in groups
    assert not verbs & {"*", "escalate", "bind", "impersonate"}
