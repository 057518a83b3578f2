"""What only a call of a tool can fail with; `facts` is what the error's document says besides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from npa.errors import Problem, RefusedError, UsageError


class InputError(UsageError):
    """The input is not what the tool takes: carries everything that is wrong with it."""

    code = "invalid-input"

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class NotAgreedError(RefusedError):
    """Nobody agreed to this plan: the caller named no digest, or that of another one.

    `plan` is what would be done now, and `digest` what to name once somebody has looked at it.
    """

    code = "not-agreed"

    def __init__(self, message: str, plan: Mapping[str, Any], digest: str, *, hint: str = "") -> None:
        self.plan, self.digest = dict(plan), digest
        self.facts = {"plan": self.plan, "digest": digest}
        super().__init__(message, hint=hint)


class BusyError(RefusedError):
    """Something else changes it right now; `holder` is the job."""

    code = "busy"

    def __init__(self, message: str, holder: dict[str, str], *, hint: str) -> None:
        self.holder = holder
        self.facts = {"holder": holder}
        super().__init__(message, hint=hint)
