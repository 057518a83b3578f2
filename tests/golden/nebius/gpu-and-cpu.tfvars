company_name = "train"
production = false
controller_state_on_filestore = false
filestore_controller_spool = {
  spec = {
    size_gibibytes = 128
    block_size_kibibytes = 4
    forbid_deletion = false
  }
}
filestore_jail = {
  spec = {
    size_gibibytes = 4096
    block_size_kibibytes = 4
    forbid_deletion = false
  }
}
filestore_jail_submounts = []
allow_empty_jail_submounts = true
filestore_accounting = {
  spec = {
    size_gibibytes = 512
    block_size_kibibytes = 4
    forbid_deletion = false
  }
}
nfs_in_k8s = {
  enabled = true
  version = "1.2.0"
  use_stable_repo = true
  size_gibibytes = 186
  disk_type = "NETWORK_SSD_IO_M3"
  filesystem_type = "ext4"
  threads = 8
}
slurm_operator_version = "4.1.6"
slurm_operator_stable = true
slurm_nodesets_partitions = [
  {
    name = "main"
    is_all = true
    slurm_nodeset_refs = []
    config = "Default=YES PriorityTier=10 PreemptMode=OFF MaxTime=INFINITE State=UP OverSubscribe=YES"
  },
  {
    name = "gpus"
    is_all = false
    slurm_nodeset_refs = [
      "gpu",
      "night",
    ]
    config = "Default=NO PriorityTier=20 PreemptMode=OFF MaxTime=2-00:00:00 State=UP OverSubscribe=NO"
  },
  {
    name = "hidden"
    is_all = true
    slurm_nodeset_refs = []
    config = "Default=NO Hidden=YES PriorityTier=10 PreemptMode=OFF MaxTime=INFINITE State=UP OverSubscribe=YES"
  },
]
slurm_partition_config_type = "default"
slurm_nodeset_system = {
  min_size = 4
  max_size = 24
  resource = {
    platform = "cpu-d3"
    preset = "16vcpu-64gb"
  }
  boot_disk = {
    type = "NETWORK_SSD"
    size_gibibytes = 128
    block_size_kibibytes = 4
  }
}
slurm_nodeset_controller = {
  size = 1
  resource = {
    platform = "cpu-d3"
    preset = null
  }
  boot_disk = {
    type = "NETWORK_SSD"
    size_gibibytes = 128
    block_size_kibibytes = 4
  }
}
slurm_nodeset_workers = [
  {
    name = "gpu"
    size = 4
    autoscaling = {
      enabled = false
    }
    resource = {
      platform = "gpu-b200-sxm"
      preset = "8gpu-160vcpu-1792gb"
    }
    boot_disk = {
      type = "NETWORK_SSD"
      size_gibibytes = 1023
      block_size_kibibytes = 4
    }
    gpu_cluster = {
      infiniband_fabric = "us-central1-b"
    }
    preemptible = null
    reservation_policy = {
      policy = "STRICT"
      reservation_ids = [
        "capacityblockgroup-day",
      ]
    }
    features = null
    create_partition = null
    ephemeral_nodes = false
    initial_number_ephemeral_nodes = 0
    persistent_volume_claim_retention_policy = {
      when_deleted = "Delete"
      when_scaled = "Delete"
    }
    max_pods = 32
    node_local_jail_submounts = []
    node_local_image_disk = {
      enabled = true
      spec = {
        size_gibibytes = 372
        filesystem_type = "ext4"
        disk_type = "NETWORK_SSD_IO_M3"
      }
    }
  },
  {
    name = "night"
    size = 2
    autoscaling = {
      enabled = false
    }
    resource = {
      platform = "gpu-b200-sxm"
      preset = "8gpu-160vcpu-1792gb"
    }
    boot_disk = {
      type = "NETWORK_SSD"
      size_gibibytes = 512
      block_size_kibibytes = 4
    }
    gpu_cluster = {
      infiniband_fabric = "us-central1-b"
    }
    preemptible = null
    reservation_policy = {
      policy = "STRICT"
      reservation_ids = [
        "capacityblockgroup-night",
      ]
    }
    features = null
    create_partition = null
    ephemeral_nodes = false
    initial_number_ephemeral_nodes = 0
    persistent_volume_claim_retention_policy = {
      when_deleted = "Delete"
      when_scaled = "Delete"
    }
    max_pods = 32
    node_local_jail_submounts = []
    node_local_image_disk = {
      enabled = false
    }
  },
  {
    name = "spot"
    size = 1
    autoscaling = {
      enabled = false
    }
    resource = {
      platform = "gpu-h200-sxm"
      preset = "8gpu-128vcpu-1600gb"
    }
    boot_disk = {
      type = "NETWORK_SSD"
      size_gibibytes = 512
      block_size_kibibytes = 4
    }
    gpu_cluster = {
      infiniband_fabric = "us-central1-a"
    }
    preemptible = {}
    reservation_policy = null
    features = null
    create_partition = null
    ephemeral_nodes = false
    initial_number_ephemeral_nodes = 0
    persistent_volume_claim_retention_policy = {
      when_deleted = "Delete"
      when_scaled = "Delete"
    }
    max_pods = 32
    node_local_jail_submounts = []
    node_local_image_disk = {
      enabled = false
    }
  },
  {
    name = "cpu"
    size = 2
    autoscaling = {
      enabled = false
    }
    resource = {
      platform = "cpu-d3"
      preset = "16vcpu-64gb"
    }
    boot_disk = {
      type = "NETWORK_SSD"
      size_gibibytes = 512
      block_size_kibibytes = 4
    }
    gpu_cluster = null
    preemptible = null
    reservation_policy = null
    features = [
      "big",
    ]
    create_partition = null
    ephemeral_nodes = false
    initial_number_ephemeral_nodes = 0
    persistent_volume_claim_retention_policy = {
      when_deleted = "Delete"
      when_scaled = "Delete"
    }
    max_pods = 32
    node_local_jail_submounts = []
    node_local_image_disk = {
      enabled = false
    }
  },
]
use_preinstalled_gpu_drivers = true
slurm_nodeset_login = {
  size = 1
  resource = {
    platform = "cpu-d3"
    preset = "16vcpu-64gb"
  }
  boot_disk = {
    type = "NETWORK_SSD"
    size_gibibytes = 256
    block_size_kibibytes = 4
  }
}
slurm_nodeset_accounting = {
  resource = {
    platform = "cpu-d3"
    preset = null
  }
  boot_disk = {
    type = "NETWORK_SSD"
    size_gibibytes = 128
    block_size_kibibytes = 4
  }
}
slurm_nodeset_nfs = null
slurm_login_public_ip = true
slurm_login_ssh_root_public_keys = [
  "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0t0t0t0t0t0t0t0t0t0t0t0t0t0t0t0t0t0t0t0t0t me@home",
]
slurm_exporter_enabled = true
telemetry_enabled = true
public_o11y_enabled = true
dcgm_job_mapping_enabled = true
active_checks_scope = "dev"
slurm_shared_memory_size_gibibytes = 16
slurm_topology_block_size = null
maintenance_ignore_node_groups = [
  "controller",
  "nfs",
]
opentelemetry_delete_jail_logs_after_read = false
soperator_notifier = {
  enabled = false
}
nccl_inspector_profiling = {
  enabled = false
}
accounting_enabled = true
slurm_rest_enabled = true
backups_enabled = "force_disable"
backups_password = "unused"
backups_schedule = "@daily-random"
backups_prune_schedule = "@daily-random"
backups_retention = {
  keepDaily = 7
}
cleanup_bucket_on_destroy = false
k8s_version = "1.34"
node_group_version = "72"
nvidia_config_lines = [
  "options nvidia NVreg_RestrictProfilingToAdminUsers=0",
  "options nvidia NVreg_EnableStreamMemOPs=1",
]
use_default_apparmor_profile = false
