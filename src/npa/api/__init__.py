"""The verbs. The command line, the SDK and every other surface call only this."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from npa.errors import RefusedError

if TYPE_CHECKING:
    from pathlib import Path

    from npa.cluster.model import Machine, TargetName
    from npa.health.assess import Report
    from npa.health.explain import Explanation
    from npa.health.observation import Observation
    from npa.plan.model import Event, Plan
    from npa.slurm.lint import Finding
    from npa.spec.model import SoperatorSpec
    from npa.targets.base import Options, Summary
    from npa.targets.local.target import LocalTarget
    from npa.targets.nebius.target import NebiusTarget

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
    from npa.cluster.resolve import resolve

    place = _target(target_of(spec, target))
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
    from npa.cluster.resolve import resolve
    from npa.plan import guard

    place = _target(target_of(spec, target))
    chosen = options or _options()
    cluster = resolve(spec, place.facts(spec), target_of(spec, target))
    agreed = shown or place.plan(cluster, chosen)
    guard.check(agreed)
    place.apply(cluster, agreed, chosen, heard)
    return status(cluster.name)


def where(name: str, target: TargetName | None = None, terraform_dir: Path | None = None) -> TargetName:
    """Return where a cluster of that name lives: a local record first, then an installation of the recipe.

    Raises UsageError where there are both.
    """
    from npa.errors import UsageError

    if target or terraform_dir:
        return target or "nebius"
    here = _is_name(name) and _is_here(name)
    there = _is_name(name) and _installed(name)
    if here and there:
        what = f"there are two clusters {name!r}: on this machine and at the provider"
        raise UsageError(what, hint="say which with `--target local` or `--target nebius`")
    return "nebius" if there else "local"


def status(name: str) -> Report:
    """Return how well a cluster on this machine is; raises NotFoundError where there is none of that name."""
    from npa.health import assess

    return assess.assess(_seen(name))


def explain_node(name: str, node: str) -> Explanation:
    """Return why a node is as it is; raises NotFoundError where there is none of that name."""
    from npa.health import explain_node
    from npa.targets.local import explain
    from npa.targets.local.paths import Paths

    seen = _seen(name)
    return explain_node.explain_node(explain.node(Paths.here().layout(name), seen, node))


def explain_job(name: str, job: str) -> tuple[Explanation, ...]:
    """Return why a job is as it is; tasks of an array that look alike share one explanation.

    Raises UsageError for what is no job id, NotFoundError for a job that nobody knows, and UnknownError where
    that cannot be told.
    """
    from npa.errors import UsageError
    from npa.health import explain_job
    from npa.slurm import job_id
    from npa.targets.local import explain
    from npa.targets.local.paths import Paths

    try:
        wanted = job_id.parse(job)
    except ValueError as error:
        raise UsageError(str(error), hint="write it as squeue does: `12`, `12_3`, `12+1`") from error
    seen = _seen(name)
    return explain_job.explain_job(explain.job(Paths.here().layout(name), seen, wanted))


def plan_destroy(name: str, *, options: Options | None = None) -> Plan:
    """Return the steps that leave nothing of a cluster, naming the jobs that would die."""
    return _local().plan_destroy(name, options or _options())


def destroy(
    name: str,
    *,
    shown: Plan | None = None,
    options: Options | None = None,
    heard: Listener = lambda _: None,
) -> Plan:
    """Remove a cluster and all it owns but the cached image; returns the plan that was carried out.

    Raises DestructiveError when running jobs would end and `options.force` is off.
    """
    from npa.plan import guard

    place = _local()
    agreed = shown or place.plan_destroy(name, options or _options())
    guard.check(agreed, hint=guard.DESTROY_HINT)
    place.destroy(name, agreed, options or _options(), heard)
    return agreed


def watch(name: str, heard: Listener, stopped: Callable[[], bool]) -> None:
    """Keep a cluster as it was last asked for, until `stopped` says so or the cluster is gone.

    Raises NotFoundError where there is no cluster of that name.
    """
    from npa.targets.local import watch as watcher

    place = _local()
    place.inspect(name)
    watcher.watch(lambda choose: place.repair(name, choose, heard), heard, stopped)


def clusters() -> tuple[Summary, ...]:
    """Return the clusters that this machine knows: its own, and installations of the recipe, by name."""
    from npa.errors import PreflightError

    try:
        remote = tuple(_nebius().list())
    except PermissionError:
        remote = ()  # somebody else's folder; this machine's own clusters are left
    try:
        return (*_local().list(), *remote)
    except PreflightError:
        if not remote:
            raise
        return remote  # nobody needs to be root for these


def execute(name: str, node: str, argv: Sequence[str], *, root: str = "", network: str = "cluster") -> int:
    """Run a command on a node with our own terminal and return its exit code.

    `root` is "jail" or "daemons"; "" chooses the jail on login and worker nodes. `network` "host" keeps this
    machine's own network, so that packages can be fetched.
    """
    return _local().execute(name, node, argv, root=root, network=network)


def ssh(name: str, user: str, argv: Sequence[str] = ()) -> int:
    """Log in to the login node with the machine's ssh client and return its exit code."""
    return _local().ssh(name, user, argv)


def proxy(name: str, node: str, port: int) -> None:
    """Connect stdin and stdout to a port of a node, for ssh's ProxyCommand."""
    _local().proxy(name, node, port)


def logs(name: str, node: str, *, lines: int = 100, follow: bool = False) -> Iterator[str]:
    """Return the last lines of a node's daemon logs, each prefixed by its daemon, then what is added."""
    return _local().logs(name, node, lines=lines, follow=follow)


def _seen(name: str) -> Observation:
    from npa.errors import NotFoundError

    seen = _local().inspect(name)
    if seen.state == "absent":
        raise NotFoundError(f"no cluster {name!r} on this machine", hint="see `npa soperator list`")
    return seen


def _options() -> Options:
    from npa.targets.base import Options

    return Options()


def _local() -> LocalTarget:
    from npa.targets.local.target import LocalTarget

    return LocalTarget.here()


def _nebius() -> NebiusTarget:
    from npa.api import nebius

    return nebius.target()


def _installed(name: str) -> bool:
    """Say whether we have an installation of the recipe; none is ours in a folder that we may not read."""
    try:
        return _nebius().has(name)
    except PermissionError:
        return False


def _is_here(name: str) -> bool:
    """Say whether this machine has a record of a cluster, or will not tell: then its target says why."""
    from pathlib import Path

    from npa.targets.local.paths import Paths

    try:
        return Path(Paths.here().layout(name).record).exists()
    except PermissionError:
        return True


def _is_name(name: str) -> bool:
    return bool(re.fullmatch(r"[a-z0-9][a-z0-9-]{0,62}", name))


def _target(name: TargetName) -> LocalTarget:
    if name == "local":
        return _local()
    raise RefusedError(
        f"target {name!r} cannot be deployed like this",
        hint="add `--target local` to run the same spec on this machine",
    )
