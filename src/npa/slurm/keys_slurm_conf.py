"""The keys of slurm.conf and what Slurm reads them as, per release.

Taken from the parser tables of the programs themselves, Debian's 24.11.5 and 26.05.5; a test on the real
programs compares them. A mark tells where a key is not in both: `>` is from 26.05 on, `<` was before it.
"""

from __future__ import annotations

from collections.abc import Mapping

Section = Mapping[str, str]  # kind of value -> the keys of that kind

SLURM_CONF: Section = {
    "text": (
        "AccountingStorageBackupHost AccountingStorageEnforce AccountingStorageExternalHost "
        "AccountingStorageHost AccountingStorageLoc< AccountingStorageParameters AccountingStoragePass "
        "AccountingStorageTRES AccountingStorageType AccountingStorageUser AccountingStoreFlags "
        "AcctGatherEnergyType AcctGatherFilesystemType AcctGatherInfinibandType AcctGatherInterconnectType "
        "AcctGatherProfileType AuthAltParameters AuthAltTypes AuthInfo AuthType BackupAddr BackupController "
        "BcastExclude BcastParameters BurstBufferParameters BurstBufferType CertgenParameters> CertgenType> "
        "CertmgrParameters CertmgrType CliFilterParameters> CliFilterPlugins ClusterName "
        "CommunicationParameters ControlAddr ControlMachine CoreSpecPlugin CpuFreqDef CpuFreqGovernors "
        "CredType CryptoType DataParserParameters DebugFlags DependencyParameters EnforcePartLimits "
        "ExtSensorsType FederationParameters GpuFreqDef GresTypes HashPlugin HealthCheckNodeState "
        "HealthCheckProgram HttpParserType> InteractiveStepOptions JobAcctGatherFrequency "
        "JobAcctGatherParams JobAcctGatherType JobCompHost JobCompLoc JobCompParams JobCompPass "
        "JobCompPassScript> JobCompType JobCompUser JobContainerType JobCredentialPrivateKey "
        "JobCredentialPublicCertificate JobSubmitPlugins LaunchParameters LaunchType LicenseParameters> "
        "Licenses LogTimeFormat MailDomain MailProg MCSParameters MCSPlugin MetricsAuthUsers> "
        "MetricsParameters> MetricsType> MpiDefault MpiParams NamespaceType> NodeFeaturesPlugins PluginDir "
        "PlugStackConfig PowerParameters PowerPlugin PreemptExemptTime PreemptMode PreemptParameters "
        "PreemptType PrEpParameters PrEpPlugins PriorityCalcPeriod PriorityDecayHalfLife PriorityFlags "
        "PriorityMaxAge PriorityParameters PrioritySiteFactorParameters PrioritySiteFactorPlugin "
        "PriorityType PriorityUsageResetPeriod PriorityWeightTRES PrivateData ProctrackType PrologFlags "
        "PropagateResourceLimits PropagateResourceLimitsExcept RebootProgram ReconfigFlags RequeueExit "
        "RequeueExitHold ResumeFailProgram ResumeProgram ResvEpilog ResvProlog RoutePlugin "
        "SallocDefaultCommand SbcastParameters SchedulerParameters SchedulerType ScronParameters SelectType "
        "SelectTypeParameters SlurmctldAddr SlurmctldDebug SlurmctldHttpAuthParameters> SlurmctldLogFile "
        "SlurmctldParameters SlurmctldPidFile SlurmctldPort SlurmctldPrimaryOffProg SlurmctldPrimaryOnProg "
        "SlurmctldSyslogDebug SlurmdDebug SlurmdHttpAuthParameters> SlurmdLogFile SlurmdParameters "
        "SlurmdPidFile SlurmdSpoolDir SlurmdSyslogDebug SlurmdUser SlurmSchedLogFile SlurmUser SrunEpilog "
        "SrunPortRange SrunProlog StateSaveLocation SuspendExcNodes SuspendExcParts SuspendExcStates "
        "SuspendProgram SuspendTime SwitchParameters SwitchType TaskEpilog TaskPlugin TaskPluginParam "
        "TaskProlog TLSParameters TLSType TmpFS TopologyParam TopologyPlugin UnkillableStepProgram "
        "UrlParserType> X11Parameters"
    ),
    "u16": (
        "AccountingStoragePort AcctGatherNodeFreq BatchStartTimeout CompleteWait EioTimeout EpilogTimeout> "
        "ExtSensorsFreq FairShareDampeningFactor FastSchedule GetEnvTimeout GroupUpdateForce "
        "GroupUpdateTime HealthCheckInterval HealthCheckTimeout> InactiveLimit JobFileAppend JobRequeue "
        "KillOnBadExit KillWait MaxTasksPerNode MessageTimeout OverTimeLimit PrologEpilogTimeout "
        "PrologTimeout> PropagatePrioProcess ResumeRate ResumeTimeout ResvOverRun ReturnToService "
        "SchedulerTimeSlice SlurmctldTimeout SlurmdTimeout SlurmSchedLogLevel SuspendRate SuspendTimeout "
        "TCPTimeout TreeWidth UnkillableStepTimeout VSizeFactor WaitTime"
    ),
    "bool": (
        "AccountingStoreJobComment AllowSpecResourcesUsage DisableRootJobs PriorityFavorSmall TrackWCKey "
        "UsePAM"
    ),
    "u64": "DefCPUPerGPU DefMemPerCPU DefMemPerGPU DefMemPerNode MaxMemPerCPU MaxMemPerNode",
    "lines": (
        "DownNodes Epilog EpilogSlurmctld FrontendName< NodeName NodeSet PartitionName PowerAction> Prolog "
        "PrologSlurmctld SlurmctldHost"
    ),
    "u32": (
        "EpilogMsgTime FirstJobId JobCompPort KeepAliveTime MaxArraySize MaxBatchRequeue MaxDBDMsgs "
        "MaxJobCount MaxJobId MaxNodeCount MaxStepCount MinJobAge PriorityWeightAge PriorityWeightAssoc "
        "PriorityWeightFairshare PriorityWeightJobSize PriorityWeightPartition PriorityWeightQOS SlurmdPort"
    ),
}
NODE: Section = {
    "text": (
        "BcastAddr CpuBind CPUSpecList Feature Features Gres GresConf> NodeAddr NodeHostname Parameters> "
        "Port Reason State SuspendTime> Topology> TRESWeights"
    ),
    "u16": (
        "Boards CoreSpecCount CoresPerSocket CPUs Procs RestrictedCoresPerGPU Sockets SocketsPerBoard "
        "ThreadsPerCore"
    ),
    "u64": "MemSpecLimit RealMemory",
    "u32": "TmpDisk Weight",
}
NODE_SET: Section = {
    "text": "Feature Nodes",
}
DOWN: Section = {
    "text": "Reason State",
}
PARTITION: Section = {
    "text": (
        "AllocNodes AllowAccounts AllowGroups AllowQos Alternate CpuBind DefaultTime DenyAccounts DenyQos "
        "Exclusive> MaxTime Nodes OverSubscribe OverTimeLimit PreemptMode QOS SelectTypeParameters Shared "
        "State SuspendTime Topology> TRESBillingWeights"
    ),
    "bool": "Default DisableRootJobs ExclusiveTopo ExclusiveUser Hidden LLN PowerDownOnIdle ReqResv RootOnly",
    "u64": "DefCPUPerGPU DefMemPerCPU DefMemPerGPU DefMemPerNode MaxMemPerCPU MaxMemPerNode",
    "u32": "GraceTime MaxCPUsPerNode MaxCPUsPerSocket MaxNodes MinNodes",
    "u16": "Priority PriorityJobFactor PriorityTier ResumeTimeout SuspendTimeout",
}
SWITCH: Section = {"text": "Nodes Switches", "u32": "LinkSpeed"}
BLOCK: Section = {"text": "Nodes"}
POWER_ACTION: Section = {"text": "Program Location"}
