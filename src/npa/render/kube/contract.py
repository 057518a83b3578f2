"""What pods and images agree on: the entry point, its mounts, and what it reads from the environment."""

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
CONFIGS = "/mnt/slurm-configs"  # directory of the ConfigMap with Slurm's files and their `digest`
JWT_KEY = "/mnt/rest-jwt-key"  # directory of the Secret with `rest_jwt.key`
DBD_CONFIGS = "/mnt/slurmdbd-configs"  # directory of the Secret with slurmdbd.conf
SSH_KEYS = "/mnt/ssh-keys"  # directory of the Secret with the host keys
SSH_CONFIGS = "/mnt/ssh-configs"  # directory of the ConfigMap with sshd_config
SSH_ROOT_KEYS = "/mnt/ssh-root-keys"  # directory of the ConfigMap with root's authorized_keys
STATE = "/var/lib/slurm/ctld"  # slurmctld's state, a volume
MYSQL = "/var/lib/mysql"  # the database's data, a volume
MYSQL_RUN = "/run/mysqld"  # what the containers `database` and `accounting` of a pod share
RECONFIGURE = "/usr/lib/npa/reconfigure"  # DIGEST [restart], in the controller's container
DIGEST_FILE = "/run/npa/config-digest"  # in the controller's container: what slurmctld runs with
READY = "/usr/lib/npa/ready"  # ROLE: the readiness probe
SLURMD_FLAGS = "NPA_SLURMD_FLAGS"  # further flags of slurmd
