"""Makes what a cluster has once: folders, keys, an empty jail and database. Safe to repeat."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from npa.render.local.layout import Layout
from npa.render.local.nodes import SLURM_UID
from npa.tools import disk, run

# ssh-keygen of the image, with our folder where the image has /mnt; the mount is gone with the command
_KEYGEN = """
mount --bind "$2" "$1/mnt"
for name in ssh_host_ed25519_key npa_ed25519; do
  [ -s "$2/$name.pub" ] && continue
  rm -f "$2/$name"
  chroot "$1" ssh-keygen -q -t ed25519 -N '' -C npa -f "/mnt/$name"
done
"""


def create(layout: Layout, rootfs: Path) -> None:
    """Make all of it, except what is there already."""
    for folder in (
        layout.state,
        layout.ctld,
        layout.daemons_etc,
        layout.jail_etc,
        layout.net_etc,
        layout.jail,
    ):
        Path(folder).mkdir(parents=True, exist_ok=True)
    for folder in (f"{layout.ssh_etc}/keys", layout.mount_point, layout.lab_root):
        Path(folder).mkdir(parents=True, exist_ok=True)
    os.chmod(layout.state, 0o700)
    os.chown(layout.ctld, SLURM_UID, SLURM_UID)
    _jail(layout)
    _secrets(layout)
    _database(layout, rootfs)
    run.run(
        [
            "unshare",
            "--mount",
            "--propagation",
            "private",
            "sh",
            "-eu",
            "-c",
            _KEYGEN,
            "sh",
            str(rootfs),
            layout.ssh_etc,
        ]
    )
    host_key = Path(layout.ssh_etc, "ssh_host_ed25519_key.pub").read_text(encoding="utf-8")
    disk.write(Path(layout.ssh_etc, "known_hosts"), f"npa-{Path(layout.state).name} {host_key}")


def node_folders(layout: Layout, nodes: Sequence[str]) -> dict[str, str]:
    """Make the nodes' own folders; returns why that failed, by node, for those where it did."""
    errors = {}
    for node in nodes:
        try:
            for folder in (layout.spool(node), layout.log(node)):
                Path(folder).mkdir(parents=True, exist_ok=True)
            # slurmctld and slurmdbd open their logs as slurm
            os.chown(layout.log(node), SLURM_UID, SLURM_UID)
        except OSError as error:
            errors[node] = f"{error.filename}: {error.strerror}"
    return errors


def _jail(layout: Layout) -> None:
    for name in ("upper", "work"):
        folder = Path(layout.state, "jail", name)
        folder.mkdir(exist_ok=True)
        # the upper folder's mode is that of the jail's root, which sshd wants to be nobody else's to write
        folder.chmod(0o755)


def _secrets(layout: Layout) -> None:
    for name, size in (("slurm.key", 1024), ("jwt_hs256.key", 32)):
        path = Path(layout.daemons_etc, name)
        if not path.exists():
            disk.write_bytes(path, os.urandom(size), mode=0o600, uid=SLURM_UID, gid=SLURM_UID)
    # for commands that keep this machine's network; in a node nobody answers, and that should show soon
    resolver = disk.text(Path("/etc/resolv.conf")) or ""
    disk.write(Path(layout.net_etc, "resolv.conf"), f"options timeout:1 attempts:1\n{resolver}")


def _database(layout: Layout, rootfs: Path) -> None:
    """Copy the image's empty database, whole or not at all."""
    target = Path(layout.mysql)
    if not target.exists():
        partial = target.with_name("mysql.partial")
        disk.remove_tree(partial)
        run.run(["cp", "-a", "--reflink=auto", str(rootfs / "var/lib/mysql-empty"), str(partial)])
        partial.rename(target)
