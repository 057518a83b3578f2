locals {
  context_name = "nebius-${var.company_name}-slurm"
}

resource "terraform_data" "this" {
  input = { name = var.name, subnet_id = var.subnet_id, version = var.k8s_version }
}

resource "terraform_data" "kubectl_cluster_context" {
  triggers_replace = [
    terraform_data.this.id,
    timestamp(),
  ]
}
