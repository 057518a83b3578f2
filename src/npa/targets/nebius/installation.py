"""Prepares the folder that Terraform runs in: adopted, patched, copied and pointed at its region."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from npa.errors import OwnershipError, RefusedError, SourceError
from npa.render.nebius import patches, source
from npa.render.nebius.source import EXAMPLE, Contract
from npa.targets.nebius.checkout import Place
from npa.tools import disk
from npa.tools.git import Git

TFVARS = "terraform.tfvars"
PROVIDERS = "terraform.tf"
_STATE_LOCK = ".terraform.tfstate.lock.info"
_LOCK = ".npa-source.lock"
_KEPT_HIDDEN = ".terraform.lock.hcl"


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    content: bytes
    mode: int


def prepare(
    place: Place,
    contract: Contract,
    *,
    region: str,
    default_apparmor: bool,
    tfvars: str,
    before: str = "",
    git: Git | None = None,
) -> Path:
    """Make the installation's folder ready for Terraform and return it.

    `before` is the commit that it was made with: what that one's example has and the new one's has not goes.
    Everything is read and decided before the first write. Raises SourceError where the source is not as
    verified, OwnershipError where the folder is somebody else's.
    """
    _refuse_foreign(place)
    with disk.lock(
        place.recipe / "installations" / _LOCK, f"another npa is changing {place.recipe}", patience=60
    ):
        patched = tuple(_patched(place, contract, git or Git(place.repository), default_apparmor))
        copied = tuple(_copied(place, contract, git or Git(place.repository), region))
        if not any(each.path.name == PROVIDERS for each in copied):
            raise SourceError(f"{EXAMPLE}/{PROVIDERS} is missing", hint="use the pinned `--ref`")
        dropped = tuple(_dropped(place, contract.ref, before, git or Git(place.repository)))
        adopt(place)
        place.installation.mkdir(mode=0o700, exist_ok=True)
        if place.own:
            place.installation.chmod(
                0o700
            )  # an older tool left it as the umask had it, with Terraform state in it
        for each in (*patched, *copied, _File(place.installation / TFVARS, tfvars.encode(), 0o600)):
            _write(each)
        for path in dropped:
            path.unlink(missing_ok=True)
    return place.installation


def adopt(place: Place) -> None:
    """Move an installation out of the shared checkout, into its own copy; the old path stays as a link.

    Nothing in it changes: Terraform state and every other file move with the folder, in one step.
    """
    if place.adopts is None or not place.adopts.is_dir() or place.adopts.is_symlink():
        return
    _refuse_foreign(place)
    place.installation.parent.mkdir(parents=True, exist_ok=True)
    place.adopts.rename(place.installation)
    disk.sync_folder(place.installation.parent)
    place.adopts.symlink_to(place.installation, target_is_directory=True)
    disk.sync_folder(place.adopts.parent)


def _refuse_foreign(place: Place) -> None:
    if place.installation.is_symlink():
        raise OwnershipError(
            f"{place.installation} is a link",
            expected="a folder",
            found=str(place.installation.readlink()),
            hint="deploy under another name, or put the folder itself there",
        )
    if place.adopts is None or place.adopts.is_symlink():  # a link: it has been adopted since
        return
    if place.installation.exists():
        raise OwnershipError(
            f"{place.name} is both in {place.adopts} and in {place.installation}",
            expected="one",
            found="2",
            hint="move the one without Terraform state aside",
        )
    if (place.adopts / _STATE_LOCK).exists():
        raise RefusedError(
            f"Terraform is at work in {place.adopts}",
            hint=f"wait for it; if none runs, remove {place.adopts / _STATE_LOCK}",
        )


def _patched(place: Place, contract: Contract, git: Git, default_apparmor: bool) -> Iterator[_File]:
    chosen = patches.wanted(contract.patches, default_apparmor=default_apparmor)
    for patch in contract.patches:
        path = place.repository / patch.path
        pristine = git.show(contract.ref, patch.path)
        if pristine is None or not path.is_file():
            raise SourceError(f"{path} is missing", hint="use the pinned `--ref`")
        current = path.read_bytes().decode("utf-8", "surrogateescape")
        text = patches.render(patch, pristine, current, wanted=patch in chosen)
        yield _File(path, text.encode(), path.stat().st_mode & 0o777)


def _copied(place: Place, contract: Contract, git: Git, region: str) -> Iterator[_File]:
    """Yield the example's own files: all that are tracked, so that one that a newer recipe adds is too."""
    for name in git.files(contract.ref, EXAMPLE):
        relative = Path(name).relative_to(EXAMPLE)
        hidden = relative.name.startswith(".") and relative.name != _KEPT_HIDDEN
        if hidden or relative == Path(TFVARS) or relative.suffix == ".md":
            continue
        origin = place.repository / name
        content = origin.read_bytes()
        if relative == Path(PROVIDERS):
            content = source.with_domain(content.decode(), region).encode()
        yield _File(place.installation / relative, content, origin.stat().st_mode & 0o777)


def _dropped(place: Place, ref: str, before: str, git: Git) -> Iterator[Path]:
    """Yield what came with the commit before and is no part of this one: Terraform would read it."""
    if before in ("", ref) or not git.has_commit(before):
        return
    for name in sorted(set(git.files(before, EXAMPLE)) - set(git.files(ref, EXAMPLE))):
        path = place.installation / Path(name).relative_to(EXAMPLE)
        there = path.is_file() and not path.is_symlink()
        if there and path.read_bytes().decode(errors="replace") == git.show(before, name):
            yield path  # one that somebody has changed since is theirs


def _write(file: _File) -> None:
    file.path.parent.mkdir(parents=True, exist_ok=True)
    if file.path.is_symlink():
        raise OwnershipError(
            f"{file.path} is a link",
            expected="a file",
            found=str(file.path.readlink()),
            hint="put the file itself there",
        )
    if file.path.is_file() and file.path.read_bytes() == file.content:
        file.path.chmod(file.mode)
        return
    disk.write_bytes(file.path, file.content, mode=file.mode, uid=-1, gid=-1)
