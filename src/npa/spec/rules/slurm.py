"""What reaches Slurm's files: partitions, settings, and text of the user's."""

from __future__ import annotations

from collections.abc import Iterator

from npa.spec import duration, nearest
from npa.spec.finding import Finding
from npa.spec.model import PARTITION_PATTERN, SELECTORS, SETTING_PATTERN, PartitionSpec, SoperatorSpec
from npa.spec.rules import words
from npa.spec.rules.names import SLURM_WORDS
from npa.spec.rules.settings import managed

HIDDEN = "hidden"


def _partitions(spec: SoperatorSpec) -> Iterator[tuple[str, PartitionSpec]]:
    return ((f"partitions[{index}]", partition) for index, partition in enumerate(spec.partitions))


def partition_names_are_words_to_slurm(spec: SoperatorSpec) -> Iterator[Finding]:
    """A partition's name is one word of slurm.conf, and not one with a meaning."""
    for at, partition in _partitions(spec):
        message = words.fault(partition.name, PARTITION_PATTERN, "A-Za-z0-9_-", 32)
        hint = "use letters, digits, `_` and `-`, a letter first"
        if not message and partition.name == HIDDEN:
            message, hint = (
                "'hidden' is the partition of the health checks",
                "choose another name; it is added",
            )
        elif not message and partition.name.lower() in SLURM_WORDS:
            message, hint = f"{partition.name!r} means something else to Slurm", "choose another name"
        if message:
            yield Finding(f"{at}.name", message, hint)


def partition_names_are_unique(spec: SoperatorSpec) -> Iterator[Finding]:
    """slurmctld refuses the second; names that differ in case only are two names to it."""
    first: dict[str, int] = {}
    for index, (at, partition) in enumerate(_partitions(spec)):
        other = first.setdefault(partition.name, index)
        if other != index:
            message = f"a second partition {words.shown(partition.name)}, the first is partitions[{other}]"
            rests_on = (f"partitions[{other}].name",)
            yield Finding(f"{at}.name", message, "rename one of them", rests_on)


def partitions_hold_all_or_some(spec: SoperatorSpec) -> Iterator[Finding]:
    """A partition is over every worker, or over those that it names."""
    for at, partition in _partitions(spec):
        name, rests_on = words.shown(partition.name), (f"{at}.pools", f"{at}.is_all", f"{at}.name")
        if partition.is_all and partition.pools:
            message = f"partition {name} has both is_all and pools"
            yield Finding(f"{at}.is_all", message, "keep one of them", rests_on)
        elif not partition.is_all and not partition.pools:
            message = f"partition {name} has neither is_all nor pools"
            yield Finding(at, message, "set `is_all: true`, or name its `pools`", rests_on)


def partitions_name_pools_that_exist(spec: SoperatorSpec) -> Iterator[Finding]:
    """slurmctld does not start with a node that it does not know."""
    names = dict.fromkeys(pool.name for pool in spec.workers if pool.name)
    racks = {rack for pool in spec.workers if 0 < pool.size < 1 << 16 for rack, _ in pool.racks}
    rests_on = ("workers", *(f"workers[{index}].name" for index in range(len(spec.workers))))
    for at, partition in _partitions(spec):
        for index, name in enumerate(partition.pools):
            here, again = f"{at}.pools[{index}]", name in partition.pools[:index]
            if name not in names and name not in racks:
                message = f"there is no pool {words.shown(name)}"
                yield Finding(here, message, nearest.hint(name, names), rests_on)
            elif again:
                yield Finding(here, f"pool {name!r} is there twice", "remove one of them")


def one_partition_is_the_default(spec: SoperatorSpec) -> Iterator[Finding]:
    """A job that names no partition goes to exactly one."""
    chosen = [index for index, partition in enumerate(spec.partitions) if partition.default]
    rests_on = tuple(f"{at}.default" for at, _ in _partitions(spec))
    if spec.partitions and not chosen:
        message = "no partition is the default"
        yield Finding("partitions", message, "set `default: true` on one of them", rests_on)
    for index in chosen[1:]:
        message = f"a second default partition, the first is partitions[{chosen[0]}]"
        yield Finding(f"partitions[{index}].default", message, "keep one of them", rests_on)


def time_limits_are_times(spec: SoperatorSpec) -> Iterator[Finding]:
    """slurmctld does not start with a limit that it cannot read."""
    for at, partition in _partitions(spec):
        try:
            duration.minutes(partition.max_time)
        except ValueError as error:
            hint = 'write minutes as in "90", "12:00:00", or days and hours as in "7-0"'
            yield Finding(f"{at}.max_time", f"{words.shown(partition.max_time)} is {error}", hint)


def priority_tiers_fit_in_slurm(spec: SoperatorSpec) -> Iterator[Finding]:
    """Slurm keeps a tier in 16 bits (slurm.conf(5), PriorityTier)."""
    for at, partition in _partitions(spec):
        if not 0 <= partition.priority_tier <= 65_533:
            message = f"must be between 0 and 65533, is {partition.priority_tier}"
            yield Finding(f"{at}.priority_tier", message, "use 10")


def settings_are_not_managed(spec: SoperatorSpec) -> Iterator[Finding]:
    """Two hands on one setting: the later line wins, and nobody is told."""
    for key in spec.slurm.settings:
        reason = managed(key)
        if reason:
            yield Finding(f"slurm.settings.{key}", f"{key} is managed: {reason}", "remove the line")


def settings_are_lines_of_slurm_conf(spec: SoperatorSpec) -> Iterator[Finding]:
    """What ends a line, or a value, early would be another setting than the one that was read."""
    seen: dict[str, str] = {}
    for key, value in spec.slurm.settings.items():
        at, text = f"slurm.settings.{key}", str(value)
        other = seen.setdefault(key.lower(), key)
        message = words.fault(key, SETTING_PATTERN, "A-Za-z0-9_", 64)
        hint = "write `Key: value`, with a key of slurm.conf"
        if not message and other != key:
            message, hint = f"{key} is {other} to Slurm, which ignores case", "keep one of the two"
        if not message:
            message, hint = _value_fault(text), "write one plain value"
        if message:
            yield Finding(at, message, hint)


def _value_fault(text: str) -> str:
    if not text.strip():
        return "is empty"
    strange = words.unprintable(text) or next((one for one in text if one in '"#'), "")
    if strange:
        return f"the value holds {words.character(strange)}"
    return "the value ends with a backslash, which joins the next line" if text.endswith("\\") else ""


def text_is_on_one_line(spec: SoperatorSpec) -> Iterator[Finding]:
    """Other text is free, but must not break the line of a file that it is written into."""
    free = {name: getattr(spec, name) for name in ("tenant_id", "project_id", "subnet_id")}
    for index, pool in enumerate(spec.workers):
        free |= {f"workers[{index}].{name}": getattr(pool, name) for name in sorted(SELECTORS)}
    for at, text in free.items():
        strange = words.unprintable(text.strip() if at.startswith("workers") else text)
        if strange:
            yield Finding(at, f"holds {words.character(strange)}", "remove it")


RULES = (
    partition_names_are_words_to_slurm,
    partition_names_are_unique,
    partitions_hold_all_or_some,
    partitions_name_pools_that_exist,
    one_partition_is_the_default,
    time_limits_are_times,
    priority_tiers_fit_in_slurm,
    settings_are_not_managed,
    settings_are_lines_of_slurm_conf,
    text_is_on_one_line,
)
