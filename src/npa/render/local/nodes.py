"""Each node of a Cluster as namespaces, mounts and processes on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from npa.cluster.model import ACCOUNTING, CONTROLLER, LOGIN, REST, Cluster, Machine
from npa.render.local.layout import Layout
from npa.render.local.model import Bind, Cgroups, Device, Directory, Link, Mount, Node, Process, Setup

SLURM_UID = 64030  # Debian's own, base-passwd's list of reserved ids
MYSQL_UID = 64031
NOBODY = 65534
JAIL = "/mnt/jail"
WORKER = "worker"
_JAIL_ETC = "/run/npa/etc"  # what the jail has as /etc/slurm
NVIDIA_MAJOR = 195  # Linux Documentation/admin-guide/devices.txt

_CHARACTER_DEVICES = (
    ("null", 1, 3),
    ("zero", 1, 5),
    ("full", 1, 7),
    ("random", 1, 8),
    ("urandom", 1, 9),
    ("tty", 5, 0),
    ("fuse", 10, 229),
)
_MARIADB = (
    "mariadbd",
    "--no-defaults",
    "--datadir=/var/lib/mysql",
    "--socket=/run/mysqld/mysqld.sock",
    "--pid-file=/run/mysqld/pid",
    "--init-file=/usr/lib/npa/accounting.sql",
    "--skip-networking",
    "--innodb-buffer-pool-size=64M",
    "--innodb-log-file-size=8M",
    "--innodb-lock-wait-timeout=900",  # slurmdbd(8) asks for it
    "--innodb-snapshot-isolation=OFF",  # slurmdbd dies on a write conflict otherwise
    "--performance-schema=OFF",
)
# slurmctld first saves its usage files minutes after its first start, and without them will not start again,
# so until then it is told to do without (slurmctld(8), -i)
_SLURMCTLD = "[ -e /var/lib/slurm/ctld/assoc_usage ] || first=-i; exec slurmctld -D $first"
_SLURMDBD = "until [ -S /run/mysqld/mysqld.sock ]; do sleep 0.05; done; exec slurmdbd -D"


def render(
    cluster: Cluster, layout: Layout, addresses: Mapping[str, str], *, cgroups: bool
) -> tuple[Node, ...]:
    """Return every node, in the order of starting: database, controllers, logins, REST, workers."""
    machines = {node: pool.machine for pool in cluster.pools for node in pool.nodes}
    system, run, jail = tuple(_system(cgroups=cgroups)), tuple(_run()), tuple(_jail())
    devices = {gpus: tuple(_gpus(gpus)) for gpus in {machine.gpus for machine in machines.values()} | {0}}
    elastic = cluster.elastic
    nodes = []
    for name in names(cluster):
        machine = machines.get(name)
        role = WORKER if machine else name.rpartition("-")[0]
        gpus = devices[machine.gpus if machine else 0]
        setup = (*system, *gpus, *run, *_slurm(layout, name), *_role(role, layout))
        nodes.append(
            Node(
                name, addresses[name], _shape(machine), setup, jail, _processes(cluster, role, name, elastic)
            )
        )
    return tuple(nodes)


def _shape(machine: Machine | None) -> str:
    return f"{machine.cpus} CPUs, {machine.memory_mib} MiB, {machine.gpus} GPUs" if machine else ""


def _gpus(count: int) -> Iterator[Setup]:
    """Stand in for GPUs: gres.conf(5), File, wants character devices, and the cgroup tells them apart."""
    for index in range(count):
        yield Device(f"/dev/nvidia{index}", NVIDIA_MAJOR, index)


def names(cluster: Cluster) -> tuple[str, ...]:
    """Return every node's name, control plane first, so that its addresses are the lowest."""
    control = (cluster.accounting_node, *cluster.controllers, *cluster.logins, cluster.rest_node)
    return (*filter(None, control), *cluster.workers)


def daemons(cluster: Cluster) -> dict[str, tuple[str, ...]]:
    """Return what should run on each node."""
    workers, elastic = set(cluster.workers), cluster.elastic
    found = {}
    for name in names(cluster):
        role = WORKER if name in workers else name.rpartition("-")[0]
        found[name] = tuple(process.name for process in _processes(cluster, role, name, elastic))
    return found


def _system(*, cgroups: bool) -> Iterator[Setup]:
    yield Mount("proc", "/proc")
    yield Mount("sysfs", "/sys", read_only=True)
    if cgroups:
        yield Cgroups("/sys/fs/cgroup")
    yield Mount("tmpfs", "/dev", "mode=755")
    for name, major, minor in _CHARACTER_DEVICES:
        yield Device(f"/dev/{name}", major, minor)
    for name in ("pts", "shm", "mqueue"):
        yield Directory(f"/dev/{name}")
    yield Mount("devpts", "/dev/pts", "newinstance,ptmxmode=0666,mode=620,gid=5")
    yield Mount("tmpfs", "/dev/shm", "mode=1777")
    yield Mount("mqueue", "/dev/mqueue")
    yield Link("/dev/ptmx", "pts/ptmx")
    yield Link("/dev/fd", "/proc/self/fd")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        yield Link(f"/dev/{name}", f"fd/{number}")


def _run() -> Iterator[Setup]:
    yield Mount("tmpfs", "/tmp", "mode=1777")
    yield Mount("tmpfs", "/run", "mode=755")
    yield Directory("/run/slurm")  # root's: slurmd and sackd refuse one that is slurm's
    yield Directory("/run/sshd")
    yield Directory("/run/slurmctld", uid=SLURM_UID, gid=SLURM_UID)
    yield Directory("/run/slurmdbd", uid=SLURM_UID, gid=SLURM_UID)
    yield Directory("/run/mysqld", uid=MYSQL_UID, gid=MYSQL_UID)
    yield Link("/run/mariadbd", "mysqld")  # newer client libraries look there


def _slurm(layout: Layout, name: str) -> Iterator[Setup]:
    yield Bind(layout.daemons_etc, "/etc/slurm", read_only=True)
    yield Bind(layout.net_etc, "/etc/npa", read_only=True)
    yield Bind(layout.log(name), "/var/log/slurm")
    yield Bind(layout.spool(name), "/var/spool/slurmd")
    yield Bind(layout.jail, JAIL)
    yield Directory("/run/npa")
    yield Directory(_JAIL_ETC)
    yield Bind(layout.jail_etc, _JAIL_ETC)


def _role(role: str, layout: Layout) -> Iterator[Setup]:
    if role == CONTROLLER:
        yield Bind(layout.ctld, "/var/lib/slurm/ctld")
    elif role == ACCOUNTING:
        yield Bind(layout.mysql, "/var/lib/mysql")
    elif role == LOGIN:
        yield Bind(layout.ssh_etc, "/etc/ssh", read_only=True)


def _jail() -> Iterator[Setup]:
    """What is private to a node, on top of the users' root.

    `/dev` is read-only, and so are Slurm's files and the folder of its socket: root in the jail cannot take
    from the daemons what they need.
    """
    yield Mount("proc", f"{JAIL}/proc")
    yield Bind("/sys", f"{JAIL}/sys", recursive=True)
    yield Bind("/dev", f"{JAIL}/dev", read_only=True, recursive=True)
    yield Mount("tmpfs", f"{JAIL}/tmp", "mode=1777")
    yield Mount("tmpfs", f"{JAIL}/run", "mode=755")
    yield Directory(f"{JAIL}/run/lock", 0o1777)
    yield Directory(f"{JAIL}/run/slurm")
    yield Bind("/run/slurm", f"{JAIL}/run/slurm", read_only=True)
    yield Bind("/var/spool/slurmd", f"{JAIL}/var/spool/slurmd")
    yield Bind(_JAIL_ETC, f"{JAIL}/etc/slurm", read_only=True)
    yield Bind("/etc/npa", f"{JAIL}/etc/npa", read_only=True)


def _processes(cluster: Cluster, role: str, name: str, elastic: frozenset[str]) -> tuple[Process, ...]:
    if role == CONTROLLER:
        return (Process("slurmctld", ("sh", "-c", _SLURMCTLD), SLURM_UID, SLURM_UID),)
    if role == ACCOUNTING:
        return (
            Process("mariadbd", _MARIADB, MYSQL_UID, MYSQL_UID),
            Process("slurmdbd", ("sh", "-c", _SLURMDBD), SLURM_UID, SLURM_UID),
        )
    if role == LOGIN:
        return (Process("sackd", ("sackd", "-D")), Process("sshd", ("/usr/sbin/sshd", "-D", "-e")))
    if role == REST:
        serve = ("slurmrestd", "-a", "rest_auth/jwt", "0.0.0.0:6820")
        # it reads who the controllers are when it starts: with others it is another process
        env = (("SLURM_JWT", "daemon"), ("NPA_CONTROLLERS", ",".join(cluster.controllers)))
        return (Process("slurmrestd", serve, NOBODY, NOBODY, env),)
    # -b: it booted now, not with the machine; slurmctld compares that with when it asked for the node
    boot = ("-b",) if name in elastic else ()
    return (Process("slurmd", ("slurmd", "-D", *boot, "-N", name)),)
