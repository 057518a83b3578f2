locals {
  cluster = "soperator-${var.company_name}"
  # Every worker pool as its node groups of at most a hundred nodes.
  groups = flatten([
    for pool in var.slurm_nodeset_workers : [
      for subset in range(max(1, ceil(pool.size / 100))) : merge(pool, {
        subset_index = subset
        size         = min(100, pool.size - subset * 100)
      })
    ]
  ])
}

module "sizing_tier" {
  source   = "../../modules/sizing_tier"
  workers  = sum([for pool in var.slurm_nodeset_workers : pool.size])
  override = var.sizing_tier_override
}

module "filestore" {
  source           = "../../modules/filestore"
  cluster          = local.cluster
  jail             = var.filestore_jail
  controller_spool = var.filestore_controller_spool
  accounting       = var.accounting_enabled ? var.filestore_accounting : null
}

module "cleanup" {
  source  = "../../modules/cleanup"
  cluster = local.cluster
}

module "k8s" {
  source             = "../../modules/k8s"
  depends_on         = [module.filestore, module.cleanup]
  name               = local.cluster
  company_name       = var.company_name
  subnet_id          = var.vpc_subnet_id
  k8s_version        = var.k8s_version
  node_group_version = var.node_group_version
  system             = var.slurm_nodeset_system
  system_preset      = module.sizing_tier.system_preset
  controller         = var.slurm_nodeset_controller
  login              = var.slurm_nodeset_login
  accounting         = var.accounting_enabled ? var.slurm_nodeset_accounting : null
  workers            = local.groups
  public_ip          = var.slurm_login_public_ip
}

module "slurm" {
  source              = "../../modules/slurm"
  depends_on          = [module.k8s]
  cluster             = local.cluster
  operator_version    = var.slurm_operator_version
  active_checks_scope = var.active_checks_scope
  rest_enabled        = var.slurm_rest_enabled
  accounting_enabled  = var.accounting_enabled
  sizing_tier         = module.sizing_tier.tier
  partitions          = var.slurm_nodesets_partitions
  root_public_keys    = var.slurm_login_ssh_root_public_keys
  backups_password    = var.backups_password
}

module "login_script" {
  source     = "../../modules/login"
  depends_on = [module.slurm]
  release    = module.slurm.release
}
