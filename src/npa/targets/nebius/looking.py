"""Status of an installation and the list of all; reads only, and says what it cannot know."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from npa.errors import KubeError, NotFoundError, NpaError
from npa.health import assess, text
from npa.health.assess import Report
from npa.render.nebius.held import NodeGroup
from npa.render.nebius.sidecar import FILE, Sidecar
from npa.slurm.lookup import Absent, Found, Lookup, Unknown
from npa.targets.base import Summary
from npa.targets.nebius import binding, controller, ending, environment, records, repairs, status, world
from npa.targets.nebius.checkout import COPIES, LEGACY
from npa.targets.nebius.options import NebiusOptions
from npa.targets.nebius.outside import Outside
from npa.targets.nebius.ports import KubeApi
from npa.targets.nebius.status import NebiusStatus
from npa.tools import unfinished
from npa.tools.nebius import Nebius


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known of an installation, as it was read and as it was judged."""

    status: NebiusStatus
    report: Report
    sinfo: str  # as Slurm prints it; "" where it could not be asked

    def document(self) -> dict[str, Any]:
        """Return the status as JSON has it; the keys of older tools are kept."""
        public = self.status.public()
        return {
            **text.to_dict(self.report),
            "context": environment.context(self.status.name),
            "sinfo": self.sinfo,
            "workers": workers(self.status),
            "capacity_status": "unknown" if self.status.node_groups is None else "applied",
            "cluster": public["cluster"],
            "node_groups": public["node_groups"],
            "causes": public["causes"],
            "unknown": public["unknown"],
            "backend": "soperator",
        }


def workers(found: NebiusStatus) -> list[dict[str, Any]]:
    """Return one line for each pool: how it is paid for, and its groups and nodes."""
    groups = found.node_groups or ()
    counts = Counter(dict.fromkeys(found.capacity, 0))
    for each in groups:
        counts[each.pool] += each.nodes or 0
    return [
        {
            "name": pool,
            "capacity_mode": mode,
            "node_groups": sum(each.pool == pool for each in groups),
            "nodes": counts[pool],
        }
        for pool, mode in found.capacity.items()
    ]


@dataclass(frozen=True, slots=True)
class Reached:
    """An installation, the way to its cluster, and what Terraform has of it."""

    folder: Path
    kube: Lookup[KubeApi]
    state: Lookup[Mapping[str, Any]]


@contextlib.contextmanager
def reached(outside: Outside, name: str, options: NebiusOptions) -> Iterator[Reached]:
    """Look for an installation and its cluster; raises NotFoundError where there is none."""
    folder = ending.located(outside, name, options)
    if ended := records.load_ended(folder):
        raise NotFoundError(f"{name} is gone: it was destroyed at {ended}", hint="see `npa soperator list`")
    record = records.load_sidecar(folder)
    state = _state(outside, folder)
    with contextlib.ExitStack() as stack:
        try:
            provider = stack.enter_context(outside.provider())
            kube = _kube(outside, provider, record, private=options.private)
        except NpaError as error:
            kube = Unknown(str(error))
        yield Reached(folder, kube, state)


def status_of(outside: Outside, name: str, options: NebiusOptions) -> Seen:
    """Return what is known of an installation; raises NotFoundError where there is none."""
    with reached(outside, name, options) as found:
        return seen(name, found.kube, found.state)


def repair(
    outside: Outside, name: str, options: NebiusOptions, told: Callable[[str], None], timeout: float
) -> tuple[str, ...]:
    """Repair what is there, without an apply, and return a warning for each repair that did not hold.

    Raises NotFoundError without an installation, and KubeError where its cluster cannot be reached.
    """
    folder = ending.located(outside, name, options)
    record = ending.recorded(folder, name)
    groups = status.status(name, Absent(), _state(outside, folder)).node_groups or ()
    with records.locked(outside.root, name, folder), outside.provider() as provider:
        unfinished.refuse(folder)
        kube = _kube(outside, provider, record, private=options.private)
        if not isinstance(kube, Found):
            why = kube.why if isinstance(kube, Unknown) else "it is gone"
            raise KubeError(f"cluster {record.cluster_id or name} cannot be reached: {why}")
        chart = outside.adapter(record.ref or outside.pin).chart
        work = repairs.Repairs(kube.value, chart, tuple(_nodes(groups)), outside.clock, told)
        try:
            repairs.prerequisites(work, options.definitions)
            lacking: tuple[str, ...] = ()
        except KubeError as error:
            lacking = (str(error),)
        return (*lacking, *repairs.after(work, timeout))


def installations(root: Path) -> Iterator[Path]:
    """Yield the folder of every installation with a record."""
    for pattern in (f"{COPIES}/*", f"{LEGACY}*"):
        for path in sorted(root.glob(f"{pattern}/soperator/installations/*/{FILE}")):
            if not path.parent.is_symlink():
                yield path.parent


def summaries(root: Path) -> Iterator[Summary]:
    """Yield one line for each installation; nobody is asked, so what its nodes do is not known."""
    for folder in installations(root):
        try:
            record = records.load_sidecar(folder)
        except NpaError:
            record = None
        state = "unreadable" if record is None else "deployed" if record.cluster_id else "begun"
        yield Summary(folder.name, "nebius", state, 0, "", "")


def _state(outside: Outside, folder: Path) -> Lookup[Mapping[str, Any]]:
    try:
        found = world.state_of(outside, folder)
    except NpaError as error:
        return Unknown(str(error))
    return Found(found) if found else Absent()


def _kube(outside: Outside, provider: Nebius, record: Sidecar | None, *, private: bool) -> Lookup[KubeApi]:
    if record is None or not record.cluster_id:
        return Unknown("no cluster is recorded yet" if record else "the installation has no record")
    return binding.connect(
        provider,
        record.cluster_id,
        record.provider_cluster_name,
        record.project_id,
        private=private,
        to=outside.kube,
    )


def seen(name: str, kube: Lookup[KubeApi], state: Lookup[Mapping[str, Any]]) -> Seen:
    """Return what is known, as it was read and as it was judged."""
    found = status.status(name, kube, state)
    expected = tuple(_nodes(found.node_groups or ()))
    sinfo = ""
    if isinstance(kube, Found):
        try:
            done = controller.on_controller(kube.value, ("sinfo",))
            sinfo = "" if done.code else done.stdout
        except NpaError:
            sinfo = ""
    return Seen(found, assess.assess(status.observation(found, expected)), sinfo)


def _nodes(groups: tuple[NodeGroup, ...]) -> Iterator[str]:
    """Yield the workers that node groups stand for, numbered through each pool."""
    counts = Counter[str]()
    for each in groups:
        for _ in range(each.nodes or 0):
            yield f"{each.pool}-{counts[each.pool]}"
            counts[each.pool] += 1
