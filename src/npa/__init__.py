"""npa: Slurm for AI clusters, from one file."""

from npa.errors import (
    DestructiveError,
    NpaError,
    PreflightError,
    Problem,
    RefusedError,
    SlurmError,
    SpecError,
    ToolError,
    UnhealthyError,
)

__version__ = "0.1.0"

__all__ = [
    "DestructiveError",
    "NpaError",
    "PreflightError",
    "Problem",
    "RefusedError",
    "SlurmError",
    "SpecError",
    "ToolError",
    "UnhealthyError",
    "__version__",
]
