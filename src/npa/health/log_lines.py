"""Which lines of a daemon's log are about a node or a job."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from npa.slurm import hostlist
from npa.slurm.hostlist import HostlistError

KEEP = 6  # lines
_TROUBLE = re.compile(
    r"\b(error|fatal|warning|fail\w*|not responding|drain\w*|down|oom\w*|kill\w*|reboot\w*)\b", re.I
)
_NOISE = re.compile(
    r"_memcg_initialize|_slurm_rpc_submit_batch_job|\bdone$|done with step|task/affinity:"
    r"|^(?:\[[^]]*\] )?(?:Launching |CPU frequency setting |CPUs=)"
)
_STAMP = re.compile(r"^\[[^]]*\] ")
_WORD = re.compile(r"[A-Za-z0-9_.-]+(?:\[[0-9,-]{1,200}\])?(?:[A-Za-z0-9_.-]+)?")


def about_node(node: str) -> Callable[[str], bool]:
    """Return whether a line names a node, by itself or in a hostlist such as `cpu-[0-3]`."""

    def named(line: str) -> bool:
        return any(_names(word.rstrip(".:"), node) for word in _WORD.findall(line))

    return named


def _names(word: str, node: str) -> bool:
    if word == node:
        return True
    if "[" not in word or word.partition("[")[0] != node[: word.index("[")]:
        return False
    try:
        return node in hostlist.expand(word)
    except HostlistError:
        return False


def about_job(numbers: Iterable[int]) -> Callable[[str], bool]:
    """Return whether a line is about any of these jobs: `JobId=9`, `StepId=9.0`, `[9.batch]`, `job 9`."""
    alternatives = "|".join(str(number) for number in numbers)
    pattern = re.compile(rf"(?:JobId=|StepId=|\[|\b[Jj]ob )(?:{alternatives})(?![0-9])")
    return lambda line: pattern.search(line) is not None


def last(lines: Iterable[str], wanted: Callable[[str], bool], keep: int = KEEP) -> tuple[str, ...]:
    """Return the last lines that are wanted; those that tell of trouble come before those that do not.

    Of lines that say the same at another time the last stays.
    """
    said: dict[str, str] = {}
    for line in lines:
        if wanted(line) and not _NOISE.search(line):
            words = _STAMP.sub("", line)
            said.pop(words, None)  # to its last place
            said[words] = line
    found = list(said.values())
    trouble = [index for index, line in enumerate(found) if _TROUBLE.search(line)]
    rest = [index for index in range(len(found)) if index not in set(trouble)]
    chosen = sorted((rest[-keep:] + trouble[-keep:])[-keep:])
    return tuple(found[index] for index in chosen)
