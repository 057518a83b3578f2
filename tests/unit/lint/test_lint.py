from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.golden.lint.cases import CASES, SLURM_CONF
from tests.golden.slurm.test_files import CASES as RENDERED
from tests.golden.slurm.test_files import FULL, GPU, MINIMAL

from npa.cluster.model import Machine
from npa.errors import SpecError
from npa.slurm import files as slurm_files
from npa.slurm import lint
from npa.slurm.lint import grammar, rendered
from npa.slurm.lint.files import MAX_BYTES
from npa.slurm.runtime import Runtime

SOUND = CASES["c29-sound"].texts()


def _said(files: dict[str, str], **how: object) -> list[str]:
    found = lint.check(files, version="26.05", **how)  # type: ignore[arg-type]
    return [f"{each.severity}: {each.problem()}" for each in found]


@pytest.mark.parametrize("case", RENDERED)
def test_what_we_render_is_sound(case: str) -> None:
    cluster, runtime = RENDERED[case]
    files = {file.name: file.text for file in slurm_files.render(cluster, runtime)}

    assert lint.errors(lint.check(files, version=cluster.slurm_version)) == ()


def test_c29_a_pool_without_nodes_leaves_its_partition_sound() -> None:
    cluster = replace(FULL, pools=(replace(GPU, size=0), *FULL.pools[1:]))

    assert lint.errors(rendered.check(cluster, Runtime("v2"))) == ()


def test_c30_files_beyond_a_config_map_name_the_largest() -> None:
    lines = "".join(f"NodeName=n{index} CPUs=1 RealMemory=100 Feature={'x' * 90}\n" for index in range(9000))
    files = {**SOUND, "slurm.conf": SLURM_CONF + lines}

    told = lint.check(files, version="26.05", limited=True)

    assert [(each.file, each.severity) for each in told] == [("slurm.conf", "error")]
    assert str(MAX_BYTES) in told[0].message


def test_c32_custom_settings_may_not_undo_ours_whatever_their_spelling() -> None:
    text = (
        "maxtime=1-0\n  nodeNAME=evil CPUs=1\nslurmctldhost=elsewhere\nAccountingStorage\\\nHost=x\n"
        "include /etc/shadow\nPartitionName=main Nodes=ALL State=DOWN\nKillWait=30\n"
    )

    told = [(each.line, each.at) for each in lint.errors(lint.check_custom(text, version="26.05"))]

    assert told == [
        (1, "maxtime"),
        (2, "nodeNAME"),
        (3, "slurmctldhost"),
        (4, "AccountingStorageHost"),
        (5, "Host"),  # and the line break within the key is a trap of its own
        (6, "Include"),
        (7, "PartitionName"),
    ]


def test_c32_settings_of_a_spec_are_told_by_their_path() -> None:
    cluster = replace(
        MINIMAL, slurm_settings=(("KillWeit", "3"), ("PreemptMode", "REQUEUE"), ("WaitTime", "-1"))
    )

    with pytest.raises(SpecError) as caught:
        rendered.refuse(cluster)

    assert [problem.at for problem in caught.value.problems] == [
        "slurm.settings.KillWeit",
        "slurm.settings.WaitTime",
    ]


def test_c32_settings_that_contradict_the_rest_are_told_once_rendered() -> None:
    cluster = replace(MINIMAL, slurm_settings=(("PreemptMode", "REQUEUE"),))
    texts = {file.name: file.text for file in slurm_files.render(cluster, Runtime("v2"))}

    with pytest.raises(SpecError) as caught:
        rendered.refuse(cluster, texts)

    assert [problem.at for problem in caught.value.problems] == ["slurm.settings.PreemptMode"]


def test_c33_a_node_that_claims_more_than_the_machine_is_told() -> None:
    files = {**SOUND, "slurm.conf": SLURM_CONF.replace("SlurmdParameters=config_overrides\n", "")}
    machine = Machine(cpus=16, memory_mib=64_000)

    assert len(_said(files, machine=machine)) == 2
    assert _said(files, machine=Machine(cpus=16, memory_mib=65_536)) == []
    assert _said(SOUND, machine=machine) == []


def test_c34_a_comment_cuts_a_password() -> None:
    text = "DbdHost=db\nStorageType=accounting_storage/mysql\nStoragePass=p#w\n"

    assert _said({"slurmdbd.conf": text}) == [
        "error: slurmdbd.conf:3:14: StoragePass: `#w` is a comment, not part of the value"
    ]


def test_c66_slurmdbd_and_slurm_conf_must_name_the_same_place() -> None:
    conf = SLURM_CONF + "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=db-1\n"
    daemon = "AuthType=auth/slurm\nDbdHost=db-0\nDbdPort=7000\nStorageType=accounting_storage/mysql\n"

    told = _said({**SOUND, "slurm.conf": conf, "slurmdbd.conf": daemon})

    assert told == [
        "error: slurm.conf:26:23: AccountingStorageHost: slurmdbd runs on db-0",
        "error: slurmdbd.conf:3:9: DbdPort: slurm.conf looks for slurmdbd at port 6819",
    ]


def test_places_survive_continued_lines_and_escapes() -> None:
    page = grammar.read("f", {"f": "\n\n  A=1\\\n2\\#3 \n"}, "slurm.conf")

    assert [
        (pair.key, pair.value, pair.line, pair.column) for line in page.statements for pair in line.pairs
    ] == [("A", "12#3", 3, 3)]


def test_c32_includes_are_read_in_their_place() -> None:
    files = {**SOUND, "slurm.conf": f"{SLURM_CONF}include site.conf\n", "site.conf": "KillWait=x\n"}

    assert _said(files) == ["error: site.conf:1:10: KillWait: 'x' is not a number"]


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    for name in lint.KNOWN:
        lint.check({name: text}, version="26.05")
    lint.check_custom(text, version="24.11")
