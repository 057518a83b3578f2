"""C04: checks across fields, and defaults that keep every rule."""

from __future__ import annotations

import pytest
from tests.unit.spec.asking import CPU, HEAD, MINIMAL, problems, said

from npa.spec import catalog, load
from npa.spec.model import SoperatorSpec, WorkerPoolSpec


def test_c04_the_minimal_spec_and_every_default_keep_the_rules() -> None:
    spec = load.parse(MINIMAL)

    assert load.check(SoperatorSpec(name="lab", workers=(WorkerPoolSpec(name="cpu"),))) == spec
    assert load.from_mapping(spec.model_dump()) == spec


def test_c04_a_message_names_both_fields_and_both_values() -> None:
    found = said(MINIMAL + "control_plane: {system: {min_size: 5, max_size: 3}, etcd_size: 2}")

    assert "max_size 3 is below min_size 5" in found["control_plane.system.max_size"]
    assert "unknown key `etcd_size`" in found["control_plane.etcd_size"]


def test_c04_no_pools_is_no_cluster() -> None:
    assert "at least one pool" in said(HEAD + "workers: []")["workers"]
    assert said(HEAD) == {"workers": "is required | add `workers`"}


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("control_plane: {system: {min_size: 2}}", "control_plane.system.min_size"),
        ("control_plane: {controller: {size: 2}}", "control_plane.controller.size"),
        ("control_plane: {controller: {size: 3}}", "control_plane.controller.size"),
        ("control_plane: {controller: {size: 0}}", "control_plane.controller.size"),
        ("control_plane: {login: {preset: 8vcpu-32gb}}", "control_plane.login.preset"),
        ("control_plane: {system: {preset: 17vcpu-64gb}}", "control_plane.system.preset"),
        ("jail_size_gib: -1", "jail_size_gib"),
        ("slurm_rest_enabled: true", "slurm_rest_enabled"),
        ('slurm_operator_version: "4.1.0"', "slurm_operator_version"),
        ('slurm_operator_version: "4.1"', "slurm_operator_version"),
        ('slurm_operator_version: "4.1.9"', "slurm_operator_version"),
        ('slurm_operator_version: "4.1.7"', "slurm_operator_version"),
        ('k8s_version: "1.34.1"', "k8s_version"),
        ('k8s_version: "1.34\\n"', "k8s_version"),
        ('k8s_version: "\u0661.\u0663"', "k8s_version"),
        ('node_group_version: ""', "node_group_version"),
        ('slurm: {version: "23.11"}', "slurm.version"),
        ("apiVersion: npa.soperator/v1", "apiVersion"),
        ("target: cloud", "target"),
    ],
)
def test_c04_each_rule_points_to_its_field(text: str, at: str) -> None:
    assert list(said(MINIMAL + text)) == [at]


@pytest.mark.parametrize(
    "text",
    [
        "control_plane: {system: {max_size: null, preset: null}}",
        "slurm_rest_enabled: null",
        "slurm_rest_enabled: false",
        "accounting: true\nslurm_rest_enabled: true",
        'slurm_operator_version: "4.1.7"\nuse_default_apparmor_profile: true',
        "control_plane: {accounting: {preset: 4vcpu-16gb}}",
        "apiVersion: npa.soperator/v0.0.1",
        "target: local",
        'slurm: {version: "24.11", settings: {MaxJobCount: 5000, SchedulerParameters: "bf_continue,defer"}}',
    ],
)
def test_c04_what_keeps_the_rules_loads(text: str) -> None:
    assert not problems(MINIMAL + text)


def test_presets_are_measured_against_all_workers_together() -> None:
    text = (
        HEAD + "control_plane: {system: {preset: 16vcpu-64gb}}\nworkers: [{name: aa, size: %d}, {name: bb}]"
    )

    assert "600 workers: tier L needs 32 vCPUs" in said(text % 599)["control_plane.system.preset"]
    assert not problems(text % 498)


@pytest.mark.parametrize(("least", "effective"), [(3, 24), (30, 30)])
def test_system_grows_to_24_or_its_start(least: int, effective: int) -> None:
    spec = load.parse(MINIMAL + f"control_plane: {{system: {{min_size: {least}}}}}")

    assert spec.control_plane.system.effective_max_size == effective


def test_every_control_plane_preset_is_one_of_cpu_d3() -> None:
    assert all(catalog.preset("cpu-d3", name) for name in catalog.CONTROL_PLANE_PRESETS)


def test_rest_follows_accounting_where_it_is_left_out() -> None:
    assert not load.parse(MINIMAL).rest
    assert load.parse(MINIMAL + "accounting: true").rest
    assert not load.parse(MINIMAL + "accounting: true\nslurm_rest_enabled: false").rest


def test_a_spec_made_in_python_is_checked_too() -> None:
    spec = SoperatorSpec(name="Lab", workers=(WorkerPoolSpec(name="cpu"),))

    with pytest.raises(ValueError, match="U\\+004C"):
        load.check(spec)
    assert CPU
