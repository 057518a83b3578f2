"""Settings of slurm.conf that npa writes itself, each with the reason."""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_REASONS = {
    "the cluster's name is that of the spec": ("ClusterName",),
    "daemons, their users, ports and processes are placed by npa": _words(
        "BackupAddr BackupController ControlAddr ControlMachine SlurmctldAddr SlurmctldHost SlurmctldPort "
        "SlurmctldPortRange SlurmctldPidFile SlurmdPidFile SlurmdPort SlurmdUser SlurmUser "
        "SlurmctldPrimaryOnProg SlurmctldPrimaryOffProg SlurmctldParameters SlurmdParameters"
    ),
    "daemons trust each other by a key that npa makes": _words(
        "AuthAltParameters AuthAltTypes AuthInfo AuthType CredType CryptoType JobCredentialPrivateKey "
        "JobCredentialPublicCertificate"
    ),
    "state, spool and logs have their places": _words(
        "SlurmctldLogFile SlurmdLogFile SlurmdSpoolDir SlurmSchedLogFile StateSaveLocation PluginDir"
    ),
    "nodes come from `workers`": _words(
        "DownNodes FrontendName FrontendAddr GresTypes NodeAddr NodeHostName NodeName NodeSet"
    ),
    "partitions come from `partitions`": ("PartitionName",),
    "elastic pools are powered by npa": _words(
        "ReconfigFlags ResumeFailProgram ResumeProgram ResumeRate SuspendExcNodes SuspendExcParts "
        "SuspendExcStates SuspendProgram SuspendRate"
    ),
    "it comes from `accounting`": ("AccountingStorage", "JobCompHost", "JobCompPass", "JobCompUser"),
    "the topology comes from the fabrics": ("TopologyPlugin",),
    "jobs enter the shared root through it": ("PlugStackConfig",),
    "all of the file is read by a checker first": ("Include",),
}
_PREFIXES = ("accountingstorage",)

_MANAGED = {key.lower(): reason for reason, keys in _REASONS.items() for key in keys}
# Lower case; a key is compared so, since Slurm ignores case. `AccountingStorage…` is managed as a whole.
MANAGED_SETTINGS = frozenset(_MANAGED)


def managed(key: str) -> str:
    """Return why a setting of slurm.conf is not the user's, or "" where it is."""
    folded = key.strip().lower()
    prefix = next((each for each in _PREFIXES if folded.startswith(each)), folded)
    return _MANAGED.get(prefix, "")
