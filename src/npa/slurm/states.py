"""What Slurm calls the state of a node or a job, in one spelling.

Slurm writes the same state as `IDLE*+DRAIN` (scontrol), `drain*` (sinfo), `["IDLE", "DRAIN"]` (JSON) and
`{"state": "idle", "state_flags": ["DRAIN"]}` (older REST). All become a base and a set of flags. Nothing here
raises: a word that is not known is kept as a flag, and a state without a base is unknown, never idle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

UNKNOWN = "UNKNOWN"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Several bases at once cannot be meant; the one that promises least wins.
NODE_BASES = ("ERROR", "DOWN", "ALLOCATED", "MIXED", "FUTURE", "IDLE", UNKNOWN)
NODE_FLAGS = _words(
    "BLOCKED CLOUD COMPLETING DRAIN DYNAMIC_FUTURE DYNAMIC_NORM EXTERNAL FAIL INVAL MAINT NOT_RESPONDING "
    "PERFCTRS PLANNED POWERED_DOWN POWERING_DOWN POWERING_UP POWER_DOWN POWER_DRAIN POWER_UP "
    "REBOOT_CANCELED REBOOT_ISSUED REBOOT_REQUESTED RESERVED RESUME UNDRAIN"
)
_NODE_SUFFIXES = {
    "*": "NOT_RESPONDING",
    "~": "POWERED_DOWN",
    "#": "POWERING_UP",
    "%": "POWERING_DOWN",
    "!": "POWER_DOWN",
    "$": "MAINT",
    "@": "REBOOT_REQUESTED",
    "^": "REBOOT_ISSUED",
    "-": "PLANNED",
}
# Long words of JSON and scontrol that mean exactly one base or flag.
_NODE_ALIASES = {
    "ALLOC": "ALLOCATED",
    "MIX": "MIXED",
    "ERR": "ERROR",
    "FUTR": "FUTURE",
    "UNK": UNKNOWN,
    "MAINTENANCE": "MAINT",
    "INVALID_REG": "INVAL",
    "NO_RESPOND": "NOT_RESPONDING",
    "RES": "RESERVED",
    "REBOOT_CANCELLED": "REBOOT_CANCELED",
}
# Words that slurm_protocol_defs.c (node_state_string) prints *instead of* the base, and the base they stand
# for. DRAINING says that something runs, not how much, so it counts as fully allocated. A node that reboots
# is DOWN in slurmctld until it registers again.
_NODE_SUMMARIES = {
    "DRAINED": ("IDLE", "DRAIN"),
    "DRAINING": ("ALLOCATED", "DRAIN"),
    "DRNG": ("ALLOCATED", "DRAIN"),
    "FAILING": ("ALLOCATED", "FAIL"),
    "FAILG": ("ALLOCATED", "FAIL"),
    "REBOOT": ("DOWN", "REBOOT_ISSUED"),
    "BOOT": ("DOWN", "REBOOT_ISSUED"),
    "COMP": ("IDLE", "COMPLETING"),
    "RESV": ("IDLE", "RESERVED"),
    "PLND": ("IDLE", "PLANNED"),
    "POW_DN": ("IDLE", "POWERING_DOWN"),
    "POW_UP": ("IDLE", "POWERING_UP"),
    "NPC": ("IDLE", "PERFCTRS"),
}
# Flags that only an idle node shows alone (`maint`, `resv`, `drain`): alone in *text* they imply IDLE. In
# JSON the base is always listed, so a list without one stays unknown.
_ALONE_MEANS_IDLE = _words(
    "BLOCKED COMPLETING DRAIN FAIL MAINT PERFCTRS PLANNED POWERED_DOWN POWERING_DOWN POWERING_UP "
    "POWER_DOWN RESERVED"
)
_UNSCHEDULABLE_BASES = frozenset({"ERROR", "DOWN", "FUTURE", UNKNOWN})
_UNSCHEDULABLE_FLAGS = _words(
    "BLOCKED DRAIN DYNAMIC_FUTURE FAIL INVAL MAINT NOT_RESPONDING POWERED_DOWN POWERING_DOWN POWER_DOWN "
    "POWER_DRAIN REBOOT_ISSUED"
)


@dataclass(frozen=True, slots=True)
class NodeState:
    """A node's base state and its flags, each in one canonical upper-case word."""

    base: str
    flags: frozenset[str] = field(default_factory=frozenset)

    @classmethod
    def parse(cls, value: object, flags: object = ()) -> NodeState:
        """Return the state in any of Slurm's spellings.

        `value` is a string, a list of words, or a mapping with `state` and perhaps `state_flags`.
        """
        if isinstance(value, Mapping):
            return cls.parse(value.get("state"), value.get("state_flags", flags))
        bases: set[str] = set()
        found: set[str] = set()
        for word, suffixes in _split(value) + _split(flags):
            base, flag = _node_word(word)
            bases.update({base} - {""})
            found.update({flag, *suffixes} - {""})
        if not bases and isinstance(value, str) and found & _ALONE_MEANS_IDLE and "INVAL" not in found:
            bases.add("IDLE")
        return cls(next((base for base in NODE_BASES if base in bases), UNKNOWN), frozenset(found))

    def __str__(self) -> str:
        return "+".join((self.base, *sorted(self.flags)))

    @property
    def unknown(self) -> bool:
        """Say whether Slurm told no base state: nothing may be concluded from this state."""
        return self.base == UNKNOWN

    @property
    def unknown_flags(self) -> frozenset[str]:
        """Words that this version of npa does not know."""
        return self.flags - NODE_FLAGS

    @property
    def schedulable(self) -> bool:
        """Say whether a job could start here now or once running ones end."""
        return self.base not in _UNSCHEDULABLE_BASES and not self.flags & _UNSCHEDULABLE_FLAGS

    @property
    def busy(self) -> bool:
        """Say whether a job runs here or is being cleaned up."""
        return self.base in ("ALLOCATED", "MIXED") or "COMPLETING" in self.flags

    @property
    def drained(self) -> bool:
        """Say whether the node takes no jobs and surely runs none."""
        return "DRAIN" in self.flags and not self.busy and not self.unknown

    @property
    def draining(self) -> bool:
        """Say whether the node takes no jobs and still runs one, or may."""
        return "DRAIN" in self.flags and not self.drained


def _node_word(word: str) -> tuple[str, str]:
    """Return the (base, flag) of one word; either may be empty."""
    if word in _NODE_SUMMARIES:
        return _NODE_SUMMARIES[word]
    word = _NODE_ALIASES.get(word, word)
    return (word, "") if word in NODE_BASES else ("", word)


def _split(value: object) -> list[tuple[str, tuple[str, ...]]]:
    """Return every word in upper case with the flags its suffix characters mean."""
    return [part for text in _texts(value) for part in _parts(text)]


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Sequence | set | frozenset):
        yield from (str(item) for item in value)


def _parts(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    text = text.strip().upper()
    if text.endswith("+"):  # `alloc+`: a job is completing
        yield "COMPLETING", ()
    for part in text.replace(",", "+").split("+"):
        word = part.strip()
        stem = word.rstrip("".join(_NODE_SUFFIXES))
        if stem:
            yield stem, tuple(_NODE_SUFFIXES[suffix] for suffix in word[len(stem) :])


JOB_TERMINAL = _words(
    "BOOT_FAIL CANCELLED COMPLETED DEADLINE FAILED NODE_FAIL OUT_OF_MEMORY PREEMPTED TIMEOUT"
)
JOB_BASES = ("RUNNING", "SUSPENDED", "PENDING", *sorted(JOB_TERMINAL))
_JOB_SHORT = {
    "PD": "PENDING",
    "R": "RUNNING",
    "S": "SUSPENDED",
    "CD": "COMPLETED",
    "CA": "CANCELLED",
    "CANCELED": "CANCELLED",
    "F": "FAILED",
    "TO": "TIMEOUT",
    "NF": "NODE_FAIL",
    "PR": "PREEMPTED",
    "BF": "BOOT_FAIL",
    "DL": "DEADLINE",
    "OOM": "OUT_OF_MEMORY",
    "CF": "CONFIGURING",
    "CG": "COMPLETING",
    "SO": "STAGE_OUT",
    "ST": "STOPPED",
    "SI": "SIGNALING",
    "RS": "RESIZING",
    "RQ": "REQUEUED",
    "RH": "REQUEUE_HOLD",
    "RF": "REQUEUE_FED",
    "RD": "RESV_DEL_HOLD",
    "RV": "REVOKED",
    "SE": "SPECIAL_EXIT",
}
# squeue prints these instead of the base they belong to. COMPLETING is left out: the base may be any.
_JOB_IMPLIED = {
    "CONFIGURING": "RUNNING",
    "RESIZING": "RUNNING",
    "SIGNALING": "RUNNING",
    "STOPPED": "RUNNING",
    "REQUEUED": "PENDING",
    "REQUEUE_HOLD": "PENDING",
    "REQUEUE_FED": "PENDING",
    "RESV_DEL_HOLD": "PENDING",
    "SPECIAL_EXIT": "PENDING",
}


@dataclass(frozen=True, slots=True)
class JobState:
    """A job's base state and its flags."""

    base: str
    flags: frozenset[str] = field(default_factory=frozenset)

    @classmethod
    def parse(cls, value: object) -> JobState:
        """Return the state written as a string (`CANCELLED by 1000`, `CG`) or a list of words."""
        words = {
            _JOB_SHORT.get(word, word)
            for text in _texts(value)
            for part in text.upper().replace(",", "+").split("+")
            for word in part.split()[:1]  # sacct: `CANCELLED by 1000`
        }
        base = next((base for base in JOB_BASES if base in words), "")
        flags = frozenset(words - set(JOB_BASES) - {UNKNOWN})
        implied = (_JOB_IMPLIED[flag] for flag in sorted(flags) if flag in _JOB_IMPLIED)
        return cls(base or next(implied, UNKNOWN), flags)

    def __str__(self) -> str:
        return "+".join((self.base, *sorted(self.flags)))

    @property
    def unknown(self) -> bool:
        """Say whether Slurm told no base state."""
        return self.base == UNKNOWN

    @property
    def pending(self) -> bool:
        """Say whether the job waits."""
        return self.base == "PENDING"

    @property
    def running(self) -> bool:
        """Say whether the job has nodes and has not ended; a suspended job is one."""
        return self.base in ("RUNNING", "SUSPENDED")

    @property
    def terminal(self) -> bool:
        """Say whether the job has ended, though its nodes may still be cleaned up."""
        return self.base in JOB_TERMINAL

    @property
    def holds_nodes(self) -> bool:
        """Say whether the job keeps nodes busy, or may: an unknown state does."""
        return self.running or self.unknown or "COMPLETING" in self.flags or "STAGE_OUT" in self.flags
