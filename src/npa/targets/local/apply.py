"""Carries out a plan of the local target, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from npa.errors import DestructiveError, NpaError, ToolError
from npa.plan.model import Event, Plan, Step
from npa.render.local import power, steps
from npa.render.local.desired import Desired
from npa.render.local.world import Record, Running, World
from npa.slurm import hostlist
from npa.targets.base import Listener, Options, told
from npa.targets.local import create, drains, gather, stop, waits
from npa.targets.local import record as records
from npa.tools import cgroup, container, disk, run
from npa.tools.container import Containers, Reconnect, Restart
from npa.tools.rootfs import Image, Rootfs
from npa.tools.slurm import Slurm

BUILD_PATIENCE = 900.0  # seconds


class Deployment:
    """One application of one plan."""

    def __init__(
        self,
        desired: Desired,
        world: World,
        image: Image,
        rootfs: Rootfs,
        record: Record,
        options: Options,
        heard: Listener,
    ) -> None:
        self._desired = desired
        self._layout = desired.layout
        self._world = world
        self._image = image
        self._rootfs = rootfs
        self._record = record
        self._options = options
        self._heard = heard
        self._containers = Containers(image.root, self._layout)
        self._step: Step | None = None

    def run(self, plan: Plan) -> None:
        """Do every step in order; what a failed or interrupted one left is found by the next plan."""
        if plan.steps and self._world.record is not None:
            self._save()
        try:
            for step in plan.steps:
                self._do(step)
        except DestructiveError:
            self._take_back()
            raise

    def _do(self, step: Step) -> None:
        self._step = step
        with told(step, self._heard):
            self._action(step)(step)

    def _take_back(self) -> None:
        """Ask again for what was asked before: a drain found work that nobody allowed to end."""
        before = self._world.record
        if before is not None:
            self._record = replace(self._record, cluster=before.cluster, addresses=before.addresses)
            self._save()

    def _action(self, step: Step) -> Callable[[Step], None]:
        actions: dict[str, Callable[[Step], None]] = {
            "build:image": self._build,
            "create:cluster": self._create,
            "create:users": self._create_users,
            "start:lab": self._start_lab,
            "write:files": self._write,
            "reconfigure": self._reconfigure,
            "restart:links": self._reconnect,
            "resume:nodes": self._resume,
            "wait:workers": self._wait_workers,
            "start:agent": self._start_agent,
            "stop:agent": self._stop_agent,
            "power-return": self._return,
        }
        verbs: dict[str, Callable[[Step], None]] = {
            "drain": self._drain,
            "stop": self._stop,
            "start": self._start,
            "restart": self._restart,
            "wait": self._wait_node,
        }
        return actions.get(step.key) or verbs[step.verb]

    def _build(self, _: Step) -> None:
        # clusters that are made side by side share one image: the others wait for whoever builds it
        busy = "another command is building an image"
        with disk.lock(self._rootfs.lock, busy, patience=BUILD_PATIENCE):
            version = self._desired.cluster.slurm_version
            self._image = self._rootfs.find(version) or self._rootfs.build(version, self._progress)
        self._containers = Containers(self._image.root, self._layout)
        self._record = replace(self._record, slurm_version=self._image.slurm_version)

    def _create(self, _: Step) -> None:
        self._rootfs.verify(self._image)
        create.create(self._layout, self._image.root)
        self._save()

    def _start_lab(self, _: Step) -> None:
        self._rootfs.verify(self._image)
        cgroup.remove(self._record.cgroups.values())  # of an earlier start, empty since it ended
        # written down before it is made, so that destroy finds it however this command ends
        self._record = replace(self._record, cgroups=cgroup.lab_groups(gather.group_name(self._layout)))
        self._save()
        cgroup.create_lab(self._record.cgroups)
        title = gather.lab_title(self._layout, self._desired.cluster.name)
        started = self._containers.launch(title, self._record.cgroups)
        raise_errors(started.errors)

    def _write(self, _: Step) -> None:
        wanted = {file.path: file for file in self._desired.files}
        for path, file in wanted.items():
            if self._world.files.get(path) != file.text:
                disk.write(Path(path), file.text, mode=file.mode, uid=file.uid, gid=file.uid)
        for path in self._world.files:
            if path not in wanted:
                Path(path).unlink(missing_ok=True)

    def _start(self, step: Step) -> None:
        lab, _ = self._processes()
        nodes = steps.started_nodes(self._desired, step)
        errors = create.node_folders(self._layout, [node.name for node in nodes])
        titled = [
            (gather.node_title(node.name, self._desired.fingerprint(node)), node)
            for node in nodes
            if node.name not in errors
        ]
        started = self._containers.launch(lab, self._record.cgroups, titled, timeout=60 + len(nodes))
        errors.update(started.errors)
        if errors and step.key.startswith(steps.POWER):
            self._give_up(step, errors)
            return
        raise_errors(errors)
        self._have_read(process.name for node in nodes for process in node.processes)

    def _give_up(self, step: Step, errors: Mapping[str, str]) -> None:
        """Return elastic nodes that do not start, and those that their jobs would have had beside them."""
        slurm = self._slurm()
        lost = power.with_their_jobs(gather.view(slurm), errors, step.nodes)
        _, running = self._processes()
        stop.end_nodes({name: running[name] for name in lost if name in running})
        why = "; ".join(f"{name}: {text}" for name, text in errors.items())
        slurm.update_nodes(hostlist.compress(lost), "DOWN", power.could_not_start(why))
        self._note(f"could not start {why}")

    def _return(self, step: Step) -> None:
        """Give nodes that did not come up back to their pool, to be tried again when a job wants them."""
        self._slurm().update_nodes(hostlist.compress(step.nodes), "POWER_DOWN_FORCE")

    def _start_agent(self, _: Step) -> None:
        run.detached(gather.agent_command(self._layout), Path(self._layout.state, "log", "power-agent.log"))

    def _stop_agent(self, _: Step) -> None:
        stop.end_daemon(self._world.agent)

    def _restart(self, step: Step) -> None:
        """Start daemons anew, whether the plan found them dead or wants them to read changed files."""
        lab, running = self._processes()
        named = step.key.split(":")[2:]
        again = []
        for node in steps.started_nodes(self._desired, step):
            found = running[node.name]
            for process in node.processes:
                if named and process.name not in named[0].split(","):
                    continue
                if not named and process.name in found.daemons:
                    continue
                stop.end_daemon(found.daemons.get(process.name) or found.stopped.get(process.name))
                again.append(Restart(node.name, found.pid, process))
        raise_errors(self._containers.launch(lab, self._record.cgroups, daemons=again).errors)
        self._have_read(each.process.name for each in again)

    def _reconnect(self, step: Step) -> None:
        lab, running = self._processes()
        links = [
            Reconnect(node.name, running[node.name].pid, node.address)
            for node in steps.started_nodes(self._desired, step)
        ]
        raise_errors(self._containers.launch(lab, self._record.cgroups, links=links).errors)
        if set(step.nodes).intersection(self._desired.cluster.controllers):
            # it asks every slurmd anew; those it has missed it would not look at for minutes
            self._slurm().reconfigure()

    def _stop(self, step: Step) -> None:
        _, running = self._processes()
        stop.end_nodes({name: running[name] for name in step.nodes if name in running})
        for name in step.nodes:
            cgroup.remove(f"{path}/{name}" for path in self._record.cgroups.values())
            disk.remove_tree(Path(self._layout.spool(name)).parent)

    def _drain(self, step: Step) -> None:
        drains.drain(self._slurm(), step, self._options, self._note)

    def _reconfigure(self, _: Step) -> None:
        self._slurm().reconfigure()
        self._have_read(["slurmctld"])

    def _resume(self, step: Step) -> None:
        drains.resume(self._slurm(), step.nodes)

    def _create_users(self, _: Step) -> None:
        running = self._processes()[1]
        login = running[self._desired.cluster.logins[0]].pid
        # the plan could not look where nothing ran yet
        there = gather.accounts(running) or frozenset()
        for user in self._desired.cluster.users:
            if user.name not in there:
                argv = ["useradd", "--create-home", "--shell", "/bin/bash", "--uid", str(user.uid), user.name]
                container.run_inside(login, argv, jail=True)

    def _wait_node(self, step: Step) -> None:
        name = step.nodes[0]
        wanted = {node.name: node for node in self._desired.nodes}[name]
        waits.until_serving(wanted, lambda: self._processes()[1].get(name), self._layout)

    def _wait_workers(self, step: Step) -> None:
        left = waits.until_schedulable(self._slurm(), step.nodes, self._progress)
        if left:
            self._note(f"not ready in time: {hostlist.compress(left)}")

    def _have_read(self, daemons: Iterable[str]) -> None:
        """Write down that these daemons have read the files as they are now."""
        read = {name: self._desired.reads(name) for name in daemons if name in ("slurmctld", "slurmdbd")}
        if read:
            self._record = replace(self._record, loaded={**self._record.loaded, **read})
            self._save()

    def _slurm(self) -> Slurm:
        found = gather.slurm_of(self._processes()[1])
        if found is None:
            # one that ends over its configuration may have listened for a moment before
            raise waits.failure(self._desired.cluster.controllers[0], "slurmctld", self._layout, ended=True)
        return found

    def _processes(self) -> tuple[int, dict[str, Running]]:
        lab, running = gather.processes(self._layout, self._desired.cluster.name)
        if not lab:
            raise NpaError("the cluster ended while it was changed", hint="run the same command again")
        return lab, running

    def _save(self) -> None:
        records.save(Path(self._layout.record), self._record)

    def _progress(self, fraction: float, words: str) -> None:
        self._heard(Event("progress", self._step.key if self._step else "", words, fraction=fraction))

    def _note(self, words: str) -> None:
        self._heard(Event("note", self._step.key if self._step else "", words))


def raise_errors(errors: Mapping[str, str]) -> None:
    """Raise ToolError when the launcher could not start something."""
    if errors:
        lines = [f"{node or 'lab'}: {text}" for node, text in errors.items()]
        raise ToolError(("npa.tools.launch",), 1, "\n".join(lines), hint="run the same command again")
