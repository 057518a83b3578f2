"""The exporter: asks slurmrestd again and again, and shows Prometheus the last good answers."""
