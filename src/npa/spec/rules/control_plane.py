"""Sizes of the control plane, and versions of what it runs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from npa.spec import catalog, nearest
from npa.spec.finding import Finding
from npa.spec.model import SoperatorSpec
from npa.spec.rules import words


def api_version_is_ours(spec: SoperatorSpec) -> Iterator[Finding]:
    """Another version may mean other things by the same words."""
    if spec.apiVersion != catalog.API_VERSION:
        message = f"{words.shown(spec.apiVersion)} is not read here"
        yield Finding("apiVersion", message, f"write `{catalog.API_VERSION}`, or remove the line")


def system_starts_with_enough_nodes(spec: SoperatorSpec) -> Iterator[Finding]:
    """The services on the system nodes keep a quorum of three."""
    size, least = spec.control_plane.system.min_size, catalog.SYSTEM_MIN_SIZE
    if size < least:
        yield Finding("control_plane.system.min_size", f"must be at least {least}, is {size}", f"use {least}")


def system_grows_and_does_not_shrink(spec: SoperatorSpec) -> Iterator[Finding]:
    """Autoscaling goes from the one to the other."""
    system = spec.control_plane.system
    if system.max_size is not None and system.max_size < system.min_size:
        yield Finding(
            "control_plane.system.max_size",
            f"max_size {system.max_size} is below min_size {system.min_size}",
            f"use {system.min_size} or more",
            ("control_plane.system.min_size",),
        )


def controllers_are_as_many_as_the_target_runs(spec: SoperatorSpec) -> Iterator[Finding]:
    """The recipe runs one slurmctld; elsewhere a second one may stand by."""
    size = spec.control_plane.controller.size
    if size not in (1, 2):
        yield Finding(
            "control_plane.controller.size", f"must be 1 or 2, is {size}", "use 1, or 2 for a standby"
        )
    elif size == 2 and spec.target not in ("local", "kubernetes"):
        yield Finding(
            "control_plane.controller.size",
            "must be 1: the recipe of target nebius runs one controller, is 2",
            "use 1, or set `target: local`",
        )


def control_plane_presets_fit_the_tier(spec: SoperatorSpec) -> Iterator[Finding]:
    """An undersized control plane comes up and then fails under its workers."""
    written = spec.control_plane
    roles = {
        "system": written.system.preset,
        "controller": written.controller.preset,
        "accounting": written.accounting.preset if spec.accounting else None,
        "login": written.login.preset,
    }
    sizes = tuple(f"workers[{index}].size" for index in range(len(spec.workers)))
    for role, preset in roles.items():
        at = f"control_plane.{role}.preset"
        if preset is None:
            continue
        if preset not in catalog.CONTROL_PLANE_PRESETS:
            hint = nearest.hint(preset, catalog.CONTROL_PLANE_PRESETS)
            yield Finding(at, f"{words.shown(preset)} is no preset for the control plane", hint)
            continue
        workers = spec.worker_count
        tier, least = catalog.tier(workers), catalog.min_vcpus(role, workers)
        shape = catalog.preset("cpu-d3", preset)
        if shape and shape.vcpus < least:
            yield Finding(
                at,
                f"{preset} is too small for {workers} workers: tier {tier} needs {least} vCPUs",
                f"use {least}vcpu-{least * 4}gb, or remove the line",
                ("workers", "accounting", *sizes),
            )


def operator_version_is_a_verified_one(spec: SoperatorSpec) -> Iterator[Finding]:
    """Each chart was read against the recipe before it was let in."""
    at, version = "slurm_operator_version", spec.slurm_operator_version
    if version == "4.1.0":
        message = "4.1.0, the former default, is no longer verified"
        yield Finding(at, message, 'use "4.1.6"; 4.1.7 needs use_default_apparmor_profile')
    elif not re.fullmatch(r"[1-9][0-9]*\.[0-9]+\.[0-9]+", version):
        yield Finding(at, f"{words.shown(version)} is not a version", 'write three numbers, as in "4.1.6"')
    elif version not in catalog.OPERATOR_VERSIONS:
        hint = f"use {' or '.join(catalog.OPERATOR_VERSIONS)}"
        yield Finding(at, f"operator {version[:40]} is not verified", hint)


def unconfined_daemons_run_the_verified_chart(spec: SoperatorSpec) -> Iterator[Finding]:
    """Only that chart is known to start containers of users without the AppArmor profile."""
    version, only = spec.slurm_operator_version, catalog.UNCONFINED_OPERATOR_VERSION
    allowed = version in catalog.OPERATOR_VERSIONS and version != only
    if allowed and not spec.use_default_apparmor_profile:
        yield Finding(
            "slurm_operator_version",
            f"slurm_operator_version {version} needs use_default_apparmor_profile, which is false",
            f'use "{only}", or set `use_default_apparmor_profile: true` once the nodes have the profile',
            ("use_default_apparmor_profile",),
        )


def kubernetes_version_has_two_numbers(spec: SoperatorSpec) -> Iterator[Finding]:
    """The provider upgrades patches itself."""
    if not re.fullmatch("[0-9]+[.][0-9]+", spec.k8s_version):
        message = f"{words.shown(spec.k8s_version)} is not a version of Kubernetes"
        yield Finding("k8s_version", message, 'write two numbers, as in "1.34"')


def node_group_version_is_a_number(spec: SoperatorSpec) -> Iterator[Finding]:
    """It names the provider's bundle of kernel and drivers."""
    if not re.fullmatch("[0-9]+", spec.node_group_version):
        message = f"{words.shown(spec.node_group_version)} is not a version of a node group"
        yield Finding("node_group_version", message, 'write one number, as in "72"')


def slurm_version_is_supported(spec: SoperatorSpec) -> Iterator[Finding]:
    """Files are written in the words of these versions."""
    if spec.slurm.version not in catalog.SLURM_VERSIONS:
        message = f"Slurm {words.shown(spec.slurm.version)} is not supported"
        yield Finding("slurm.version", message, f"use {' or '.join(catalog.SLURM_VERSIONS)}")


def rest_has_accounting(spec: SoperatorSpec) -> Iterator[Finding]:
    """The operator leaves REST out in silence where there is no accounting database."""
    if spec.slurm_rest_enabled and not spec.accounting:
        yield Finding(
            "slurm_rest_enabled",
            "slurm_rest_enabled is true and accounting is false: REST needs the accounting database",
            "set `accounting: true`, or remove slurm_rest_enabled; GPU checks run without either",
            ("accounting",),
        )


def jail_has_a_size(spec: SoperatorSpec) -> Iterator[Finding]:
    """The jail is a file system that somebody has to make."""
    if spec.jail_size_gib < 1:
        yield Finding("jail_size_gib", f"must be at least 1, is {spec.jail_size_gib}", "use 512")


RULES = (
    api_version_is_ours,
    system_starts_with_enough_nodes,
    system_grows_and_does_not_shrink,
    controllers_are_as_many_as_the_target_runs,
    control_plane_presets_fit_the_tier,
    operator_version_is_a_verified_one,
    unconfined_daemons_run_the_verified_chart,
    kubernetes_version_has_two_numbers,
    node_group_version_is_a_number,
    slurm_version_is_supported,
    rest_has_accounting,
    jail_has_a_size,
)
