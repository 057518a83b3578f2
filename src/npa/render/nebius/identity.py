"""Whose cluster it is: region, tenant, project and subnet, from the spec, the sidecar and the configuration.

An installation's sidecar is authoritative; everything that contradicts it is refused, all at once. Nothing
in the environment ever moves an existing installation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field

from npa.errors import IdentityError
from npa.render.nebius.sidecar import Sidecar
from npa.spec.model import NAME_PATTERN, SoperatorSpec

FIELDS = ("region", "tenant_id", "project_id", "subnet_id")
_PROJECT_FIELDS = FIELDS[:3]
_DEFAULT = "default"
_NAME_MAX = 32
_EXAMPLE = "example"  # the recipe's own tracked installation


@dataclass(frozen=True, slots=True)
class Identity:
    """Where a cluster lives at the provider."""

    region: str = ""
    tenant_id: str = ""
    project_id: str = ""
    subnet_id: str = ""  # empty in a new installation whose spec names none: to be looked up


@dataclass(frozen=True, slots=True)
class Project:
    """One project of the configuration; what it leaves out is empty."""

    alias: str
    region: str = ""
    tenant_id: str = ""
    project_id: str = ""


@dataclass(frozen=True, slots=True)
class Config:
    """`config.yaml`: the projects somebody works in."""

    projects: Mapping[str, Project] = field(default_factory=dict)
    default_project: str = ""

    def named(self, alias: str) -> Project:
        """Return a project by its alias; raises IdentityError for one that is not there."""
        found = self.projects.get(alias)
        if found is None:
            known = ", ".join(sorted(self.projects)) or "none"
            raise IdentityError(
                f"no project {alias!r} in the configuration; there: {known}",
                hint="name one of these, or add it below `projects` in config.yaml",
            )
        return found

    @property
    def default(self) -> Project | None:
        """The project that is meant where none is named: the default, else the only one."""
        if self.default_project:
            return self.named(self.default_project)
        if _DEFAULT in self.projects:
            return self.projects[_DEFAULT]
        return next(iter(self.projects.values())) if len(self.projects) == 1 else None


def require_name(name: str) -> str:
    """Return the name of a cluster; raises IdentityError for what the recipe does not take."""
    if not re.fullmatch(NAME_PATTERN, name) or len(name) > _NAME_MAX or name == _EXAMPLE:
        raise IdentityError(
            f"{name[:80]!r} is not a cluster's name",
            hint="2 to 32 lower-case letters, digits, hyphens; a letter first, no hyphen last; not `example`",
        )
    return name


def parse_config(document: object) -> Config:
    """Turn the decoded configuration into a value; raises IdentityError with everything wrong with it."""
    if document is None:
        return Config()
    if not isinstance(document, Mapping):
        raise IdentityError("the configuration is not a mapping", hint="see `projects` in the documentation")
    faults: list[str] = []
    listed = document.get("projects") or {}
    if not isinstance(listed, Mapping):
        faults.append("projects is not a mapping of aliases")
        listed = {}
    projects = {str(alias): _project(str(alias), value, faults) for alias, value in listed.items()}
    if not projects and any(document.get(each) for each in _PROJECT_FIELDS):
        projects[_DEFAULT] = _project(_DEFAULT, document, faults)  # the older, flat layout
    default = document.get("default_project")
    if default is not None and not isinstance(default, str):
        faults.append("default_project is not text")
    if faults:
        raise IdentityError(*faults, hint="correct config.yaml")
    return Config(projects, default or "")


def _project(alias: str, value: object, faults: list[str]) -> Project:
    if not isinstance(value, Mapping):
        faults.append(f"projects.{alias} is not a mapping")
        return Project(alias)
    found: dict[str, str] = {}
    for each in _PROJECT_FIELDS:
        text = value.get(each)
        if text is not None and not isinstance(text, str):
            faults.append(f"projects.{alias}.{each} is not text")
        else:
            found[each] = (text or "").strip()
    return Project(alias, **found)


def decide(
    spec: SoperatorSpec, config: Config, *, sidecar: Sidecar | None = None, alias: str = ""
) -> Identity:
    """Return whose cluster it is. `alias` is the project that the user named.

    Raises IdentityError with every contradiction, or with everything that is missing.
    """
    named = config.named(alias) if alias else None
    if sidecar is not None:
        return _existing(spec, sidecar, named)
    asked = _asked(spec)
    conflicts = tuple(_conflicts(asked, named)) if named else ()
    if conflicts:
        raise IdentityError(*conflicts, hint="correct the spec, or name another project")
    filler = named or _ambient(asked, config)
    decided = {**(_values(filler) if filler else {}), **{key: text for key, text in asked.items() if text}}
    missing = [each for each in _PROJECT_FIELDS if not decided.get(each)]
    if missing:
        raise IdentityError(
            *(f"{each} is not known" for each in missing),
            hint="set it in the spec, or in a project of ~/.npa/config.yaml named with `--project`",
        )
    return Identity(**{each: decided.get(each, "") for each in FIELDS})


def for_destroy(sidecar: Sidecar, config: Config, *, alias: str = "") -> Identity:
    """Return the identity to destroy with. A named project fills gaps of a sidecar without a version only."""
    named = config.named(alias) if alias else None
    stored = _stored(sidecar)
    conflicts = tuple(_conflicts(stored, named)) if named else ()
    if conflicts:
        raise IdentityError(*conflicts, hint="leave out `--project`: the installation knows its own")
    if named and not sidecar.versioned:
        stored = {**stored, **{key: text for key, text in _values(named).items() if not stored[key]}}
    _require_whole({each: stored[each] for each in _PROJECT_FIELDS})
    if sidecar.versioned:
        _require_whole(stored)
    return Identity(**stored)


def _existing(spec: SoperatorSpec, sidecar: Sidecar, named: Project | None) -> Identity:
    stored = _stored(sidecar)
    _require_whole(stored)
    if sidecar.cluster_name and sidecar.cluster_name != spec.name:
        raise IdentityError(
            f"the installation is of {sidecar.cluster_name}, not of {spec.name}",
            hint="deploy under a name of its own",
        )
    conflicts = [
        f"{key} is {stored[key]} in the installation and {asked} in the spec"
        for key, asked in _asked(spec).items()
        if asked and asked != stored[key]
    ]
    if named:
        conflicts.extend(_conflicts(stored, named, "the installation"))
    if conflicts:
        raise IdentityError(*conflicts, hint="an installation stays where it is: deploy under another name")
    return Identity(**stored)


def _require_whole(stored: Mapping[str, str]) -> None:
    missing = [each for each, text in stored.items() if not text]
    if missing:
        raise IdentityError(
            *(f"the installation's record lacks {each}" for each in missing),
            hint="restore .npa-soperator-env.json from a backup; nothing else says where the cluster is",
        )


def _ambient(asked: Mapping[str, str], config: Config) -> Project | None:
    """Return the project that may fill what the spec leaves open: never one that the spec contradicts."""
    default = config.default
    if default and not any(_conflicts(asked, default)):
        return default
    same = [
        each
        for each in config.projects.values()
        if each.project_id and each.project_id == asked["project_id"]
    ]
    return same[0] if len(same) == 1 and not any(_conflicts(asked, same[0])) else None


def _conflicts(stored: Mapping[str, str], project: Project, where: str = "the spec") -> Iterator[str]:
    for key, text in _values(project).items():
        if text and stored[key] and text != stored[key]:
            yield f"{key} is {stored[key]} in {where} and {text} in project {project.alias!r}"


def _asked(spec: SoperatorSpec) -> dict[str, str]:
    return {each: str(getattr(spec, each)).strip() for each in FIELDS}


def _stored(sidecar: Sidecar) -> dict[str, str]:
    return {each: str(getattr(sidecar, each)).strip() for each in FIELDS}


def _values(project: Project) -> dict[str, str]:
    values = asdict(project)
    return {each: values[each] for each in _PROJECT_FIELDS}
