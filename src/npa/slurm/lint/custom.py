"""Settings that a user adds to a file of ours: they may not undo what npa writes itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from npa.slurm import slurm_conf
from npa.slurm.lint import settings
from npa.slurm.lint.finding import Finding
from npa.slurm.lint.grammar import Statement
from npa.spec.rules.settings import managed


def check(statements: Sequence[Statement], release: str) -> Iterator[Finding]:
    """Yield what is wrong with custom settings, each by itself."""
    free = []
    for statement in statements:
        head = statement.head
        reason = managed(head.key) or ("npa writes it itself" if head.name in slurm_conf.MANAGED else "")
        if reason:
            yield head.says(f"is managed: {reason}", "remove the line", on_key=True)
        else:
            free.append(head)
    yield from settings.check_values(tuple(free), release)
