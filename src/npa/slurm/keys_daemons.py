"""The keys of gres.conf, cgroup.conf, mpi.conf, slurmdbd.conf and topology.conf, per release.

Taken from the programs as those of slurm.conf are; see there for the marks.
"""

from __future__ import annotations

from npa.slurm.keys_slurm_conf import Section

GRES: Section = {
    "text": "AutoDetect Count CPUs Cores File Files Flags Link Links MultipleFiles Name NodeName Type",
}
CGROUP: Section = {
    "text": (
        "AllowedDevicesFile CgroupMountpoint CgroupPlugin CgroupReleaseAgentDir< CgroupSlice> "
        "EnableExtraControllers>"
    ),
    "bool": (
        "CgroupAutomount CgroupJobIdPaths> ConstrainCores ConstrainDevices ConstrainRAMSpace "
        "ConstrainSwapSpace EnableControllers IgnoreSystemd IgnoreSystemdOnFailure MemoryLimitEnforcement "
        "SignalChildrenProcesses"
    ),
    "float": "AllowedRAMSpace AllowedSwapSpace MaxRAMPercent MaxSwapPercent MemoryLimitThreshold",
    "u64": "MemorySwappiness MinRAMSpace SystemdTimeout",
}
# Of the plugin mpi/pmix alone. Debian has it for 24.11; without a plugin Slurm passes over its keys.
MPI: Section = {
    "text": "PMIxCliTmpDirBase PMIxCollFence PMIxEnv PMIxNetDevicesUCX PMIxTlsUCX",
    "bool": "PMIxDirectConn PMIxDirectConnEarly PMIxDirectConnUCX PMIxDirectSameArch PMIxFenceBarrier",
    "u32": "PMIxDebug PMIxTimeout",
}
SLURMDBD: Section = {
    "text": (
        "ArchiveDir ArchiveScript AuthAltParameters AuthAltTypes AuthInfo AuthType CommunicationParameters "
        "DbdAddr DbdBackupHost DbdHost DebugFlags DebugLevel DebugLevelSyslog DefaultQOS HashPlugin LogFile "
        "LogTimeFormat MaxQueryTimeRange Parameters PidFile PluginDir PrivateData PurgeEventAfter "
        "PurgeJobAfter PurgeJobEnvAfter> PurgeJobScriptAfter> PurgeResvAfter PurgeStepAfter "
        "PurgeSuspendAfter PurgeTXNAfter PurgeUsageAfter SlurmUser StorageBackupHost StorageHost StorageLoc "
        "StorageParameters StoragePass StoragePassScript> StorageType StorageUser TLSParameters TLSType"
    ),
    "bool": (
        "AllowNoDefAcct AllResourcesAbsolute ArchiveEvents ArchiveJobEnv> ArchiveJobs ArchiveJobScript> "
        "ArchiveResvs ArchiveSteps ArchiveSuspend ArchiveTXN ArchiveUsage DisableArchiveCommands> "
        "DisableCoordDBD DisableRollups> TrackSlurmctldDown TrackWCKey"
    ),
    "u16": "CommitDelay DbdPort JobPurge MessageTimeout StepPurge StoragePort TCPTimeout",
    "u32": (
        "MaxPurgeLimit> PurgeEventMonths PurgeJobMonths PurgeStepMonths PurgeSuspendMonths PurgeTXNMonths "
        "PurgeUsageMonths"
    ),
}
