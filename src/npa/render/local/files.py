"""Every file that npa writes for a local cluster, and where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from npa.cluster.model import Cluster
from npa.render.local import power
from npa.render.local.layout import Layout
from npa.render.local.nodes import SLURM_UID
from npa.slurm import files as slurm_files
from npa.slurm.runtime import Runtime

_SSHD = """\
# Written by npa; changes made here are overwritten
UsePAM yes
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
# the spec's keys, npa's own, and what users put into their home in the jail
AuthorizedKeysFile /etc/ssh/keys/%u /etc/ssh/npa_ed25519.pub /mnt/jail/%h/.ssh/authorized_keys
Subsystem sftp internal-sftp
PrintMotd no
# everybody comes through the proxy from one address: the wrong key of one must not lock the others out
PerSourcePenalties no
AcceptEnv LANG LC_*
"""


@dataclass(frozen=True, slots=True)
class File:
    """A file of ours on this machine."""

    path: str
    text: str
    mode: int = 0o644
    uid: int = 0


def render(
    cluster: Cluster, layout: Layout, runtime: Runtime, addresses: Mapping[str, str]
) -> tuple[File, ...]:
    """Return all files by path."""
    return tuple(sorted(_files(cluster, layout, runtime, addresses), key=lambda file: file.path))


def _files(
    cluster: Cluster, layout: Layout, runtime: Runtime, addresses: Mapping[str, str]
) -> Iterator[File]:
    for file in slurm_files.render(cluster, runtime):
        private = file.audience == "daemons"
        yield File(f"{layout.daemons_etc}/{file.name}", file.text, file.mode, SLURM_UID if private else 0)
        if not private:
            yield File(f"{layout.jail_etc}/{file.name}", file.text, file.mode)
    if cluster.elastic:
        yield File(f"{layout.daemons_etc}/{power.PROGRAM_NAME}", power.PROGRAM, 0o755)
    # by address, so that another order of the pools is the same file
    given = sorted(addresses.items(), key=lambda each: [int(part) for part in each[1].split(".")])
    hosts = [("127.0.0.1", "localhost"), *((address, name) for name, address in given)]
    yield File(f"{layout.net_etc}/hosts", "".join(f"{address} {name}\n" for address, name in hosts))
    yield File(f"{layout.ssh_etc}/sshd_config", _SSHD)
    keys = {"root": cluster.root_keys, **{user.name: user.ssh_public_keys for user in cluster.users}}
    for user, lines in keys.items():
        yield File(f"{layout.ssh_etc}/keys/{user}", "".join(f"{line}\n" for line in lines))
