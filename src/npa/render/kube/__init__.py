"""What a Slurm cluster is on Kubernetes: every object of it, rendered from its resources."""
