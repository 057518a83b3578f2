"""slurmdbd and, unless it is somebody else's, its database: one pod with a claim."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from npa.crds.parts import Container
from npa.errors import Problem
from npa.render.kube import contract, names, pods, services, slurmdbd, volumes
from npa.render.kube.context import Context
from npa.render.kube.volumes import Volumes
from npa.render.objects import SECRET

NAME, DATABASE = "slurmdbd", "mariadb"
CLAIM = "data"  # of the database beside slurmdbd
FILE = "slurmdbd.conf"
_AT = "spec.slurmNodes.accounting"
_SIZE = "10Gi"


def render(context: Context, replicas: int, text: str, problems: list[Problem]) -> tuple[dict[str, Any], ...]:
    """Return the objects of accounting; `text` is slurmdbd.conf."""
    asked = context.spec.slurm_nodes.accounting
    daemon = asked.slurmdbd or Container(image=context.spec.slurm_nodes.controller.slurmctld.image)
    port = daemon.port or names.ACCOUNTING_PORT
    mounted = _volumes(context, daemon, problems)
    containers = [
        pods.container(context, NAME, "accounting", daemon, mounted.mounts, ports={NAME: port}),
    ]
    if context.database == "embedded":
        data = _data(context)
        containers.append(_database(context, daemon))
        mounted += Volumes(data.volumes, data.templates)
    template = pods.template(
        context,
        "accounting",
        asked,
        containers,
        mounted,
        pulled=[daemon],
        annotations={pods.INPUT: hashlib.sha256(text.encode()).hexdigest()[:16]},
        grace=60,
        at=_AT,
        problems=problems,
    )
    service = names.service(context.name, "accounting")
    return (
        _config(context, text),
        *pods.limits(context, "accounting", daemon.security_limits_config),
        services.headless(context, "accounting", service, {NAME: port}),
        pods.stateful_set(
            context, "accounting", template, replicas=replicas, service=service, mounted=mounted
        ),
    )


def _config(context: Context, text: str) -> dict[str, Any]:
    data = {FILE: base64.b64encode(text.encode()).decode()}
    name = names.dbd_config(context.name)
    return context.object(SECRET, name, "accounting", type="Opaque", data=data)


def _volumes(context: Context, daemon: Container, problems: list[Problem]) -> Volumes:
    external = context.spec.slurm_nodes.accounting.external_db
    jail = context.spec.slurm_nodes.controller.volumes.jail
    mounted = (
        volumes.secret("slurmdbd-configs", names.dbd_config(context.name), contract.DBD_CONFIGS)
        + volumes.secret("slurm-key", names.auth_key(context.name), contract.KEY)
        + volumes.secret("rest-jwt-key", names.jwt_key(context.name), contract.JWT_KEY)
        + volumes.jail(context, jail, f"{_AT}.jail", problems, read_only=True)
        + volumes.limits(context, "accounting", daemon.security_limits_config)
    )
    if context.database == "embedded":
        mounted += volumes.empty("mysqld", contract.MYSQL_RUN)
        archive = {"name": CLAIM, "mountPath": slurmdbd.ARCHIVE, "subPath": "archive"}
        return mounted + Volumes(mounts=(archive,))
    if context.database != "external":
        return mounted
    if external.tls is not None and external.tls.server_ca_secret_ref:
        mounted += volumes.secret("database-ca", external.tls.server_ca_secret_ref, slurmdbd.CA, 0o444)
    if external.tls is not None and external.tls.client_cert_secret_ref:
        # slurmdbd reads the key as its own user
        mounted += volumes.secret(
            "database-client", external.tls.client_cert_secret_ref, slurmdbd.CLIENT, 0o444
        )
    return mounted


def _data(context: Context) -> Volumes:
    """Return the claim of the database; what mariadb-operator would be asked for says how large it is."""
    operator = context.spec.slurm_nodes.accounting.mariadb_operator
    storage = dict(operator.storage or {}) if operator is not None else {}
    template = storage.get("volumeClaimTemplate")
    spec: dict[str, Any] = dict(template) if isinstance(template, dict) else {}
    spec.setdefault("accessModes", ["ReadWriteOnce"])
    spec.setdefault("resources", {"requests": {"storage": storage.get("size") or _SIZE}})
    if storage.get("storageClassName"):
        spec.setdefault("storageClassName", storage["storageClassName"])
    claim = {"metadata": {"name": CLAIM}, "spec": spec}
    mount = {"name": CLAIM, "mountPath": contract.MYSQL, "subPath": "mysql"}
    return Volumes(templates=(claim,), mounts=(mount,), claims=(CLAIM,))


def _database(context: Context, daemon: Container) -> dict[str, Any]:
    operator = context.spec.slurm_nodes.accounting.mariadb_operator
    resources = operator.resources if operator is not None else {}
    asked = Container(image=daemon.image, image_pull_policy=daemon.image_pull_policy, resources=resources)
    mounts = [*_data(context).mounts, *volumes.empty("mysqld", contract.MYSQL_RUN).mounts]
    return pods.container(context, DATABASE, "database", asked, mounts)
