locals {
  version = "${var.k8s_version}-nebius-node.${var.node_group_version}"
}

resource "terraform_data" "system" {
  depends_on = [terraform_data.this]
  input = {
    name        = "${var.name}-system"
    version     = local.version
    autoscaling = { min_node_count = var.system.min_size, max_node_count = var.system.max_size }
    template = {
      resources = { platform = var.system.resource.platform, preset = try(coalesce(var.system.resource.preset, var.system_preset), null) }
      boot_disk = { size_gibibytes = var.system.boot_disk.size_gibibytes }
    }
  }
}

resource "terraform_data" "controller" {
  depends_on = [terraform_data.this]
  input = {
    name             = "${var.name}-controller"
    version          = local.version
    fixed_node_count = var.controller.size
    template         = { resources = { platform = var.controller.resource.platform } }
  }
}

resource "terraform_data" "login" {
  depends_on = [terraform_data.this]
  input = {
    name             = "${var.name}-login"
    version          = local.version
    fixed_node_count = var.login.size
    template         = { resources = var.login.resource }
  }
}

resource "terraform_data" "accounting" {
  count      = var.accounting == null ? 0 : 1
  depends_on = [terraform_data.this]
  input = {
    name             = "${var.name}-accounting"
    version          = local.version
    fixed_node_count = 1
    template         = { resources = { platform = var.accounting.resource.platform } }
  }
}

resource "terraform_data" "this_v2" {
  for_each = toset([for each in var.workers : each.gpu_cluster.infiniband_fabric if each.gpu_cluster != null])
  input    = { name = "${var.name}-${each.key}", infiniband_fabric = each.key }
}

resource "terraform_data" "worker_v2" {
  count      = length(var.workers)
  depends_on = [terraform_data.this, terraform_data.this_v2]

  input = {
    name             = "${var.workers[count.index].name}-${var.workers[count.index].subset_index}"
    version          = local.version
    fixed_node_count = try(var.workers[count.index].autoscaling.enabled, false) ? null : var.workers[count.index].size
    autoscaling = try(var.workers[count.index].autoscaling.enabled, false) ? {
      min_node_count = var.workers[count.index].autoscaling.min_size
      max_node_count = var.workers[count.index].size
    } : null
    strategy = { max_unavailable = { percent = 50 }, max_surge = { percent = 0 } }
    template = {
      resources          = var.workers[count.index].resource
      boot_disk          = var.workers[count.index].boot_disk
      reservation_policy = var.workers[count.index].reservation_policy
      gpu_cluster        = try(var.workers[count.index].gpu_cluster.infiniband_fabric, null)
      preemptible        = var.workers[count.index].preemptible != null
    }
  }
  # A node group cannot be renamed.
  triggers_replace = [var.workers[count.index].name]
}

resource "terraform_data" "static_ip" {
  input = { name = "${var.name}-${var.public_ip ? "public" : "private"}-static-ip" }
}

output "cluster_id" { value = terraform_data.this.id }
