variable "company_name" {
  type = string
  validation {
    condition     = length(var.company_name) <= 32 && can(regex("^[a-z][a-z\\d\\-]*[a-z\\d]+$", var.company_name))
    error_message = "company_name must be 1 to 32 lower-case letters, digits and hyphens."
  }
}
variable "region" { type = string }
variable "iam_tenant_id" {
  type = string
  validation {
    condition     = startswith(var.iam_tenant_id, "tenant-")
    error_message = "iam_tenant_id must begin with tenant-."
  }
}
variable "iam_project_id" {
  type = string
  validation {
    condition     = startswith(var.iam_project_id, "project-")
    error_message = "iam_project_id must begin with project-."
  }
}
variable "vpc_subnet_id" {
  type = string
  validation {
    condition     = startswith(var.vpc_subnet_id, "vpcsubnet-")
    error_message = "vpc_subnet_id must begin with vpcsubnet-."
  }
}
variable "o11y_iam_tenant_id" { type = string }
variable "o11y_profile" { type = string }
variable "production" {
  type    = bool
  default = true
}
variable "controller_state_on_filestore" {
  type    = bool
  default = false
}
variable "filestore_controller_spool" {
  type = object({
    existing = optional(object({ id = string }))
    spec     = optional(object({ size_gibibytes = number, block_size_kibibytes = number, forbid_deletion = optional(bool, false) }))
  })
  validation {
    condition     = (var.filestore_controller_spool.existing == null) != (var.filestore_controller_spool.spec == null)
    error_message = "Either existing or spec."
  }
}
variable "filestore_jail" {
  type = object({
    existing = optional(object({ id = string }))
    spec     = optional(object({ size_gibibytes = number, block_size_kibibytes = number, forbid_deletion = optional(bool, false) }))
  })
}
variable "filestore_jail_submounts" {
  type = list(object({
    name       = string
    mount_path = string
    existing   = optional(object({ id = string }))
    spec       = optional(object({ size_gibibytes = number, block_size_kibibytes = number }))
  }))
  default = []
}
variable "allow_empty_jail_submounts" {
  type    = bool
  default = false
}
variable "filestore_accounting" {
  type = object({
    existing = optional(object({ id = string }))
    spec     = optional(object({ size_gibibytes = number, block_size_kibibytes = number, forbid_deletion = optional(bool, false) }))
  })
  default = null
}
variable "nfs_in_k8s" {
  type = object({
    enabled         = bool
    version         = optional(string)
    use_stable_repo = optional(bool, true)
    size_gibibytes  = optional(number)
    disk_type       = optional(string)
    filesystem_type = optional(string)
    threads         = optional(number)
  })
  default = { enabled = false }
  validation {
    condition     = !var.nfs_in_k8s.enabled || try(var.nfs_in_k8s.size_gibibytes % 93 == 0, false)
    error_message = "The size must be a multiple of 93."
  }
}
variable "slurm_operator_version" { type = string }
variable "slurm_operator_stable" {
  type    = bool
  default = true
}
variable "slurm_nodesets_partitions" {
  type = list(object({
    name               = string
    is_all             = optional(bool, false)
    slurm_nodeset_refs = optional(list(string), [])
    config             = string
  }))
  default = []
  validation {
    condition     = alltrue([for each in var.slurm_nodesets_partitions : each.is_all != (length(each.slurm_nodeset_refs) > 0)])
    error_message = "Exactly one of is_all and slurm_nodeset_refs."
  }
}
variable "slurm_partition_config_type" {
  type    = string
  default = "default"
}
variable "slurm_nodeset_system" {
  type = object({
    min_size  = number
    max_size  = number
    resource  = object({ platform = string, preset = optional(string) })
    boot_disk = object({ type = string, size_gibibytes = number, block_size_kibibytes = number })
  })
}
variable "slurm_nodeset_controller" {
  type = object({
    size      = number
    resource  = object({ platform = string, preset = optional(string) })
    boot_disk = object({ type = string, size_gibibytes = number, block_size_kibibytes = number })
  })
}
variable "slurm_nodeset_workers" {
  type = list(object({
    name        = string
    size        = number
    autoscaling = optional(object({ enabled = optional(bool, true), min_size = optional(number, 0) }))
    resource    = object({ platform = string, preset = string })
    boot_disk   = object({ type = string, size_gibibytes = number, block_size_kibibytes = number })
    gpu_cluster = optional(object({ infiniband_fabric = string }))
    preemptible = optional(object({}))
    reservation_policy = optional(object({
      policy          = optional(string)
      reservation_ids = optional(list(string))
    }))
    features                       = optional(list(string))
    create_partition               = optional(bool)
    ephemeral_nodes                = optional(bool, false)
    initial_number_ephemeral_nodes = optional(number, 0)
    persistent_volume_claim_retention_policy = optional(object({
      when_deleted = optional(string, "Delete")
      when_scaled  = optional(string, "Delete")
    }))
    max_pods = optional(number, 32)
    node_local_image_disk = optional(object({
      enabled = bool
      spec    = optional(object({ size_gibibytes = number, filesystem_type = string, disk_type = string }))
    }))
    node_local_jail_submounts = optional(list(object({
      name            = string
      mount_path      = string
      size_gibibytes  = number
      disk_type       = string
      filesystem_type = string
    })), [])
  }))
  validation {
    condition     = length(var.slurm_nodeset_workers) > 0
    error_message = "At least one worker nodeset."
  }
  validation {
    condition     = alltrue([for each in var.slurm_nodeset_workers : each.boot_disk.size_gibibytes >= 512])
    error_message = "Boot disks of workers hold at least 512 GiB."
  }
}
variable "use_preinstalled_gpu_drivers" {
  type    = bool
  default = false
}
variable "slurm_nodeset_login" {
  type = object({
    size               = number
    node_group_enabled = optional(bool, true)
    resource           = object({ platform = string, preset = string })
    boot_disk          = object({ type = string, size_gibibytes = number, block_size_kibibytes = number })
  })
}
variable "slurm_nodeset_accounting" {
  type = object({
    resource  = object({ platform = string, preset = optional(string) })
    boot_disk = object({ type = string, size_gibibytes = number, block_size_kibibytes = number })
  })
}
variable "slurm_nodeset_nfs" {
  type    = any
  default = null
}
variable "slurm_login_public_ip" {
  type    = bool
  default = true
}
variable "slurm_login_ssh_root_public_keys" {
  type = list(string)
  validation {
    condition     = length(var.slurm_login_ssh_root_public_keys) > 0 && alltrue([for key in var.slurm_login_ssh_root_public_keys : key != ""])
    error_message = "At least one key."
  }
}
variable "slurm_exporter_enabled" {
  type    = bool
  default = true
}
variable "telemetry_enabled" {
  type    = bool
  default = true
}
variable "public_o11y_enabled" {
  type    = bool
  default = true
}
variable "dcgm_job_mapping_enabled" {
  type    = bool
  default = true
}
variable "active_checks_scope" {
  type    = string
  default = "prod_quick"
  validation {
    condition     = contains(["dev", "testing", "prod_quick", "prod_acceptance", "essential"], var.active_checks_scope)
    error_message = "Not a scope."
  }
}
variable "slurm_shared_memory_size_gibibytes" {
  type    = number
  default = 64
}
variable "slurm_topology_block_size" {
  type    = number
  default = 18
}
variable "maintenance_ignore_node_groups" {
  type    = list(string)
  default = ["controller", "nfs"]
}
variable "opentelemetry_delete_jail_logs_after_read" {
  type    = bool
  default = true
}
variable "soperator_notifier" {
  type    = object({ enabled = bool, slack_webhook_url = optional(string) })
  default = { enabled = false }
}
variable "nccl_inspector_profiling" {
  type    = object({ enabled = bool, dump_dir = optional(string), verbose = optional(bool) })
  default = { enabled = false }
}
variable "accounting_enabled" {
  type    = bool
  default = false
}
variable "slurm_rest_enabled" {
  type    = bool
  default = true
}
variable "backups_enabled" {
  type = string
  validation {
    condition     = contains(["auto", "force_enable", "force_disable"], var.backups_enabled)
    error_message = "Not a mode of backups."
  }
}
variable "backups_password" {
  type      = string
  sensitive = true
}
variable "backups_schedule" { type = string }
variable "backups_prune_schedule" { type = string }
variable "backups_retention" { type = map(any) }
variable "cleanup_bucket_on_destroy" { type = bool }
variable "k8s_version" {
  type    = string
  default = null
}
variable "node_group_version" { type = string }
variable "nvidia_config_lines" {
  type    = list(string)
  default = []
}
variable "use_default_apparmor_profile" {
  type    = bool
  default = true
}
variable "sizing_tier_override" {
  type    = string
  default = null
}
variable "component_overrides" {
  type    = any
  default = {}
}
