"""Where a local cluster keeps its things on this machine. Paths as text: this package does no I/O."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Layout:
    """The folders of one cluster; everything it owns on disk is below `state`."""

    state: str

    @property
    def record(self) -> str:
        """What was started, by PID and fingerprint."""
        return f"{self.state}/record.json"

    @property
    def history(self) -> str:
        """Which plans were applied, and how that ended."""
        return f"{self.state}/history.jsonl"

    @property
    def daemons_etc(self) -> str:
        """`/etc/slurm` of the daemons: every file and the keys."""
        return f"{self.state}/etc/daemons"

    @property
    def jail_etc(self) -> str:
        """`/etc/slurm` in the jail: what users may read."""
        return f"{self.state}/etc/jail"

    @property
    def net_etc(self) -> str:
        """`/etc/npa` everywhere: hosts and name servers."""
        return f"{self.state}/etc/net"

    @property
    def ssh_etc(self) -> str:
        """`/etc/ssh` of the login nodes."""
        return f"{self.state}/etc/ssh"

    @property
    def jail(self) -> str:
        """Where the jail is mounted, in the lab's namespace only."""
        return f"{self.state}/jail/root"

    @property
    def lab_root(self) -> str:
        """The daemons' root with the lab's own `/proc`, in the lab's namespace only."""
        return f"{self.state}/lab"

    @property
    def mount_point(self) -> str:
        """An empty folder that each node uses for its root, in its own namespace."""
        return f"{self.state}/mnt"

    def spool(self, node: str) -> str:
        """SlurmdSpoolDir of a node."""
        return f"{self.state}/nodes/{node}/spool"

    def log(self, node: str) -> str:
        """Logs of a node's daemons."""
        return f"{self.state}/log/{node}"

    @property
    def ctld(self) -> str:
        """StateSaveLocation of slurmctld."""
        return f"{self.state}/ctld"

    @property
    def mysql(self) -> str:
        """Data of MariaDB."""
        return f"{self.state}/mysql"
