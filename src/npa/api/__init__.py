"""The verbs. The command line, the SDK and every other surface call only this."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from npa.cluster.model import Machine, TargetName
    from npa.health.assess import Report
    from npa.health.explain import Explanation
    from npa.health.observation import Observation
    from npa.plan.model import Event, Plan
    from npa.slurm.lint import Finding
    from npa.spec.model import SoperatorSpec
    from npa.targets.base import Options, Summary, Target

Listener = Callable[["Event"], None]
DEFAULT_TARGET: TargetName = "nebius"


def target_of(spec: SoperatorSpec, target: TargetName | None = None) -> TargetName:
    """Return where a spec's cluster lives: what the caller says, else the spec, else Nebius."""
    return target or spec.target or DEFAULT_TARGET


def lint(
    files: Mapping[str, str], *, version: str, machine: Machine | None = None, custom: bool = False
) -> tuple[Finding, ...]:
    """Return what Slurm would not take, or take for something else, in files by name; reads nothing.

    `custom` says that each holds settings to be added to a cluster's slurm.conf.
    """
    from npa.slurm import lint

    if custom:
        return tuple(
            each
            for name, text in files.items()
            for each in lint.check_custom(text, version=version, file=name)
        )
    return lint.check(files, version=version, machine=machine)


def lint_spec(spec: SoperatorSpec) -> tuple[Finding, ...]:
    """Return what Slurm would not take of the files that a spec stands for; reads nothing.

    What is wrong with the spec's own settings is at `slurm.settings.KEY`, without a file.
    """
    from npa.cluster.facts import Facts
    from npa.cluster.resolve import resolve
    from npa.slurm.lint import rendered
    from npa.slurm.runtime import Runtime

    return rendered.check(resolve(spec, Facts(), target_of(spec)), Runtime("v2", twin=True))


def plan(spec: SoperatorSpec, *, target: TargetName | None = None, options: Options | None = None) -> Plan:
    """Return the steps from what is there to what the spec asks for; changes nothing.

    Steps that would end running jobs without leave are in it, and `deploy` refuses them (`plan.guard`).
    Raises PreflightError, and RefusedError for a target that cannot be reached from here.
    """
    from npa.api import places
    from npa.cluster.resolve import resolve

    place = places.of(target_of(spec, target))
    cluster = resolve(spec, place.facts(spec), target_of(spec, target))
    return place.plan(cluster, options or _options())


def deploy(
    spec: SoperatorSpec,
    *,
    target: TargetName | None = None,
    shown: Plan | None = None,
    options: Options | None = None,
    heard: Listener = lambda _: None,
) -> Report:
    """Make the cluster what the spec asks for and report how well it is.

    `shown` is the plan that somebody agreed to: exactly it is done, or RefusedError raised when the world has
    moved on since. Raises as `plan`, and UnhealthyError when the cluster is there and not well.
    """
    from npa.api import places
    from npa.cluster.resolve import resolve
    from npa.plan import guard

    place = places.of(target_of(spec, target))
    chosen = options or _options()
    cluster = resolve(spec, place.facts(spec), target_of(spec, target))
    agreed = shown or place.plan(cluster, chosen)
    guard.check(agreed)
    place.apply(cluster, agreed, chosen, heard)
    return status(cluster.name, target_of(spec, target))


def where(name: str, target: TargetName | None = None, terraform_dir: Path | None = None) -> TargetName:
    """Return where a cluster of that name lives: a record says so, or the caller.

    Raises UsageError where there are several.
    """
    from npa.api import places

    if target or terraform_dir:
        return target or "nebius"
    return places.where(name)


def status(name: str, target: TargetName | None = None) -> Report:
    """Return how well a cluster is, here or on Kubernetes; raises NotFoundError where there is none."""
    from npa.api import places
    from npa.health import assess

    return assess.assess(_seen(name, places.holding(name, target)))


def explain_node(name: str, node: str) -> Explanation:
    """Return why a node is as it is; raises NotFoundError where there is none of that name."""
    from npa.api import places
    from npa.health import explain_node
    from npa.targets.local import explain
    from npa.targets.local.paths import Paths

    seen = _seen(name, places.here(name))
    return explain_node.explain_node(explain.node(Paths.here().layout(name), seen, node))


def explain_job(name: str, job: str) -> tuple[Explanation, ...]:
    """Return why a job is as it is; tasks of an array that look alike share one explanation.

    Raises UsageError for what is no job id, NotFoundError for a job that nobody knows, and UnknownError where
    that cannot be told.
    """
    from npa.api import places
    from npa.errors import UsageError
    from npa.health import explain_job
    from npa.slurm import job_id
    from npa.targets.local import explain
    from npa.targets.local.paths import Paths

    try:
        wanted = job_id.parse(job)
    except ValueError as error:
        raise UsageError(str(error), hint="write it as squeue does: `12`, `12_3`, `12+1`") from error
    seen = _seen(name, places.here(name))
    return explain_job.explain_job(explain.job(Paths.here().layout(name), seen, wanted))


def plan_destroy(name: str, *, options: Options | None = None, target: TargetName | None = None) -> Plan:
    """Return the steps that leave nothing of a cluster, naming the jobs that would die."""
    from npa.api import places

    return places.holding(name, target).plan_destroy(name, options or _options())


def destroy(
    name: str,
    *,
    shown: Plan | None = None,
    options: Options | None = None,
    heard: Listener = lambda _: None,
    target: TargetName | None = None,
) -> Plan:
    """Remove a cluster and all it owns but the cached image; returns the plan that was carried out.

    Raises DestructiveError when running jobs would end and `options.force` is off.
    """
    from npa.api import places
    from npa.plan import guard

    place = places.holding(name, target)
    agreed = shown or place.plan_destroy(name, options or _options())
    guard.check(agreed, hint=guard.DESTROY_HINT)
    place.destroy(name, agreed, options or _options(), heard)
    return agreed


def watch(name: str, heard: Listener, stopped: Callable[[], bool]) -> None:
    """Keep a cluster as it was last asked for, until `stopped` says so or the cluster is gone.

    Raises NotFoundError where there is no cluster of that name.
    """
    from npa.api import places
    from npa.targets.local import watch as watcher

    place = places.here(name)
    place.inspect(name)
    watcher.watch(lambda choose: place.repair(name, choose, heard), heard, stopped)


def clusters() -> tuple[Summary, ...]:
    """Return the clusters that this machine knows: its own, those on Kubernetes and at the provider."""
    from npa.api import places

    return places.every()


def execute(name: str, node: str, argv: Sequence[str], *, root: str = "", network: str = "cluster") -> int:
    """Run a command on a node with our own terminal and return its exit code.

    `root` is "jail" or "daemons"; "" chooses the jail on login and worker nodes. `network` "host" keeps this
    machine's own network, so that packages can be fetched.
    """
    from npa.api import places

    return places.holding(name).execute(name, node, argv, root=root, network=network)


def ssh(name: str, user: str, argv: Sequence[str] = ()) -> int:
    """Log in to the login node with the machine's ssh client and return its exit code."""
    from npa.api import places

    return places.holding(name).ssh(name, user, argv)


def proxy(name: str, node: str, port: int) -> None:
    """Connect stdin and stdout to a port of a node, for ssh's ProxyCommand."""
    from npa.api import places

    places.here(name).proxy(name, node, port)


def logs(name: str, node: str, *, lines: int = 100, follow: bool = False) -> Iterator[str]:
    """Return the last lines of a node's daemon logs, each prefixed by its daemon, then what is added."""
    from npa.api import places

    return places.holding(name).logs(name, node, lines=lines, follow=follow)


def _seen(name: str, place: Target) -> Observation:
    from npa.errors import NotFoundError

    seen = place.inspect(name)
    if seen.state == "absent":
        where = "on this machine" if seen.target == "local" else f"on {seen.target}"
        raise NotFoundError(f"no cluster {name!r} {where}", hint="see `npa soperator list`")
    return seen


def _options() -> Options:
    from npa.targets.base import Options

    return Options()
