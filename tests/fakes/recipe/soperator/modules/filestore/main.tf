variable "cluster" { type = string }
variable "jail" { type = any }
variable "controller_spool" { type = any }
variable "accounting" {
  type    = any
  default = null
}

resource "terraform_data" "jail" {
  count = var.jail.spec == null ? 0 : 1
  input = { name = "${var.cluster}-jail", size_gibibytes = var.jail.spec.size_gibibytes }
}

resource "terraform_data" "controller_spool" {
  count = var.controller_spool.spec == null ? 0 : 1
  input = { name = "${var.cluster}-controller-spool", size_gibibytes = var.controller_spool.spec.size_gibibytes }
}

resource "terraform_data" "accounting_fs" {
  count = try(var.accounting.spec, null) == null ? 0 : 1
  input = { name = "${var.cluster}-accounting", size_gibibytes = var.accounting.spec.size_gibibytes }
}
