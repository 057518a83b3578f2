"""The nodes that users log in to: sshd, whose sessions open in the jail."""

from __future__ import annotations

import hashlib
from typing import Any

from npa.errors import Problem
from npa.render.kube import contract, isolation, keys, names, pods, services, volumes
from npa.render.kube.context import Context
from npa.render.objects import CONFIG_MAP, DISRUPTION_BUDGET, Object, dig

NAME = "sshd"
_AT = "spec.slurmNodes.login"
_SSHD = """\
# Written by npa; changes made here are overwritten
Port {port}
UsePAM yes
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
# what users put into their home in the jail
AuthorizedKeysFile /mnt/jail/%h/.ssh/authorized_keys
Subsystem sftp internal-sftp
PrintMotd no
MaxStartups 100:50:300
ClientAliveInterval 60
# everybody may come through a load balancer: the wrong key of one must not lock the others out
PerSourcePenalties no
AcceptEnv LANG LC_*

# the resource's keys, read at each login, so that a change needs no restart
Match User root
    AuthorizedKeysCommand /usr/bin/cat {keys}/authorized_keys
    AuthorizedKeysCommandUser nobody
"""


def size(context: Context) -> int:
    """Return how many login nodes are asked for."""
    asked = context.spec.slurm_nodes.login.size
    return 1 if asked is None else max(0, asked)


def sshd_config_name(context: Context) -> str:
    """Name of the ConfigMap with sshd_config."""
    return context.spec.slurm_nodes.login.sshd_config_map_ref_name or f"{context.name}-ssh-configs"


def render(
    context: Context, replicas: int, sshd_config: Object | None, problems: list[Problem]
) -> tuple[dict[str, Any], ...]:
    """Return the login nodes' objects; `sshd_config` is the user's own ConfigMap, where one is named."""
    asked = context.spec.slurm_nodes.login
    port = asked.sshd.port or names.SSH_PORT
    text = _SSHD.format(port=port, keys=contract.SSH_ROOT_KEYS)
    own = asked.sshd_config_map_ref_name
    read = str(dig(sshd_config or {}, "data", "sshd_config") or "") if own else text
    mounted = _volumes(context, problems)
    container = pods.container(
        context,
        NAME,
        "login",
        asked.sshd,
        mounted.mounts,
        env={contract.CONF_SERVER: conf_server(context)},
        ports={"ssh": port},
        security={"privileged": True},  # it mounts the jail's /proc, /sys and /dev, and sessions enter it
    )
    template = pods.template(
        context,
        "login",
        asked,
        [container],
        mounted,
        pulled=[asked.sshd],
        annotations={pods.INPUT: hashlib.sha256(read.encode()).hexdigest()[:16]},
        at=_AT,
        problems=problems,
    )
    headless = names.service(context.name, "login", headless=True)
    return (
        *pods.limits(context, "login", asked.sshd.security_limits_config),
        *_maps(context, "" if own else text),
        services.login(context, port, problems),
        services.headless(context, "login", headless, {"ssh": port}),
        *budget(context),
        pods.stateful_set(context, "login", template, replicas=replicas, service=headless, mounted=mounted),
    )


def budget(context: Context) -> tuple[dict[str, Any], ...]:
    """Return what keeps node drains from taking all login nodes at once, where there are several."""
    if size(context) < 2:
        return ()
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": names.selector(context.name, "login")}}
    return (context.object(DISRUPTION_BUDGET, names.workload(context.name, "login"), "login", spec=spec),)


def _maps(context: Context, text: str) -> tuple[dict[str, Any], ...]:
    """Return the ConfigMaps with root's keys and, unless the user has one, sshd_config."""
    keys_of_root = "".join(f"{key.strip()}\n" for key in context.spec.slurm_nodes.login.ssh_root_public_keys)
    maps = [(f"{context.name}-ssh-root-keys", {"authorized_keys": keys_of_root})]
    maps += [(sshd_config_name(context), {"sshd_config": text})] if text else []
    made = tuple(context.object(CONFIG_MAP, name, "login", data=data) for name, data in maps)
    return (*made, isolation.config_map(context)) if isolation.enabled(context) else made


def conf_server(context: Context) -> str:
    """Return where a daemon without files of its own gets them."""
    port = context.spec.slurm_nodes.controller.slurmctld.port or names.CONTROLLER_PORT
    return f"{context.controller}:{port}" if port != names.CONTROLLER_PORT else context.controller


def _volumes(context: Context, problems: list[Problem]) -> volumes.Volumes:
    asked, at = context.spec.slurm_nodes.login, f"{_AT}.volumes"
    own = asked.volumes
    return (
        volumes.jail(context, own.jail, f"{at}.jail", problems)
        + volumes.secret("slurm-key", names.auth_key(context.name), contract.KEY)
        + volumes.secret("ssh-keys", keys.ssh_name(context), contract.SSH_KEYS)
        + volumes.config_map("ssh-configs", sshd_config_name(context), contract.SSH_CONFIGS)
        + volumes.config_map("ssh-root-keys", f"{context.name}-ssh-root-keys", contract.SSH_ROOT_KEYS)
        + volumes.empty("tmp", "/tmp")
        + (isolation.mounts(context) if isolation.enabled(context) else volumes.Volumes())
        + volumes.limits(context, "login", asked.sshd.security_limits_config)
        + volumes.mounted(context, own.jail_sub_mounts, contract.JAIL_UPPER, f"{at}.jailSubMounts", problems)
        + volumes.mounted(context, own.custom_mounts, "", f"{at}.customMounts", problems)
    )
