"""A backend whose clusters are entries of a mapping, and a process that dies at any of its writes."""

# ruff: noqa: ARG002 - a backend is given more than this one looks at

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from npa.api.identity import Identity
from npa.errors import NotFoundError, NpaError, ProviderNotFoundError
from npa.fleet import store
from npa.fleet.backends import Condition, Heard, Lack, Options, Planned
from npa.fleet.load import from_mapping
from npa.fleet.member import Claim, Fleet, Member, Project
from npa.fleet.merge import Part
from npa.fleet.outside import Outside
from npa.plan.model import Event
from npa.slurm.lookup import Absent, Found, Lookup, Unknown
from npa.spec.document import Place


class Killed(BaseException):
    """The process is gone: nothing after this happens."""


class Life:
    """How many writes a process has left; whatever it would do after the last one kills it again."""

    def __init__(self, writes: int | None = None) -> None:
        self.left, self.done = writes, 0
        self._one = threading.RLock()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Do one write in the block, which no thread is in the middle of when the process dies."""
        with self._one:
            self.before()
            yield
            self.after()

    def before(self) -> None:
        """Die where no write is left."""
        if self.left is not None and self.done >= self.left:
            raise Killed

    def after(self) -> None:
        """Count a write, and die right behind the last one."""
        self.done += 1
        self.before()


@dataclass
class World:
    """What is there, whoever asks: clusters by name, networks and subnets by id, the time."""

    clusters: dict[str, Identity] = field(default_factory=dict)
    fails: dict[str, Exception] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)
    networks: dict[str, tuple[str, str]] = field(default_factory=dict)  # id -> (project, name)
    subnets: dict[str, tuple[str, str]] = field(default_factory=dict)
    seconds: int = 0
    made: int = 0
    lacks: tuple[Lack, ...] = ()
    work: Callable[[str, Heard], None] = lambda *_: None

    def now(self) -> str:
        """Return the next second."""
        self.seconds += 1
        return (
            f"2026-01-01T{self.seconds // 3600:02}:{self.seconds // 60 % 60:02}:{self.seconds % 60:02}+00:00"
        )

    def key(self, what: str) -> str:
        """Return an id that nothing had before."""
        self.made += 1
        return f"{what}-{self.made}"


class FakeBackend:
    """Makes and ends clusters of a world, each in two writes."""

    name = "soperator"

    def __init__(self, world: World, life: Life) -> None:
        self._world, self._life = world, life

    def parse(self, claim: Claim, project: Project, part: Part, places: dict[str, Place], source: str) -> Any:
        """Take anything."""
        return part.value

    def preflight(self, members: Sequence[Member], options: Options) -> tuple[Lack, ...]:
        """Return what the test says is lacking."""
        return self._world.lacks

    def moment(self) -> AbstractContextManager[None]:
        """Share nothing."""
        return nullcontext()

    def identity(self, claim: Claim) -> Lookup[Identity]:
        """Look into the world."""
        self._life.before()
        if claim.cluster in self._world.unreadable:
            return Unknown("no answer")
        found = self._world.clusters.get(claim.cluster)
        return Found(found) if found else Absent()

    def plan(self, member: Member, options: Options) -> Planned:
        """Return one step where there is nothing."""
        steps = 0 if self._is_whole(member.claim.cluster) else 1
        return Planned({"steps": steps}, ("make it",), steps)

    def deploy(self, member: Member, shown: Planned | None, options: Options, heard: Heard) -> Condition:
        """Begin a cluster, then finish it."""
        name = member.claim.cluster
        heard(Event("started", "make", "make it"))
        if name not in self._world.clusters:
            self._write(lambda: self._world.clusters.update({name: Identity()}))
        self._world.work(name, heard)
        if name in self._world.fails:
            raise self._world.fails[name]
        if not self._is_whole(name):
            made = Identity(self._world.key("id"), self._world.now())
            self._write(lambda: self._world.clusters.update({name: made}))
        return Condition(True, "healthy")

    def status(self, claim: Claim) -> Condition:
        """Say whether it is finished."""
        if claim.cluster not in self._world.clusters:
            raise NotFoundError("not there")
        whole = self._is_whole(claim.cluster)
        return Condition(whole, "healthy" if whole else "degraded")

    def plan_destroy(self, claim: Claim, options: Options) -> Planned:
        """Return one step."""
        return Planned({"steps": 1}, ("end it",), 1)

    def destroy(self, claim: Claim, shown: Planned | None, options: Options, heard: Heard) -> Condition:
        """End a cluster."""
        heard(Event("started", "end", "end it"))
        if claim.cluster in self._world.fails:
            raise self._world.fails[claim.cluster]
        self._write(lambda: self._world.clusters.pop(claim.cluster))
        return Condition(True, "absent")

    def _is_whole(self, name: str) -> bool:
        return bool(self._world.clusters.get(name, Identity()).value)

    def _write(self, do: Callable[[], object]) -> None:
        with self._life.writing():
            do()


class FakeNetworks:
    """Networks of a world, each made in one write that nobody may hear of."""

    def __init__(self, world: World, life: Life) -> None:
        self._world, self._life = world, life

    def subnets_of(self, project_id: str) -> tuple[tuple[str, str], ...]:
        return self._of(self._world.subnets, project_id)

    def networks_of(self, project_id: str) -> tuple[tuple[str, str], ...]:
        return self._of(self._world.networks, project_id)

    def make_network(self, project_id: str, name: str) -> str:
        return self._make(self._world.networks, "network", project_id, name)

    def make_subnet(self, project_id: str, network_id: str, name: str) -> str:
        assert network_id in self._world.networks, "a subnet is in a network"
        return self._make(self._world.subnets, "subnet", project_id, name)

    def delete_subnet(self, resource_id: str) -> None:
        self._delete(self._world.subnets, resource_id)

    def delete_network(self, resource_id: str) -> None:
        if self._world.subnets:
            raise NpaError("a network with subnets cannot be deleted")
        self._delete(self._world.networks, resource_id)

    def _of(self, things: dict[str, tuple[str, str]], project_id: str) -> tuple[tuple[str, str], ...]:
        self._life.before()
        return tuple((key, name) for key, (owner, name) in things.items() if owner == project_id)

    def _make(self, things: dict[str, tuple[str, str]], what: str, project_id: str, name: str) -> str:
        with self._life.writing():
            key = self._world.key(what)
            things[key] = (project_id, name)
        return key

    def _delete(self, things: dict[str, tuple[str, str]], key: str) -> None:
        with self._life.writing():
            if key not in things:
                raise ProviderNotFoundError("delete", resource=key)
            del things[key]


def outside(base: Path, world: World, life: Life | None = None) -> Outside:
    """Return what verbs use, over a world and a process's life."""
    process = life or Life()
    backend = FakeBackend(world, process)

    def write(path: Path, text: str) -> None:
        with process.writing():
            store.write(path, text)

    def remove(path: Path) -> None:
        with process.writing():
            store.remove(path)

    @contextmanager
    def networks() -> Iterator[FakeNetworks]:
        yield FakeNetworks(world, process)

    return Outside(base, lambda _: backend, networks, world.now, write, remove)


def fleet(*names: str, name: str = "lab", project_id: str = "", **more: Any) -> Fleet:
    """Return a fleet of clusters in one project."""
    clusters = [{"name": each} for each in names]
    team = {"name": "team", "project_id": project_id, "clusters": clusters}
    pools = {"soperator": {"workers": [{"name": "cpu", "preset": "4vcpu-16gb"}]}}
    spec = {"target": "local", "defaults": pools, "projects": [team]}
    return from_mapping({"name": name, **spec, **more})
