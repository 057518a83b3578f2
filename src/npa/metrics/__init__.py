"""What Prometheus is told of a Slurm cluster: from what Slurm answered to figures, without I/O."""
