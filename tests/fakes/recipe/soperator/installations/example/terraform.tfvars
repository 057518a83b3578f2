company_name           = "example"
slurm_operator_version = "4.1.6"
k8s_version            = "1.34"
node_group_version     = "72"
