from __future__ import annotations

from dataclasses import replace

import pytest
from tests.nebius import repository

from npa.errors import SourceError
from npa.render.nebius import source
from npa.render.nebius.patches import PIN

CONTRACT = source.contract(PIN)
FILES: dict[str, str | None] = {path: repository.FILES[path] for path in CONTRACT.paths}
TFVARS = "soperator/installations/example/terraform.tfvars"
LOGIN = "soperator/modules/login/main.tf"


def test_the_pinned_source_has_no_problems() -> None:
    assert source.problems(CONTRACT, PIN, FILES, FILES, ()) == ()


def test_a_patched_source_has_no_problems() -> None:
    patched = {**FILES, **{each.path: each.applied(str(FILES[each.path])) for each in CONTRACT.patches}}

    assert source.problems(CONTRACT, PIN, FILES, patched, [each.path for each in CONTRACT.patches]) == ()


def test_everything_wrong_is_said_at_once() -> None:
    pristine = {
        **FILES,
        TFVARS: 'slurm_operator_version = "4.1.6"\nk8s_version = 1.34\nnode_group_version = 75\n',
    }
    current = {**pristine, LOGIN: "mine", "soperator/modules/sizing_tier/main.tf": None}
    found = source.problems(
        CONTRACT,
        PIN,
        pristine,
        current,
        (LOGIN, "soperator/VERSION", "soperator/modules/sizing_tier/main.tf"),
    )

    assert len(found) == 4
    assert [
        part for part in ("72", "VERSION", "login/main.tf", "is missing") if any(part in f for f in found)
    ] == [
        "72",
        "VERSION",
        "login/main.tf",
        "is missing",
    ]


def test_another_commit_is_said_before_its_files_are_looked_at() -> None:
    assert source.problems(CONTRACT, "1" * 40, {}, {}, ()) == (
        f"the checkout is at {'1' * 12}, not at {PIN[:12]}",
    )


def test_blanks_between_words_do_not_count() -> None:
    pristine = {**FILES, TFVARS: str(FILES[TFVARS]).replace(" = ", "     = ")}

    assert source.problems(CONTRACT, PIN, pristine, pristine, ()) == ()


def test_a_ref_is_a_full_commit_id() -> None:
    assert source.require_ref(f" {PIN.upper()}\n") == PIN


@pytest.mark.parametrize("ref", ["main", PIN[:12], f"{PIN}0", "", f"{PIN[:-1]}g"])
def test_anything_else_is_refused(ref: str) -> None:
    with pytest.raises(SourceError, match="not a full commit id"):
        source.require_ref(ref)


def test_a_commit_that_nobody_verified_is_refused() -> None:
    with pytest.raises(SourceError, match="no adapter"):
        source.contract("0" * 40)


@pytest.mark.parametrize(
    ("region", "domain"),
    [
        ("eu-north1", "api.eu.nebius.cloud:443"),
        ("us-central1", "api.nebius.cloud:443"),
        ("me-west1", "api.nebius.cloud:443"),
    ],
)
def test_the_domain_follows_the_region(region: str, domain: str) -> None:
    assert source.with_domain('domain = "api.eu.nebius.cloud:443"', region) == f'domain = "{domain}"'


def test_a_file_without_the_domain_is_refused_in_every_region() -> None:
    for region in ("eu-north1", "us-central1"):
        with pytest.raises(SourceError, match="does not name"):
            source.with_domain("domain = var.domain", region)


def test_versions_are_those_of_the_recipe() -> None:
    assert source.version_problems(CONTRACT.versions, kubernetes="1.34", node_bundle="72") == ()
    assert len(source.version_problems(CONTRACT.versions, kubernetes="1.35", node_bundle="75")) == 2


def test_a_contract_can_be_made_for_another_commit() -> None:
    assert replace(CONTRACT, ref="2" * 40).patches == CONTRACT.patches
