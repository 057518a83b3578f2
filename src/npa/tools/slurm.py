"""Slurm's own commands, run in a node. They decode JSON and interpret nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from npa.errors import NotFoundError, SlurmError, ToolError, ToolTimeoutError, UnknownError
from npa.slurm import replies

Execute = Callable[[Sequence[str]], str]


class Slurm:
    """`scontrol`, `squeue`, `sacct` and `scancel` as root of the cluster."""

    def __init__(self, execute: Execute) -> None:
        self._execute = execute

    def nodes(self) -> dict[str, Any]:
        """Return `scontrol show nodes --json`; raises UnknownError when there is no readable answer."""
        return self._json(["scontrol", "show", "nodes", "--json"])

    def jobs(self) -> dict[str, Any]:
        """Return `squeue --json`: pending, running and completing jobs of everybody."""
        return self._json(["squeue", "--json"])

    def show_job(self, number: int) -> dict[str, Any]:
        """Return `scontrol show job NUMBER --json`: for an array or a heterogeneous job all of its parts.

        Raises NotFoundError where slurmctld knows none, and UnknownError when there is no readable answer.
        """
        try:
            return self._json(["scontrol", "show", "job", str(number), "--json"])
        except UnknownError as error:
            # 24.11 exits 1 with this sentence (slurm_errno.c), 26.05 lists no job
            if "Invalid job id specified" in error.reason:
                raise NotFoundError(f"slurmctld knows no job {number}") from error
            raise

    def accounted(self, number: int) -> dict[str, Any]:
        """Return `sacct --json` of one job, however long ago it was."""
        return self._json(["sacct", "--json", "--jobs", str(number)])

    def past(self, days: int) -> dict[str, Any]:
        """Return `sacct --json` of everybody's jobs that waited or ran in the last days, without steps."""
        return self._json(["sacct", "--json", "--allusers", "--allocations", f"--starttime=now-{days}days"])

    def reconfigure(self) -> None:
        """Have slurmctld and every slurmd read their files anew."""
        self._do(["scontrol", "reconfigure"])

    def update_nodes(self, hostlist: str, state: str, reason: str = "") -> None:
        """`scontrol update NodeName=… State=… [Reason=…]`."""
        told = [f"Reason={reason}"] if reason else []
        self._do(["scontrol", "update", f"NodeName={hostlist}", f"State={state}", *told])

    def cancel(self, jobs: Sequence[str]) -> None:
        """End jobs, by the ids that squeue prints."""
        self._do(["scancel", *jobs])

    def _do(self, argv: Sequence[str]) -> str:
        try:
            return self._execute(argv)
        except ToolTimeoutError as error:
            raise UnknownError(f"`{argv[0]}` got no answer from slurmctld in {error.seconds:g} s") from error
        except ToolError as error:
            said = error.stderr.strip().splitlines()[-1:] or ["no output"]
            raise SlurmError(f"`{' '.join(argv[:2])}`: {said[0]}", status=error.exit_status) from error

    def _json(self, argv: Sequence[str]) -> dict[str, Any]:
        try:
            decoded = replies.load(self._do(argv))
        except SlurmError as error:
            raise UnknownError(error.reason) from error
        if not isinstance(decoded, dict):
            raise UnknownError(f"`{argv[0]}` answered with JSON that is no object")
        return decoded
