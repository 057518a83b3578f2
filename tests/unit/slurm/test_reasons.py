"""A drain's owner is told by how its reason begins."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npa.slurm import reasons, slurm_reasons
from npa.slurm.reasons import LIMIT, Reason


@pytest.mark.parametrize(
    ("text", "user", "owner", "kind"),
    [
        ("", "", "nobody", "none"),
        ("   ", "root", "nobody", "none"),
        ("rack move, do not touch", "alice", "person", "person"),
        ("npa: pool cpu shrinks", "root", "npa", "npa"),
        ("please ask npa: pool cpu", "root", "person", "person"),
        ("NPA: loud", "root", "person", "person"),
        ("[user_problem] boot_disk_full: /var [hc_program]", "root", "soperator", "user_problem"),
        ("[node_problem] dcgmi_diag: gpu 3", "root", "soperator", "node_problem"),
        ("[hardware_problem] x", "root", "soperator", "hardware_problem"),
        ("[compute_maintenance] node reboot process", "root", "soperator", "maintenance"),
        ("[node_replacement] x", "root", "soperator", "node_replacement"),
        ("[my_problem] x", "root", "person", "person"),
        ("see [node_problem] x", "root", "person", "person"),
        ("Not responding", "slurm", "slurm", "not_responding"),
        ("Not responding", "alice", "person", "person"),
        ("Reboot ASAP", "alice", "slurm", "reboot"),
        ("Kill task failed", "root", "slurm", "kill_task"),
        ("Prolog error", "slurm", "slurm", "prolog"),
        ("Low RealMemory (reported:1 < 100.00% of configured:2)", "slurm", "slurm", "too_small"),
        ("gres/gpu count reported lower than configured (7 < 8)", "slurm", "slurm", "gres"),
        ("batch job complete failure", "slurm", "slurm", "batch_failure"),
        ("Node unexpectedly rebooted", "slurm", "slurm", "rebooted"),
    ],
)
def test_c45_the_owner_is_told_by_the_beginning(text: str, user: str, owner: str, kind: str) -> None:
    parsed = reasons.parse(text, user)

    assert (parsed.owner, parsed.kind) == (owner, kind)


def test_what_slurmctld_appends_does_not_change_the_owner() -> None:
    parsed = reasons.parse("npa: pool cpu shrinks : Not responding", "slurm")

    assert parsed == Reason("npa", "npa", "npa: pool cpu shrinks", also=("Not responding",))


def test_the_check_is_named() -> None:
    assert reasons.parse("[user_problem] boot_disk_full: /var").check == "boot_disk_full"


@pytest.mark.parametrize(
    ("reason", "own"),
    [
        ("[user_problem] boot_disk_full", True),
        ("[user_problem] boot_disk_full: /var", True),
        ("[user_problem] boot_disk_full [hc_program]", True),
        ("[user_problem] boot_disk_fuller", False),
        ("note: [user_problem] boot_disk_full", False),
        ("", False),
    ],
)
def test_c45_a_check_knows_its_own_reason(reason: str, own: bool) -> None:
    assert reasons.of_check(reason, "[user_problem] boot_disk_full") is own


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("fan dead\n[node_problem] forged", "fan dead [node_problem] forged"),
        ("[node_problem] forged", "note: [node_problem] forged"),
        ("\n\tnpa: forged", "note: npa: forged"),
        ("Not responding", "note: Not responding"),
        ("\u202egnp.exe", "gnp.exe"),
        ("\u200bnpa: x", "note: npa: x"),
        ("a\x1b[31mb", "a [31mb"),
        ("   ", "no reason given"),
        ("\u202e", "no reason given"),
        ("emoji 🔥", "emoji 🔥"),
        ('"quoted"', "quoted"),
        ("quote \" = | ' ; $(reboot)", "quote \" = | ' ; $(reboot)"),
        ("a : b", "a: b"),
    ],
)
def test_c49_a_persons_text_is_one_line_and_passes_for_nobody_else(text: str, rendered: str) -> None:
    assert reasons.render(text) == rendered


def test_c49_a_long_text_is_cut_between_characters() -> None:
    rendered = reasons.render("ü" * 5000)

    assert len(rendered.encode()) <= LIMIT
    assert set(rendered) == {"ü", "."}


@given(st.text(max_size=600))
def test_c49_whatever_is_typed_is_read_back_as_a_persons(text: str) -> None:
    rendered = reasons.render(text)

    assert rendered == reasons.one_line(rendered)
    assert len(rendered.encode()) <= LIMIT
    assert reasons.parse(rendered, "root").owner == "person"
    assert reasons.parse(rendered, "root").label == "person"


@given(st.text(max_size=600))
def test_what_npa_writes_is_read_back_as_its_own(text: str) -> None:
    reason = reasons.leaving(text)

    assert reasons.ours(reason)
    assert reasons.parse(reason) == Reason("npa", "npa", reason)


@given(st.text(max_size=40), st.text(max_size=9))
def test_c49_labels_are_few(text: str, user: str) -> None:
    kinds = {known.kind for known in slurm_reasons.TABLE}

    label = reasons.parse(text, user).label

    assert label in {"npa", "person", "nobody:none"} or label.partition(":")[0] in ("slurm", "soperator")
    assert not label.startswith("slurm:") or label.partition(":")[2] in kinds
