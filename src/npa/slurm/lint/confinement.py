"""What holds jobs to their share: plugins that need one another, and cgroup.conf."""

from __future__ import annotations

from collections.abc import Iterator

from npa.slurm.lint.finding import Finding
from npa.slurm.lint.grammar import Pair
from npa.slurm.lint.model import Conf

_CGROUP_USERS = {
    "proctracktype": "proctrack/cgroup",
    "jobacctgathertype": "jobacct_gather/cgroup",
    "taskplugin": "cgroup",
}
_OFF = "disabled"


def check(conf: Conf, plugin: Pair | None) -> Iterator[Finding]:
    """Yield the contradictions; `plugin` is CgroupPlugin of cgroup.conf."""
    tracker = conf.value("ProctrackType", "proctrack/cgroup")
    tasks = [word.removeprefix("task/") for word in conf.value("TaskPlugin").lower().split(",")]
    yield from _tasks(conf, tracker, tasks)
    yield from _prolog(conf, tracker)
    if plugin and plugin.value.lower() == _OFF:
        yield from _disabled(conf, plugin, tasks)


def _tasks(conf: Conf, tracker: str, tasks: list[str]) -> Iterator[Finding]:
    task, parameters = conf.settings.get("taskplugin"), conf.settings.get("taskpluginparam")
    if task and "cgroup" in tasks and tracker != "proctrack/cgroup":
        message = "task/cgroup without proctrack/cgroup leaves processes that move away unlimited"
        yield task.says(message, "set `ProctrackType=proctrack/cgroup`", severity="warning")
    for word in ("oomkillstep", "slurmdspecoverride"):
        if parameters and word in conf.words("TaskPluginParam") and "cgroup" not in tasks:
            yield parameters.says(f"{word} needs task/cgroup", "add it to `TaskPlugin`")


def _prolog(conf: Conf, tracker: str) -> Iterator[Finding]:
    flags, words = conf.settings.get("prologflags"), conf.words("PrologFlags")
    if flags and "x11" in words and tracker == "proctrack/linuxproc":
        yield flags.says("X11 does not go with proctrack/linuxproc", "set `ProctrackType=proctrack/cgroup`")
    elif flags and words & {"contain", "x11", "runinjob"} and tracker != "proctrack/cgroup":
        message = "Contain is there for proctrack/cgroup"
        yield flags.says(message, "set `ProctrackType=proctrack/cgroup`", severity="warning")
    if flags and {"serial", "runinjob"} <= words:
        yield flags.says("Serial does not go with RunInJob", "keep one of them")


def _disabled(conf: Conf, plugin: Pair, tasks: list[str]) -> Iterator[Finding]:
    """With CgroupPlugin=disabled a slurmd that is to use cgroups does not start."""
    for key, word in _CGROUP_USERS.items():
        pair = conf.settings.get(key)
        used = "cgroup" in tasks if key == "taskplugin" else pair is not None and pair.value == word
        if pair and used:
            message = f"{pair.value} needs cgroups, and cgroup.conf disables them: no slurmd would start"
            yield pair.says(message, f"choose another, or change `CgroupPlugin` in line {plugin.line} there")
    if conf.settings and "proctracktype" not in conf.settings:
        message = "disables cgroups, and the default ProctrackType needs them: no slurmd would start"
        yield plugin.says(message, "set `ProctrackType=proctrack/linuxproc` in slurm.conf")
