"""What a deploy looks at before it changes anything: Terraform's state, the provider, and who owns what."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from npa.errors import IdentityError, OwnershipError, RefusedError, UsageError
from npa.render.nebius import capacity, existing, preflight, prices, tfvars, volumes
from npa.render.nebius import held as states
from npa.render.nebius.identity import Identity
from npa.render.nebius.preflight import Preflight
from npa.render.nebius.prices import Prices
from npa.render.nebius.sidecar import Sidecar
from npa.spec.model import SoperatorSpec
from npa.targets.nebius import binding
from npa.targets.nebius.outside import BACKEND, Outside
from npa.tools import disk
from npa.tools.nebius import Nebius

State = Mapping[str, Any]
APPLIED = ".npa-soperator-applied.json"
_RESTORE = "restore terraform.tfstate from a backup; nothing is made anew or deleted by name"


@dataclass(frozen=True, slots=True)
class World:
    """What was found."""

    who: Identity  # with its subnet
    state: State
    preflight: Preflight


def state_of(outside: Outside, folder: Path) -> State:
    """Return Terraform's state of an installation, an empty one only where it has none."""
    there = (folder / "terraform.tfstate", folder / ".terraform")
    return outside.reader(folder).state_pull() if any(each.exists() for each in there) else {}


def remote_state(outside: Outside, backend: str) -> State:
    """Return a state that is kept elsewhere, for a machine that has no installation: nothing stays here."""
    with tempfile.TemporaryDirectory(prefix="npa-state-") as folder:
        disk.write(Path(folder) / BACKEND, backend, mode=0o600, uid=-1, gid=-1)
        tool = outside.reader(Path(folder))
        tool.init()
        return tool.state_pull()


def adopted(provider: Nebius, name: str, who: Identity, state: State) -> Sidecar | None:
    """Return the record that a state stands for whose machine was lost; None where it holds no cluster.

    Raises OwnershipError unless the provider knows exactly this cluster, of this name, in this project.
    """
    held = states.read(state)
    if not held.cluster_id:
        return None
    called = f"soperator-{name}"
    binding.verified(provider.cluster(held.cluster_id), held.cluster_id, called, who.project_id)
    record = Sidecar(cluster_name=name, cluster_id=held.cluster_id, provider_cluster_name=called)
    return replace(record, auxiliaries=held.auxiliaries)


def load_caches(folder: Path) -> tuple[str, ...]:
    """Return the pools that had disks for images when everything was last applied: no state says that."""
    found = (disk.load_json(folder / APPLIED) or {}).get("cached_pools", [])
    return tuple(map(str, found)) if isinstance(found, list) else ()


def save_caches(folder: Path, spec: SoperatorSpec) -> None:
    """Write down which pools have disks for images, now that everything is applied."""
    cached = [pool.name for pool in spec.workers if pool.docker_cache]
    disk.write(folder / APPLIED, json.dumps({"cached_pools": cached}) + "\n", mode=0o600, uid=-1, gid=-1)


def load_prices(path: Path | None) -> Prices:
    """Return the price table in a file; the empty one where none is named."""
    if path is None:
        return prices.UNKNOWN
    try:
        return prices.parse(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read", hint="name a price table with `--prices`") from error


def load_backend(path: Path | None) -> str:
    """Return the file that says where Terraform keeps its state; "" where none is named."""
    try:
        return "" if path is None else path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read", hint="name a file with a `backend` block") from error


def gather(
    provider: Nebius,
    spec: SoperatorSpec,
    who: Identity,
    state: State,
    table: Prices,
    cached: tuple[str, ...] = (),
) -> World:
    """Ask the provider what a preflight needs; raises IdentityError where it knows another place."""
    seen = provider.survey(who.tenant_id, who.project_id, reserved=bool(capacity.reserved(spec)))
    require_place(who, seen.project)
    if not who.subnet_id:
        if not seen.subnets:
            raise RefusedError(
                f"project {who.project_id} has no subnet",
                hint="make one, or name one: `subnet_id` in the spec",
            )
        who = replace(who, subnet_id=seen.subnets[0].id)
    elsewhere = {key: provider.capacity_block_group(key) for key in capacity.lookups(spec, seen.blocks)}
    found = preflight.assess(
        spec,
        capacity.Identity(who.tenant_id, who.project_id, who.region),
        capacity.World(seen.project, seen.blocks, seen.advice, existing.reserved(state), elsewhere),
        seen.allowances,
        state,
        table,
        cached=cached,
    )
    return World(who, state, found)


def require_place(who: Identity, found: capacity.Project) -> None:
    """Raise IdentityError where the provider has the project elsewhere than we think."""
    compared = (
        ("project", who.project_id, found.id),
        ("tenant", who.tenant_id, found.parent),
        ("region", who.region, found.region),
    )
    wrong = [
        f"{what} is {ours} here and {theirs or 'unknown'} at the provider"
        for what, ours, theirs in compared
        if ours != theirs
    ]
    if wrong:
        raise IdentityError(*wrong, hint="correct the spec, or the project in config.yaml")


def require_ours(name: str, sidecar: Sidecar | None, state: State) -> None:
    """Raise OwnershipError where record and state do not belong together, or one of them is lost."""
    held = states.read(state)
    recorded = (sidecar.cluster_id, *sidecar.filesystem_ids, *sidecar.allocation_ids) if sidecar else ()
    if sidecar is None and (held.cluster_id or held.auxiliaries):
        raise OwnershipError(
            f"Terraform's state of {name} holds a cluster, and the installation has no record",
            expected="a record",
            found="none",
            hint="restore .npa-soperator-env.json from a backup; nothing is assumed in its place",
        )
    if held.lost and any(recorded):
        raise OwnershipError(
            f"{name} is recorded to own things at the provider, and Terraform's state is gone",
            expected=next(filter(None, recorded)),
            found="no state",
            hint=f"{_RESTORE}; to end it by its recorded ids: npa soperator destroy {name}",
        )
    if sidecar and sidecar.cluster_id and held.cluster_id not in ("", sidecar.cluster_id):
        raise OwnershipError(
            "Terraform's state holds another cluster than the installation's record",
            expected=sidecar.cluster_id,
            found=held.cluster_id,
            hint=_RESTORE,
        )


def require_sizes(spec: SoperatorSpec, state: State) -> None:
    """Raise RefusedError, before anything is planned, where a filesystem would have to shrink."""
    declared = {"jail": spec.jail_size_gib, "controller-spool": tfvars.CONTROLLER_SPOOL_GIB}
    if spec.accounting:
        declared["accounting"] = tfvars.ACCOUNTING_GIB
    for name, real in states.filesystem_sizes(state):
        for role, gib in declared.items():
            if name == f"soperator-{spec.name}-{role}":
                volumes.grown(f"filesystem {name}", gib, real)


def require_no_twin(provider: Nebius, name: str, who: Identity, state: State) -> None:
    """Raise OwnershipError where the project has a cluster or jail of this name that the state does not know.

    An apply that was killed before it wrote its state leaves one behind, and so does another machine.
    """
    held = states.read(state)
    ours = {held.cluster_id, *(each.id for each in held.auxiliaries)}
    called = f"soperator-{name}"
    twins = [
        f"{kind} {each.id}"
        for kind, names in (("cluster", {called}), ("filesystem", {f"{called}-jail"}))
        for each in provider.all_owned(kind, who.project_id)  # type: ignore[arg-type]
        if each.name in names and each.id not in ours
    ]
    if twins:
        raise OwnershipError(
            f"project {who.project_id} has {', '.join(twins)} of this name, unknown to the installation",
            expected="none",
            found=twins[0],
            hint="deploy under another name; where an apply was killed here, delete exactly these ids first",
        )
