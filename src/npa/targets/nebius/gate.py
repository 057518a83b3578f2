"""The GPU creation gate: one Slurm step over every GPU of each pool, and nothing left of it after.

One deadline bounds everything. However a pool's step ends, also on Ctrl-C, the gate's job is cancelled by its
own name and user, and it counts as gone only once the queue has twice said so.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from npa.cluster.model import Cluster
from npa.errors import DegradedValidationError, KubeError, NpaError
from npa.render.nebius import gate, gate_script
from npa.render.nebius.gate import GatePool, GateResult, Phase, PoolResult
from npa.targets.nebius import controller
from npa.targets.nebius.ports import Clock, Deadline, Executes

TIMEOUT = 1800.0
CLEANUP = 30.0  # seconds for the queue to forget the job; outside the gate's own deadline
POLL = 1.0

Tell = Callable[[str], None]


class _FailedError(Exception):
    """A phase that the gate cannot get past."""

    def __init__(self, phase: Phase, message: str, detail: str = "") -> None:
        self.phase, self.message, self.detail = phase, message, detail
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Gate:
    """The gate of one cluster."""

    kube: Executes
    clock: Clock
    told: Tell
    run: str  # unique: part of the job's name, and of each line that counts

    @property
    def job(self) -> str:
        """Name of the gate's Slurm job."""
        return f"npa-gpu-check-{self.run}"

    def check(self, cluster: Cluster, timeout: float = TIMEOUT) -> GateResult:
        """Check every pool with GPUs, one after the other, and stop at the first that fails.

        Raises only what interrupts it, and then after its job has been cancelled.
        """
        deadline = Deadline(self.clock, timeout)
        result = GateResult()
        pools = gate.pools(cluster)
        if not pools:
            return result
        try:
            reported = self._discover(deadline)
        except _FailedError as failed:
            return replace(result, phase=failed.phase, message=failed.message)
        for pool in pools:
            result = self._pool(result, pool, reported, deadline)
            if not result.ok:
                break
        return result

    def swept(self) -> bool:
        """Cancel the job of a run that was killed, and say whether the queue holds none of it any more."""
        return self._clean(cancel=True)

    def _discover(self, deadline: Deadline) -> tuple[str, ...]:
        try:
            done = controller.on_controller(self.kube, ("sinfo", "-h", "-N", "-o", "%N"), deadline.left)
        except NpaError as error:
            raise _FailedError("node-discovery", f"Slurm's nodes could not be read: {error}") from error
        names = gate.node_names(done.stdout)
        if done.code or not names:
            raise _FailedError("node-discovery", f"sinfo exited {done.code} and listed {len(names)} nodes")
        return names

    def _pool(
        self, result: GateResult, pool: GatePool, reported: tuple[str, ...], deadline: Deadline
    ) -> GateResult:
        self.told(f"pool {pool.name}: {len(pool.nodes)} nodes, {pool.gpus} GPUs each")
        try:
            checked = self._step(pool, reported, deadline)
            failed = None
        except _FailedError as error:
            checked, failed = None, error
        except NpaError as error:
            checked, failed = None, _FailedError("preflight", str(error))
        passed = checked is not None and checked.ok
        clean = self._clean(cancel=not passed)
        pools = (*result.pools, checked) if checked else result.pools
        if failed:
            return GateResult(pools, failed.phase, pool.name, failed.message, clean, failed.detail)
        if checked is not None and not checked.ok:
            return GateResult(pools, "slurm-step", pool.name, _summary(checked), clean)
        if not clean:
            why = "the gate's job could not be proven gone"
            return GateResult(pools, "cleanup-verification", pool.name, why, False)
        return GateResult(pools)

    def _step(self, pool: GatePool, reported: tuple[str, ...], deadline: Deadline) -> PoolResult:
        if not pool.family:
            raise _FailedError("preflight", f"no check is known for the GPUs of pool {pool.name}")
        if wrong := gate.unmapped(pool, reported):
            raise _FailedError("node-mapping", f"pool {pool.name}: {wrong}")
        left = int(deadline.left)
        if left < 1:
            raise _FailedError("queue", f"no time left for pool {pool.name}")
        text = gate_script.script(self.run, pool.family, pool.gpus)
        argv = gate_script.step(self.job, pool.nodes, pool.gpus, text, left)
        try:
            done = controller.on_login(self.kube, argv, float(left))
        except KubeError as error:
            phase: Phase = "slurm-step" if deadline.left >= 1 else "process-timeout"
            raise _FailedError(phase, f"pool {pool.name}: {error}") from error
        except BaseException:
            self._clean(cancel=True)  # Ctrl-C, or a defect: leave nothing behind before it goes on
            raise
        judged = gate.judge(pool, self.run, done.stdout, done.code)
        if done.code and not any(gate_script.MARKER in line for line in done.stdout.splitlines()):
            tail = "\n".join((done.stderr or done.stdout).splitlines()[-20:])
            raise _FailedError(
                "queue", f"pool {pool.name}: the step did not start (srun exited {done.code})", tail
            )
        return judged

    def _clean(self, *, cancel: bool) -> bool:
        """Say whether the queue holds no job of the gate; cancel as often as one is seen."""
        deadline, empty = Deadline(self.clock, CLEANUP), 0
        while deadline.left > 0:
            if cancel:
                self._quietly(gate_script.cancel(self.job), deadline)
            listed = self._quietly(gate_script.queue(self.job), deadline)
            # srun may have been cut off before slurmctld heard of its job, so one empty answer is not enough.
            empty = empty + 1 if listed == "" else 0
            if empty == 2 or (empty and not cancel):
                return True
            cancel = cancel or bool(listed)
            self.clock.sleep(POLL)
        return False

    def _quietly(self, argv: tuple[str, ...], deadline: Deadline) -> str | None:
        """Return what a command prints, or None where it says nothing that counts."""
        try:
            done = controller.on_login(self.kube, argv, max(1.0, deadline.left))
        except NpaError:
            return None
        return done.stdout.strip() if done.code == 0 else None


def require(result: GateResult, kept: Mapping[str, object]) -> None:
    """Raise DegradedValidationError where the gate failed; `kept` is what to say of the cluster, publicly."""
    if result.ok:
        return
    left = "" if result.cleanup_confirmed else "; its job may still be in the queue"
    raise DegradedValidationError(
        f"GPU creation check: {result.phase}: {result.message}{left}",
        {**kept, "status": DegradedValidationError.code, "gpu_creation_check": result.public()},
        hint="the cluster is kept: repair the nodes named and run the same deploy again",
    )


def new_run() -> str:
    """Return a name that no other run of the gate has."""
    return secrets.token_hex(6)


def _summary(checked: PoolResult) -> str:
    pool = checked.pool
    bad = {failure.node for failure in checked.failures}
    said = "; ".join(
        f"{each.node or 'step'}: {f'{each.test}: ' if each.test else ''}{each.cause}"
        for each in checked.failures[:5]
    )
    passed = len(set(pool.nodes) - bad)
    return f"pool {pool.name}: {passed} of {len(pool.nodes)} nodes passed; {said}"
