"""The local target: plans, applies, inspects and removes clusters on this machine."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

from npa.cluster.facts import Facts
from npa.cluster.model import Cluster
from npa.errors import NotFoundError, NpaError, OwnershipError, RefusedError
from npa.health.observation import Observation
from npa.plan import guard
from npa.plan.model import Plan
from npa.render.local import addresses, desired, nodes, steps
from npa.render.local.desired import Desired
from npa.render.local.steps import POWER
from npa.render.local.world import Record, World
from npa.slurm.runtime import Runtime
from npa.spec.model import SoperatorSpec
from npa.targets import history, login_keys
from npa.targets.base import Listener, Options, Summary, told_of
from npa.targets.local import access, destroy, gather, inspect, preflight, rotate
from npa.targets.local import record as records
from npa.targets.local.apply import Deployment
from npa.targets.local.paths import Paths
from npa.tools import cgroup, disk
from npa.tools.rootfs import Image, Rootfs

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
NO_CGROUPS = "this kernel offers no memory cgroup: limits of memory and devices are not enforced"
SWAPS = "this kernel does not limit swap: a job over its memory may swap instead of being ended"
NOT_PINNED = "CPUs are counted, not pinned: a node may claim more of them than this machine has"
FULL = 16 << 20  # bytes: with less, the daemons' next files may not fit
AGENT_PATIENCE = 10.0  # seconds: the power agent holds a cluster for no longer


class LocalTarget:
    """Clusters of namespaces below one state folder."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._rootfs = Rootfs(paths.cache, paths.sources)

    @classmethod
    def here(cls) -> LocalTarget:
        """Return the target of this machine; raises PreflightError where it can hold none."""
        preflight.require_root()
        return cls(Paths.here())

    def facts(self, spec: SoperatorSpec) -> Facts:
        """Look up root's key."""
        return Facts(root_keys=() if spec.root_keys else login_keys.find())

    def plan(self, cluster: Cluster, options: Options) -> Plan:
        """Compare what is asked with what is there; changes nothing."""
        return without_power(self._plan(cluster, options)[0])

    def apply(self, cluster: Cluster, plan: Plan, options: Options, heard: Listener) -> None:
        """Do exactly the steps of the plan, but for what has come up by itself.

        Raises RefusedError when the world has moved on since.
        """
        if not (plan.steps or plan.changes):
            return  # exactly nothing is asked for
        with self._locked(cluster.name, AGENT_PATIENCE):
            now, wanted, world, image = self._plan(cluster, options)
            now = without_power(now)
            if not guard.still_agreed(now, plan):
                raise RefusedError(
                    f"the world has moved on since this plan for {cluster.name} was made",
                    hint="plan again, and look at what changed",
                )
            with history.written(self._history(cluster.name), "deploy", plan, heard) as hear:
                self._deployment(wanted, world, image, options, hear).run(now)

    def plan_destroy(self, name: str, options: Options) -> Plan:
        """Return the steps that leave nothing of a cluster; raises NotFoundError where there is none."""
        return destroy.plan(
            name, self._world(name, ending=True), self._paths.layout(name), force=options.force
        )

    def destroy(self, name: str, plan: Plan, options: Options, heard: Listener) -> None:
        """Do them; raises RefusedError when jobs have started that the plan does not name."""
        with self._locked(name, AGENT_PATIENCE):
            now = destroy.plan(
                name, self._world(name, ending=True), self._paths.layout(name), force=options.force
            )
            refuse_new_jobs(name, now, plan)
            destroy.apply(self._paths.layout(name), self._world(name, ending=True), now, heard)

    def repair(self, name: str, choose: Callable[[Plan], Plan], heard: Listener) -> Plan:
        """Do what is chosen of the steps from what is there to what was last asked for; returns them.

        Raises NotFoundError where there is no cluster.
        """
        with self._locked(name):
            record = records.load(Path(self._paths.layout(name).record))
            if record is None:
                raise NotFoundError(f"no cluster {name!r} on this machine", hint="see `npa soperator list`")
            options = Options()
            made, wanted, world, image = self._plan(record.cluster, options)
            chosen = choose(made)
            if chosen.steps:
                told = without_power(chosen)  # nodes come and go all day, and Slurm keeps account of that
                with history.written(self._history(name), "repair", told, heard) as hear:
                    self._deployment(wanted, world, image, options, hear).run(chosen)
            return chosen

    def plan_rotation(self, name: str, key: rotate.Key, options: Options) -> Plan:
        """Return the steps that give a cluster a new key; raises NotFoundError where there is no cluster."""
        return rotate.plan(name, key, self._world(name), self._paths.layout(name), force=options.force)

    def rotate(self, name: str, key: rotate.Key, agreed: Plan, options: Options, heard: Listener) -> None:
        """Do them; where the cluster does not come up with the new key, the old one is put back.

        Raises RefusedError when jobs have started that the plan does not name.
        """
        layout = self._paths.layout(name)
        with self._locked(name, AGENT_PATIENCE):
            world = self._world(name)
            now = rotate.plan(name, key, world, layout, force=options.force)
            refuse_new_jobs(name, now, agreed)
            before = rotate.end_and_write(key, layout, world, agreed, heard)
        if not world.lab:
            return
        with told_of(agreed, "start:again", heard):
            try:
                self.repair(name, lambda plan: plan, heard)
            except NpaError:
                with self._locked(name, AGENT_PATIENCE):
                    rotate.end_readers(key, self._world(name))
                    rotate.put(key, layout, before)
                self.repair(name, lambda plan: plan, heard)
                raise

    def inspect(self, name: str) -> Observation:
        """Read what is there now."""
        state = Path(self._paths.layout(name).state)
        full = (str(state),) if disk.free_bytes(state) < FULL else ()
        return inspect.observe(name, self._world(name), full)

    def list(self) -> Iterator[Summary]:
        """Return the clusters of this machine, by name."""
        for path in sorted(self._paths.state.glob("*/record.json")):
            name = path.parent.name
            found = records.load(path)
            if found:
                lab, _ = gather.processes(self._paths.layout(name), name)
                state = "present" if lab else "stopped"
                yield Summary(
                    name, "local", state, len(found.cluster.workers), found.slurm_version, found.created
                )

    def execute(self, name: str, node: str, argv: Sequence[str], *, root: str, network: str) -> int:
        """Run a command on a node with our own terminal."""
        return access.execute(self._running(name), node, argv, root=root, network=network)

    def ssh(self, name: str, user: str, argv: Sequence[str]) -> int:
        """Log in to the first login node."""
        return access.ssh(name, self._paths.layout(name), self._running(name), user, argv)

    def proxy(self, name: str, node: str, port: int) -> None:
        """Connect stdin and stdout to a port of a node."""
        access.proxy(self._running(name), node, port)

    def logs(self, name: str, node: str, *, lines: int, follow: bool) -> Iterator[str]:
        """Return the lines of a node's logs."""
        self._running(name)
        return access.logs(self._paths.layout(name), node, lines=lines, follow=follow)

    def _plan(self, cluster: Cluster, options: Options) -> tuple[Plan, Desired, World, Image]:
        from npa.slurm.lint import rendered  # a look at a cluster needs none of it

        world = self._world(cluster.name, users=bool(cluster.users))
        if world.lab and world.record is None:
            raise OwnershipError(
                f"{cluster.name} is running and has no record",
                expected=self._paths.layout(cluster.name).record,
                found="nothing",
                hint=f"remove what runs: npa soperator destroy {cluster.name}",
            )
        image = self._image(cluster.slurm_version, world.record)
        world = dataclasses.replace(world, image_cached=image.root.is_dir())
        preflight.require(
            self._paths.state, self._paths.cache, building=not world.image_cached, starting=not world.lab
        )
        known = world.record.addresses if world.record else {}
        runtime, notes = surroundings()
        rendered.refuse(cluster)  # before rendering, which stops at the first of them
        wanted = desired.render(
            cluster,
            self._paths.layout(cluster.name),
            runtime,
            image.digest,
            addresses.assign(known, nodes.names(cluster)),
        )
        rendered.refuse(cluster, _read_by_slurm(wanted))
        plan = steps.plan(wanted, world, options, notes)
        return plan, wanted, world, image

    def _image(self, version: str, record: Record | None) -> Image:
        """Return the image of a cluster: the one that its jail began as, else this version's own."""
        if record:
            return Image(record.image, Path(record.rootfs), record.slurm_version)
        digest = self._rootfs.digest(version)
        return self._rootfs.find(version) or Image(digest, self._paths.cache / digest, version)

    def _deployment(
        self, wanted: Desired, world: World, image: Image, options: Options, heard: Listener
    ) -> Deployment:
        record = self._record(wanted, world, image)
        return Deployment(wanted, world, image, self._rootfs, record, options, heard)

    def _record(self, wanted: Desired, world: World, image: Image) -> Record:
        cluster = wanted.cluster
        return Record(
            name=cluster.name,
            created=world.record.created if world.record else datetime.now(UTC).isoformat(timespec="seconds"),
            image=wanted.image,
            rootfs=str(image.root),
            slurm_version=image.slurm_version,
            cgroups=world.record.cgroups if world.record else {},
            addresses=wanted.addresses,
            cluster=cluster,
            loaded=world.record.loaded if world.record else {},
        )

    def _world(self, name: str, *, users: bool = False, ending: bool = False) -> World:
        if not _NAME.fullmatch(name):
            raise NotFoundError(f"no cluster can have the name {name!r}", hint="see `npa soperator list`")
        return gather.gather(self._paths.layout(name), name, users=users, ending=ending)

    def _running(self, name: str) -> Mapping[str, int]:
        """Return the first process of each running node; raises NotFoundError where there is no cluster."""
        if not _NAME.fullmatch(name) or records.load(Path(self._paths.layout(name).record)) is None:
            raise NotFoundError(f"no cluster {name!r} on this machine", hint="see `npa soperator list`")
        _, running = gather.processes(self._paths.layout(name), name)
        return {node: found.pid for node, found in running.items()}

    def _history(self, name: str) -> Path:
        return Path(self._paths.layout(name).history)

    def _locked(self, name: str, patience: float = 0.0) -> AbstractContextManager[None]:
        busy = f"another command is changing cluster {name}"
        return disk.lock(self._paths.lock(name), busy, patience=patience)


def refuse_new_jobs(name: str, now: Plan, agreed: Plan) -> None:
    """Raise RefusedError where jobs would end that nobody was shown."""
    if not set(now.killed_jobs) <= set(agreed.killed_jobs):
        raise RefusedError(
            f"jobs have started on {name} since the plan was made", hint="run the command again"
        )


def _read_by_slurm(wanted: Desired) -> Mapping[str, str]:
    """Return the texts in the daemons' configuration folder by name."""
    folder = f"{wanted.layout.daemons_etc}/"
    found = (file for file in wanted.files if file.path.startswith(folder))
    return {file.path.removeprefix(folder): file.text for file in found}


def surroundings() -> tuple[Runtime, tuple[str, ...]]:
    """Return what this machine offers the daemons, and in words what it does not."""
    version = cgroup.version()
    swap = cgroup.limits_swap(version)
    notes = [NOT_PINNED]
    if version == "none":
        notes.append(NO_CGROUPS)
    elif swap is False:
        notes.append(SWAPS)
    return Runtime(cgroup=version, limits_swap=bool(swap), twin=True), tuple(notes)


def without_power(plan: Plan) -> Plan:
    """Return the plan without what Slurm asks for by itself: that is the power agent's to do."""
    steps = tuple(step for step in plan.steps if not step.key.startswith(POWER))
    return dataclasses.replace(plan, steps=steps)
