"""The spec's part on the machines around the workers."""

from __future__ import annotations

from typing import Annotated

from npa.spec import catalog
from npa.spec.base import Model, says


class SystemSpec(Model):
    """Nodes that run Kubernetes' and Slurm's own services."""

    min_size: Annotated[int, says("nodes to start with", "at least 3", minimum=catalog.SYSTEM_MIN_SIZE)] = (
        catalog.SYSTEM_MIN_SIZE
    )
    max_size: Annotated[
        int | None,
        says("nodes to grow to; null or absent: 24, or min_size where that is more", "at least min_size"),
    ] = None
    preset: Annotated[
        str | None,
        says(
            "machine shape; null or absent: chosen from the number of workers",
            "a cpu-d3 preset that is enough for the sizing tier",
        ),
    ] = None

    @property
    def effective_max_size(self) -> int:
        """How far the system nodes may grow once absence is decided."""
        return max(self.min_size, catalog.SYSTEM_DEFAULT_MAX_SIZE) if self.max_size is None else self.max_size


class ControllerSpec(Model):
    """The node of slurmctld."""

    size: Annotated[
        int,
        says(
            "controllers; a second one stands by",
            "1, or 2 where `target` is local or kubernetes",
            enum=[1, 2],
        ),
    ] = 1
    preset: Annotated[
        str | None,
        says(
            "machine shape; null or absent: chosen from the number of workers",
            "a cpu-d3 preset that is enough for the sizing tier",
        ),
    ] = None


class AccountingSpec(Model):
    """The node of slurmdbd and its database."""

    preset: Annotated[
        str | None,
        says(
            "machine shape; null or absent: chosen from the number of workers",
            "a cpu-d3 preset that is enough for the sizing tier; read only with `accounting: true`",
        ),
    ] = None


class LoginSpec(Model):
    """The node where people log in."""

    preset: Annotated[str, says("machine shape", "a cpu-d3 preset of at least 16 vCPUs")] = "16vcpu-64gb"


class ControlPlaneSpec(Model):
    """The machines around the workers."""

    system: Annotated[SystemSpec, says("nodes of Kubernetes' and Slurm's own services")] = SystemSpec()
    controller: Annotated[ControllerSpec, says("the node of slurmctld")] = ControllerSpec()
    accounting: Annotated[AccountingSpec, says("the node of slurmdbd and its database")] = AccountingSpec()
    login: Annotated[LoginSpec, says("the node where people log in")] = LoginSpec()
