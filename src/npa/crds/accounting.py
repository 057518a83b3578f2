"""The accounting of a SlurmCluster: slurmdbd, its database, and what is accounted."""

from __future__ import annotations

from typing import Annotated, Literal

from npa.crds.base import NOTHING, Int32, Part, Raw, StringMap, says
from npa.crds.parts import Container, SizedNode

YesNo = Literal["yes", "no"]
DbdLevel = Literal[
    "quiet", "fatal", "error", "info", "verbose", "debug", "debug2", "debug3", "debug4", "debug5"
]
DbdFlag = Literal[
    "AuditRPCs",
    "DB_ARCHIVE",
    "DB_ASSOC",
    "DB_EVENT",
    "DB_JOB",
    "DB_QOS",
    "DB_QUERY",
    "DB_RESERVATION",
    "DB_RESOURCE",
    "DB_STEP",
    "DB_TRES",
    "DB_USAGE",
    "Network",
]
GatherType = Literal["jobacct_gather/linux", "jobacct_gather/cgroup", "jobacct_gather/none"]
GatherParam = Literal["NoShared", "UsePss", "OverMemoryKill", "DisableGPUAcct"]

TRES_PATTERN = r"^((Billing|CPU|Mem|VMem|Node|Energy|Pages|FS/Disk|FS/Lustre|Gres/gpu)(,)?)+$"


class SecretKey(Part):
    """One key of a Secret."""

    name: Annotated[str, says("name of the Secret", written=False)] = ""
    key: Annotated[str, says("key in the Secret", written=False)] = ""


class DatabaseTls(Part):
    """How the connection to the database is secured."""

    server_ca_secret_ref: Annotated[
        str,
        says(
            "name of the Secret whose `ca.crt` the server is checked by",
            alias="serverCASecretRef",
            written=False,
        ),
    ] = ""
    client_cert_secret_ref: Annotated[
        str, says("name of the Secret with the client's `tls.crt` and `tls.key`", written=False)
    ] = ""


class ExternalDatabase(Part):
    """A database that somebody else runs."""

    enabled: Annotated[bool, says("whether it is used")] = False
    host: Annotated[str, says("host name of the server", written=False)] = ""
    port: Annotated[Int32, says("port of the server")] = 3306
    user: Annotated[str, says("user that slurmdbd is there", written=False)] = ""
    password_secret_key_ref: Annotated[SecretKey | None, says("where the user's password is")] = None
    tls: Annotated[DatabaseTls | None, says("how the connection is secured")] = None
    storage_parameters: Annotated[StringMap, says("more of slurmdbd.conf's StorageParameters")] = NOTHING


class MariadbMetrics(Part):
    """What the database says of itself."""

    enabled: Annotated[bool, says("whether it has an exporter of metrics")] = True


class MariadbOperator(Container):
    """A database that mariadb-operator runs."""

    enabled: Annotated[bool, says("whether it is used", written=False)] = False
    protected_secret: Annotated[
        bool, says("whether its passwords are in a Secret that cannot be changed")
    ] = False
    replicas: Annotated[Int32 | None, says("how many servers there are")] = None
    priority_class_name: Annotated[str, says("name of the pods' PriorityClass", written=False)] = ""
    metrics: Annotated[MariadbMetrics, says("what it says of itself", written=False)] = MariadbMetrics()
    pod_security_context: Annotated[Raw | None, says("security context of the pods")] = None
    security_context: Annotated[Raw | None, says("security context of the container")] = None
    replication: Annotated[Raw | None, says("replication, as mariadb-operator has it")] = None
    storage: Annotated[Raw | None, says("storage, as mariadb-operator has it")] = None


class SlurmdbdConfig(Part):
    """Settings of slurmdbd.conf."""

    archive_events: Annotated[YesNo, says("ArchiveEvents")] = "yes"
    archive_jobs: Annotated[YesNo, says("ArchiveJobs")] = "yes"
    archive_resvs: Annotated[YesNo, says("ArchiveResvs")] = "yes"
    archive_steps: Annotated[YesNo, says("ArchiveSteps")] = "no"
    archive_suspend: Annotated[YesNo, says("ArchiveSuspend")] = "no"
    archive_txn: Annotated[YesNo, says("ArchiveTXN", alias="archiveTXN")] = "no"
    archive_usage: Annotated[YesNo, says("ArchiveUsage")] = "yes"
    debug_level: Annotated[DbdLevel, says("DebugLevel")] = "info"
    debug_flags: Annotated[DbdFlag | None, says("DebugFlags")] = None
    private_data: Annotated[str, says("PrivateData", written=False)] = ""
    purge_event_after: Annotated[str, says("PurgeEventAfter")] = "1month"
    purge_job_after: Annotated[str, says("PurgeJobAfter")] = "12month"
    purge_resv_after: Annotated[str, says("PurgeResvAfter")] = "1month"
    purge_step_after: Annotated[str, says("PurgeStepAfter")] = "1month"
    purge_suspend_after: Annotated[str, says("PurgeSuspendAfter")] = "1month"
    purge_txn_after: Annotated[str, says("PurgeTXNAfter", alias="purgeTXNAfter")] = "12month"
    purge_usage_after: Annotated[str, says("PurgeUsageAfter")] = "24month"
    tcp_timeout: Annotated[int, says("TCPTimeout, in seconds")] = 2


class AccountingConfig(Part):
    """Settings of slurm.conf that hold with accounting."""

    accounting_storage_tres: Annotated[
        str, says("AccountingStorageTRES", alias="accountingStorageTRES", pattern=TRES_PATTERN)
    ] = "CPU,Mem,Node,VMem,Gres/gpu"
    accounting_store_flags: Annotated[str, says("AccountingStoreFlags", written=False)] = ""
    acct_gather_interconnect_type: Annotated[str, says("AcctGatherInterconnectType", written=False)] = ""
    acct_gather_filesystem_type: Annotated[str, says("AcctGatherFilesystemType", written=False)] = ""
    acct_gather_profile_type: Annotated[str, says("AcctGatherProfileType", written=False)] = ""
    job_acct_gather_type: Annotated[GatherType, says("JobAcctGatherType")] = "jobacct_gather/none"
    job_acct_gather_frequency: Annotated[int, says("JobAcctGatherFrequency, in seconds")] = 0
    job_acct_gather_params: Annotated[GatherParam | None, says("JobAcctGatherParams")] = None
    priority_weight_age: Annotated[int, says("PriorityWeightAge")] = 0
    priority_weight_fairshare: Annotated[int, says("PriorityWeightFairshare")] = 0
    priority_weight_qos: Annotated[int, says("PriorityWeightQOS", alias="priorityWeightQOS")] = 0
    priority_weight_tres: Annotated[
        str, says("PriorityWeightTRES", alias="priorityWeightTRES", written=False)
    ] = ""


class Accounting(SizedNode):
    """Who used what: slurmdbd and its database."""

    enabled: Annotated[bool, says("whether there is accounting")] = False
    slurmdbd: Annotated[Container | None, says("container of slurmdbd")] = None
    munge: Annotated[Container | None, says("container of munged")] = None
    external_db: Annotated[
        ExternalDatabase, says("a database that is there already", alias="externalDB", written=False)
    ] = ExternalDatabase()
    mariadb_operator: Annotated[MariadbOperator | None, says("a database that mariadb-operator runs")] = None
    slurmdbd_config: Annotated[SlurmdbdConfig, says("settings of slurmdbd", written=False)] = SlurmdbdConfig()
    slurm_config: Annotated[
        AccountingConfig, says("settings of slurm.conf that hold with accounting", written=False)
    ] = AccountingConfig()
