variable "workers" { type = number }
variable "override" {
  type    = string
  default = null
}

locals {
  tier = coalesce(var.override,
    var.workers < 10 ? "XS" :
    var.workers < 100 ? "S" :
    var.workers < 500 ? "M" :
    var.workers < 2000 ? "L" : "XL"
  )
  system = {
    XS = "16vcpu-64gb"
    S  = "16vcpu-64gb"
    M  = "16vcpu-64gb"
    L  = "32vcpu-128gb"
    XL = "64vcpu-256gb"
  }
}

output "tier" { value = local.tier }
output "system_preset" { value = local.system[local.tier] }
