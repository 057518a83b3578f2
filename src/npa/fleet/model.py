"""The fleet's file as typed, frozen values, and what holds between its fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field

from npa.spec.base import Listed, Model, says
from npa.spec.finding import Finding
from npa.spec.model import NAME_PATTERN, TargetName
from npa.spec.rules import words

API_VERSION = "npa.fleet/v0.0.1"
DEFAULT_BACKEND = "soperator"
FLEET_LONGEST = 63  # a DNS label
DEFAULT_CLUSTER = "cluster"

_STYLE = "use lower-case letters, digits and hyphens, a letter first and no hyphen last"
_BACKEND = says("what makes the clusters; empty: soperator", "`soperator`, or an installed backend's name")
_TARGET = says("where clusters run; null or absent: decided one level up, else nebius")
_PAYLOAD = says(
    "a soperator spec without what the fleet owns",
    "no name, target, region, tenant_id, project_id or subnet_id: the fleet says these",
)


class DefaultsSpec(Model):
    """What every cluster has unless it says otherwise."""

    backend: Annotated[str, _BACKEND] = ""
    target: Annotated[TargetName | None, _TARGET] = None
    soperator: Annotated[dict[str, Any], _PAYLOAD] = Field(default_factory=dict)


class ClusterSpec(Model):
    """One cluster; `defaults` fill what it leaves out, mapping by mapping, lists as a whole."""

    name: Annotated[
        str,
        says(
            "name of the cluster; empty: `cluster`, or `cluster-1` and so on where a project has several",
            "unique in the whole fleet; as `name` of a soperator spec",
        ),
    ] = ""
    backend: Annotated[str, _BACKEND] = ""
    target: Annotated[TargetName | None, _TARGET] = None
    soperator: Annotated[dict[str, Any], _PAYLOAD] = Field(default_factory=dict)


class ProjectSpec(Model):
    """Clusters that belong together: at the provider one project with one network."""

    name: Annotated[str, says("name of the project", "this or project_id")] = ""
    project_id: Annotated[
        str, says("project of the provider; empty: the one of this name in ~/.npa/config.yaml")
    ] = ""
    region: Annotated[str, says("region of the provider; empty: the fleet's")] = ""
    subnet_id: Annotated[str, says("subnet of the provider; empty: one that is there, else one is made")] = ""
    target: Annotated[TargetName | None, _TARGET] = None
    clusters: Annotated[
        tuple[ClusterSpec, ...], Listed, says("its clusters; absent: one of the defaults alone")
    ] = ()

    @property
    def written(self) -> str:
        """The name as it was written, or the id in its place."""
        return self.name or self.project_id

    @property
    def key(self) -> str:
        """The project's name on disk and in selections."""
        return slug(self.written)


class FleetSpec(Model):
    """Many clusters as the user asked for them: the whole file."""

    apiVersion: Annotated[  # noqa: N815 - the key in the file
        str, says("version of this format", f"`{API_VERSION}`", const=API_VERSION)
    ] = API_VERSION
    name: Annotated[
        str,
        says(
            "name of the fleet",
            "2 to 63 lower-case letters, digits and hyphens, a letter first, no hyphen last",
            pattern=NAME_PATTERN,
            maxLength=FLEET_LONGEST,
        ),
    ]
    target: Annotated[TargetName | None, _TARGET] = None
    tenant_id: Annotated[str, says("tenant of the provider; empty: looked up at deploy")] = ""
    region: Annotated[str, says("region of the provider; empty: looked up at deploy")] = ""
    project_prefix: Annotated[str, says("begins the projects' names where they do not begin so already")] = ""
    defaults: Annotated[DefaultsSpec, says("what every cluster has unless it says otherwise")] = (
        DefaultsSpec()
    )
    projects: Annotated[
        tuple[ProjectSpec, ...], Listed, says("projects with their clusters", "at least one", minItems=1)
    ]


def slug(text: str) -> str:
    """Return a word for file names and selections."""
    return re.sub(r"[^a-z0-9]+", "-", text.strip().lower()).strip("-")


def named(project: ProjectSpec, index: int) -> str:
    """Return the name of a project's cluster, its own or the one that it gets."""
    given = project.clusters[index].name if project.clusters else ""
    if given:
        return given
    return DEFAULT_CLUSTER if len(project.clusters) < 2 else f"{DEFAULT_CLUSTER}-{index + 1}"


def version_is_ours(spec: FleetSpec) -> Iterator[Finding]:
    """Another version may mean something else by the same words."""
    if spec.apiVersion != API_VERSION:
        yield Finding(
            "apiVersion",
            f"{words.shown(spec.apiVersion)} is not read here",
            f"write `{API_VERSION}`, or remove the line",
        )


def fleet_name_is_a_label(spec: FleetSpec) -> Iterator[Finding]:
    """The name is a folder, and begins names at the provider."""
    fault = words.fault(spec.name, NAME_PATTERN, "a-z0-9-", FLEET_LONGEST)
    if fault:
        plain = slug(spec.name)
        legal = re.fullmatch(NAME_PATTERN, plain) and len(plain) <= FLEET_LONGEST
        yield Finding("name", fault, f"write `{plain}`" if legal else _STYLE)


def there_are_projects(spec: FleetSpec) -> Iterator[Finding]:
    """A fleet without any would be destroyed by its first deploy, or do nothing: neither is meant."""
    if not spec.projects:
        yield Finding("projects", "is empty", "add a project with its clusters")


def projects_have_names(spec: FleetSpec) -> Iterator[Finding]:
    """A project is a folder, and what `--project` selects."""
    first: dict[str, int] = {}
    for index, project in enumerate(spec.projects):
        at = f"projects[{index}]"
        if not project.key:
            yield Finding(at, "has no name", "add `name`", (f"{at}.name", f"{at}.project_id"))
        elif project.key in first:
            yield Finding(
                f"{at}.{'name' if project.name else 'project_id'}",
                f"{words.shown(project.written)} is the same as projects[{first[project.key]}]",
                "give each project its own name, or put its clusters together",
            )
        first.setdefault(project.key, index)


def cluster_names_are_unique(spec: FleetSpec) -> Iterator[Finding]:
    """A name is a cluster's identity on its target, whatever project it is in."""
    first: dict[str, str] = {}
    for number, project in enumerate(spec.projects):
        for index in range(counted(project)):
            name = named(project, index)
            at = f"projects[{number}].clusters[{index}].name" if project.clusters else f"projects[{number}]"
            if name in first:
                yield Finding(
                    at,
                    f"{words.shown(name)} is the name of {first[name]} too",
                    "give each cluster its own name",
                )
            first.setdefault(name, at.removesuffix(".name"))


def _has_clusters(project: ProjectSpec) -> bool:
    """Say whether there are any: absence means one, an empty list none."""
    return bool(project.clusters) or "clusters" not in project.model_fields_set


RULES = (
    version_is_ours,
    fleet_name_is_a_label,
    there_are_projects,
    projects_have_names,
    cluster_names_are_unique,
)


def broken(spec: FleetSpec) -> Iterator[Finding]:
    """Yield everything that the fleet's own part breaks."""
    for rule in RULES:
        yield from rule(spec)


def counted(project: ProjectSpec) -> int:
    """Return how many clusters a project has."""
    return len(project.clusters) if project.clusters else int(_has_clusters(project))
