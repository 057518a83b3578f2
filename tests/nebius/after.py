"""Fakes of what the steps after an apply talk to: they can lag, fail and lie."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from npa.errors import KubeError, NpaError, ProviderNotFoundError
from npa.render.objects import CRD, POD, Kind, Object, name_of
from npa.slurm.lookup import Absent, Found, Lookup, Unknown
from npa.targets.nebius import ports
from npa.tools import kube as tools_kube
from npa.tools import nebius as tools_nebius
from npa.tools import terraform as tools_terraform
from npa.tools.kube import Executed
from npa.tools.nebius_records import Kind as ProviderKind
from npa.tools.nebius_records import Kubernetes, Resource, Token
from npa.tools.terraform import Saved

CLUSTER = "mk8scluster-1"
PROJECT = "project-1"
NAME = "soperator-lab"


class FakeClock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: Callable[[], None] = lambda: None

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += max(seconds, 0.001)
        self.slept()


class FakeKube:
    """Objects by kind and name; every command in a pod is answered by `answers`."""

    def __init__(self, answers: Callable[[str, Sequence[str]], Executed] | None = None) -> None:
        self.cluster_id = CLUSTER
        self.objects: dict[tuple[str, str, str], Object] = {}
        self.answers = answers
        self.ran: list[tuple[str, ...]] = []
        self.sticky = False  # deleted objects stay
        self.unread: set[str] = set()  # kinds that cannot be listed

    def get(self, kind: Kind, name: str, namespace: str = "") -> Lookup[Object]:
        found = self.objects.get((kind.plural, namespace, name))
        return Absent() if found is None else Found(found)

    def list(self, kind: Kind, namespace: str = "") -> Lookup[tuple[Object, ...]]:
        if kind.plural in self.unread:
            return Unknown(f"{kind.plural} could not be read")
        return Found(
            tuple(
                found
                for (plural, where, _), found in self.objects.items()
                if plural == kind.plural and namespace in ("", where)
            )
        )

    def put(self, kind: Kind, name: str, namespace: str = "", **rest: Any) -> None:
        self.objects[kind.plural, namespace, name] = kind.object(name, namespace, **rest)

    def pod(self, name: str, component: str, *containers: str, phase: str = "Running") -> None:
        """Have a pod of the cluster's own daemons."""
        self.put(
            POD,
            name,
            "soperator",
            spec={"containers": [{"name": each} for each in containers]},
            status={"phase": phase},
        )
        made: Any = self.objects[POD.plural, "soperator", name]
        made["metadata"]["labels"] = {"app.kubernetes.io/component": component}

    def apply(self, wanted: Object) -> Object:
        kind = f"{str(wanted['kind']).lower()}s"
        if kind == CRD.plural:  # the API serves what is defined
            wanted = {**wanted, "status": {"conditions": [{"type": "Established", "status": "True"}]}}
        self.objects[kind, wanted["metadata"].get("namespace", ""), name_of(wanted)] = wanted
        return wanted

    def patch(
        self, kind: Kind, name: str, namespace: str, body: object, how: Literal["json", "merge"] = "merge"
    ) -> Object:
        raise KubeError(f"no patches here: {kind.kind} {namespace}/{name} {how} {body}")

    def delete(self, kind: Kind, name: str, namespace: str = "") -> bool:
        key = (kind.plural, namespace, name)
        self.ran.append(("delete", namespace, name))
        return key in self.objects if self.sticky else self.objects.pop(key, None) is not None

    def exec(
        self, pod: str, namespace: str, argv: Sequence[str], *, container: str = "", timeout: float = 30.0
    ) -> Executed:
        assert namespace == "soperator"
        assert timeout > 0
        assert pod != "controller-0" or container == "slurmctld"
        self.ran.append(tuple(argv))
        assert self.answers
        return self.answers(pod, argv)


class FakeProvider:
    """Things by id. A deletion takes `lag` lookups to show; `fails` are raised before anything else."""

    def __init__(self, *auxiliaries: tuple[ProviderKind, str]) -> None:
        self.things: dict[str, ProviderKind] = {
            CLUSTER: "cluster",
            **{id_: kind for kind, id_ in auxiliaries},
        }
        self.name, self.project = NAME, PROJECT
        self.called: dict[str, str] = {}  # names by id
        self.lag = 0
        self.dying: dict[str, int] = {}
        self.deleted: list[str] = []
        self.fails: dict[str, list[NpaError]] = {}  # `look ID` and `delete ID`
        self.denies: NpaError | None = None  # of every lookup

    def cluster(self, resource_id: str) -> Kubernetes:
        self._look(resource_id)
        return Kubernetes(
            resource_id, self.name, self.project, "RUNNING", "1.34", "https://127.0.0.1:1", "", "CA"
        )

    def owned(self, kind: ProviderKind, resource_id: str) -> Resource:
        self._look(resource_id)
        assert self.things[resource_id] == kind
        return Resource(kind, resource_id, self.called.get(resource_id, "x"), self.project)

    def all_owned(self, kind: ProviderKind, project: str) -> tuple[Resource, ...]:
        self._fail(f"list {kind}")
        return tuple(
            Resource(kind, each, self.called.get(each, "x"), project)
            for each, one in self.things.items()
            if one == kind
        )

    def delete(self, kind: ProviderKind, resource_id: str) -> None:
        self._fail(f"delete {resource_id}")
        assert self.things[resource_id] == kind
        self.deleted.append(resource_id)
        self.dying[resource_id] = self.lag

    def token(self) -> Token:
        return Token("t")

    def _look(self, resource_id: str) -> None:
        if self.denies:
            raise self.denies
        self._fail(f"look {resource_id}")
        if resource_id in self.dying:
            self.dying[resource_id] -= 1
            if self.dying[resource_id] < 0:
                self.things.pop(resource_id, None)
        if resource_id not in self.things:
            raise ProviderNotFoundError("read", resource=resource_id)

    def _fail(self, what: str) -> None:
        if self.fails.get(what):
            raise self.fails[what].pop(0)


class FakeTerraform:
    """A state, and a destroy plan of everything in it."""

    def __init__(self, provider: FakeProvider, state: Mapping[str, Any]) -> None:
        self.provider, self.state = provider, state
        self.calls: list[str] = []
        self.saved: Saved | None = None
        self.fails: dict[str, NpaError] = {}
        self.extra: list[dict[str, Any]] = []

    def init(self) -> None:
        self._call("init")

    def state_pull(self) -> Mapping[str, Any]:
        self._call("state_pull")
        return self.state

    @contextmanager
    def planned(self, *, destroy: bool = False, timeout: float | None = None) -> Iterator[Saved]:
        assert destroy
        assert timeout
        self._call("plan")
        self.saved = Saved(Path("plan"), "digest", 2, False, True)
        yield self.saved
        self.saved = None

    def show(self, saved: Saved) -> Any:
        assert saved == self.saved
        self._call("show")
        changes = [
            {
                "address": f"{row['type']}.x",
                "type": row["type"],
                "change": {"actions": ["delete"], "before": each["attributes"]},
            }
            for row in self.state.get("resources", [])
            for each in row["instances"]
        ]
        return {"errored": False, "resource_changes": [*changes, *self.extra]}

    def apply(self, saved: Saved, *, timeout: float | None = None) -> None:
        assert saved == self.saved
        assert timeout
        self._call("apply")
        for row in self.state.get("resources", []):
            for each in row["instances"]:
                self.provider.things.pop(each["attributes"]["id"], None)
        self.state = {"serial": 9, "resources": []}

    def _call(self, name: str) -> None:
        self.calls.append(name)
        if name in self.fails:
            raise self.fails[name]


def managed(kind: str, id_: str, name: str, **rest: Any) -> dict[str, Any]:
    """Return a resource as a state has it."""
    attributes = {"id": id_, "name": name, **rest}
    return {"mode": "managed", "type": kind, "name": "x", "instances": [{"attributes": attributes}]}


def fits(
    kube: tools_kube.Kube, provider: tools_nebius.Nebius, terraform: tools_terraform.Terraform
) -> tuple[ports.KubeApi, ports.Provider, ports.Terraform]:
    """Have the type checker say that the real tools are what the steps ask for."""
    return kube, provider, terraform
