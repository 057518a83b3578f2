"""What a fleet consists of once its file is understood: which clusters, and whose."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Claim:
    """Which cluster: what a record, a backend and a person know it by."""

    fleet: str
    project: str  # the project's key
    cluster: str  # unique in the fleet, and on its target
    backend: str
    target: str

    @property
    def label(self) -> str:
        """The cluster as people read it."""
        return f"{self.project}/{self.cluster}"


@dataclass(frozen=True, slots=True)
class Project:
    """Where clusters live at the provider; what is empty is looked up there."""

    key: str
    display_name: str
    project_id: str = ""
    region: str = ""
    tenant_id: str = ""
    subnet_id: str = ""


@dataclass(frozen=True, slots=True)
class Member:
    """One cluster of a fleet with what it is to be."""

    claim: Claim
    project: Project
    spec: Any = field(repr=False)  # what the backend made of its part of the file


@dataclass(frozen=True, slots=True)
class Fleet:
    """A fleet as its file says."""

    name: str
    projects: tuple[Project, ...]
    members: tuple[Member, ...]
