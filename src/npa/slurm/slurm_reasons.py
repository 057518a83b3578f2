"""What slurmctld and slurmd themselves write as the reason of a node, what it means and what helps."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Known:
    """A reason that Slurm sets by itself, told by how it begins."""

    begins: str
    kind: str
    meaning: str
    remedy: str
    asked_for: bool = False  # Slurm's words, but a person or a schedule asked for it

    @property
    def heals(self) -> bool:
        """Say whether Slurm takes it back by itself once its cause is gone."""
        return self.kind in _HEALS


_HEALS = frozenset({"not_responding", "reboot", "power"})
_RESUME = "then give the node back"
_SIZE = "the node has less than slurm.conf says of it"
_AS_IT_IS = "say in the spec what the machine has, or give it what the spec says, and deploy"

# The texts are in slurmctld's node_mgr.c, job_mgr.c, ping_nodes.c, power_save.c and proc_req.c, in
# slurmstepd's mgr.c and in interfaces/gres.c.
TABLE: tuple[Known, ...] = (
    Known(
        "Not responding",
        "not_responding",
        "its slurmd does not answer",
        "start slurmd and the node",
    ),
    Known("Low RealMemory", "too_small", f"{_SIZE}: memory", _AS_IT_IS),
    Known("Low CPUs", "too_small", f"{_SIZE}: CPUs", _AS_IT_IS),
    Known("Low socket*core*thread count", "too_small", f"{_SIZE}: sockets, cores or threads", _AS_IT_IS),
    Known("Low TmpDisk", "too_small", f"{_SIZE}: temporary disk", _AS_IT_IS),
    Known(
        "CoreSpec differ",
        "differs",
        "its slurmd keeps other cores free than slurm.conf says",
        _AS_IT_IS,
    ),
    Known(
        "gres/gpu count reported lower than configured",
        "gres",
        "its slurmd sees fewer GPUs than slurm.conf says",
        "look for the missing GPU (nvidia-smi, dmesg), replace the node, " + _RESUME,
    ),
    Known("gres/", "gres", "its slurmd sees less of a resource than slurm.conf says", _AS_IT_IS),
    Known(
        "Could not unpack gres data",
        "gres",
        "its slurmd's GRES cannot be read",
        "restart slurmd",
    ),
    Known(
        "Kill task failed",
        "kill_task",
        "processes of a job would not end: often a hung file system or GPU driver",
        f"find processes in state D on it, reboot the node if they stay, {_RESUME}",
    ),
    Known(
        "batch job complete failure",
        "batch_failure",
        "slurmd could not start or end a batch job",
        f"read its slurmd.log around that time, remove the cause, {_RESUME}",
    ),
    Known(
        "Prolog error",
        "prolog",
        "the prolog of a job failed",
        f"repair the prolog, {_RESUME}",
    ),
    Known(
        "Epilog error",
        "epilog",
        "the epilog of a job failed",
        f"repair the epilog, {_RESUME}",
    ),
    Known(
        "Job env setup error",
        "env",
        "a user's environment did not load",
        f"try `su - USER` on it, {_RESUME}",
    ),
    Known(
        "Node unexpectedly rebooted",
        "rebooted",
        "it rebooted while Slurm did not expect it",
        f"find out why (power, kernel), {_RESUME}",
    ),
    Known("Duplicate jobid", "duplicate", "two jobs had the same number", f"end the stray one, {_RESUME}"),
    Known("Reboot ASAP", "reboot", "somebody asked to reboot it once its jobs end", "wait", asked_for=True),
    Known("reboot issued", "reboot", "it reboots", "wait until it is back", asked_for=True),
    Known("reboot complete", "reboot", "it has rebooted and is not given back yet", "wait for its checks"),
    Known(
        "reboot timed out",
        "reboot_overdue",
        "it did not come back in ResumeTimeout",
        f"look at its console, start it, {_RESUME}",
    ),
    Known("Reboot cancel", "reboot", "a reboot was called off", _RESUME, asked_for=True),
    Known(
        "ResumeTimeout reached",
        "power_overdue",
        "it was powered up and its slurmd did not register in ResumeTimeout",
        f"see why the machine did not start, {_RESUME}",
    ),
    Known("Powered down after", "power", "it was powered down", "wait: a job that needs it powers it up"),
    Known("Set to State=FUTURE", "future", "it has never registered", "start its slurmd"),
)


def find(text: str) -> Known | None:
    """Return the row of a reason; the first that fits, and case does not matter."""
    lowered = text.lower()
    return next((known for known in TABLE if lowered.startswith(known.begins.lower())), None)
