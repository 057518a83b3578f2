"""The Secrets of a cluster: made once, and kept for as long as somebody keeps the data that they go with."""

from __future__ import annotations

from typing import Any

from npa.render.kube import names
from npa.render.kube.context import Context
from npa.render.objects import SECRET

AUTH = "slurm.key"
JWT = "rest_jwt.key"
BYTES = {AUTH: 1024, JWT: 32}


def auth(context: Context) -> dict[str, Any]:
    """Return the Secret by whose key daemons and clients know one another, without its data."""
    return context.object(SECRET, names.auth_key(context.name), "common", owned=False, type="Opaque")


def jwt(context: Context) -> dict[str, Any]:
    """Return the Secret by whose key tokens are signed, without its data."""
    return context.object(SECRET, names.jwt_key(context.name), "common", owned=False, type="Opaque")


def ssh(context: Context) -> dict[str, Any] | None:
    """Return the Secret of the login nodes' host keys; None where the cluster names one of its own."""
    if context.spec.secrets.sshd_keys_name:
        return None
    return context.object(SECRET, names.ssh_keys(context.name), "login", owned=False, type="Opaque")


def ssh_name(context: Context) -> str:
    """Name of the Secret of the login nodes' host keys."""
    return context.spec.secrets.sshd_keys_name or names.ssh_keys(context.name)
