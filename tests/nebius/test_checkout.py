from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from tests.nebius import repository
from tests.nebius.repository import Upstream

from npa.errors import IdentityError, OwnershipError, RefusedError, SourceError
from npa.targets.nebius import checkout, installation
from npa.targets.nebius.checkout import Place, Source
from npa.tools.git import Git

OFFLINE = "file:///nonexistent/npa"
PATCHED = "soperator/modules/k8s/k8s_cluster.tf"
VALUES = "soperator/modules/slurm/templates/helm_values/terraform_fluxcd_values.yaml.tftpl"


@pytest.fixture
def upstream(tmp_path: Path) -> Upstream:
    return repository.upstream(tmp_path / "upstream")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "home/.npa/soperator"


def source_of(upstream: Upstream, root: Path, remote: str | None = None) -> Source:
    return Source(root, upstream.contract, remote=upstream.url if remote is None else remote)


def shared(upstream: Upstream, root: Path, *, folder: str = checkout.LEGACY, depth: str = "") -> Path:
    """Make the shared checkout as an older tool left it: on a branch that moves."""
    root.mkdir(parents=True, exist_ok=True)
    shallow = [depth] if depth else []
    repository.git(root, "clone", "-q", *shallow, upstream.url, folder)
    return root / folder


def prepare(
    upstream: Upstream, place: Place, *, region: str = "eu-north1", default_apparmor: bool = False
) -> Path:
    return installation.prepare(
        place,
        upstream.contract,
        region=region,
        default_apparmor=default_apparmor,
        tfvars='company_name = "a1"\n',
    )


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    }


# ── a first installation ────────────────────────────────────────────────────────────────────────────────


def test_a_first_installation_clones_and_gets_a_copy_of_its_own(upstream: Upstream, root: Path) -> None:
    place = source_of(upstream, root).resolve("a1")

    assert place == Place("a1", upstream.pin, root / "sources/a1")
    assert Git(place.repository).head() == upstream.pin
    assert Git(place.repository).branch() == ""
    assert (root / f"nebius-solutions-library-{upstream.pin[:12]}").is_dir()
    assert not place.installation.exists()
    assert checkout.locate(root, "a1") is None
    assert not list(root.glob(".*"))  # no draft, no lock


def test_a_clone_that_fails_leaves_nothing(upstream: Upstream, root: Path) -> None:
    with pytest.raises(SourceError, match="cannot be cloned"):
        source_of(upstream, root, OFFLINE).resolve("a1")

    assert list(root.iterdir()) == []


def test_a_pinned_commit_that_nobody_has_leaves_nothing(upstream: Upstream, root: Path) -> None:
    contract = replace(upstream.contract, ref="0" * 40)

    with pytest.raises(SourceError, match="cannot be fetched"):
        Source(root, contract, remote=upstream.url).resolve("a1")

    assert list(root.iterdir()) == []


def test_it_is_found_again_offline(upstream: Upstream, root: Path) -> None:
    first = source_of(upstream, root).resolve("a1")
    before = tree(root)
    again = source_of(upstream, root, OFFLINE).resolve("a1")
    second = source_of(upstream, root, OFFLINE).resolve("b2")

    assert again == first
    assert second.repository != first.repository
    assert {name: text for name, text in tree(root).items() if not name.startswith("sources/b2/")} == before


def test_many_at_once_make_one_checkout(upstream: Upstream, root: Path) -> None:
    failures: list[Exception] = []

    def resolve(name: str) -> None:
        try:
            source_of(upstream, root).resolve(name)
        except RefusedError as error:
            failures.append(error)

    threads = [threading.Thread(target=resolve, args=(f"c{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert sorted(path.name for path in (root / "sources").iterdir()) == ["c0", "c1", "c2", "c3"]
    assert len(list(root.glob("nebius-solutions-library*"))) == 1


def test_a_copy_that_was_interrupted_is_made_anew(upstream: Upstream, root: Path) -> None:
    source_of(upstream, root).resolve("a1")
    git = Git(root / f"nebius-solutions-library-{upstream.pin[:12]}")
    git.worktree_add(root / "sources/.new-b2", upstream.pin)
    (root / "sources/.new-b2/soperator/VERSION").unlink()
    place = source_of(upstream, root).resolve("b2")

    assert (place.recipe / "VERSION").is_file()


@pytest.mark.parametrize("name", ["example", "Upper", "-x", "é", "a" * 33, "../up", "a*", "a", ""])
def test_a_name_that_could_lead_elsewhere_is_refused(upstream: Upstream, root: Path, name: str) -> None:
    with pytest.raises(IdentityError):
        source_of(upstream, root).resolve(name)
    with pytest.raises(IdentityError):
        checkout.locate(root, name)

    assert not root.exists()


# ── a shared checkout that is there ─────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("depth", ["", "--depth=1"], ids=["full", "shallow"])
def test_an_old_checkout_is_moved_to_the_pin_and_keeps_its_files(
    upstream: Upstream, root: Path, depth: str
) -> None:
    old = shared(upstream, root, depth=depth)
    repository.write(old, {"soperator/installations/b2/terraform.tfstate": "state", "notes": "mine"})
    source_of(upstream, root).resolve("a1")

    assert (Git(old).head(), Git(old).branch()) == (upstream.pin, "")
    assert (old / "soperator/installations/b2/terraform.tfstate").read_text() == "state"
    assert (old / "notes").read_text() == "mine"


def test_a_branch_at_the_pin_is_left(upstream: Upstream, root: Path) -> None:
    old = shared(upstream, root)
    repository.git(old, "reset", "-q", "--hard", upstream.pin)
    source_of(upstream, root, OFFLINE).resolve("a1")

    assert (Git(old).head(), Git(old).branch()) == (upstream.pin, "")


def test_a_missing_commit_offline_is_refused_and_nothing_changes(upstream: Upstream, root: Path) -> None:
    old = shared(upstream, root, depth="--depth=1")
    repository.git(old, "remote", "set-url", "origin", OFFLINE)
    before = tree(root)

    with pytest.raises(SourceError, match="cannot be fetched") as raised:
        source_of(upstream, root).resolve("a1")

    assert "origin" in raised.value.hint
    assert tree(root) == before
    assert Git(old).head() == upstream.after


def test_another_detached_commit_is_refused(upstream: Upstream, root: Path) -> None:
    old = shared(upstream, root)
    repository.git(old, "checkout", "-q", "--detach", upstream.before)

    with pytest.raises(SourceError, match="is at commit") as raised:
        source_of(upstream, root).resolve("a1")

    assert upstream.before in raised.value.hint
    assert Git(old).head() == upstream.before


def test_tracked_changes_are_refused_all_at_once(upstream: Upstream, root: Path) -> None:
    old = shared(upstream, root)
    repository.write(old, {"soperator/VERSION": "mine", PATCHED: "mine"})

    with pytest.raises(SourceError) as raised:
        source_of(upstream, root).resolve("a1")

    assert len(raised.value.problems) == 2
    assert "stash" in raised.value.hint
    assert (old / "soperator/VERSION").read_text() == "mine"


def test_an_untracked_file_in_the_way_is_kept(upstream: Upstream, root: Path) -> None:
    removed = "soperator/installations/example/weka.tf"
    (upstream.path / removed).unlink()
    repository.commit(upstream.path, {}, "without")
    old = shared(upstream, root)
    repository.write(old, {removed: "mine"})

    with pytest.raises(SourceError, match=r"weka\.tf") as raised:
        source_of(upstream, root).resolve("a1")

    assert "aside" in raised.value.hint
    assert (old / removed).read_text() == "mine"


def test_a_folder_that_is_no_checkout_is_refused(upstream: Upstream, root: Path) -> None:
    repository.write(root / checkout.LEGACY, {"soperator/installations/a1/terraform.tfstate": "state"})

    with pytest.raises(SourceError, match="not a git checkout"):
        source_of(upstream, root).resolve("a1")


@pytest.mark.parametrize("path", ["soperator/VERSION", PATCHED, "soperator/modules/sizing_tier/main.tf"])
def test_a_change_to_any_tracked_file_of_a_copy_is_refused(upstream: Upstream, root: Path, path: str) -> None:
    place = source_of(upstream, root).resolve("a1")
    repository.write(place.repository, {path: "mine"})

    with pytest.raises(SourceError, match="has been modified"):
        source_of(upstream, root).resolve("a1")

    assert (place.repository / path).read_text() == "mine"


def test_a_recipe_that_says_something_else_is_refused(tmp_path: Path, root: Path) -> None:
    example = "soperator/installations/example"
    upstream = repository.upstream(
        tmp_path / "other",
        {
            f"{example}/terraform.tfvars": 'slurm_operator_version = "4.1.8"\nk8s_version = 1.35\n',
            PATCHED: "x\n",
        },
    )

    with pytest.raises(SourceError) as raised:
        source_of(upstream, root).resolve("a1")

    assert len(raised.value.problems) == 4  # operator, Kubernetes, bundle, a patch without its place
    assert not (root / "sources").exists()


# ── a checkout of the user's ────────────────────────────────────────────────────────────────────────────


def test_a_given_recipe_is_used_as_it_is(upstream: Upstream, root: Path) -> None:
    given = shared(upstream, root.parent, folder="mine") / "soperator"
    repository.git(given, "checkout", "-q", "--detach", upstream.pin)
    place = source_of(upstream, root).resolve("a1", given)
    prepare(upstream, place)

    assert place == Place("a1", upstream.pin, given.parent, own=False)
    assert checkout.locate(root, "a1", given) == given / "installations/a1"
    assert source_of(upstream, root).resolve("a1", given) == place  # patched by us, and still as verified
    assert not root.exists()


def test_a_given_recipe_at_another_commit_is_refused(upstream: Upstream, root: Path) -> None:
    given = shared(upstream, root.parent, folder="mine") / "soperator"

    with pytest.raises(SourceError, match=upstream.after[:12]):
        source_of(upstream, root).resolve("a1", given)


@pytest.mark.parametrize("given", ["", "soperator/installations"])
def test_a_folder_that_is_not_the_recipe_is_refused(upstream: Upstream, root: Path, given: str) -> None:
    with pytest.raises(SourceError, match="is not the recipe"):
        source_of(upstream, root).resolve("a1", upstream.path / given)


# ── preparing an installation ───────────────────────────────────────────────────────────────────────────


def test_an_installation_has_the_examples_files_and_no_secrets_of_it(upstream: Upstream, root: Path) -> None:
    place = source_of(upstream, root).resolve("a1")
    folder = prepare(upstream, place, region="us-central1")

    assert set(tree(folder)) == {
        "assets/logo.txt",
        "driver_presets.tf",
        "main.tf",
        "terraform.tf",
        "terraform.tfvars",
        "variables.tf",
        "weka.tf",
    }
    assert "api.nebius.cloud:443" in (folder / "terraform.tf").read_text()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "terraform.tfvars").stat().st_mode & 0o777 == 0o600


def test_preparing_again_writes_nothing(upstream: Upstream, root: Path) -> None:
    place = source_of(upstream, root).resolve("a1")
    prepare(upstream, place)
    before = {path: path.stat().st_mtime_ns for path in place.recipe.rglob("*") if path.is_file()}
    prepare(upstream, source_of(upstream, root).resolve("a1"))

    assert {path: path.stat().st_mtime_ns for path in place.recipe.rglob("*") if path.is_file()} == before


def test_patches_touch_the_copy_alone(upstream: Upstream, root: Path) -> None:
    old = shared(upstream, root)
    place = source_of(upstream, root).resolve("a1")
    prepare(upstream, place)

    assert "timestamp()" not in (place.repository / PATCHED).read_text()
    assert Git(old).changed() == ()
    assert set(Git(place.repository).changed()) == {patch.path for patch in upstream.contract.patches}


def test_the_values_file_goes_back_with_the_default_profile(upstream: Upstream, root: Path) -> None:
    place = source_of(upstream, root).resolve("a1")
    prepare(upstream, place)
    with_it = (place.repository / VALUES).read_text()
    prepare(upstream, place, default_apparmor=True)

    assert "terraform-nodeconfigurator" in with_it
    assert (place.repository / VALUES).read_text() == repository.VALUES


def test_a_domain_that_is_not_there_is_refused_before_anything_is_written(tmp_path: Path, root: Path) -> None:
    upstream = repository.upstream(
        tmp_path / "other", {"soperator/installations/example/terraform.tf": "domain = var.domain\n"}
    )
    place = source_of(upstream, root).resolve("a1")
    before = tree(place.repository)

    with pytest.raises(SourceError, match="does not name"):
        prepare(upstream, place, region="us-central1")

    assert tree(place.repository) == before


def test_a_link_in_the_place_of_an_installation_is_refused(
    upstream: Upstream, root: Path, tmp_path: Path
) -> None:
    place = source_of(upstream, root).resolve("a1")
    place.installation.symlink_to(tmp_path, target_is_directory=True)

    with pytest.raises(OwnershipError, match="is a link"):
        prepare(upstream, place)


# ── an installation of the tool before this one ─────────────────────────────────────────────────────────


def adopted(upstream: Upstream, root: Path) -> tuple[Path, Path]:
    old = shared(upstream, root)
    folder = old / "soperator/installations/a1"
    repository.write(folder, {"terraform.tfstate": '{"serial": 7}', "notes": "mine", "main.tf": "old"})
    return old, folder


def test_it_is_found_where_it_is_and_moved_only_by_a_change(upstream: Upstream, root: Path) -> None:
    _, folder = adopted(upstream, root)
    place = source_of(upstream, root).resolve("a1")

    assert (place.adopts, place.state) == (folder, folder)
    assert checkout.locate(root, "a1") == folder
    assert not place.installation.exists()


def test_it_moves_with_its_state_and_its_old_path_still_leads_there(upstream: Upstream, root: Path) -> None:
    old, folder = adopted(upstream, root)
    place = source_of(upstream, root).resolve("a1")
    prepare(upstream, place)
    prepare(upstream, place)
    again = source_of(upstream, root).resolve("a1")

    assert json.loads((place.installation / "terraform.tfstate").read_text()) == {"serial": 7}
    assert (folder / "terraform.tfstate").samefile(place.installation / "terraform.tfstate")
    assert (folder / "notes").read_text() == "mine"
    assert again.adopts is None
    assert checkout.locate(root, "a1") == again.installation
    assert Git(old).changed() == ()


def test_it_stays_while_terraform_is_at_work_in_it(upstream: Upstream, root: Path) -> None:
    _, folder = adopted(upstream, root)
    (folder / ".terraform.tfstate.lock.info").write_text("{}")

    with pytest.raises(RefusedError, match="at work"):
        prepare(upstream, source_of(upstream, root).resolve("a1"))

    assert not folder.is_symlink()


def test_two_of_one_name_are_refused(upstream: Upstream, root: Path) -> None:
    adopted(upstream, root)
    repository.write(
        root / "nebius-solutions-library-1234/soperator/installations/a1", {"terraform.tfstate": ""}
    )

    with pytest.raises(OwnershipError, match="2 installations") as raised:
        source_of(upstream, root).resolve("a1")

    assert "--terraform-dir" in raised.value.hint


def test_an_interrupted_move_is_taken_as_done(upstream: Upstream, root: Path) -> None:
    _, folder = adopted(upstream, root)
    place = source_of(upstream, root).resolve("a1")
    folder.rename(place.installation)  # and then the power went, before the link

    assert source_of(upstream, root).resolve("a1").adopts is None


def test_the_rendered_values_are_yaml_with_one_more_resource(upstream: Upstream, root: Path) -> None:
    place = source_of(upstream, root).resolve("a1")
    prepare(upstream, place)
    text = "".join(
        line
        for line in (place.repository / VALUES).read_text().splitlines(keepends=True)
        if not line.lstrip().startswith("%{")
    )

    assert [each["metadata"]["name"] for each in yaml.safe_load(text)["resources"]] == [
        "terraform-nodeconfigurator",
        "terraform-fluxcd-values",
    ]


def test_a_copy_at_another_commit_names_the_commit_to_give(upstream: Upstream, root: Path) -> None:
    place = source_of(upstream, root).resolve("a1")
    moved = replace(upstream.contract, ref=upstream.after)

    with pytest.raises(SourceError) as raised:
        Source(root, moved, remote=upstream.url).resolve("a1")

    assert upstream.pin in raised.value.hint
    assert Git(place.repository).head() == upstream.pin


@pytest.mark.parametrize("done", range(5))
def test_preparing_goes_on_wherever_it_was_interrupted(upstream: Upstream, root: Path, done: int) -> None:
    adopted(upstream, root)
    place = source_of(upstream, root).resolve("a1")
    whole = source_of(upstream, root).resolve("b2")
    wanted = {patch.path: patch.applied(repository.FILES[patch.path]) for patch in upstream.contract.patches}
    if done:
        installation.adopt(place)
    for path, text in list(wanted.items())[: max(0, done - 1)]:
        (place.repository / path).write_text(text)
    prepare(upstream, source_of(upstream, root).resolve("a1"))
    prepare(upstream, whole)

    mine = {name for name in tree(place.installation) if name not in ("terraform.tfstate", "notes")}
    assert {path: (place.repository / path).read_text() for path in wanted} == wanted
    assert {name: tree(place.installation)[name] for name in mine} == tree(whole.installation)


def test_an_adopted_folder_becomes_its_owners_alone(upstream: Upstream, root: Path) -> None:
    _, folder = adopted(upstream, root)
    folder.chmod(0o755)
    place = source_of(upstream, root).resolve("a1")
    prepare(upstream, place)

    assert place.installation.stat().st_mode & 0o777 == 0o700
    assert (place.installation / "notes").read_text() == "mine"


def test_a_checkout_that_holds_our_patches_is_still_the_recipe(upstream: Upstream, root: Path) -> None:
    old = shared(upstream, root)
    repository.git(old, "checkout", "-q", "--detach", upstream.pin)
    repository.write(
        old, {patch.path: patch.applied(repository.FILES[patch.path]) for patch in upstream.contract.patches}
    )
    before = tree(old)
    place = source_of(upstream, root, OFFLINE).resolve("a1")

    assert Git(place.repository).changed() == ()
    assert tree(old) == before


def test_a_copy_whose_move_was_interrupted_is_known_to_git_again(upstream: Upstream, root: Path) -> None:
    old = shared(upstream, root)
    source_of(upstream, root).resolve("b2")
    Git(old).worktree_add(root / "sources/.new-a1", upstream.pin)
    (root / "sources/.new-a1").rename(root / "sources/a1")
    place = source_of(upstream, root).resolve("a1")
    repository.git(old, "worktree", "prune", "--expire=now")

    assert Git(place.repository).head() == upstream.pin
    assert str(place.repository) in repository.git(old, "worktree", "list")
