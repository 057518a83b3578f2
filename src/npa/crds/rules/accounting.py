"""The database of accounting: one, and reachable."""

from __future__ import annotations

import re
from collections.abc import Iterator

from npa.crds.rules.found import NODES, problem
from npa.crds.slurmcluster import SlurmCluster
from npa.errors import Problem

AT = f"{NODES}.accounting"
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]+)?|[0-9A-Fa-f:.]+")


def one_database(cluster: SlurmCluster) -> Iterator[Problem]:
    """slurmdbd writes to one database: an external one, mariadb-operator's, or else its own."""
    accounting = cluster.spec.slurm_nodes.accounting
    operated = accounting.mariadb_operator
    if accounting.enabled and accounting.external_db.enabled and operated is not None and operated.enabled:
        text = "an external database and mariadb-operator's are both enabled"
        yield problem(f"{AT}.externalDB.enabled", text, "disable one of them")


def accounted_jobs_are_accounted(cluster: SlurmCluster) -> Iterator[Problem]:
    """An exporter that asks slurmdbd about jobs needs one."""
    nodes = cluster.spec.slurm_nodes
    if nodes.exporter.enabled and nodes.exporter.job_source == "accounting" and not nodes.accounting.enabled:
        text = "accounting is to be asked about jobs, and there is none"
        yield problem(f"{NODES}.exporter.jobSource", text, "set `controller`, or enable accounting")


def external_database_is_named(cluster: SlurmCluster) -> Iterator[Problem]:
    """An external database has a host, a user and a password."""
    accounting = cluster.spec.slurm_nodes.accounting
    external, at = accounting.external_db, f"{AT}.externalDB"
    if not (accounting.enabled and external.enabled):
        return
    secret = external.password_secret_key_ref
    needed = {
        "host": external.host,
        "user": external.user,
        "passwordSecretKeyRef.name": secret.name if secret else "",
        "passwordSecretKeyRef.key": secret.key if secret else "",
    }
    for key, value in needed.items():
        if not value:
            yield problem(f"{at}.{key}", "is required with an external database", f"give `{key}` a value")
    host = external.host
    if host and not _HOST.fullmatch(host):
        yield problem(f"{at}.host", f"{host[:60]!r} is no host name", "write it as in db.example")
    if not 0 < external.port <= 65535:
        yield problem(f"{at}.port", f"{external.port} is no port", "write 1 to 65535")
