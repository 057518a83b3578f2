"""What pods and images agree on: the entry point, where it finds what is mounted, what it reads from the environment."""

from __future__ import annotations

ROLE = "/usr/lib/npa/role"  # entry point of every container of the Slurm image; its argument is the role

JAIL = "/mnt/jail"
JAIL_UPPER = "/mnt/jail.upper"  # what is mounted below it is bound to the same path in the jail
SPOOL = "/var/spool/slurmd"
KEY = (
    "/mnt/slurm-key"  # directory of the Secret with `slurm.key`; the entry point copies it with Slurm's owner
)
LIMITS = "/etc/security/limits.d/npa.conf"

CONF_SERVER = "NPA_CONF_SERVER"  # host of slurmctld, from which a configless daemon fetches its files
NODE_NAME = "NPA_NODE_NAME"  # what Slurm calls this node
NODE_EXTRA = "NPA_NODE_EXTRA"  # text for `slurmd --extra`, after the shell has read it
INSTANCE_ID = "NPA_INSTANCE_ID"  # name of the Kubernetes node
START_DELAY = "NPA_START_DELAY"  # seconds: slurmd starts after a random part of them
REAL_MEMORY = "NPA_REAL_MEMORY"  # MiB that Slurm is told of
