"""Every error npa raises on purpose.

```text
NpaError              .hint
├─ SpecError            .problems: at, line, column, message, hint           exit 2
├─ RefusedError         understood; nothing was touched                       exit 3
│  ├─ SourceError         .problems
│  ├─ IdentityError       .problems
│  ├─ DestructiveError    .steps
│  ├─ QuotaError          .shortfalls .unreadable
│  ├─ CapacityError       .refusals
│  └─ OwnershipError      .expected .found
├─ ProviderError        .operation .resource .detail                          exit 1
│  ├─ ProviderNotFoundError   the provider's structured answer for exactly this id: the only proof of absence
│  ├─ ProviderDeniedError     no credentials, or they are not allowed to
│  ├─ ProviderTransientError  not now; asking again may help
│  └─ ProviderUnknownError    the answer could not be read; never taken for absent
├─ ToolError            .argv .code .stderr                                   exit 1
│  ├─ ToolMissingError    says what to install
│  └─ ToolTimeoutError
├─ SlurmError           .status .reason                                       exit 1
│  ├─ NotFoundError
│  └─ UnknownError        the answer could not be read; never taken for absent
├─ KubeError            .status .reason                                       exit 1
├─ StoppedError         stopped on request between two steps                  exit 130
├─ UnhealthyError       .report                                               exit 4
│  └─ DegradedValidationError  .report: the cluster is there, and a required validation did not pass
└─ DestroyIncompleteError  .report: something is left, or could not be proven gone   exit 1
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


class StoppedError(NpaError):
    """Somebody asked for it to stop; what was done is kept, and asking again goes on from there."""

    code = "stopped"
    exit_code = 130


class RefusedError(NpaError):
    """Understood and refused; nothing was touched."""

    code = "refused"
    exit_code = 3


class SourceError(RefusedError, ValueError):
    """The recipe's source is not what was verified; carries everything that is wrong with it."""

    code = "source"

    def __init__(self, *problems: str, hint: str = "") -> None:
        self.problems = problems
        super().__init__("; ".join(problems), hint=hint)


class IdentityError(RefusedError):
    """Whose cluster this is cannot be said, or is said in two ways; carries every contradiction."""

    code = "identity"

    def __init__(self, *problems: str, hint: str = "") -> None:
        self.problems = problems
        super().__init__("; ".join(problems), hint=hint)


class DestructiveError(RefusedError, RuntimeError):
    """Steps that would end running work or delete data, and were not allowed to."""

    code = "destructive"

    def __init__(self, message: str, steps: Sequence[str], *, hint: str = "") -> None:
        self.steps = self.replacements = tuple(steps)  # the second name is what older code reads
        super().__init__(message, hint=hint)


class OwnershipError(RefusedError):
    """What is there belongs to somebody else."""

    code = "ownership"

    def __init__(self, message: str, *, expected: str, found: str, hint: str = "") -> None:
        self.expected, self.found = expected, found
        super().__init__(message, hint=hint)


class QuotaError(RefusedError):
    """The quotas do not reach, or could not be read; carries every lack at once."""

    code = "quota"

    def __init__(self, shortfalls: Sequence[str], unreadable: Sequence[str], *, hint: str = "") -> None:
        self.shortfalls, self.unreadable = tuple(shortfalls), tuple(unreadable)
        super().__init__("; ".join((*self.shortfalls, *self.unreadable)), hint=hint)


class CapacityError(RefusedError):
    """Reserved pools that their reservations cannot carry for certain; carries every one at once."""

    code = "capacity"

    def __init__(self, refusals: Sequence[str], *, hint: str = "") -> None:
        self.refusals = tuple(refusals)
        super().__init__("; ".join(self.refusals), hint=hint)


class PreflightError(RefusedError):
    """This machine lacks something; carries every lack at once."""

    code = "preflight"

    def __init__(self, lacks: Sequence[tuple[str, str]]) -> None:
        self.lacks = tuple(lacks)  # (what is wrong, what to do)
        hint = "; ".join(dict.fromkeys(fix for _, fix in self.lacks))
        super().__init__("; ".join(what for what, _ in self.lacks), hint=hint)


class ProviderError(NpaError):
    """The cloud provider did not do what was asked, or did not say so readably; `detail` is for `--debug`."""

    code = "provider"
    says = "failed"

    def __init__(self, operation: str, *, resource: str = "", detail: str = "", hint: str = "") -> None:
        self.operation, self.resource, self.detail = operation, resource, detail
        super().__init__(f"{operation}: {self.says}", hint=hint)


class ProviderNotFoundError(ProviderError):
    """The provider says that exactly this id is not there: the only proof of absence."""

    code = "provider-not-found"
    says = "not there"


class ProviderDeniedError(ProviderError):
    """There are no credentials, or they are not allowed to."""

    code = "provider-denied"
    says = "the provider does not allow it with these credentials"


class ProviderTransientError(ProviderError):
    """The provider cannot answer now; asking again may help."""

    code = "provider-transient"
    says = "the provider did not answer in time"


class ProviderUnknownError(ProviderError):
    """The answer could not be read; it never means absent, free or zero."""

    code = "provider-unknown"
    says = "the provider's answer could not be understood"


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


class KubeError(NpaError):
    """The Kubernetes API said no, or could not be asked; `status` is HTTP's, 0 where nothing answered."""

    code = "kubernetes"

    def __init__(self, reason: str, *, status: int = 0, hint: str = "") -> None:
        self.reason, self.status = reason, status
        super().__init__(reason, hint=hint)


class UnhealthyError(NpaError):
    """The cluster is there and not well."""

    code = "degraded"
    exit_code = 4

    def __init__(self, message: str, report: object, *, hint: str = "") -> None:
        self.report = report
        super().__init__(message, hint=hint)


class DegradedValidationError(UnhealthyError):
    """The cluster is there and is kept; a validation that it has to pass did not."""

    code = "degraded-validation"


class DestroyIncompleteError(NpaError):
    """Something of the cluster is left, or nobody could prove that it is gone."""

    code = "destroy-incomplete"

    def __init__(self, message: str, report: object, *, hint: str = "") -> None:
        self.report = report
        super().__init__(message, hint=hint)
