"""Configurations with one thing wrong (or nothing), and what a real Slurm does with each.

The unit tests compare the checker's words with `findings.txt`, the e2e tests give the same files to
slurmctld. `reality` says how a rejected one fails there: it stops, its log says so, or what `scontrol` shows
is another thing than the file says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SLURM_CONF = """\
ClusterName=lab
SlurmctldHost=controller-0
SlurmUser=slurm
AuthType=auth/slurm
CredType=cred/slurm
AuthInfo=use_client_ids
StateSaveLocation=/var/lib/slurm/ctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldPidFile=/run/slurmctld/slurmctld.pid
SlurmctldParameters=enable_configless,idle_on_node_suspend
SlurmdParameters=config_overrides
MailProg=/usr/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=bf_interval=5
GresTypes=gpu
ReturnToService=2
NodeName=gpu-[0-1] CPUs=16 RealMemory=65536 Gres=gpu:h100:2 State=UNKNOWN
NodeName=cpu-[0-1] CPUs=16 RealMemory=65536 State=UNKNOWN
NodeSet=gpu Nodes=gpu-[0-1]
NodeSet=cpu Nodes=cpu-[0-1]
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=train Nodes=gpu MaxTime=1-0 State=UP
"""
GRES_CONF = "NodeName=gpu-[0-1] Name=gpu Type=h100 File=/dev/nvidia[0-1]\n"
CGROUP_CONF = "CgroupPlugin=disabled\n"
TREE = """\
- topology: fabrics
  cluster_default: true
  tree:
    switches:
      - switch: ib
        nodes: gpu-[0-1]
      - switch: eth
        nodes: cpu-[0-1]
      - switch: root
        children: ib,eth
"""
TREE_CONF = """\
SwitchName=ib Nodes=gpu-[0-1]
SwitchName=eth Nodes=cpu-[0-1]
SwitchName=root Switches=ib,eth
"""
BLOCKS = """\
- topology: racks
  cluster_default: true
  block:
    block_sizes: [2, 4]
    blocks:
      - block: b1
        nodes: gpu-[0-1]
      - block: b2
        nodes: cpu-[0-1]
"""
BOTH = ("24.11", "26.05")
NEW = ("26.05",)
OLD = ("24.11",)


@dataclass(frozen=True, slots=True)
class Stops:
    """slurmctld does not start."""


@dataclass(frozen=True, slots=True)
class Logs:
    """slurmctld starts, and its log says that it took something else."""

    pattern: str


@dataclass(frozen=True, slots=True)
class Shows:
    """slurmctld starts without a word, and what it shows is not what the file says."""

    argv: str
    pattern: str


@dataclass(frozen=True, slots=True)
class Node:
    """slurmctld does not look at it; the slurmd of this node stops, or its log says so."""

    name: str
    pattern: str


@dataclass(frozen=True, slots=True)
class Policy:
    """Slurm takes it; it is refused for another reason."""

    why: str


Fate = Stops | Logs | Shows | Node | Policy


@dataclass(frozen=True, slots=True)
class Case:
    """The files above with a change; `reality` None where nothing is wrong."""

    reality: Fate | None
    edits: Mapping[str, str] = field(default_factory=dict)  # in slurm.conf: text -> other text
    add: str = ""  # at the end of slurm.conf
    files: Mapping[str, str] = field(default_factory=dict)  # instead of the ones above, or beside them
    releases: tuple[str, ...] = BOTH

    def texts(self) -> dict[str, str]:
        """Return the files by name."""
        text = SLURM_CONF
        for old, new in self.edits.items():
            assert old in text, old
            text = text.replace(old, new)
        texts = {"slurm.conf": text + self.add, "gres.conf": GRES_CONF, "cgroup.conf": CGROUP_CONF}
        return {name: text for name, text in {**texts, **self.files}.items() if text}


def _tree(old: str, new: str) -> dict[str, str]:
    assert old in TREE, old
    return {"topology.yaml": TREE.replace(old, new)}


def _conf(old: str, new: str) -> dict[str, str]:
    assert old in TREE_CONF, old
    return {"topology.conf": TREE_CONF.replace(old, new)}


_PLUGIN = "TopologyPlugin=topology/tree\n"
_BLOCK_PLUGIN = "TopologyPlugin=topology/block\n"
_SINFO = "scontrol show partition"
_NODES = "scontrol show node"
_CONFIG = "scontrol show config"

CASES: Mapping[str, Case] = {
    # nothing wrong
    "c29-sound": Case(None),
    "c29-sound-empty-partition": Case(None, add='PartitionName=viz Nodes="" State=UP\n'),
    "c29-sound-tree": Case(None, files={"topology.yaml": TREE}, releases=NEW),
    "c29-sound-tree-conf": Case(None, add=_PLUGIN, files={"topology.conf": TREE_CONF}),
    "c36-sound-blocks": Case(None, files={"topology.yaml": BLOCKS}, releases=NEW),
    "c36-sound-blocks-conf": Case(
        None,
        add=_BLOCK_PLUGIN,
        files={
            "topology.conf": ("BlockName=b1 Nodes=gpu-[0-1]\nBlockName=b2 Nodes=cpu-[0-1]\nBlockSizes=2,4\n")
        },
    ),
    "c32-sound-spellings": Case(
        None, add='  killWAIT = 0x1e\nMaxArraySize=10K\nDisableRootJobs=no\nMailDomain="a b"  # said\n'
    ),
    "c32-sound-include": Case(None, add="include site.conf\n", files={"site.conf": "KillWait=31\n"}),
    "c32-sound-default-lines": Case(
        None,
        edits={"NodeName=gpu": "NodeName=DEFAULT CPUs=16 RealMemory=65536\nNodeName=gpu"},
        add="PartitionName=DEFAULT MaxTime=2-0\nPartitionName=late Nodes=cpu\n",
    ),
    "c34-sound-continued": Case(None, add="DebugFlags=Backfill,\\\nGres\n"),
    # C29: nodes, sets and partitions
    "c29-partition-of-unknown-pool": Case(Stops(), edits={"Nodes=gpu Max": "Nodes=viz Max"}),
    "c29-partition-of-misspelt-pool": Case(Stops(), edits={"Nodes=gpu Max": "Nodes=gpus Max"}),
    "c29-node-twice": Case(Stops(), add="NodeName=cpu-1 CPUs=4 RealMemory=100\n"),
    "c29-node-twice-in-line": Case(Stops(), edits={"NodeName=cpu-[0-1]": "NodeName=cpu-[0-1,1]"}),
    "c29-partition-twice": Case(Stops(), add="PartitionName=main Nodes=cpu\n"),
    "c29-set-named-as-node": Case(Stops(), add="NodeSet=cpu-0 Nodes=cpu-0\n"),
    "c29-set-of-unknown-node": Case(Stops(), add="NodeSet=odd Nodes=old-0\nPartitionName=odd Nodes=odd\n"),
    "c29-set-twice": Case(
        Shows(_SINFO, r"PartitionName=train(.|\n)*?TotalNodes=2"), add="NodeSet=gpu Nodes=gpu-0\n"
    ),
    "c29-down-node-unknown": Case(Logs("DownNode .* does not exist"), add="DownNodes=old-0 State=DOWN\n"),
    "c29-two-defaults": Case(
        Shows(_SINFO, r"PartitionName=main\n(.|\n)*?Default=NO"),
        edits={"Nodes=gpu Max": "Nodes=gpu Default=YES Max"},
    ),
    "c29-no-default": Case(None, edits={"Default=YES ": ""}),
    "c29-no-partition": Case(
        Shows("sbatch --wrap true", "No partition specified or system default partition"),
        edits={
            "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n": "",
            "PartitionName=train Nodes=gpu MaxTime=1-0 State=UP\n": "",
        },
    ),
    "c29-alternate-unknown": Case(
        Shows(_SINFO, r"Alternate=tain"), edits={"MaxTime=1-0": "MaxTime=1-0 Alternate=tain"}
    ),
    "c29-brackets": Case(Stops(), edits={"NodeName=cpu-[0-1]": "NodeName=cpu-[0-1"}),
    "c29-more-nodes-than-room": Case(Stops(), add="MaxNodeCount=3\n"),
    # C31: GRES
    "c31-no-gres-types": Case(
        Shows("scontrol show node gpu-0", r"Gres=\(null\)"), edits={"GresTypes=gpu\n": ""}
    ),
    "c31-gres-of-another-type": Case(
        Logs("Invalid GRES configured on node"),
        edits={"GresTypes=gpu": "GresTypes=nic"},
        files={"gres.conf": "# none\n"},
    ),
    "c31-shard-without-gpu": Case(Stops(), edits={"GresTypes=gpu": "GresTypes=shard"}),
    "c31-no-file": Case(
        Node("gpu-0", r"count reported lower than configured \(0 < 2\)"),
        files={"gres.conf": "NodeName=gpu-[0-1] Name=gpu Type=h100 Count=2\n"},
    ),
    "c31-no-gres-conf": Case(
        Node("gpu-0", r"count reported lower than configured \(0 < 2\)"), files={"gres.conf": ""}
    ),
    "c31-fewer-files": Case(
        Node("gpu-0", r"count reported lower than configured \(1 < 2\)"),
        files={"gres.conf": "NodeName=gpu-[0-1] Name=gpu Type=h100 File=/dev/nvidia0\n"},
    ),
    "c31-misspelt-key": Case(
        Node("gpu-0", "unrecognized key: Fil"),
        files={"gres.conf": "NodeName=gpu-[0-1] Name=gpu Type=h100 Fil=/dev/nvidia[0-1]\n"},
    ),
    # C32: keys and values
    "c32-unknown-key": Case(Stops(), add="KillWeit=30\n"),
    "c32-unknown-node-key": Case(Stops(), edits={"NodeName=cpu-[0-1] CPUs": "NodeName=cpu-[0-1] CPU"}),
    "c32-unknown-partition-key": Case(Stops(), edits={"MaxTime=1-0": "MaxTim=1-0"}),
    "c32-node-key-alone": Case(Stops(), add="RealMemory=100\n"),
    "c32-removed-key": Case(Stops(), add="FastSchedule=2\n"),
    "c32-key-of-another-release": Case(Stops(), add="MetricsType=metrics/openmetrics\n", releases=OLD),
    "c32-number-too-large": Case(Stops(), add="KillWait=70000\n"),
    "c32-number-with-unit": Case(Stops(), add="KillWait=30s\n"),
    "c32-memory-with-unit": Case(Stops(), edits={"RealMemory=65536 State": "RealMemory=64G State"}),
    "c32-not-a-bool": Case(Stops(), add="DisableRootJobs=maybe\n"),
    "c32-out-of-range": Case(Logs("MinJobAge must be at least 2"), add="MinJobAge=1\n"),
    "c32-not-a-time": Case(Stops(), edits={"MaxTime=1-0": "MaxTime=1h"}),
    "c32-unknown-plugin": Case(Stops(), add="SchedulerType=sched/bakfill\n"),
    "c32-plugin-of-another-build": Case(Stops(), add="JobCompType=jobcomp/kafka\n"),
    "c32-unknown-word": Case(Stops(), add="DebugFlags=Backfil\n"),
    "c32-unknown-level": Case(Stops(), add="SlurmctldDebug=loud\n"),
    "c32-bad-state": Case(Stops(), edits={"Gres=gpu:h100:2 State=UNKNOWN": "Gres=gpu:h100:2 State=UNKNON"}),
    "c32-bad-oversubscribe": Case(Stops(), edits={"MaxTime=1-0": "OverSubscribe=MAYBE"}),
    "c32-parameter-misspelt": Case(
        Shows(_CONFIG, "enable_configles,"), edits={"enable_configless": "enable_configles"}
    ),
    "c32-parameter-not-a-number": Case(
        Logs("Invalid SchedulerParameters bf_interval"), edits={"bf_interval=5": "bf_interval=x"}
    ),
    "c32-set-twice": Case(
        Logs("specified more than once, latest value used"), add="KillWait=30\nKillWait=40\n"
    ),
    "c32-no-cluster-name": Case(Stops(), edits={"ClusterName=lab\n": ""}),
    "c32-two-cores": Case(Stops(), edits={"CR_Core_Memory": "CR_Core,CR_Socket"}),
    "c32-linear-with-cores": Case(Stops(), add="SelectType=select/linear\n"),
    "c32-preempt-mode-alone": Case(Stops(), add="PreemptMode=REQUEUE\n"),
    "c32-preempt-type-alone": Case(Stops(), add="PreemptType=preempt/partition_prio\n"),
    "c32-jwt-without-key": Case(Stops(), add="AuthAltTypes=auth/jwt\n"),
    "c32-include-missing": Case(Stops(), add="include site.conf\n"),
    "c32-include-outside": Case(Stops(), add="include /etc/slurm.d/site.conf\n"),
    "c32-include-indented": Case(Stops(), add=" include site.conf\n", files={"site.conf": "KillWait=31\n"}),
    "c32-include-loop": Case(Stops(), add="include site.conf\n", files={"site.conf": "include site.conf\n"}),
    "c32-no-job-fits": Case(
        Shows("sbatch --wrap true; sleep 1; squeue -h -o %r", "PartitionConfig"),
        edits={"Default=YES MaxTime=INFINITE": "Default=YES MinNodes=5 MaxNodes=1"},
    ),
    "c32-cgroup-key": Case(Stops(), files={"cgroup.conf": "CgroupPlugin=disabled\nConstrainCore=yes\n"}),
    "c32-cgroup-bool": Case(Stops(), files={"cgroup.conf": "CgroupPlugin=disabled\nConstrainCores=maybe\n"}),
    "mpi-environment": Case(None, files={"mpi.conf": "PMIxEnv=OMPI_MCA_btl_tcp_if_include=eth0;B=2\n"}),
    "mpi-number": Case(Stops(), files={"mpi.conf": "PMIxDebug=many\n"}, releases=("24.11",)),
    "c32-cgroup-plugin": Case(
        Node("cpu-0", "slurmd initialization failed"), files={"cgroup.conf": "CgroupPlugin=cgroup/v3\n"}
    ),
    "c32-task-without-cgroups": Case(
        Node("cpu-0", "CgroupPlugin=disabled in cgroup.conf is not compatible with task/cgroup"),
        edits={"TaskPlugin=task/affinity": "TaskPlugin=task/cgroup"},
    ),
    "c32-tracker-without-cgroups": Case(
        Node("cpu-0", "CgroupPlugin=disabled is set"),
        edits={"ProctrackType=proctrack/linuxproc": "ProctrackType=proctrack/cgroup"},
    ),
    "c32-unknown-tracker": Case(
        Node("cpu-0", "slurmd initialization failed"),
        edits={"ProctrackType=proctrack/linuxproc": "ProctrackType=linuxproc"},
    ),
    "c32-x11-without-cgroups": Case(Stops(), add="PrologFlags=X11\n"),
    "c32-oom-without-cgroups": Case(Stops(), add="TaskPluginParam=OOMKillStep\n"),
    "c32-one-task-per-cpu": Case(Stops(), edits={"CR_Core_Memory": "CR_CPU,CR_ONE_TASK_PER_CORE"}),
    "c32-prolog-flags": Case(
        Logs("Serial is incompatible with RunInJob"), add="PrologFlags=Serial,RunInJob\n"
    ),
    "c32-suspend-exception-unknown": Case(
        Logs("SuspendExcNodes"),
        add="SuspendProgram=/usr/bin/true\nResumeProgram=/usr/bin/true\nSuspendTime=60\nSuspendExcNodes=old-0\n",
    ),
    # C33: numbers of the machine
    "c33-cpus-of-no-sockets": Case(
        Logs("match no Sockets"),
        edits={"NodeName=cpu-[0-1] CPUs=16": "NodeName=cpu-[0-1] CPUs=16 Sockets=2 CoresPerSocket=4"},
    ),
    "c33-no-memory": Case(Logs("is invalid, reset"), edits={"RealMemory=65536 State": "RealMemory=0 State"}),
    "c33-all-for-daemons": Case(
        Logs("MemSpecLimit=65536 is invalid"),
        edits={"RealMemory=65536 State": "RealMemory=65536 MemSpecLimit=65536 State"},
    ),
    # C34: comments, quotes, backslashes, bytes
    "c34-hash-in-quotes": Case(Shows(_CONFIG, r'MailDomain += "a\n'), add='MailDomain="a#b"\n'),
    "c34-quote-open": Case(Shows(_CONFIG, r'MailDomain += "a\n'), add='MailDomain="a\n'),
    "c34-quote-inside": Case(Shows(_CONFIG, r'MailDomain += a"b"\n'), add='MailDomain=a"b"\n'),
    "c34-blank": Case(Stops(), add="MailDomain=a b\n"),
    "c34-two-on-a-line": Case(Stops(), add="KillWait=30 WaitTime=3\n"),
    "c34-no-value": Case(Stops(), add="KillWait=\n"),
    "c34-backslash": Case(Shows(_CONFIG, "MailDomain += aKillWait=55"), add="MailDomain=a\\\nKillWait=55\n"),
    "c34-byte-order-mark": Case(Stops(), edits={"ClusterName=lab": "\ufeffClusterName=lab"}),
    "c34-control": Case(Shows(_CONFIG, "MailDomain += a\x1b"), add="MailDomain=a\x1b[31m\n"),
    "c34-not-utf-8": Case(Policy("no ConfigMap and no JSON can hold it"), add="MailDomain=a\udcff\n"),
    "c30-too-large": Case(None, add="# " + "x" * 1_100_000 + "\n"),
    # C35, C36: topology
    "c35-plugin-without-file": Case(Stops(), add=_PLUGIN),
    "c35-node-nowhere": Case(
        Logs("lack access to [0-9]+ nodes: .*cpu-1"),
        files=_tree("nodes: cpu-[0-1]", "nodes: cpu-0"),
        releases=NEW,
    ),
    "c35-node-in-two": Case(
        Logs("Multiple leaf switches contain nodes"),
        files=_tree("nodes: cpu-[0-1]", "nodes: cpu-[0-1],gpu-0"),
        releases=NEW,
    ),
    "c35-unknown-node": Case(
        Logs("Invalid hostnames in switch"), files=_tree("nodes: cpu-[0-1]", "nodes: cpu-[0-2]"), releases=NEW
    ),
    "c35-unknown-child": Case(Stops(), files=_tree("ib,eth", "ib,eth,opa"), releases=NEW),
    "c35-switch-twice": Case(Stops(), files=_tree("switch: eth", "switch: ib"), releases=NEW),
    "c35-circle": Case(
        Stops(),
        files=_tree("children: ib,eth", "children: ib,eth,up\n      - switch: up\n        children: root"),
        releases=NEW,
    ),
    "c35-no-switch": Case(
        Stops(),
        files={"topology.yaml": "- topology: t\n  cluster_default: true\n  tree:\n    switches: []\n"},
        releases=NEW,
    ),
    "c35-misspelt-key": Case(
        Logs("no switch can reach all nodes|lack access"),
        files=_tree("nodes: cpu", "node: cpu"),
        releases=NEW,
    ),
    "c35-not-yaml": Case(Stops(), files={"topology.yaml": f"{TREE} x: [\n"}, releases=NEW),
    "c35-conf-unknown-child": Case(Stops(), add=_PLUGIN, files=_conf("ib,eth", "ib,eth,opa")),
    "c35-conf-switch-twice": Case(Stops(), add=_PLUGIN, files=_conf("=eth", "=ib")),
    "c35-conf-both": Case(Stops(), add=_PLUGIN, files=_conf("=root ", "=root Nodes=gpu-0 ")),
    "c35-conf-misspelt-key": Case(Stops(), add=_PLUGIN, files=_conf("Nodes=cpu", "Node=cpu")),
    "c35-conf-empty-switch": Case(
        Stops(), add=_PLUGIN, files=_conf("SwitchName=root", "SwitchName=x\nSwitchName=root"), releases=OLD
    ),
    "c36-block-size": Case(
        Stops(), files={"topology.yaml": BLOCKS.replace("[2, 4]", "[2, 6]")}, releases=NEW
    ),
    "c36-node-in-no-block": Case(
        Logs("Blocks lack access to [0-9]+ nodes: .*cpu-1"),
        files={"topology.yaml": BLOCKS.replace("cpu-[0-1]", "cpu-0").replace("[2, 4]", "[1]")},
        releases=NEW,
    ),
    "c36-partition-of-unknown-topology": Case(
        Stops(),
        edits={"MaxTime=1-0": "MaxTime=1-0 Topology=fabric"},
        files={"topology.yaml": TREE},
        releases=NEW,
    ),
    # C66: accounting
    "c66-tres-without-slurmdbd": Case(Stops(), add="AccountingStorageTRES=gres/gpu\n"),
    "c66-enforce-without-slurmdbd": Case(
        Logs("You can not have AccountingStorageEnforce"), add="AccountingStorageEnforce=limits\n"
    ),
    "c66-database-in-slurm-conf": Case(Stops(), add="AccountingStorageType=accounting_storage/mysql\n"),
    "c66-unknown-tres": Case(Stops(), add="AccountingStorageTRES=gpu\n"),
}
