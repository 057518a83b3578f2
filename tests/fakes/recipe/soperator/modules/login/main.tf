variable "release" { type = string }

resource "terraform_data" "slurm_login" {
  input = { resource_version = var.release, ip = "192.0.2.10" }
}

resource "terraform_data" "lb_service_ip" {
  triggers_replace = [
    terraform_data.slurm_login.output.resource_version
  ]

  input = terraform_data.slurm_login.output.ip
}

# Stands for the local_file of the login script.
resource "terraform_data" "this" {
  input = terraform_data.lb_service_ip.output
}
