"""A database of accounting that mariadb-operator runs: what it is asked for, by reference."""

from __future__ import annotations

from typing import Any

from npa.crds.accounting import MariadbOperator
from npa.errors import Problem
from npa.render.kube import pods, quantity, slurmdbd
from npa.render.kube.context import Context
from npa.render.objects import SECRET, Kind, Object, dig, name_of

MARIADB = Kind("k8s.mariadb.com", "v1alpha1", "MariaDB", "mariadbs")
GRANT = Kind("k8s.mariadb.com", "v1alpha1", "Grant", "grants")
USER, KEY = "slurm", "password"
PORT = 3306
LETTERS = 32  # of a password
_AT = "spec.slurmNodes.accounting"
_SIZE = "10Gi"
_POOL = 1024  # MiB, where nobody says how much memory there is
# what slurmdbd needs of InnoDB (Slurm's accounting guide)
_MY_CNF = """\
[mariadb]
bind-address=*
default_storage_engine=InnoDB
innodb_buffer_pool_size={pool}M
innodb_log_file_size=64M
innodb_lock_wait_timeout=900
max_allowed_packet=16M
"""


def name(cluster: str) -> str:
    """Name of the MariaDB and of its Grant, as users of the existing operator know it."""
    return f"{cluster}-acct-db"


def secrets(context: Context) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the Secrets of the passwords of slurmdbd and of root, without their data.

    They are made once, and live as long as somebody keeps the data; nobody can change a protected one.
    """
    asked = _asked(context)
    made = [
        context.object(SECRET, _ours(context, whose)["name"], "accounting", owned=False, type="Opaque")
        for whose in ("password", "root")
    ]
    for each in made if asked.protected_secret else ():
        each["immutable"] = True
    return made[0], made[1]


def password(context: Context, found: Object | None) -> dict[str, str]:
    """Return where slurmdbd's password is: a database that is there keeps the one that it has."""
    return _reference(found, "passwordSecretKeyRef") or _ours(context, "password")


def host(context: Context) -> tuple[str, int]:
    """Return where slurmdbd finds the database."""
    return context.host(name(context.name)), _asked(context).port or PORT


def render(
    context: Context, found: Object | None, problems: list[Problem]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the MariaDB and slurmdbd's rights in it; `found` is the one that is there."""
    asked, called = _asked(context), name(context.name)
    spec = {
        "image": asked.image,
        "imagePullPolicy": asked.image_pull_policy,
        "imagePullSecrets": list(asked.image_pull_secrets),
        "rootPasswordSecretKeyRef": _reference(found, "rootPasswordSecretKeyRef") or _ours(context, "root"),
        "database": slurmdbd.LOCATION,
        "username": USER,
        "passwordSecretKeyRef": password(context, found),
        "replicas": 1 if asked.replicas is None else asked.replicas,
        "replication": asked.replication,
        "port": asked.port or PORT,
        "storage": dict(asked.storage or {}) or {"size": _SIZE},
        "myCnf": _MY_CNF.format(pool=_pool(asked)),
        "service": {"type": "ClusterIP"},
        "metrics": {"enabled": asked.metrics.enabled},
        "resources": pods.resources(asked),
        "command": list(asked.command),
        "args": list(asked.args),
        "env": list(asked.custom_env),
        "livenessProbe": asked.liveness_probe,
        "readinessProbe": asked.readiness_probe,
        "podSecurityContext": asked.pod_security_context,
        "securityContext": asked.security_context,
        **_placed(context, asked, problems),
    }
    wanted = {key: value for key, value in spec.items() if value not in (None, "", [], {})}
    grant = {
        "mariaDbRef": {"name": called},
        "privileges": ["ALL PRIVILEGES"],
        "database": slurmdbd.LOCATION,
        "table": "*",
        "username": USER,
        "host": "%",
    }
    return (
        context.object(MARIADB, called, "accounting", spec=wanted),
        context.object(GRANT, called, "accounting", spec=grant),
    )


def _asked(context: Context) -> MariadbOperator:
    asked = context.spec.slurm_nodes.accounting.mariadb_operator
    assert asked is not None  # only a cluster that asks for one has a database of this kind
    return asked


def _placed(context: Context, asked: MariadbOperator, problems: list[Problem]) -> dict[str, Any]:
    where = context.spec.slurm_nodes.accounting
    found = pods.filtered(context, where.k8s_node_filter_name, _AT, problems)
    apart = {"antiAffinityEnabled": True} if (asked.replicas or 1) > 1 else {}
    found["affinity"] = {**found.get("affinity", {}), **apart}
    return {**found, "priorityClassName": asked.priority_class_name or where.priority_class}


def _pool(asked: MariadbOperator) -> int:
    """Return the MiB in which the database keeps what it reads: half of what it may have."""
    try:
        memory = quantity.mebibytes(asked.resources.get("memory", 0))
    except ValueError:
        return _POOL  # told elsewhere
    return max(128, memory // 2) if memory else _POOL


def _ours(context: Context, whose: str) -> dict[str, str]:
    return {"name": f"{context.name}-mariadb-{whose}", "key": KEY}


def _reference(found: Object | None, key: str) -> dict[str, str] | None:
    said = dig(found, "spec", key)
    if not isinstance(said, dict) or not said.get("name") or not said.get("key"):
        return None
    return {"name": str(said["name"]), "key": str(said["key"])}


def trouble(found: Object | None) -> str:
    """Return why a database is not ready, as mariadb-operator says; "" where it does not."""
    rows = dig(found, "status", "conditions") or ()
    ready = next((row for row in rows if row.get("type") == "Ready"), None)
    if found is None or ready is None or ready.get("status") == "True":
        return ""
    return f"MariaDB {name_of(found)}: {ready.get('message') or ready.get('reason') or 'not ready'}"
