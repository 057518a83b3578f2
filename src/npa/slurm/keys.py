"""Which keys a release of Slurm knows in each file, and what it reads their values as."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, cast

from npa.slurm import keys_daemons, keys_slurm_conf, version
from npa.slurm.keys_slurm_conf import Section

Kind = Literal["text", "bool", "float", "u16", "u32", "u64", "lines"]

_TURN = "26.05"  # the release that the marks `<` and `>` speak of
_SECTIONS: Mapping[str, Section] = {
    "slurm.conf": keys_slurm_conf.SLURM_CONF,
    "NodeName": keys_slurm_conf.NODE,
    "NodeSet": keys_slurm_conf.NODE_SET,
    "DownNodes": keys_slurm_conf.DOWN,
    "PartitionName": keys_slurm_conf.PARTITION,
    "PowerAction": keys_slurm_conf.POWER_ACTION,
    "SwitchName": keys_slurm_conf.SWITCH,
    "BlockName": keys_slurm_conf.BLOCK,
    "gres.conf": keys_daemons.GRES,
    "cgroup.conf": keys_daemons.CGROUP,
    "mpi.conf": keys_daemons.MPI,
    "slurmdbd.conf": keys_daemons.SLURMDBD,
    "topology.conf": {"text": "BlockSizes", "lines": "SwitchName BlockName"},
}
# Each of these begins a line of its own, with the keys of a section after it.
HEADS: Mapping[str, Mapping[str, str]] = {
    "slurm.conf": {
        name.lower(): name for name in ("NodeName", "NodeSet", "DownNodes", "PartitionName", "PowerAction")
    },
    "gres.conf": {"nodename": "gres.conf", "name": "gres.conf", "autodetect": "gres.conf"},
    "topology.conf": {"switchname": "SwitchName", "blockname": "BlockName"},
}


@dataclass(frozen=True, slots=True)
class Key:
    """A key as Slurm spells it, and what its value is read as."""

    name: str
    kind: Kind


@lru_cache
def known(section: str, release: str) -> Mapping[str, Key]:
    """Return the keys of a section in a release, by their name in lower case."""
    unknown = "<" if version.at_least(release, _TURN) else ">"
    found = {}
    for kind, words in _SECTIONS[section].items():
        for word in words.split():
            if not word.endswith(unknown):
                name = word.rstrip("<>")
                found[name.lower()] = Key(name, cast(Kind, kind))
    return found


def elsewhere(section: str, key: str) -> str:
    """Say in which other release a section knows a key; "" where in none."""
    for words in _SECTIONS[section].values():
        for word in words.split():
            if word.rstrip("<>").lower() == key.lower() and word[-1] in "<>":
                return f"Slurm {_TURN} and later" if word[-1] == ">" else f"Slurm before {_TURN}"
    return ""


def here(words: str, release: str) -> tuple[str, ...]:
    """Return those of a table's words that a release has, without their marks."""
    unknown = "<" if version.at_least(release, _TURN) else ">"
    return tuple(word.rstrip("<>") for word in words.split() if not word.endswith(unknown))
