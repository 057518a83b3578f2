"""npa: Slurm for AI clusters, from one file."""

__version__ = "0.1.0"

__all__ = ["__version__"]
