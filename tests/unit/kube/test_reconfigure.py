"""The program that puts Slurm's files in place, in slurmctld's container, with a `scontrol` of its own."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

_PROGRAM = Path(__file__).parents[3] / "images/kube/reconfigure"
# lists are one name or PREFIX-[FIRST-LAST] here
_SCONTROL = """#!/bin/sh
case "$1 $2" in
"show hostnames")
	case $3 in
	*"["*) range=${3#*"["} range=${range%"]"}
		for at in $(seq "${range%-*}" "${range#*-}"); do echo "${3%"["*}$at"; done ;;
	*) echo "$3" ;;
	esac ;;
"show nodes") cat "$0.nodes" ;;
esac
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a root for all that the program touches."""
    for name in ("run/npa/slurm", "mnt/slurm-configs", "var/lib/slurm/ctld", "etc", "bin"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "run/npa/slurm.key").write_text("secret")
    text = _PROGRAM.read_text()
    for name in ("/run/npa", "/mnt/", "/var/lib/slurm", "/etc/slurm", "/usr/lib/npa"):
        text = text.replace(name, f"{tmp_path}{name}")
    (tmp_path / "usr/lib/npa").mkdir(parents=True)
    for path, found in (
        ("bin/reconfigure", text),
        ("bin/scontrol", _SCONTROL),
        ("usr/lib/npa/await-nodes", "#!/bin/sh\n"),
    ):
        (tmp_path / path).write_text(found)
        (tmp_path / path).chmod(0o755)
    return tmp_path


def deliver(place: Path, digest: str, nodes: str) -> None:
    configs = place / "mnt/slurm-configs/..data"  # where the kubelet has them
    configs.mkdir(exist_ok=True)
    (configs / "slurm.conf").write_text(f"ClusterName=slurm1\nNodeName={nodes} CPUs=1\n")
    (configs / "digest").write_text(digest)


def ask(place: Path, *how: str, states: str = "") -> tuple[int, str]:
    """Run the program; return its status, and with which files slurmctld runs then."""
    (place / "bin/scontrol.nodes").write_text(states)
    env = {"PATH": f"{place}/bin:/usr/bin:/bin", "NPA_CONFIG_WAIT": "0"}
    done = subprocess.run([place / "bin/reconfigure", *how], env=env, check=False)
    running = (place / "etc/slurm/digest").read_text()
    assert (place / "run/npa/config-digest").read_text().strip() == running
    return done.returncode, running


def start_anew(place: Path, digest: str) -> tuple[int, str]:
    """Run it as the entry point of a new container does, which has nothing but the volume."""
    (place / "etc/slurm").unlink()
    for old in (place / "run/npa/slurm").iterdir():
        subprocess.run(["rm", "-r", old], check=True)
    (place / "run/npa/config-digest").unlink()
    return ask(place, digest, "start")


@pytest.fixture
def running(place: Path) -> Path:
    deliver(place, "a-1", "cpu-[0-2]")
    assert ask(place, "a-1", "start") == (0, "a-1")
    return place


def test_slurmctld_starts_with_its_last_files_where_new_ones_leave_out_a_node(running: Path) -> None:
    deliver(running, "a-2", "cpu-[0-1]")

    assert start_anew(running, "a-2") == (0, "a-1")
    assert (running / "etc/slurm/slurm.key").read_text() == "secret"

    busy = "NodeName=cpu-2 Arch=x State=ALLOCATED+CLOUD Weight=1\n"
    assert ask(running, "a-2", states=busy) == (76, "a-1")

    empty = "NodeName=cpu-2 Arch=x State=IDLE+CLOUD+DRAIN Weight=1\n"
    assert ask(running, "a-2", states=empty) == (0, "a-2")
    assert start_anew(running, "a-2") == (0, "a-2")


def test_slurmctld_starts_with_new_files_that_name_all_its_nodes(running: Path) -> None:
    deliver(running, "b-2", "cpu-[0-3]")

    assert start_anew(running, "b-2") == (0, "b-2")


def test_only_the_last_files_are_kept_and_no_keys(running: Path) -> None:
    deliver(running, "a-2", "cpu-[0-3]")
    ask(running, "a-2")

    state = running / "var/lib/slurm/ctld"
    assert sorted(each.name for each in state.iterdir()) == ["npa-files", "npa-files.a-2"]
    assert sorted(each.name for each in (state / "npa-files").iterdir()) == ["digest", "slurm.conf"]
