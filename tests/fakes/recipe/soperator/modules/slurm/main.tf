variable "cluster" { type = string }
variable "operator_version" { type = string }
variable "active_checks_scope" { type = string }
variable "rest_enabled" { type = bool }
variable "accounting_enabled" { type = bool }
variable "sizing_tier" { type = string }
variable "partitions" { type = any }
variable "root_public_keys" { type = list(string) }
variable "backups_password" {
  type      = string
  sensitive = true
}

resource "terraform_data" "flux_values" {
  input = {
    version          = var.operator_version
    scope            = local.scopes[var.active_checks_scope]
    rest             = var.rest_enabled
    accounting       = var.accounting_enabled
    tier             = var.sizing_tier
    partitions       = var.partitions
    root_public_keys = var.root_public_keys
    backups_password = var.backups_password
  }
}

resource "terraform_data" "wait_for_slurm_cluster_hr" {
  input      = { release = "flux-system-soperator-fluxcd-slurm-cluster", namespace = "flux-system" }
  depends_on = [terraform_data.flux_values]
}

output "release" { value = terraform_data.wait_for_slurm_cluster_hr.id }
