"""The source contract: which commit of the recipe, and what must be true of its files before all else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from npa.errors import SourceError
from npa.render.nebius import patches
from npa.render.nebius.patches import PIN, Patch

REMOTE = "https://github.com/nebius/nebius-solutions-library.git"
RECIPE = "soperator"  # folder of the recipe in the repository
EXAMPLE = f"{RECIPE}/installations/example"
_SHA = re.compile(r"[0-9a-f]{40}")
_EU_DOMAIN, _DOMAIN = "api.eu.nebius.cloud:443", "api.nebius.cloud:443"


@dataclass(frozen=True, slots=True)
class Versions:
    """What the recipe's example says it was made for."""

    operator: str
    kubernetes: str
    node_bundle: str


@dataclass(frozen=True, slots=True)
class Contract:
    """Everything that was verified of one commit of the recipe."""

    ref: str
    versions: Versions
    critical: Mapping[str, tuple[str, ...]]  # path -> what its text says, runs of blanks aside
    patches: tuple[Patch, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """Every file that the contract is about."""
        return (*self.critical, *(patch.path for patch in self.patches))


def require_ref(ref: str) -> str:
    """Return a full commit id in lower case; raises SourceError for a branch, a tag or a short id."""
    folded = ref.strip().lower()
    if not _SHA.fullmatch(folded):
        raise SourceError(
            f"{ref.strip()[:60]!r} is not a full commit id: 40 hexadecimal digits",
            hint=f"branches and tags move; use {PIN}",
        )
    return folded


def contract(ref: str) -> Contract:
    """Return what must hold at one commit; raises SourceError for a commit that nobody has verified."""
    ref = require_ref(ref)
    found = patches.for_ref(ref)
    return Contract(ref, _VERSIONS[ref], _CRITICAL[ref], found)


def problems(
    wanted: Contract,
    head: str,
    pristine: Mapping[str, str | None],
    current: Mapping[str, str | None],
    changed: Sequence[str],
) -> tuple[str, ...]:
    """Say everything that is wrong with a checkout.

    `pristine` is each file of the contract at the commit, `current` as it lies in the checkout; None where
    there is none. `changed` are the tracked files that differ from the commit.
    """
    if head != wanted.ref:
        return (f"the checkout is at {head[:12] or 'no commit'}, not at {wanted.ref[:12]}",)
    targets = {patch.path for patch in wanted.patches}
    gone = {path for path in wanted.paths if pristine.get(path) is None or current.get(path) is None}
    return (
        *(f"{path} is missing" for path in sorted(gone)),
        *(patches.modified(path) for path in sorted(changed) if path not in targets | gone),
        *_fragments(wanted, pristine),
        *_targets(wanted, pristine, current),
    )


def _fragments(wanted: Contract, pristine: Mapping[str, str | None]) -> Iterator[str]:
    for path, fragments in wanted.critical.items():
        text = pristine.get(path)
        if text is None:
            continue
        folded = _folded(text)
        for fragment in fragments:
            if _folded(fragment) not in folded:
                yield f"{path} does not say {fragment!r}"


def _targets(
    wanted: Contract, pristine: Mapping[str, str | None], current: Mapping[str, str | None]
) -> Iterator[str]:
    for patch in wanted.patches:
        before, now = pristine.get(patch.path), current.get(patch.path)
        if before is None or now is None:
            continue
        try:
            if patch.state(before, now) == "modified":
                yield patches.modified(patch.path)
            patch.applied(before)
        except SourceError as error:
            yield from error.problems


def _folded(text: str) -> str:
    return re.sub(r"[ \t]+", " ", text)


def api_domain(region: str) -> str:
    """Return where the provider's API answers for a region."""
    return _EU_DOMAIN if region.startswith("eu") else _DOMAIN


def with_domain(terraform_tf: str, region: str) -> str:
    """Return the example's provider file for a region; raises SourceError where it names no domain."""
    if _EU_DOMAIN not in terraform_tf:
        raise SourceError(
            f"{EXAMPLE}/terraform.tf does not name {_EU_DOMAIN}, so it cannot be pointed at {region}",
            hint="this recipe is not the verified one: use the pinned `--ref`",
        )
    return terraform_tf.replace(_EU_DOMAIN, api_domain(region))


def version_problems(versions: Versions, *, kubernetes: str, node_bundle: str) -> tuple[str, ...]:
    """Say where a spec asks for another Kubernetes or node bundle than the recipe was verified with."""
    asked = (
        ("k8s_version", kubernetes, versions.kubernetes),
        ("node_group_version", node_bundle, versions.node_bundle),
    )
    return tuple(
        f"{field} is {found!r}, and the recipe is verified with {expected!r}"
        for field, found, expected in asked
        if found != expected
    )


_VERSIONS = {PIN: Versions("4.1.6", "1.34", "72")}
_CRITICAL: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    PIN: {
        f"{EXAMPLE}/terraform.tfvars": (
            'slurm_operator_version = "4.1.6"',
            "k8s_version = 1.34",
            "node_group_version = 72",
        ),
        f"{EXAMPLE}/main.tf": (
            "rest_enabled = var.slurm_rest_enabled",
            "accounting_enabled = var.accounting_enabled",
            "sizing_tier_override = module.sizing.sizing_tier",
        ),
        f"{EXAMPLE}/variables.tf": (
            'variable "slurm_rest_enabled"',
            'variable "accounting_enabled"',
            'variable "sizing_tier_override"',
        ),
        f"{RECIPE}/modules/sizing_tier/main.tf": (
            'var.worker_count < 10 ? "XS"',
            'var.worker_count < 100 ? "S"',
            'var.worker_count < 500 ? "M"',
            'var.worker_count < 2000 ? "L" : "XL"',
            'L = "32vcpu-128gb"',
            'XL = "64vcpu-256gb"',
        ),
    },
}
