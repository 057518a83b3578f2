"""One thing that is wrong with Slurm's files, and how bad it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from npa.errors import Problem

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """What is wrong where; an error stops a daemon or makes it do another thing than the file says."""

    file: str
    line: int  # from 1; 0 where the file as a whole is meant
    column: int
    at: str  # the key, as it is written: `KillWait`, `NodeName gpu-0: CPUs`
    message: str
    hint: str = ""
    severity: Severity = "error"

    def problem(self, source: str = "") -> Problem:
        """Return it as a problem of a document; `source` replaces the file's name."""
        return Problem(self.line, self.column, self.at, self.message, self.hint, source or self.file)


def errors(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return what must not reach a daemon."""
    return tuple(each for each in findings if each.severity == "error")
