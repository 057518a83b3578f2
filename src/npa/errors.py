"""Every error npa raises on purpose.

```text
NpaError              .hint
├─ SpecError            .problems: at, line, column, message, hint           exit 2
├─ RefusedError         understood; nothing was touched                       exit 3
│  ├─ DestructiveError    .steps
│  └─ OwnershipError      .expected .found
├─ ToolError            .argv .code .stderr                                   exit 1
│  ├─ ToolMissingError    says what to install
│  └─ ToolTimeoutError
├─ SlurmError           .status .reason                                       exit 1
│  ├─ NotFoundError
│  └─ UnknownError        the answer could not be read; never taken for absent
└─ UnhealthyError       .report                                               exit 4
```

Catch by type, never by text.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing wrong with a document the user wrote.

    `line` and `column` count from 1; 0 means that the document has no text (a mapping, a missing key at
    its root). `source` is the file name as the user gave it, or "" where there is none.
    """

    line: int
    column: int
    at: str  # path of the field: `workers[1].fabric`
    message: str
    hint: str = ""
    source: str = ""

    def __str__(self) -> str:
        where = ":".join(str(part) for part in (self.source, self.line or "", self.column or "") if part)
        return ": ".join(part for part in (where, self.at, self.message) if part)


class NpaError(Exception):
    """Anything npa raises on purpose."""

    code = "error"  # the stable word in JSON output
    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class SpecError(NpaError, ValueError):
    """The spec is not one: carries every problem found, in the order of the text."""

    code = "invalid-spec"
    exit_code = 2

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class UsageError(NpaError):
    """The command line asks for something that cannot be meant."""

    code = "usage"
    exit_code = 2


class RefusedError(NpaError):
    """Understood and refused; nothing was touched."""

    code = "refused"
    exit_code = 3


class DestructiveError(RefusedError):
    """Steps that would end running work or delete data, and were not allowed to."""

    code = "destructive"

    def __init__(self, message: str, steps: Sequence[str], *, hint: str = "") -> None:
        self.steps = tuple(steps)
        super().__init__(message, hint=hint)


class OwnershipError(RefusedError):
    """What is there belongs to somebody else."""

    code = "ownership"

    def __init__(self, message: str, *, expected: str, found: str, hint: str = "") -> None:
        self.expected, self.found = expected, found
        super().__init__(message, hint=hint)


class PreflightError(RefusedError):
    """This machine lacks something; carries every lack at once."""

    code = "preflight"

    def __init__(self, lacks: Sequence[tuple[str, str]]) -> None:
        self.lacks = tuple(lacks)  # (what is wrong, what to do)
        super().__init__(
            "; ".join(what for what, _ in self.lacks),
            hint="; ".join(dict.fromkeys(fix for _, fix in self.lacks)),
        )


class ToolError(NpaError):
    """A program exited non-zero, or could not be understood."""

    code = "tool"

    def __init__(self, argv: Sequence[str], code: int, stderr: str, *, hint: str = "") -> None:
        self.argv, self.exit_status, self.stderr = tuple(argv), code, stderr
        last = stderr.strip().splitlines()[-1:] or ["no output"]
        super().__init__(f"`{shlex.join(argv[:2])}` exited {code}: {last[0]}", hint=hint)


class ToolMissingError(ToolError):
    """A program is not installed; the hint says what to install."""

    code = "tool-missing"

    def __init__(self, program: str, *, hint: str) -> None:
        super().__init__((program,), 127, f"{program}: not found", hint=hint)


class ToolTimeoutError(ToolError):
    """A program did not end before its deadline (seconds) and was killed."""

    code = "tool-timeout"

    def __init__(self, argv: Sequence[str], seconds: float) -> None:
        self.seconds = seconds
        super().__init__(argv, 124, f"no end after {seconds:g} s")


class SlurmError(NpaError):
    """Slurm said no, or said nothing that could be read."""

    code = "slurm"

    def __init__(self, reason: str, *, status: int = 0, hint: str = "") -> None:
        self.reason, self.status = reason, status
        super().__init__(reason, hint=hint)


class NotFoundError(SlurmError):
    """Slurm says that there is no such thing."""

    code = "not-found"


class UnknownError(SlurmError):
    """The answer could not be read; it never means absent, idle or zero."""

    code = "unknown"


class UnhealthyError(NpaError):
    """The cluster is there and not well."""

    code = "degraded"
    exit_code = 4

    def __init__(self, message: str, report: object, *, hint: str = "") -> None:
        self.report = report
        super().__init__(message, hint=hint)
