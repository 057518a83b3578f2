"""The login nodes: who gets in, from where, and how much of them one user may take."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from ipaddress import ip_address, ip_network

from npa.crds.quantity import amount
from npa.crds.rules.found import NODES, problem
from npa.crds.slurmcluster import SlurmCluster
from npa.errors import Problem

AT = f"{NODES}.login"
TYPES = ("LoadBalancer", "NodePort", "ClusterIP")
PORTS = range(30000, 32768)


def somebody_can_log_in(cluster: SlurmCluster) -> Iterator[Problem]:
    """Login nodes have a key by which root gets in, each on a line of its own."""
    login = cluster.spec.slurm_nodes.login
    if (login.size is None or login.size > 0) and not any(map(str.strip, login.ssh_root_public_keys)):
        yield problem(f"{AT}.sshRootPublicKeys", "nobody could log in", "give at least one public key")
    for index, key in enumerate(login.ssh_root_public_keys):
        if not key.rstrip("\r\n").isprintable():
            text = "holds a line break or a control character"
            yield problem(f"{AT}.sshRootPublicKeys[{index}]", text, "write each key as an entry of its own")


def service_can_be_made(cluster: SlurmCluster) -> Iterator[Problem]:
    """The Service is of a kind that there is, with an address and a port that it can have."""
    login = cluster.spec.slurm_nodes.login
    kind, port = login.sshd_service_type, login.sshd_service_node_port
    if kind not in TYPES:
        yield problem(f"{AT}.sshdServiceType", f"{kind[:60]!r} is none of them", f"choose {', '.join(TYPES)}")
    if kind == "NodePort" and port and port not in PORTS:
        text = f"{port} is no node port"
        yield problem(f"{AT}.sshdServiceNodePort", text, "write 30000 to 32767, or 0 for any")
    if (address := login.sshd_service_load_balancer_ip) and not _is(ip_address, address):
        yield problem(f"{AT}.sshdServiceLoadBalancerIP", f"{address[:60]!r} is no address", "write one")
    for index, each in enumerate(login.sshd_service_load_balancer_source_ranges):
        if not _is(ip_network, each):
            at = f"{AT}.sshdServiceLoadBalancerSourceRanges[{index}]"
            yield problem(at, f"{each[:60]!r} is no network", "write it as in 10.0.0.0/8")


def isolation_fits(cluster: SlurmCluster) -> Iterator[Problem]:
    """A user's bounds are positive, in order, and within what the container has."""
    login = cluster.spec.slurm_nodes.login
    at, isolation = f"{AT}.userIsolation", login.user_isolation
    low, high = _bytes(isolation.memory_high), _bytes(isolation.memory_max)
    whole = _bytes(login.sshd.resources.get("memory"))
    for key, value in (("memoryHigh", low), ("memoryMax", high)):
        if value is not None and value <= 0:
            yield problem(f"{at}.{key}", "must be more than 0", "write a size such as 4Gi")
        if value is not None and whole is not None and value >= whole:
            text = f"must be less than the container's memory, {login.sshd.resources['memory']}"
            yield problem(f"{at}.{key}", text, "leave some of it to the others")
    if low is not None and high is not None and low > high:
        yield problem(f"{at}.memoryHigh", "must not be more than memoryMax", "lower it")


def _bytes(value: int | str | None) -> Decimal | None:
    return None if value is None else amount_or_none(value)


def amount_or_none(value: int | str) -> Decimal | None:
    """Return a quantity, or None for one that is told of elsewhere."""
    try:
        return amount(value)
    except ValueError:
        return None


def _is(reads: object, text: str) -> bool:
    assert callable(reads)
    try:
        reads(text)
    except ValueError:
        return False
    return True
