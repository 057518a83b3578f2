from __future__ import annotations

from pathlib import Path

import pytest

from npa.tools import cgroup

SWAP = "/dev/sda2 partition 1 0 -2\n"


@pytest.fixture
def v1(tmp_path: Path) -> Path:
    """Make what a machine with version 1 hierarchies shows, at the caller's own group of each."""
    for controllers, own in cgroup.hierarchies().items():
        (tmp_path / controllers[0] / own.lstrip("/")).mkdir(parents=True)
    for name in cgroup.V1_CONTROLLERS:
        (tmp_path / name).mkdir(exist_ok=True)
    return tmp_path


@pytest.fixture
def v2(tmp_path: Path) -> Path:
    """Make what a machine with the version 2 tree shows."""
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io memory hugetlb pids\n")
    (tmp_path / "cgroup.subtree_control").touch()
    return tmp_path


def test_the_version_is_told_by_who_can_limit_memory(tmp_path: Path) -> None:
    assert cgroup.version(tmp_path) == "none"
    (tmp_path / "cgroup.controllers").write_text("hugetlb\n")  # hybrid: memory is elsewhere
    assert cgroup.version(tmp_path) == "none"
    (tmp_path / "cgroup.controllers").write_text("cpu memory\n")
    assert cgroup.version(tmp_path) == "v2"
    (tmp_path / "memory").mkdir()
    assert cgroup.version(tmp_path) == "v1"


def test_without_hierarchies_there_are_no_groups(tmp_path: Path) -> None:
    assert cgroup.lab_groups("npa-x", tmp_path) == {}
    cgroup.create_lab({})
    assert cgroup.create_node({}, "gpu-0") == []


def test_groups_of_version_1_are_below_the_callers_own(v1: Path) -> None:
    own = {controllers[0]: path for controllers, path in cgroup.hierarchies(v1).items()}
    groups = cgroup.lab_groups("npa-x", v1)

    assert groups == {name: str(v1 / name / path.lstrip("/") / "npa-x") for name, path in own.items()}
    assert not any(Path(path).exists() for path in groups.values())


def test_a_node_of_version_1_has_a_group_in_each_hierarchy(v1: Path) -> None:
    groups = cgroup.lab_groups("npa-x", v1) or {"memory": str(v1 / "memory/npa-x")}
    cgroup.create_lab(groups)
    made = cgroup.create_node(groups, "gpu-0")

    assert made == [f"{path}/gpu-0" for path in groups.values()] == cgroup.joinable(groups, "gpu-0")
    assert all(Path(path).is_dir() for path in made)
    assert cgroup.create_node(groups, "gpu-0") == made
    assert cgroup.remove(groups.values()) == []
    assert not any(Path(path).exists() for path in groups.values())


def test_a_cpuset_of_version_1_is_filled_from_above(tmp_path: Path) -> None:
    lab = tmp_path / "cpuset/npa-x"
    node = lab / "gpu-0"
    node.mkdir(parents=True)
    for folder, cpus in ((lab.parent, "0-7"), (lab, ""), (node, "")):
        (folder / "cpuset.cpus").write_text(cpus)
        (folder / "cpuset.mems").write_text("0" if cpus else "")
    cgroup.create_lab({"cpuset": str(lab)})
    cgroup.create_node({"cpuset": str(lab)}, "gpu-0")

    assert (node / "cpuset.cpus").read_text() == "0-7"
    assert (node / "cpuset.mems").read_text() == "0"


def test_version_2_hands_controllers_down_to_the_lab_and_leaves_a_leaf_for_processes(v2: Path) -> None:
    groups = cgroup.lab_groups("npa-x", v2)
    cgroup.create_lab(groups)
    made = cgroup.create_node(groups, "gpu-0")

    assert groups == {"": str(v2 / "npa-x")}
    assert made == [str(v2 / "npa-x/gpu-0")]
    assert (v2 / "npa-x/cgroup.subtree_control").read_text() == f"+{cgroup.V2_CONTROLLERS[-1]}"
    assert cgroup.joinable(groups, "gpu-0") == [str(v2 / "npa-x/gpu-0/init")]
    assert (v2 / "npa-x/gpu-0/init").is_dir()


def test_enter_writes_the_calling_process(tmp_path: Path) -> None:
    (tmp_path / "cgroup.procs").touch()
    cgroup.enter([str(tmp_path)])

    assert (tmp_path / "cgroup.procs").read_text() == "0"


def test_what_is_not_there_is_removed_already(tmp_path: Path) -> None:
    assert cgroup.remove([str(tmp_path / "nosuch")]) == []


def test_a_group_that_cannot_be_removed_for_another_reason_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "group").mkdir()
    (tmp_path / "group/file").touch()  # on a real hierarchy files go with their folder
    with pytest.raises(OSError, match="not empty"):
        cgroup.remove([str(tmp_path / "group")])


@pytest.mark.parametrize(
    ("found", "swap", "files", "limits"),
    [
        pytest.param("v1", "", (), None, id="no-swap"),
        pytest.param("v1", SWAP, ("memory/memory.memsw.limit_in_bytes",), True, id="v1"),
        pytest.param("v1", SWAP, (), False, id="v1-without-accounting"),
        pytest.param("v2", SWAP, ("init.scope/memory.swap.max",), True, id="v2"),
        pytest.param("v2", SWAP, (), False, id="v2-without-accounting"),
        pytest.param("none", SWAP, (), False, id="no-cgroups"),
    ],
)  # fmt: skip
def test_swap_is_limited_where_the_kernel_accounts_it(
    found: cgroup.Version, swap: str, files: tuple[str, ...], limits: bool | None, tmp_path: Path
) -> None:
    (tmp_path / "swaps").write_text(f"Filename Type Size Used Priority\n{swap}")
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True)
        (tmp_path / file).touch()

    assert cgroup.limits_swap(found, tmp_path, tmp_path / "swaps") is limits
