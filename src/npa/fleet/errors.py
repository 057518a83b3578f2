"""What only a fleet can fail with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from npa.errors import NpaError, OwnershipError, PreflightError, SpecError, UsageError


class FleetSpecError(SpecError):
    """The fleet's file is not one: carries every problem found, those of its clusters too."""


class BackendCapabilityError(UsageError, ValueError):
    """No installed backend can do this."""

    code = "backend-capability"


class BackendOwnershipError(OwnershipError, RuntimeError):
    """A cluster of this name is there, and this fleet did not make it."""


class FleetRefusedError(PreflightError):
    """Something stands against the whole of it, so nothing was touched; carries every reason at once.

    `clusters` names what each reason is about: `project/cluster`, a project, or the fleet.
    """

    code = "fleet-refused"

    def __init__(self, refusals: Sequence[tuple[str, str, str]]) -> None:
        self.clusters = tuple(about for about, _, _ in refusals)
        super().__init__([(f"{about}: {message}", hint) for about, message, hint in refusals])


class FleetFailedError(NpaError):
    """Not every cluster is as asked; `result` says of each how it ended."""

    code = "fleet-failed"

    def __init__(self, message: str, result: dict[str, Any], exit_code: int, *, hint: str = "") -> None:
        self.result = result
        self.exit_code = exit_code
        super().__init__(message, hint=hint)
