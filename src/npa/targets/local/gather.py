"""Reads a local cluster: processes, files, and what Slurm says. Changes nothing."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from npa.errors import RefusedError, ToolError, UnknownError
from npa.health import answers
from npa.health.answers import SlurmView
from npa.render.local.layout import Layout
from npa.render.local.world import Record, Running, World
from npa.targets.local import record as records
from npa.tools import container, disk, launch, proc
from npa.tools.slurm import Slurm

# made once and never rendered: keys, and what came with a cluster
KEEP = ("slurm.key", "jwt_hs256.key", "resolv.conf", "npa_ed25519", "npa_ed25519.pub")
SLURM_TIMEOUT = 10.0  # seconds


def gather(layout: Layout, name: str, *, users: bool = False, ending: bool = False) -> World:
    """Return what is there; `users` reads the jail's accounts too.

    Raises RefusedError for a record that cannot be read, but not for a cluster that is `ending`: what its
    record says is no longer needed then.
    """
    record = _record(layout, ending)
    lab, nodes = processes(layout, name)
    nodes = _with_links(record, lab, nodes)
    slurm, problem = _slurm(nodes)
    return World(
        record=record,
        lab=lab,
        agent=agent(layout),
        nodes=nodes,
        files=_files(layout),
        slurm=slurm,
        slurm_problem=problem,
        users=accounts(nodes) if users else None,
    )


def _record(layout: Layout, ending: bool) -> Record | None:
    try:
        return records.load(Path(layout.record))
    except RefusedError:
        if not ending:
            raise
        return None


def processes(layout: Layout, name: str) -> tuple[int, dict[str, Running]]:
    """Find the lab and its nodes by their titles and their parents; returns (PID or 0, nodes by name).

    Nothing is taken from a record: what runs is what counts, whoever started it and however it ended.
    """
    everything = proc.everything()
    lab = next(
        (p for p in everything if p.name == "catatonit" and proc.title(p.pid) == lab_title(layout, name)),
        None,
    )
    if lab is None:
        return 0, {}
    children: dict[int, list[proc.Process]] = {}
    for process in everything:
        children.setdefault(process.parent, []).append(process)
    nodes = {}
    for child in children.get(lab.pid, ()):
        word, _, rest = proc.title(child.pid).partition(":")
        if word == "npa-node":
            node, _, fingerprint = rest.rpartition(":")
            found = children.get(child.pid, ())
            daemons, stopped = (
                {daemon_name(each.name): each.pid for each in found if (each.state in "Tt") is halted}
                for halted in (False, True)
            )
            nodes[node] = Running(child.pid, fingerprint, daemons, stopped)
    return lab.pid, dict(sorted(nodes.items()))


def _with_links(record: Record | None, lab: int, nodes: dict[str, Running]) -> dict[str, Running]:
    """Return the nodes, each with whether packets can go there and back, where its address is known."""
    if record is None or not lab:
        return nodes
    there = proc.routes(lab)
    linked = {
        name: address in there and launch.GATEWAY in proc.routes(nodes[name].pid)
        for name, address in record.addresses.items()
        if name in nodes
    }
    return {name: replace(node, linked=linked.get(name, True)) for name, node in nodes.items()}


def agent(layout: Layout) -> int:
    """Return the PID of the cluster's power agent; 0 where it is not running."""
    command = agent_command(layout)
    # whichever Python started it: `python`, `python3.13`
    called = Path(command[0]).name.rstrip(".0123456789")[:15]
    running = (each.pid for each in proc.everything() if each.name.startswith(called))
    return next((pid for pid in running if proc.command(pid)[1:] == command[1:]), 0)


def agent_command(layout: Layout) -> list[str]:
    """Return the command line of the power agent, by which it is found again."""
    return [sys.executable, "-m", "npa.targets.local.agent", layout.state]


def daemon_name(comm: str) -> str:
    """Return a daemon's name; one that executed itself anew bears that of Debian's file, `slurmd-wlm`."""
    return comm.removesuffix("-wlm")


def lab_title(layout: Layout, name: str) -> str:
    """Return what ps(1) shows of a lab; the folder tells clusters of one name in two places apart."""
    return f"npa-lab:{name}:{layout.state}"


def group_name(layout: Layout) -> str:
    """Return what the lab's control groups are called; clusters of one name in two places must not share."""
    name = layout.state.rpartition("/")[2]
    return f"npa-{name}-{hashlib.sha256(layout.state.encode()).hexdigest()[:6]}"


def node_title(node: str, fingerprint: str) -> str:
    """Return what ps(1) shows of a node."""
    return f"npa-node:{node}:{fingerprint}"


def slurm_of(nodes: dict[str, Running], timeout: float = SLURM_TIMEOUT) -> Slurm | None:
    """Return Slurm's commands on the first controller that runs slurmctld."""
    for name, running in nodes.items():
        if name.startswith("controller-") and "slurmctld" in running.daemons:
            return Slurm(partial(container.run_inside, running.pid, timeout=timeout))
    return None


def view(slurm: Slurm) -> SlurmView:
    """Return slurmctld's nodes and jobs; raises UnknownError."""
    return answers.view(slurm.nodes(), slurm.jobs())


def _slurm(nodes: dict[str, Running]) -> tuple[SlurmView | None, str]:
    if not nodes:
        return None, "the cluster is not running"
    slurm = slurm_of(nodes)
    if slurm is None:
        return None, "slurmctld is not running"
    try:
        return view(slurm), ""
    except UnknownError as error:
        return None, error.reason


def _files(layout: Layout) -> dict[str, str]:
    """Return the text of every file that npa renders, among those that are there."""
    found = {}
    for folder in (layout.daemons_etc, layout.jail_etc, layout.net_etc, f"{layout.ssh_etc}/keys"):
        found.update(_texts(_entries(folder)))
    found.update(_texts([f"{layout.ssh_etc}/sshd_config"]))
    return found


def _entries(folder: str) -> list[str]:
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        return []
    return [f"{folder}/{name}" for name in names if name not in KEEP and not name.startswith(".")]


def _texts(paths: Iterable[str]) -> dict[str, str]:
    texts = {path: disk.text(Path(path)) for path in paths}
    return {path: text for path, text in texts.items() if text is not None}


def accounts(nodes: dict[str, Running]) -> frozenset[str] | None:
    """Return the jail's accounts; None where no login node can tell."""
    for name, running in nodes.items():
        if name.startswith("login-"):
            try:
                told = container.run_inside(running.pid, ["cat", "/etc/passwd"], jail=True)
            except ToolError:
                return None
            return frozenset(line.partition(":")[0] for line in told.splitlines())
    return None
