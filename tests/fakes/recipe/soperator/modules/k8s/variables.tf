variable "name" { type = string }
variable "company_name" { type = string }
variable "subnet_id" { type = string }
variable "k8s_version" { type = string }
variable "node_group_version" { type = string }
variable "system" { type = any }
variable "system_preset" { type = string }
variable "controller" { type = any }
variable "login" { type = any }
variable "accounting" {
  type    = any
  default = null
}
variable "workers" { type = any }
variable "public_ip" { type = bool }
