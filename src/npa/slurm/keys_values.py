"""What the settings of slurm.conf may say: their words, plugins, ranges and times, per release.

Tried on the programs of Debian's 24.11.5 and 26.05.5, one value after the other; the marks are those of
`keys_slurm_conf`. Slurm is strict with some settings and silent with others, and each table says which.
"""

from __future__ import annotations

from collections.abc import Mapping

_LEVELS = "quiet fatal error info verbose debug debug2 debug3 debug4 debug5 0 1 2 3 4 5 6 7 8 9 10"
_LIMITS = "ALL NONE AS CORE CPU DATA FSIZE MEMLOCK NOFILE NPROC RSS STACK"
_SPEEDS = "Conservative OnDemand Performance PowerSave SchedUtil"

# Comma-separated words; slurmctld stops on another one.
STRICT_WORDS: Mapping[str, str] = {
    "accountingstorageenforce": "all associations limits nojobs nosteps qos safe wckeys 1 2",
    "debugflags": (
        "Accrue Agent AuditRPCs AuditTLS> Backfill BackfillMap BurstBuffer Cgroup ConMgr CPU_Bind "
        "CpuFrequency Data DB_ARCHIVE DB_ASSOC DB_EVENT DB_JOB DB_QOS DB_QUERY DB_RESERVATION DB_RESOURCE "
        "DB_STEP DB_TRES DB_USAGE DB_WCKEY DBD_Agent Dependency Elasticsearch Energy Federation FrontEnd< "
        "Gang GLOB_SILENCE Gres Hetjob Interconnect JobAccountGather JobComp JobContainer License Metrics> "
        "Namespace> Network NetworkRaw NO_CONF_HASH NodeFeatures Power Priority Profile Protocol "
        "Reservation Route Script SelectType Steps Switch TLS TraceJobs Triggers"
    ),
    "prologflags": "Alloc Contain DeferBatch ForceRequeueOnFail NoHold RunInJob Serial X11",
    "propagateresourcelimits": _LIMITS,
    "propagateresourcelimitsexcept": _LIMITS,
    "selecttypeparameters": (
        "CR_Core CR_Core_Memory CR_CPU CR_CPU_Memory CR_Memory CR_Socket CR_Socket_Memory CR_LLN "
        "CR_ONE_TASK_PER_CORE CR_CORE_DEFAULT_DIST_BLOCK CR_Pack_Nodes LL_SHARED_GRES "
        "MULTIPLE_SHARING_GRES_PJ ENFORCE_BINDING_GRES ONE_TASK_PER_SHARING_GRES"
    ),
    "taskpluginparam": (
        "Cores None Sockets Threads SlurmdOffSpec SlurmdSpecOverride> OOMKillStep Verbose Autobind=none "
        "Autobind=threads Autobind=cores Autobind=sockets"
    ),
}
# Of these words slurmctld wants the very letters.
EXACT = ("propagateresourcelimits", "propagateresourcelimitsexcept")
# One word; slurmctld stops on another one.
STRICT_WORD: Mapping[str, str] = {
    "enforcepartlimits": "ALL ANY NO YES TRUE FALSE",
    "slurmctlddebug": _LEVELS,
    "slurmctldsyslogdebug": _LEVELS,
    "slurmddebug": _LEVELS,
    "slurmdsyslogdebug": _LEVELS,
    "propagateprioprocess": "0 1 2",
    "priorityusageresetperiod": "NONE NOW DAILY WEEKLY MONTHLY QUARTERLY YEARLY",
}
# Comma-separated words; Slurm leaves another one out, with a line in its log at best.
SILENT_WORDS: Mapping[str, str] = {
    "healthchecknodestate": "ALLOC ANY CYCLE IDLE NONDRAINED_IDLE MIXED START_ONLY>",
    "privatedata": "accounts events jobs nodes partitions reservations usage users cloud all none",
    "reconfigflags": "KeepPartInfo KeepPartState KeepPowerSaveSettings KeepNodeStateFuture<",
    "suspendexcstates": (
        "CLOUD DOWN DRAIN DYNAMIC_FUTURE DYNAMIC_NORM FAIL INVALID_REG MAINTENANCE NOT_RESPONDING "
        "PLANNED RESERVED"
    ),
    "cpufreqgovernors": f"{_SPEEDS} UserSpace",
    "accountingstoreflags": "job_comment job_env job_extra job_script no_stdio>",
    "priorityflags": (
        "ACCRUE_ALWAYS CALCULATE_RUNNING DEPTH_OBLIVIOUS NO_FAIR_TREE INCR_ONLY MAX_TRES "
        "NO_NORMAL_ALL NO_NORMAL_ASSOC NO_NORMAL_PART NO_NORMAL_QOS NO_NORMAL_TRES SMALL_RELATIVE_TO_TIME"
    ),
    "logtimeformat": "iso8601 iso8601_ms rfc5424 rfc5424_ms rfc3339 clock short thread_id",
    "launchparameters": (
        "batch_step_set_cpu_freq enable_nss_slurm mem_sort< mpir_use_nodeaddr "
        "disable_send_gids slurmstepd_memlock slurmstepd_memlock_all test_exec use_interactive_step "
        "ulimit_pam_adopt"
    ),
}
# Words of which some take a value after `=`; Slurm takes what it does not know for nothing.
PARAMETERS: Mapping[str, str] = {
    "slurmctldparameters": (
        "allow_user_triggers cloud_dns cloud_reg_addrs conmgr_max_connections conmgr_threads "
        "conmgr_use_poll conmgr_connect_timeout conmgr_read_timeout conmgr_write_timeout "
        "conmgr_wait_write_delay disable_http> disable_triggers enable_async_reply> enable_configless "
        "enable_expedited_requeue> enable_job_state_cache< enable_stepmgr idle_on_node_suspend "
        "ignore_constraint_validation> max_dbd_msg_action max_powered_nodes "
        "no_quick_restart no_backup_scheduling node_reg_mem_percent power_save_interval "
        "power_save_min_interval reboot_from_controller rl_bucket_size rl_enable rl_log_freq< "
        "rl_refill_period rl_refill_rate rl_table_size user_resv_delete validate_nodeaddr_threads"
    ),
    "slurmdparameters": (
        "allow_ecores config_overrides conmgr_max_connections conmgr_threads contain_spank l3cache_as_socket "
        "numa_node_as_socket shutdown_on_reboot"
    ),
    "schedulerparameters": (
        "allow_zero_lic assoc_limit_stop batch_sched_delay bb_array_stage_cnt bf_allow_magnetic_slot "
        "bf_busy_nodes bf_continue bf_hetjob_immediate bf_hetjob_prio bf_interval bf_job_part_count_reserve "
        "bf_licenses bf_max_job_array_resv bf_max_job_assoc bf_max_job_part bf_max_job_start bf_max_job_test "
        "bf_max_job_user bf_max_job_user_part bf_max_time bf_min_age_reserve bf_min_prio_reserve "
        "bf_node_space_size bf_one_resv_per_job bf_resolution bf_running_job_reserve bf_topopt_enable "
        "bf_topopt_iterations bf_window bf_window_linear bf_yield_interval bf_yield_rpc_cnt> "
        "bf_yield_sleep build_queue_timeout correspond_after_task_cnt default_queue_depth defer "
        "defer_batch delay_boot disable_job_shrink disable_hetjob_steps enable_job_state_cache< "
        "enable_user_top extra_constraints ignore_constraint_validation ignore_prefer_validation "
        "max_array_tasks max_rpc_cnt max_sched_time max_script_size max_submit_line_size max_switch_wait "
        "no_backup_scheduling no_env_cache< nohold_on_prolog_fail pack_serial_at_end partition_job_depth "
        "preempt_reorder_count preempt_send_user_signal preempt_strict_order preempt_youngest_first "
        "reduce_completing_frag requeue_delay> requeue_setup_env_fail< "
        "salloc_wait_nodes sbatch_wait_nodes sched_interval sched_max_job_start sched_min_interval "
        "spec_cores_first step_retry_count step_retry_time time_min_as_soft_limit whole_hetjob whole_pack"
    ),
    "authaltparameters": "disable_token_creation jwks jwt_key max_token_lifespan userclaimfield",
}
NO_NUMBERS = "bf_hetjob_prio delay_boot max_submit_line_size"  # parameters with other values
# Plugins by their prefix: in Debian's packages, and those that need no file.
PLUGINS: Mapping[str, str] = {
    "accounting_storage": "ctld_relay mysql none slurmdbd",
    "acct_gather_energy": "gpu ibmaem none pm_counters rapl",
    "acct_gather_filesystem": "lustre none",
    "acct_gather_interconnect": "none ofed> sysfs",
    "acct_gather_profile": "none",
    "auth": "jwt munge none slurm",
    "burst_buffer": "datawarp lua",
    "certgen": "script>",
    "certmgr": "script",
    "cgroup": "v1 v2",
    "cli_filter": "lua syslog user_defaults",
    "cred": "munge none slurm",
    "hash": "k12 sha3",
    "job_container": "none tmpfs",
    "job_submit": "all_partitions defaults lua logging partition pbs require_timelimit throttle",
    "jobacct_gather": "cgroup linux none",
    "jobcomp": "filetxt lua mysql none script",
    "mcs": "account group label none user",
    "metrics": "openmetrics>",
    "mpi": "cray_shasta none pmi2 pmix< pmix_v5<",
    "namespace": "linux> none> tmpfs>",
    "node_features": "helpers knl_generic<",
    "preempt": "none partition_prio qos",
    "prep": "script",
    "priority": "basic multifactor",
    "proctrack": "cgroup linuxproc pgid",
    "sched": "backfill builtin",
    "select": "cons_tres linear",
    "site_factor": "example none",
    "switch": "none nvidia_imex",
    "task": "affinity cgroup none",
    "tls": "none",
    "topology": "3d_torus< block default flat> ring> torus3d> tree",
}
# Setting -> (prefix of its plugins, whether their names may stand without it, whether it takes several).
PLUGIN_OF: Mapping[str, tuple[str, bool, bool]] = {
    "accountingstoragetype": ("accounting_storage", False, False),
    "acctgatherenergytype": ("acct_gather_energy", True, True),
    "acctgatherfilesystemtype": ("acct_gather_filesystem", False, False),
    "acctgatherinterconnecttype": ("acct_gather_interconnect", True, True),
    "acctgatherprofiletype": ("acct_gather_profile", False, False),
    "authalttypes": ("auth", True, True),
    "authtype": ("auth", True, False),
    "burstbuffertype": ("burst_buffer", True, False),
    "certgentype": ("certgen", False, False),
    "certmgrtype": ("certmgr", False, False),
    "clifilterplugins": ("cli_filter", True, True),
    "credtype": ("cred", True, False),
    "hashplugin": ("hash", True, False),
    "jobacctgathertype": ("jobacct_gather", False, False),
    "jobcomptype": ("jobcomp", False, False),
    "jobcontainertype": ("job_container", False, False),
    "jobsubmitplugins": ("job_submit", True, True),
    "mcsplugin": ("mcs", False, False),
    "metricstype": ("metrics", False, False),
    "mpidefault": ("mpi", True, False),
    "namespacetype": ("namespace", False, False),
    "nodefeaturesplugins": ("node_features", True, True),
    "preempttype": ("preempt", False, False),
    "prepplugins": ("prep", True, True),
    "prioritysitefactorplugin": ("site_factor", False, False),
    "prioritytype": ("priority", False, False),
    "proctracktype": ("proctrack", False, False),
    "schedulertype": ("sched", False, False),
    "selecttype": ("select", False, False),
    "switchtype": ("switch", False, False),
    "taskplugin": ("task", True, True),
    "tlstype": ("tls", False, False),
    "topologyplugin": ("topology", False, False),
}
# `none` alone instead of a plugin's name.
NONE_ALONE = (
    "accountingstoragetype acctgatherfilesystemtype acctgatherprofiletype clifilterplugins jobacctgathertype "
    "jobcomptype jobcontainertype mcsplugin namespacetype prioritysitefactorplugin switchtype"
)
# (least, most, whether slurmctld stops on a number outside instead of taking another).
RANGES: Mapping[str, tuple[int, int, bool]] = {
    "firstjobid": (1, 67_108_862, True),
    "maxarraysize": (0, 4_000_001, False),
    "maxdbdmsgs": (10_000, 0xFFFF_FFFF, True),
    "maxjobcount": (1, 0xFFFF_FFFF, True),
    "maxjobid": (1, 67_108_863, False),
    "maxnodecount": (1, 65_536, True),
    "messagetimeout": (1, 100, False),
    "minjobage": (2, 0xFFFF_FFFF, False),
    "schedulertimeslice": (5, 65_534, False),
    "slurmdport": (1, 65_535, False),
    "treewidth": (1, 65_535, False),
}
TIMES = frozenset({"prioritydecayhalflife", "prioritymaxage", "prioritycalcperiod", "preemptexempttime"})
# Gone: slurmctld stops on the first group, and takes the second for nothing.
REMOVED: Mapping[str, str] = {
    "fastschedule": "set `SlurmdParameters=config_overrides` for what 2 meant",
    "accountingstorejobcomment": "use `AccountingStoreFlags=job_comment`",
    "sallocdefaultcommand": "use `LaunchParameters=use_interactive_step`",
    "accountingstorageloc": "remove it",
}
DEFUNCT: Mapping[str, str] = {
    "accountingstorageuser": "remove it",
    "corespecplugin": "remove it",
    "extsensorsfreq": "remove it",
    "extsensorstype": "remove it",
    "jobcredentialprivatekey": "remove it",
    "jobcredentialpubliccertificate": "remove it",
    "powerparameters": "remove it",
    "powerplugin": "remove it",
    "keepalivetime": "use `CommunicationParameters=keepaliveinterval=`",
    "sbcastparameters": "write `BcastParameters`",
    "backupaddr": "name a second `SlurmctldHost`",
    "backupcontroller": "name a second `SlurmctldHost`",
    "controladdr": "write `SlurmctldHost=name(address)`",
    "controlmachine": "write `SlurmctldHost`",
}
NODE_STATES = "CLOUD DOWN DRAIN EXTERNAL FAIL FAILING FUTURE IDLE UNKNOWN"
PARTITION_STATES = "UP DOWN DRAIN INACTIVE"
PARTITION_SELECT = "CR_Core CR_Core_Memory CR_Socket CR_Socket_Memory"
PARTITION_PREEMPT = "OFF CANCEL REQUEUE SUSPEND WITHIN PRIORITY"
EXCLUSIVES = "NO NODE USER TOPO"
TRES_TYPES = "billing cpu energy mem node pages vmem bb/ fs/ gres/ ic/ license/"
