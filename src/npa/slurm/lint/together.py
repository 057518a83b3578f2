"""Settings that are right one by one and wrong together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from npa.slurm import keys_values
from npa.slurm.lint import values
from npa.slurm.lint.finding import Finding
from npa.slurm.lint.grammar import Pair
from npa.slurm.lint.model import Conf
from npa.spec import nearest

_COUNT = re.compile(r":[0-9]+(?=,|$)")
_DBD = "accounting_storage/slurmdbd"
_CORES = frozenset({"cr_core", "cr_core_memory", "cr_cpu", "cr_cpu_memory", "cr_socket", "cr_socket_memory"})
_OWN_TRES = frozenset({"cpu", "mem", "energy", "node", "billing", "pages", "vmem"})
_MEMORY = ("defmempercpu", "defmempernode", "maxmempercpu", "maxmempernode")


def check(conf: Conf) -> Iterator[Finding]:
    """Yield the contradictions of a slurm.conf."""
    for rule in (_jwt, _preempt, _select, _memory, _accounting, _sizes, _mcs, _power, _spared):
        yield from rule(conf)


def _jwt(conf: Conf) -> Iterator[Finding]:
    pair = conf.settings.get("authalttypes")
    if pair and "jwt" in pair.value and not {"jwt_key", "jwks"} & conf.words("AuthAltParameters"):
        message = "jwt without a key: slurmctld looks for one in its state folder, and does not start without"
        yield pair.says(message, "add `AuthAltParameters=jwt_key=FILE`")


def _preempt(conf: Conf) -> Iterator[Finding]:
    mode, kind = conf.settings.get("preemptmode"), conf.value("PreemptType", "preempt/none")
    words = {word.upper() for word in (mode.value if mode else "OFF").split(",")}
    if mode:
        for word in words:
            wrong = values.word_fault(word, f"{keys_values.PARTITION_PREEMPT} GANG".split())
            if wrong:
                yield mode.says(*wrong)
    if mode and words - {"OFF", "GANG"} and kind == "preempt/none":
        if "SUSPEND" in words and "GANG" not in words:
            yield mode.says("SUSPEND needs GANG too", "write `PreemptMode=SUSPEND,GANG`")
        yield mode.says("preempts, and PreemptType says that nothing is preempted", "set `PreemptType`")
    elif mode and "SUSPEND" in words and "GANG" not in words:
        yield mode.says("SUSPEND needs GANG too", "write `PreemptMode=SUSPEND,GANG`")
    pair = conf.settings.get("preempttype")
    if pair and kind != "preempt/none" and not words - {"OFF", "GANG"}:
        yield pair.says(f"{kind} needs a PreemptMode", "add `PreemptMode=REQUEUE` or CANCEL")


def _select(conf: Conf) -> Iterator[Finding]:
    given = conf.words("SelectTypeParameters")
    pair, kind = conf.settings.get("selecttypeparameters"), conf.value("SelectType", "select/cons_tres")
    if pair and kind == "select/cons_tres":
        if len(_CORES & given) > 1:
            yield pair.says("more than one of CR_CPU, CR_Core and CR_Socket", "keep one of them")
        elif not _CORES & given:
            yield pair.says("needs one of CR_CPU, CR_Core and CR_Socket", "write CR_Core_Memory")
        elif "cr_one_task_per_core" in given and {"cr_cpu", "cr_cpu_memory"} & given:
            yield pair.says("CR_ONE_TASK_PER_CORE does not go with CR_CPU", "write CR_Core")
    elif pair and kind == "select/linear" and _CORES & given:
        message = "select/linear gives whole nodes, and knows no CR_CPU, CR_Core or CR_Socket"
        yield pair.says(message, "write CR_Memory")
    most = conf.settings.get("maxnodecount")
    if most and kind == "select/linear":
        yield most.says("only select/cons_tres has it", "remove it")


def _memory(conf: Conf) -> Iterator[Finding]:
    counted = any("memory" in word for word in conf.words("SelectTypeParameters"))
    limits = [conf.settings[key] for key in _MEMORY if key in conf.settings]
    if conf.nodes and limits and not counted:
        message = "memory is not counted without a SelectTypeParameters that ends in _Memory"
        yield limits[0].says(message, "write `SelectTypeParameters=CR_Core_Memory`", severity="warning")
    for one, other in (("defmempercpu", "defmempernode"), ("maxmempercpu", "maxmempernode")):
        if one in conf.settings and other in conf.settings:
            first, second = conf.settings[one], conf.settings[other]
            yield first.says(
                f"is taken for nothing beside {second.key}", "keep one of them", severity="warning"
            )


def _accounting(conf: Conf) -> Iterator[Finding]:
    kind = conf.settings.get("accountingstoragetype")
    stored = kind is not None and kind.value == _DBD
    if kind and kind.value == "accounting_storage/mysql":
        yield kind.says("only slurmdbd speaks to the database", f"write {_DBD}")
    if kind and stored and "accountingstoragehost" not in conf.settings:
        message = "slurmdbd is looked for on the controller itself"
        yield kind.says(message, "add `AccountingStorageHost=`", severity="warning")
    if stored:
        return
    tres = conf.settings.get("accountingstoragetres")
    extra = conf.words("AccountingStorageTRES") - _OWN_TRES if tres else set()
    if tres and extra:
        yield tres.says(f"{min(extra)} is counted by slurmdbd alone", f"add `AccountingStorageType={_DBD}`")
    enforce = conf.settings.get("accountingstorageenforce")
    if enforce:
        yield enforce.says("nothing is enforced without slurmdbd", f"add `AccountingStorageType={_DBD}`")
    for line in conf.lines.get("partitionname", ()):
        pair = line.get("QOS", "AllowQos", "DenyQos")
        if pair and pair.value.lower() != "all":
            message = "there is no QOS without slurmdbd"
            yield pair.says(message, "remove it", at=f"{line.head.key} {line.head.value}: {pair.key}")


def _sizes(conf: Conf) -> Iterator[Finding]:
    first, last = conf.settings.get("firstjobid"), conf.value("MaxJobId", "67043328")
    low, high = values.integer(first.value) if first else None, values.integer(last)
    if first and low is not None and high is not None and low > high:
        yield first.says(f"is more than MaxJobId={high}", "write less")
    level = conf.settings.get("slurmschedloglevel")
    if level and values.integer(level.value) and "slurmschedlogfile" not in conf.settings:
        yield level.says("needs SlurmSchedLogFile", "add the file, or remove the line")
    unkillable, message = (
        conf.settings.get("unkillablesteptimeout"),
        values.integer(conf.value("MessageTimeout", "10")),
    )
    number = values.integer(unkillable.value) if unkillable else None
    if unkillable and number is not None and message and number < 5 * message:
        text = f"is less than 5 times MessageTimeout={message}: nodes may go down while a job ends"
        yield unkillable.says(text, f"write {5 * message} or more", severity="warning")


def _mcs(conf: Conf) -> Iterator[Finding]:
    plugin, parameters = conf.settings.get("mcsplugin"), conf.settings.get("mcsparameters")
    if parameters and plugin is None:
        yield parameters.says("needs MCSPlugin", "add it, or remove the line")
    if plugin and plugin.value == "mcs/group" and parameters is None:
        yield plugin.says("mcs/group needs MCSParameters", "add `MCSParameters=GROUP`")


def _power(conf: Conf) -> Iterator[Finding]:
    if "resumeprogram" in conf.settings:
        return
    for line in conf.lines.get("nodename", ()):
        state = line.get("State")
        if state and state.value.upper() == "CLOUD":
            message = "a CLOUD node is started by ResumeProgram, and there is none"
            at = f"{line.head.key} {line.head.value[:40]}: State"
            yield state.says(message, "add `ResumeProgram=`", at=at, severity="warning")
            return


def _spared(conf: Conf) -> Iterator[Finding]:
    """What is to be kept from sleeping must be there, or it sleeps."""
    nodes, parts = conf.settings.get("suspendexcnodes"), conf.settings.get("suspendexcparts")
    if nodes and conf.nodes:
        for word in _COUNT.sub("", nodes.value).split(",") if "[" not in nodes.value else ():
            if word not in conf.nodes and word not in conf.sets:
                yield nodes.says(f"there is no node {word!r}", nearest.hint(word, [*conf.sets, *conf.nodes]))
    if parts:
        known = [line.head.value for line in conf.lines.get("partitionname", ())]
        for word in parts.value.split(","):
            if word not in known:
                yield parts.says(f"there is no partition {word!r}", nearest.hint(word, known))


def check_daemon(conf: Conf | None, settings: Mapping[str, Pair]) -> Iterator[Finding]:
    """Yield what slurmdbd.conf lacks, and where it and slurm.conf disagree."""
    for key in ("DbdHost", "StorageType"):
        if key.lower() not in settings:
            message = "is missing: slurmdbd does not start without it"
            yield Finding("slurmdbd.conf", 0, 0, key, message, f"add `{key}=`")
    kind = settings.get("storagetype")
    if kind and kind.value not in ("accounting_storage/mysql", "accounting_storage/as_mysql"):
        yield kind.says(f"{kind.value!r} stores nothing", "write accounting_storage/mysql")
    if conf is None:
        return
    host = conf.settings.get("accountingstoragehost")
    legal = [settings[key].value for key in ("dbdhost", "dbdaddr", "dbdbackuphost") if key in settings]
    if host and legal and not any(_same_host(host.value, each) for each in legal):
        yield host.says(f"slurmdbd runs on {legal[0]}", f"write {legal[0]}")

    port, there = conf.value("AccountingStoragePort", "6819"), settings.get("dbdport")
    if there and there.value != port:
        yield there.says(f"slurm.conf looks for slurmdbd at port {port}", "make both the same")
    ours, theirs = conf.settings.get("authtype"), settings.get("authtype")
    if ours and theirs and ours.value != theirs.value:
        yield theirs.says(
            f"slurm.conf says {ours.value}: neither would trust the other", "make both the same"
        )
    if conf.value("AccountingStorageType") != _DBD:
        message = "slurm.conf does not use slurmdbd"
        yield Finding(
            "slurmdbd.conf", 0, 0, "", message, f"add `AccountingStorageType={_DBD}` there", "warning"
        )


def _same_host(one: str, other: str) -> bool:
    """Say whether two names may be one host's: with its domain, and without."""
    whole = "." in one and "." in other
    return one == other or (not whole and one.partition(".")[0] == other.partition(".")[0])
