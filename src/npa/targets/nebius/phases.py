"""The phases of a deploy, each begun from what is there: interrupted anywhere, the next run goes on.

A phase that changes something is written down before it begins and once it has ended. What an apply made is
recorded as soon as it ends, however it ends.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from npa.cluster.model import Cluster
from npa.errors import KubeError, NpaError
from npa.plan.model import JobRef, Plan
from npa.render.nebius import approvals, plan_text, sidecar, tfguard, tfplan
from npa.render.nebius import held as states
from npa.render.nebius.adapter import Adapter
from npa.render.nebius.gate import GateResult
from npa.render.nebius.outcome import Guarded
from npa.render.nebius.release import Release
from npa.render.nebius.sidecar import Sidecar
from npa.render.nebius.tfguard import Request, Verdict
from npa.slurm.lookup import Absent, Found, Lookup
from npa.targets.nebius import binding, environment, gate, records, releases, repairs, runs, status
from npa.targets.nebius.options import NebiusOptions
from npa.targets.nebius.ports import Deadline, KubeApi
from npa.targets.nebius.runs import Runs
from npa.tools.terraform import Deadlines, Saved

VERB = "deploy"
REACHABLE = 600.0  # seconds until a new cluster has to have an endpoint
POLL = 5.0

# Shows a plan and, where it may be applied, asks; raises RefusedError where nobody agrees.
Agree = Callable[[Plan, bool], None]


@dataclass(frozen=True, slots=True)
class Shown:
    """A plan that nobody is asked to agree to, and what refuses it."""

    plan: Plan
    refusal: NpaError | None = None


@dataclass
class Deployment:
    """One run of a deploy, after everything that only looks."""

    runs: Runs
    cluster: Cluster
    adapter: Adapter
    options: NebiusOptions
    record: Sidecar
    wanted: Release
    agree: Agree
    guarded: Guarded = field(default_factory=Guarded)
    warnings: tuple[str, ...] | None = None  # of repairs; None: there were none
    uncaptured: NpaError | None = None  # why what an apply made could not be recorded
    _approvals: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        self._approvals = self.options.approvals

    def run(self) -> GateResult:
        """Do every phase; returns what the GPU gate says. Raises whatever stops one."""
        deadlines = self._begun()
        if self.options.fixes:
            self._apply("kubernetes", deadlines, self.adapter.target)
            kube = self._kube()
            with self._phase("prerequisites"):
                repairs.prerequisites(self._repairs(kube), self.options.definitions)
            with repairs.beside(self._repairs(kube)) as during:
                self._apply("slurm", deadlines)
            with self._phase("repairs"):
                self.warnings = (*during(), *repairs.after(self._repairs(kube)))
        else:
            self._apply("slurm", deadlines)
        return self._gate()

    def shown(self) -> Shown:
        """Return the plan that would be shown next, and what refuses it; nothing is applied."""
        deadlines = self._begun()
        first = self.options.fixes and not self.record.cluster_id
        target = self.adapter.target if first else ""
        with runs.inspected(self.runs, self._judge(target), deadlines, target) as (_, verdict):
            more = ("what its charts change is known once Kubernetes is there",) if first else ()
            plan = self._told(verdict, more)
        try:
            tfguard.check(verdict)
        except NpaError as error:
            return Shown(plan, error)
        return Shown(plan)

    def _begun(self) -> Deadlines:
        """Look whether what is there may become what is asked for, and fetch providers and modules."""
        deadlines = Deadlines(plan=self.options.timeout, apply=self.options.timeout)
        found = self._reach() if self.record.cluster_id else Absent()
        if isinstance(found, Found):
            for said in releases.require(found.value, self.wanted):
                self.runs.teller.note(said)
        with self._phase("init"):
            self.runs.terraform(deadlines).init(self.runs.teller.line)
        return deadlines

    def _told(self, verdict: Verdict, more: tuple[str, ...] = ()) -> Plan:
        """Return the plan in our words, with the jobs that run and without secrets."""
        jobs, unknown = self._jobs()
        plan = plan_text.plan(verdict, plan_text.Context(self.cluster.name, self.adapter, jobs))
        return self._masked(replace(plan, notes=(*plan.notes, *unknown, *more)))

    def _apply(self, name: str, deadlines: Deadlines, target: str = "") -> None:
        """Plan, judge, show, ask, and apply exactly what was shown, once."""
        with runs.inspected(self.runs, self._judge(target), deadlines, target) as (saved, verdict):
            shown = self._told(verdict)
            self.guarded = replace(self.guarded, plans=self.guarded.plans + 1)
            if not verdict.ok:
                self.agree(shown, False)
                tfguard.check(verdict)
            if verdict.nothing_to_do:
                self.runs.teller.note(f"{name}: already as asked")
                self._capture()
                return
            self.agree(shown, True)
            with self._phase(name), records.applied(self.runs.folder, VERB, shown) as hear:
                records.save_sidecar(self.runs.folder, self.record)
                self._applied(saved, deadlines, hear)
            self._count(verdict)

    def _masked(self, plan: Plan) -> Plan:
        hide = self.runs.teller.masked
        return replace(plan, steps=tuple(replace(step, diff=hide(step.diff)) for step in plan.steps))

    def _judge(self, target: str) -> Callable[[Any, Saved], Verdict]:
        def judge(plan: tfplan.TerraformPlan, saved: Saved) -> Verdict:
            digest = tfplan.digest(plan)
            mine = tuple(each for each in self._approvals if approvals.parse(each).digest == digest)
            rest = tuple(each for each in self._approvals if each not in mine)
            request = Request(saved.exit_code, targeted=bool(target), approvals=mine)
            verdict = tfguard.decide(plan, self.adapter, request)
            if verdict.refused or not target:
                # An approval may be for a plan after this one; where none can follow, it is for another.
                verdict = tfguard.decide(plan, self.adapter, replace(request, approvals=(*mine, *rest)))
            self._approvals = rest
            return verdict

        return judge

    def _applied(self, saved: Saved, deadlines: Deadlines, hear: Callable[[str], None]) -> None:
        def line(text: str) -> None:
            self.runs.teller.line(text)
            hear(text)

        try:
            self.runs.terraform(deadlines).apply(saved, line)
        except BaseException:
            # Also on Ctrl-C: Terraform has written down what it made, and so do we.
            with contextlib.suppress(NpaError):
                self._capture()
            raise
        try:
            self._capture()
        except NpaError as error:
            self.uncaptured = error
            raise

    def _capture(self) -> None:
        """Record what Terraform's state says that the installation owns."""
        held = states.read(self.runs.state())
        owning = sidecar.owning(
            self.record,
            cluster_id=held.cluster_id,
            provider_cluster_name=held.cluster_name,
            auxiliaries=held.auxiliaries,
        )
        if owning != self.record or self.record.cluster_id:
            self.record = owning
            records.save_sidecar(self.runs.folder, owning)

    def _count(self, verdict: Verdict) -> None:
        replaced = sum(each.approved for each in verdict.findings)
        self.guarded = replace(
            self.guarded,
            replaced=self.guarded.replaced + replaced,
            refreshed=self.guarded.refreshed + len(verdict.refreshed),
        )

    def _kube(self) -> KubeApi:
        """Return the way to exactly the recorded cluster; waits while a new one has no endpoint yet."""
        if not self.record.cluster_id:
            raise KubeError("Terraform's state names no cluster after its apply", hint="run the same again")
        deadline = Deadline(self.runs.outside.clock, REACHABLE)
        while True:
            found = self._reach()
            if isinstance(found, Found):
                return found.value
            if isinstance(found, Absent) or deadline.left <= 0:
                why = "it is gone" if isinstance(found, Absent) else found.why
                raise KubeError(f"cluster {self.record.cluster_id} cannot be reached: {why}")
            self.runs.outside.clock.sleep(POLL)

    def _reach(self) -> Lookup[KubeApi]:
        record, private = self.record, self.options.private
        found = binding.connect(
            self.runs.provider,
            record.cluster_id,
            record.provider_cluster_name,
            record.project_id,
            private=private,
            to=self.runs.outside.kube,
        )
        if isinstance(found, Found):
            cluster = self.runs.provider.cluster(record.cluster_id)
            environment.write_kubeconfig(
                self.runs.folder, self.cluster.name, cluster, self.runs.profile, private=private
            )
        return found

    def _jobs(self) -> tuple[tuple[JobRef, ...], tuple[str, ...]]:
        """Return the jobs that run, and what is unknown about them."""
        if not self.record.cluster_id:
            return (), ()
        seen = status.observation(status.status(self.cluster.name, self._reach(), Absent()), ())
        if seen.jobs is None:
            return (), ("which jobs run is not known: Slurm could not be asked",)
        return tuple(job for job in seen.jobs if job.state == "RUNNING"), ()

    def _gate(self) -> GateResult:
        if not any(pool.machine.gpus for pool in self.cluster.pools):
            return GateResult()
        folder, told = self.runs.folder, self.runs.teller.note
        with self._phase("gpu-gate"):
            kube, clock = self._kube(), self.runs.outside.clock
            left = records.load_gate(folder)
            if left and not gate.Gate(kube, clock, told, left).swept():
                why = "the job of a check that was interrupted cannot be proven gone"
                return GateResult((), "cleanup-verification", "", why, False)
            checks = gate.Gate(kube, clock, told, gate.new_run())
            records.save_gate(folder, checks.run)
            result = checks.check(self.cluster, self.options.gate_timeout)
            if result.ok or result.cleanup_confirmed:
                records.forget_gate(folder)
            return result

    def _repairs(self, kube: KubeApi) -> repairs.Repairs:
        workers = self.cluster.workers
        return repairs.Repairs(
            kube, self.wanted.operator, workers, self.runs.outside.clock, self.runs.teller.note
        )

    @contextlib.contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        with records.phase(self.runs.folder, VERB, name):
            yield
