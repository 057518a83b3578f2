"""Who owns a drain: the reason says so by how it begins, and nobody undoes another's.

A reason that only mentions somebody is not theirs. When slurmctld has more to say of a node it appends
` : Not responding` to what is there (slurmctld/node_mgr.c, set_node_reason); who began still owns the drain.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from npa.slurm import slurm_reasons

Owner = Literal["npa", "soperator", "slurm", "person", "nobody"]

PREFIX = "npa: "
# slurmdbd keeps a reason in a `tinytext` (as_mysql_cluster.c, the event table)
LIMIT = 255  # bytes of UTF-8
DEFAULT = "no reason given"
_APPENDED = " : "
# Soperator's own words (docs/passive-checks.md); what is in the brackets decides who looks into it
_CHECKS = {
    "node_problem": "node_problem",
    "user_problem": "user_problem",
    "hardware_problem": "hardware_problem",
    "node_replacement": "node_replacement",
    "compute_maintenance": "maintenance",
}
_BRACKET = re.compile(r"\[([a-z_]+)\] ?")
_CHECK = re.compile(r"\[[a-z_]+\] ([A-Za-z0-9_.-]{1,64})(?=[:\s]|$)")
_SLURM_USERS = frozenset({"", "slurm", "root"})


@dataclass(frozen=True, slots=True)
class Reason:
    """A node's reason, understood."""

    owner: Owner
    kind: str  # from a short list, so fit to label a metric
    text: str
    check: str = ""  # Soperator's check that failed
    also: tuple[str, ...] = ()  # what slurmctld appended since

    @property
    def label(self) -> str:
        """Return what a metric may bear: never a word that somebody typed."""
        return f"{self.owner}:{self.kind}" if self.kind != self.owner else self.owner


def parse(reason: str, user: str = "") -> Reason:
    """Return who owns a drain and what kind it is; `user` is who Slurm says set the reason.

    The words of slurmctld typed by anybody else than Slurm's user or root are that person's.
    """
    first, *also = one_line(reason).split(_APPENDED)
    if not first:
        return Reason("nobody", "none", "")
    if ours(first):
        return Reason("npa", "npa", first, also=tuple(also))
    bracket = _BRACKET.match(first)
    if bracket and bracket[1] in _CHECKS:
        check = _CHECK.match(first)
        return Reason("soperator", _CHECKS[bracket[1]], first, check[1] if check else "", tuple(also))
    known = slurm_reasons.find(first)
    if known and (user in _SLURM_USERS or known.asked_for):
        return Reason("slurm", known.kind, first, also=tuple(also))
    return Reason("person", "person", first, also=tuple(also))


def ours(reason: str) -> bool:
    """Say whether npa set this reason; a reason that merely mentions npa is somebody else's."""
    return reason.startswith(PREFIX)


def of_check(reason: str, base: str) -> bool:
    """Say whether a reason is that of one check, `[user_problem] boot_disk_full`, and not of a namesake's."""
    return reason == base or reason.startswith((f"{base}:", f"{base} ["))


def leaving(why: str) -> str:
    """Return the reason of a node that is about to be stopped."""
    return render(why, PREFIX)


def render(text: str, prefix: str = "", default: str = DEFAULT) -> str:
    """Return a reason as it is read back: one line, without what steers a terminal, not over Slurm's limit.

    Without a prefix the text is a person's, and cannot pass for anybody else's.
    """
    # scontrol drops quotes around the whole, and ` : ` is how slurmctld appends
    body = one_line(text).strip('" ').lstrip(": ").replace(_APPENDED, ": ") or default
    if not prefix and parse(body).owner != "person":
        body = f"note: {body}"
    return _cut(prefix + body, LIMIT)


def one_line(text: str) -> str:
    """Return text without control, format and other invisible characters; blanks are single ones."""
    kept = ("" if unicodedata.category(char) in ("Cf", "Co", "Cs") else char for char in text)
    plain = ("\x20" if unicodedata.category(char) == "Cc" else char for char in "".join(kept))
    return " ".join("".join(plain).split())


def _cut(text: str, limit: int) -> str:
    encoded = text.encode()
    if len(encoded) <= limit:
        return text
    return encoded[: limit - 3].decode(errors="ignore").rstrip(' "') + "..."
