"""Many clusters, one file and one inventory, over the same api as everything else."""
