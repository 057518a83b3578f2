"""How a deploy ends: a result, or one of two failures of a cluster that is there and kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from npa.errors import DegradedValidationError, NpaError
from npa.render.nebius import outcome
from npa.render.nebius.outcome import DeploymentValidationFailure


class SoperatorDeploymentValidationError(DegradedValidationError):
    """Everything is applied and kept; the GPU creation gate did not pass."""

    def __init__(self, result: Mapping[str, Any], failure: DeploymentValidationFailure) -> None:
        self.result, self.deployment, self.failure = dict(result), dict(result), failure
        self.pool, self.phase, self.cleanup_confirmed = failure.pool, failure.phase, failure.cleanup_confirmed
        name = str(result["name"])
        super().__init__(
            f"{name} is applied, and its {failure.check} check did not pass: {failure.message}",
            self.result,
            hint=f"look into it: npa soperator status {name}; then run the same deploy again",
        )


class SoperatorStateCaptureError(NpaError):
    """Everything is applied, and what the cluster owns could not be recorded."""

    code = "deployed-state-capture-failed"

    def __init__(self, result: Mapping[str, Any]) -> None:
        self.result = dict(result)
        super().__init__(
            f"{result['name']} is applied, and what it owns could not be recorded: {result['error']}",
            hint=outcome.RECOVERY,
        )
