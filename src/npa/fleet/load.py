"""A fleet's file to a Fleet that keeps every rule, its clusters' too; else all that is wrong, at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from npa.errors import Problem, SpecError
from npa.fleet import backends, model
from npa.fleet.backends import Backend
from npa.fleet.errors import BackendCapabilityError, FleetSpecError
from npa.fleet.member import Claim, Fleet, Member, Project
from npa.fleet.merge import Part, overlay
from npa.fleet.model import ClusterSpec, FleetSpec, ProjectSpec
from npa.spec import document
from npa.spec import load as specs
from npa.spec.document import Document, Place

DEFAULT_TARGET = "nebius"


def parse(text: str | bytes, source: str = "") -> Fleet:
    """Return the fleet that a YAML text says; raise FleetSpecError with every problem, in its order."""
    try:
        decoded = specs.decode_bytes(text, source) if isinstance(text, bytes) else text
    except SpecError as error:
        raise FleetSpecError(error.problems) from None
    return _accept(document.read(decoded, source), source)


def from_mapping(mapping: Mapping[str, Any]) -> Fleet:
    """Return the fleet that a mapping in memory says; raise FleetSpecError with every problem."""
    return _accept(document.take(mapping), "")


def _accept(read: Document, source: str) -> Fleet:
    payloads = _take_payloads(read.value)
    spec, problems = specs.judge(read, source, FleetSpec, model.broken)
    if spec is None:
        raise FleetSpecError(problems)
    reader = _Reader(spec, payloads, read, source, problems)
    fleet = reader.fleet()
    if reader.problems:
        raise FleetSpecError(specs.in_order(reader.problems))
    return fleet


def _take_payloads(value: Any) -> dict[str, dict[str, Any]]:
    """Take out the parts that are other backends' own, by the path that has them: only they can read them."""
    taken: dict[str, dict[str, Any]] = {}
    found = [("defaults", each) for each in [_get(value, "defaults")] if isinstance(each, dict)]
    for number, project in enumerate(_list(_get(value, "projects"))):
        for index, cluster in enumerate(_list(_get(project, "clusters"))):
            if isinstance(cluster, dict):
                found.append((f"projects[{number}].clusters[{index}]", cluster))
    names = {each.get("backend") for _, each in found} - {"", None, backends.BUILT_IN}
    for path, each in found:
        for name in [key for key in each if key in names and isinstance(key, str)]:
            if isinstance(each[name], dict):
                taken[f"{path}.{name}"] = each.pop(name)
    return taken


class _Reader:
    """Reads the clusters of a fleet's file, each by its backend."""

    def __init__(
        self,
        spec: FleetSpec,
        payloads: Mapping[str, dict[str, Any]],
        read: Document,
        source: str,
        problems: list[Problem],
    ) -> None:
        self._spec, self._payloads, self._source = spec, payloads, source
        self._places: dict[str, Place] = read.places
        self.problems = list(problems)
        self._told = frozenset(each.at for each in problems)
        self._backends: dict[str, Backend | None] = {}

    def fleet(self) -> Fleet:
        """Return the fleet with every member that could be read; what is wrong goes into `problems`."""
        projects, members = [], []
        for number, each in enumerate(self._spec.projects):
            project = self._project(each)
            projects.append(project)
            for index in range(model.counted(each)):
                member = self._member(number, each, index, project)
                members += [member] if member else []
        return Fleet(self._spec.name, tuple(projects), tuple(members))

    def _project(self, each: ProjectSpec) -> Project:
        spec, name = self._spec, each.written
        display = name if name.startswith(spec.project_prefix) else spec.project_prefix + name
        return Project(
            key=each.key,
            display_name=display,
            project_id=each.project_id.strip(),
            region=(each.region or spec.region).strip(),
            tenant_id=spec.tenant_id.strip(),
            subnet_id=each.subnet_id.strip(),
        )

    def _member(self, number: int, each: ProjectSpec, index: int, project: Project) -> Member | None:
        defaults = self._spec.defaults
        written = bool(each.clusters)
        cluster = each.clusters[index] if written else ClusterSpec()
        at = f"projects[{number}].clusters[{index}]" if written else f"projects[{number}]"
        backend = self._backend(cluster.backend or defaults.backend or model.DEFAULT_BACKEND, at, cluster)
        if backend is None or {f"{at}.{backend.name}", f"defaults.{backend.name}"} & self._told:
            return None
        target = cluster.target or each.target or defaults.target or self._spec.target or DEFAULT_TARGET
        claim = Claim(self._spec.name, project.key, model.named(each, index), backend.name, target)
        part = self._part(cluster, backend.name, at, written)
        part.said = {
            "name": f"{at}.name" if cluster.name else at,
            "region": f"projects[{number}].region" if each.region else "region",
            "project_id": f"projects[{number}].project_id",
            "subnet_id": f"projects[{number}].subnet_id",
        }
        try:
            spec = backend.parse(claim, project, part, self._places, self._source)
        except SpecError as error:
            located = (part.located(problem) for problem in error.problems)
            self.problems += [problem for problem in located if problem.at not in self._told]
            return None
        return Member(claim, project, spec)

    def _part(self, cluster: ClusterSpec, name: str, at: str, written: bool) -> Part:
        base_at = f"defaults.{name}"
        over_at = f"{at}.{name}" if written else base_at
        if name == backends.BUILT_IN:
            base, over = self._spec.defaults.soperator, cluster.soperator
        else:
            base, over = self._payloads.get(base_at, {}), self._payloads.get(over_at, {})
        root = over_at if over else at
        return overlay(base, over, base_at, over_at, root)

    def _backend(self, name: str, at: str, cluster: ClusterSpec) -> Backend | None:
        if name not in self._backends:
            try:
                self._backends[name] = backends.find(name)
            except BackendCapabilityError as error:
                self._backends[name] = None
                path = f"{at}.backend" if cluster.backend else "defaults.backend"
                place = self._places.get(path)
                line, column = (place.line, place.column) if place else (0, 0)
                self.problems.append(Problem(line, column, path, str(error), error.hint, self._source))
        return self._backends[name]


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
