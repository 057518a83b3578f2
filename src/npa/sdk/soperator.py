"""Slurm clusters from Python, over the same api as the command line.

```python
from npa.sdk import soperator

spec = soperator.load_spec("cluster.yaml")
with soperator.deploying(spec, target="local") as work:
    for event in work:
        print(event.message)
report = work.result()
print(report.status, report.next_command)
soperator.destroy(spec.name)
```

A spec is checked as a whole, and a plan without a provider asks nobody:

>>> from npa.sdk import soperator
>>> spec = soperator.spec_from_mapping({"name": "lab", "workers": [{"name": "cpu", "size": 2}]})
>>> soperator.plan(spec, "nebius")["workers"][0]["preset"]
'8vcpu-32gb'

Every failure is an `npa.NpaError`; what each carries is in `npa.errors`. Nothing here asks or prints.
Names that older code catches are here too, and stand for ours: `SoperatorSpecError` is `SpecError`,
`UpstreamContractError` and `SolutionsLibraryReconciliationError` are `SourceError`,
`ProviderReplacementPlanError` is `DestructiveError`, `BackendCommandError` is `ToolError`, and
`GPUCreationCheckError` is `SoperatorDeploymentValidationError`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from npa.sdk.public import PublicPlan

if TYPE_CHECKING:
    from npa.health.assess import Report
    from npa.plan.model import Event, Plan
    from npa.render.nebius.outcome import DeploymentValidationFailure
    from npa.sdk.work import Work
    from npa.spec.model import SoperatorSpec, WorkerPoolSpec
    from npa.targets.base import Options
    from npa.targets.nebius.options import NebiusOptions
    from npa.targets.nebius.phases import Agree
    from npa.targets.nebius.result import SoperatorDeploymentValidationError, SoperatorStateCaptureError

__all__ = [
    "DeploymentValidationFailure",
    "NebiusOptions",
    "PublicPlan",
    "SoperatorDeploymentValidationError",
    "SoperatorSpec",
    "SoperatorStateCaptureError",
    "Work",
    "WorkerPoolSpec",
    "apply_post_deploy_fixes",
    "deploy",
    "deploying",
    "destroy",
    "destroying",
    "load_spec",
    "plan",
    "report",
    "spec_from_mapping",
    "status",
]

TargetName = Literal["local", "kubernetes", "nebius"]
Listener = Callable[["Event"], None]


def load_spec(path: str | PathLike[str]) -> SoperatorSpec:
    """Return the spec in a file; raise SpecError with every problem, each with its line and column."""
    from npa.spec import load

    return load.parse(Path(path).read_bytes(), str(path))


def spec_from_mapping(mapping: Mapping[str, Any]) -> SoperatorSpec:
    """Return the spec that a mapping says; raise SpecError with every problem."""
    from npa.spec import load

    return load.from_mapping(mapping)


def plan(
    spec: SoperatorSpec, target: TargetName | None = None, *, force: bool = False, wait_for_jobs: float = 0.0
) -> Plan | PublicPlan:
    """Return what a deploy would do; changes nothing.

    On `local` that is a Plan, compared with what is there. On the other targets no provider is asked: it is
    the PublicPlan. `wait_for_jobs` is in seconds. Raises PreflightError and DestructiveError.
    """
    from npa import api

    if api.target_of(spec, target) == "local":
        return api.plan(spec, target=target, options=_options(force, wait_for_jobs))
    from npa.spec import load, public_plan

    return cast(PublicPlan, public_plan.public_plan(load.check(spec)))


def deploy(
    spec: SoperatorSpec,
    target: TargetName | None = None,
    *,
    shown: Plan | None = None,
    force: bool = False,
    force_steps: Sequence[str] = (),
    wait_for_jobs: float = 0.0,
    heard: Listener = lambda _: None,
    nebius: NebiusOptions | None = None,
    agree: Agree = lambda *_: None,
) -> Report | dict[str, Any]:
    """Make the cluster what the spec asks for and return how well it is.

    On this machine that is a Report: look at `report.ok`. `shown` is a plan that somebody agreed to: exactly
    it is done, or RefusedError raised when the world has moved on since. At Nebius it is the result as JSON
    has it, `nebius` says how, and `agree` is called with each plan before it is applied; it may raise.
    `heard` is called with every Event.
    """
    from npa import api
    from npa.api import nebius as nebius_api

    if api.target_of(spec, target) == "nebius":
        from npa.targets.nebius.options import NebiusOptions

        return nebius_api.deploy(spec, nebius or NebiusOptions(), agree, heard)
    return api.deploy(
        spec, target=target, shown=shown, options=_options(force, wait_for_jobs, force_steps), heard=heard
    )


def deploying(
    spec: SoperatorSpec,
    target: TargetName | None = None,
    *,
    shown: Plan | None = None,
    force: bool = False,
    force_steps: Sequence[str] = (),
    wait_for_jobs: float = 0.0,
    nebius: NebiusOptions | None = None,
    agree: Agree = lambda *_: None,
) -> Work[Report | dict[str, Any]]:
    """Return `deploy` at work: an iterator of its Events that can be cancelled, and then its result.

    A cancelled one stops at its next Event and raises StoppedError; asking again goes on from what is there.
    """
    from npa.sdk.work import Work

    return Work(
        lambda heard: deploy(
            spec,
            target,
            shown=shown,
            force=force,
            force_steps=force_steps,
            wait_for_jobs=wait_for_jobs,
            heard=heard,
            nebius=nebius,
            agree=agree,
        )
    )


def status(
    name: str, target: TargetName | None = None, *, nebius: NebiusOptions | None = None
) -> Report | dict[str, Any]:
    """Return how well a cluster is; raise NotFoundError where there is none of that name.

    On this machine a Report, at Nebius the document that `npa soperator status --output json` prints.
    """
    from npa import api
    from npa.api import nebius as nebius_api
    from npa.targets.nebius.options import NebiusOptions

    chosen = nebius or NebiusOptions()
    if api.where(name, target, chosen.terraform_dir) == "nebius":
        return nebius_api.status(name, chosen).document()
    return api.status(name)


def report(
    name: str, target: TargetName | None = None, *, days: int = 7, nebius: NebiusOptions | None = None
) -> str:
    """Return a page about a cluster, as HTML complete in itself, with `days` of accounting."""
    from npa.api import page

    return page.html(name, target=target, nebius=nebius, days=days)


def destroy(
    name: str,
    target: TargetName | None = None,
    *,
    force: bool = False,
    heard: Listener = lambda _: None,
    nebius: NebiusOptions | None = None,
) -> Plan | dict[str, Any]:
    """Remove a cluster and all its data, and return what was done: a Plan, at Nebius the result.

    Raises DestructiveError while jobs run and `force` is off, DestroyIncompleteError where something is left.
    """
    from npa import api
    from npa.api import nebius as nebius_api
    from npa.targets.nebius.options import NebiusOptions

    chosen = nebius or NebiusOptions()
    if api.where(name, target, chosen.terraform_dir) != "nebius":
        return api.destroy(name, options=_options(force, 0.0), heard=heard)
    if not chosen.source_only:
        from npa.plan import guard

        guard.check(nebius_api.plan_destroy(name, chosen, force=force), hint=guard.DESTROY_HINT)
    return nebius_api.destroy(name, chosen, heard=heard)


def destroying(
    name: str,
    target: TargetName | None = None,
    *,
    force: bool = False,
    nebius: NebiusOptions | None = None,
) -> Work[Plan | dict[str, Any]]:
    """Return `destroy` at work: an iterator of its Events that can be cancelled, as `deploying`."""
    from npa.sdk.work import Work

    return Work(lambda heard: destroy(name, target, force=force, heard=heard, nebius=nebius))


def apply_post_deploy_fixes(
    context: str,
    *,
    on_status: Callable[[str], None] = lambda _: None,
    timeout_minutes: float = 20,
    nebius: NebiusOptions | None = None,
) -> list[str]:
    """Repair what the charts of a cluster at Nebius need repaired; returns what did not hold.

    `context` is the `kube_context` of a deploy's result, or the cluster's name. The cluster is reached by its
    recorded id, through no kubeconfig.
    """
    from npa.api import nebius as nebius_api
    from npa.targets.nebius.options import NebiusOptions

    name = context.removeprefix("nebius-").removesuffix("-slurm") if context.endswith("-slurm") else context
    return list(nebius_api.repair(name, nebius or NebiusOptions(), on_status, timeout_minutes * 60))


def _options(force: bool, wait_for_jobs: float, force_steps: Sequence[str] = ()) -> Options:
    from npa.plan.model import Options

    return Options(force, tuple(force_steps), wait_for_jobs)


_LATER = {
    "DeploymentValidationFailure": "npa.render.nebius.outcome",
    "NebiusOptions": "npa.targets.nebius.options",
    "SoperatorDeploymentValidationError": "npa.targets.nebius.result",
    "SoperatorSpec": "npa.spec.model",
    "SoperatorStateCaptureError": "npa.targets.nebius.result",
    "Work": "npa.sdk.work",
    "WorkerPoolSpec": "npa.spec.model",
}


# what older code calls it -> what it is
_OLDER = {
    "BackendCommandError": ("npa.errors", "ToolError"),
    "GPUCreationCheckError": ("npa.targets.nebius.result", "SoperatorDeploymentValidationError"),
    "ProviderReplacementPlanError": ("npa.errors", "DestructiveError"),
    "SolutionsLibraryReconciliationError": ("npa.errors", "SourceError"),
    "SoperatorSpecError": ("npa.errors", "SpecError"),
    "UpstreamContractError": ("npa.errors", "SourceError"),
}


def __getattr__(name: str) -> Any:
    """Import a class once somebody uses it: pydantic takes longer than all else here."""
    module, found = _OLDER.get(name) or (_LATER.get(name, ""), name)
    if module:
        from importlib import import_module

        return getattr(import_module(module), found)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
