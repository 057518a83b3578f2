"""The recipe on disk: one checkout that all installations share, and a copy of its own for each of them.

The shared checkout is only ever moved to the pinned commit; nothing else is written into it. An
installation gets a git worktree, so that patches, and later commits, are its own.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from npa.errors import OwnershipError, SourceError, ToolError
from npa.render.nebius import identity, source
from npa.render.nebius.source import EXAMPLE, RECIPE, REMOTE, Contract
from npa.tools import disk
from npa.tools.git import Git

LEGACY = "nebius-solutions-library"  # where the shared checkout used to be; kept, as installations are in it
COPIES = "sources"
LOCK = ".solutions-library.lock"
PATIENCE = 1500.0  # seconds for somebody else's clone: two git commands, and some air
_MOVED = "nothing was changed: installations and Terraform state are as they were"

OpenGit = Callable[[Path], Git]


@dataclass(frozen=True, slots=True)
class Place:
    """Where one installation's source and state are."""

    name: str
    ref: str
    repository: Path  # root of the git work tree that this installation uses
    adopts: Path | None = (
        None  # an installation in the shared checkout, to be moved here when it is next changed
    )
    own: bool = True  # whether the work tree is this installation's alone; not with `--terraform-dir`

    @property
    def recipe(self) -> Path:
        """The folder of the recipe."""
        return self.repository / RECIPE

    @property
    def installation(self) -> Path:
        """The folder that Terraform runs in."""
        return self.recipe / "installations" / self.name

    @property
    def state(self) -> Path:
        """Where the installation's files are now: the folder to be adopted, until it has been."""
        return self.adopts or self.installation


def locate(root: Path, name: str, terraform_dir: Path | None = None) -> Path | None:
    """Return the folder of an installation as it is now; None where there is none. Reads only.

    Raises OwnershipError where there are several.
    """
    identity.require_name(name)
    if terraform_dir is not None:
        found = terraform_dir.expanduser().resolve() / "installations" / name
        return found if found.is_dir() else None
    places = [_own(root, name), *sorted(root.glob(f"{LEGACY}*"))]
    folders = [place / RECIPE / "installations" / name for place in places]
    # A link is what an adopted installation leaves behind.
    there = [folder for folder in folders if folder.is_dir() and not folder.is_symlink()]
    if len(there) > 1:
        raise OwnershipError(
            f"there are {len(there)} installations of {name}: {', '.join(map(str, there))}",
            expected="one",
            found=str(len(there)),
            hint="say which with `--terraform-dir`, the folder `soperator` above its `installations`",
        )
    return there[0] if there else None


class Source:
    """Brings the recipe of one contract to disk, and refuses whatever is not exactly that."""

    def __init__(self, root: Path, contract: Contract, *, remote: str = REMOTE, git: OpenGit = Git) -> None:
        self._root = root
        self._contract = contract
        self._remote = remote
        self._git = git

    def resolve(self, name: str, terraform_dir: Path | None = None) -> Place:
        """Return an installation's place, with the source in it as verified; the installation is not touched.

        Raises SourceError with everything that is wrong, OwnershipError, IdentityError.
        """
        identity.require_name(name)
        if terraform_dir is not None:
            return self._given(name, terraform_dir.expanduser().resolve())
        with self._locked():
            found = locate(self._root, name)
            own = _own(self._root, name)
            if own.exists():
                # After an interrupted move git looks for the copy where it was, and forgets it one day.
                self._git(own).worktree_repair()
                self._require_same(name, own)
            else:
                shared = self._shared(found)
                self._verify(shared)
                self._copy(shared, own)
            self._verify(own)
        place = Place(name, self._contract.ref, own)
        return place if found in (None, place.installation) else Place(name, self._contract.ref, own, found)

    def _require_same(self, name: str, own: Path) -> None:
        """Raise SourceError where an installation has another commit than the one that is asked for."""
        head, ref = self._git(own).head(), self._contract.ref
        if head and head != ref:
            fetch = f"git -C {own} fetch --no-tags origin {ref}"
            move = f"git -C {own} checkout --force --detach {ref}"
            raise SourceError(
                f"{name} was made with the recipe at {head}, and {ref} is asked for; nothing was changed",
                hint=f"to stay, leave `--ref` away, or give `--ref {head}`; to move it: {fetch} && {move}, "
                f"then look at what that does: the same command with `--dry-run --ref {ref}`",
            )

    def _locked(self) -> AbstractContextManager[None]:
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        return disk.lock(
            self._root / LOCK, f"another npa is at work on the recipe in {self._root}", patience=PATIENCE
        )

    def _given(self, name: str, recipe: Path) -> Place:
        if not (recipe / "installations" / "example").is_dir():
            raise SourceError(
                f"{recipe} is not the recipe: it has no installations/example",
                hint="give the folder `soperator` of a clone of nebius-solutions-library",
            )
        if recipe.name != RECIPE or self._git(recipe).top_level() != recipe.parent:
            raise SourceError(
                f"{recipe} is not {RECIPE!r} at the root of a git checkout, so it cannot be verified",
                hint=f"clone {REMOTE} and give its folder `{RECIPE}`",
            )
        self._verify(recipe.parent)
        return Place(name, self._contract.ref, recipe.parent, own=False)

    def _shared(self, installation: Path | None) -> Path:
        """Return the shared checkout at the pinned commit, made or moved as needed."""
        legacy = self._root / LEGACY
        if installation is not None:
            shared = installation.parents[2]
        elif legacy.exists():
            shared = legacy
        else:
            shared = self._root / f"{LEGACY}-{self._contract.ref[:12]}"
        if shared.exists():
            self._reconcile(shared)
        else:
            self._clone(shared)
        return shared

    def _clone(self, into: Path) -> None:
        ref = self._contract.ref
        with tempfile.TemporaryDirectory(prefix=f".{into.name}.", dir=self._root) as folder:
            draft = Path(folder) / "checkout"
            try:
                self._git(self._root).clone(self._remote, draft)
            except ToolError as error:
                raise SourceError(
                    f"the recipe cannot be cloned from {self._remote}: {_last(error)}",
                    hint="restore access to it, or give a checkout with `--terraform-dir`",
                ) from error
            git = self._git(draft)
            self._obtain(git, draft)
            self._check_out(git, draft)
            if not (draft / EXAMPLE).is_dir():
                raise SourceError(f"{EXAMPLE} is missing at {ref[:12]}", hint="use the pinned `--ref`")
            draft.rename(into)

    def _reconcile(self, shared: Path) -> None:
        ref, git = self._contract.ref, self._git(shared)
        if git.top_level() != shared.resolve():
            raise SourceError(
                f"{shared} is not a git checkout; {_MOVED}",
                hint="save its installations and their Terraform state, move it aside, run again",
            )
        head, branch = git.head(), git.branch()
        if head == ref and not branch:
            return
        if head and not branch:
            raise SourceError(
                f"{shared} is at commit {head[:12]}, not at {ref[:12]}; {_MOVED}",
                hint=f"give `--ref {head}`, or use another home for the new one",
            )
        if head != ref:
            changed = git.changed()
            if changed:
                raise SourceError(
                    *(f"{shared / path} has been changed" for path in changed),
                    hint=f"commit, stash or revert it: git -C {shared} status; untracked files are kept",
                )
            self._obtain(git, shared)
        self._check_out(git, shared)

    def _obtain(self, git: Git, checkout: Path) -> None:
        ref = self._contract.ref
        if git.has_commit(ref):
            return
        try:
            git.fetch(ref)
        except ToolError as error:
            raise SourceError(
                f"commit {ref[:12]} is not in {checkout} and cannot be fetched: {_last(error)}; {_MOVED}",
                hint="restore access to its remote `origin`, run again",
            ) from error
        if not git.has_commit(ref):
            raise SourceError(
                f"commit {ref[:12]} is not in {checkout}, and fetching brought it not; {_MOVED}",
                hint="check its remote `origin`",
            )

    def _check_out(self, git: Git, checkout: Path) -> None:
        ref = self._contract.ref
        try:
            git.checkout_detached(ref)
        except ToolError as error:
            raise SourceError(
                f"{checkout} cannot be moved to {ref[:12]}: {' '.join(error.stderr.split())[:300]}; {_MOVED}",
                hint="move the files it names aside, run again",
            ) from error
        if git.head() != ref:
            raise SourceError(
                f"{checkout} did not reach {ref[:12]}", hint=f"look at: git -C {checkout} status"
            )

    def _copy(self, shared: Path, own: Path) -> None:
        """Make an installation's own work tree: under another name until it is whole."""
        draft = own.with_name(f".new-{own.name}")
        own.parent.mkdir(mode=0o700, exist_ok=True)
        disk.remove_tree(draft)
        git = self._git(shared)
        try:
            git.worktree_add(draft, self._contract.ref)
            git.worktree_move(draft, own)
        except ToolError as error:
            raise SourceError(
                f"the source of {own.name} cannot be copied from {shared}: {_last(error)}; {_MOVED}",
                hint="check the room and the mode of the folder, run again",
            ) from error

    def _verify(self, repository: Path) -> None:
        git, contract = self._git(repository), self._contract
        if git.top_level() != repository.resolve():
            raise SourceError(
                f"{repository} is not a git checkout",
                hint=f"if {self._root} was moved: git -C CHECKOUT worktree repair {repository}",
            )
        head = git.head()
        at_ref = head == contract.ref
        pristine = {path: git.show(contract.ref, path) for path in contract.paths} if at_ref else {}
        current = {path: _text(repository / path) for path in contract.paths} if at_ref else {}
        faults = source.problems(contract, head, pristine, current, git.changed() if at_ref else ())
        if faults:
            hint = (
                f"put them back: git -C {repository} checkout -- FILE"
                if at_ref
                else f"give `--ref {head}`, or check out {contract.ref} there"
            )
            raise SourceError(*(f"{repository}: {fault}" for fault in faults), hint=hint)


def _own(root: Path, name: str) -> Path:
    return root / COPIES / name


def _text(path: Path) -> str | None:
    """Return a file's text, byte for byte; what is no text comes out as text that equals nothing."""
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return None


def _last(error: ToolError) -> str:
    return (error.stderr.strip().splitlines() or ["no output"])[-1]
