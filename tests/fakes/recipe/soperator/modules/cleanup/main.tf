variable "cluster" { type = string }

resource "terraform_data" "cleanup" {
  input = { cluster = var.cluster }
}
