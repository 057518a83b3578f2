"""One root for all users, private rooms for each node, and daemons that nobody can break from inside."""

from __future__ import annotations

import base64
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.local.harness import CPU_POOL, Cluster, Npa, kill

WORKERS = ("gpu-0", "gpu-1", "cpu-0", "cpu-1")


@pytest.fixture(scope="module")
def victim(npa: Npa) -> Iterator[Cluster]:
    """Deploy a cluster whose jail is wrecked."""
    cluster = Cluster(npa, "e2e-victim", workers=[CPU_POOL])
    cluster.deploy()
    yield cluster
    assert cluster.destroy("--force").code == 0


@pytest.mark.parametrize(
    "wreck",
    [
        pytest.param("rm -f /usr/sbin/slurmd", id="slurmd"),
        pytest.param("rm -rf /usr/lib/*-linux-gnu/slurm-wlm /usr/sbin/slurm* /usr/bin/srun", id="slurm"),
        pytest.param("rm -rf /usr/lib/npa /usr/lib/*/security /etc/pam.d /usr/sbin/sshd", id="the-way-in"),
        pytest.param("cd /etc; rm -f passwd group shadow nsswitch.conf", id="accounts"),
        pytest.param("rm -rf /var/spool/slurmd/* /run/* /tmp/* /var/log /etc/slurm/* || true", id="runtime"),
    ],
)  # fmt: skip
def test_a_node_takes_the_next_job_whatever_root_broke_in_the_last(victim: Cluster, wreck: str) -> None:
    broke = victim.exec("controller-0", "srun", "-N2", "-D", "/", "sh", "-c", wreck, root="daemons")
    again = victim.exec(
        "controller-0", "srun", "-N2", "-D", "/", "cat", "/proc/sys/kernel/hostname", root="daemons"
    )

    assert broke.code == 0, broke
    assert sorted(again.out.split()) == ["cpu-0", "cpu-1"], again
    assert victim.exec("cpu-0", "test", "-e", "/usr/sbin/slurmd").code != 0
    assert victim.exec("cpu-0", "test", "-e", "/usr/sbin/slurmd", root="daemons").code == 0
    victim.assert_healthy()


def test_daemons_start_again_over_a_wrecked_jail(victim: Cluster) -> None:
    kill(victim.daemons()["cpu-0", "slurmd"])
    victim.deploy()
    done = victim.exec("controller-0", "srun", "-w", "cpu-0", "-D", "/", "echo", "on")

    assert done.out == "on\n", done


def _deb(folder: Path) -> Path:
    """Build a package that installs one program, with nothing but dpkg-deb."""
    tree = folder / "npa-hello"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "usr/bin").mkdir(parents=True)
    (tree / "DEBIAN/control").write_text(
        "Package: npa-hello\nVersion: 1\nArchitecture: all\nMaintainer: a test <test@localhost>\n"
        "Description: says on which node it runs\n"
    )
    program = tree / "usr/bin/npa-hello"
    program.write_text("#!/bin/sh\necho hello from $(hostname)\n")
    program.chmod(0o755)
    built = folder / "npa-hello.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "-b", tree, built], check=True, capture_output=True)
    return built


def test_a_package_installed_on_the_login_node_is_on_every_worker_at_once(
    cluster: Cluster, tmp_path: Path
) -> None:
    text = base64.b64encode(_deb(tmp_path).read_bytes()).decode()
    cluster.on("login-0", "sh", "-euc", "base64 -d > /root/it.deb", stdin=text)
    cluster.login("dpkg -i /root/it.deb")

    assert sorted(cluster.srun("-N4", "npa-hello").out.splitlines()) == sorted(
        f"hello from {node}" for node in WORKERS
    )


def test_a_package_comes_from_a_mirror_over_the_machines_network(cluster: Cluster) -> None:
    fetched = cluster.exec("login-0", "apt-get", "-qq", "update", network=False)
    if fetched.code != 0 or "W: Failed" in fetched.err:
        pytest.skip(f"no mirror can be reached from here: {fetched.err.strip().splitlines()[-1:]}")
    cluster.on("login-0", "apt-get", "-qq", "install", "-y", "hello", network=False)

    assert cluster.srun("-N4", "hello").out.splitlines() == ["Hello, world!"] * 4


def test_a_user_made_once_exists_on_every_node_and_runs_jobs(cluster: Cluster) -> None:
    cluster.login("useradd --create-home --uid 3001 carol")

    assert set(cluster.srun("-N4", "id", "-u", "carol").out.split()) == {"3001"}
    assert (
        cluster.user("carol", "srun -N4 sh -c 'echo $(id -un) in $PWD'").splitlines()
        == ["carol in /home/carol"] * 4
    )


def test_a_file_written_by_one_node_is_seen_by_all(cluster: Cluster) -> None:
    cluster.srun("-w", "gpu-1", "sh", "-c", "echo one > /srv/shared; mv /srv/shared /opt/moved")

    assert cluster.srun("-N4", "cat", "/opt/moved").out.split() == ["one"] * 4
    assert cluster.on("login-0", "cat", "/opt/moved") == "one"


@pytest.mark.parametrize("folder", ["/tmp", "/run", "/dev/shm", "/var/spool/slurmd"])
def test_a_folder_is_private_to_its_node(cluster: Cluster, folder: str) -> None:
    cluster.srun("-N4", "sh", "-c", f"hostname > {folder}/whose")
    seen = cluster.srun("-N4", "cat", f"{folder}/whose")
    cluster.srun("-N4", "rm", f"{folder}/whose")

    assert sorted(seen.out.split()) == sorted(WORKERS)
    assert cluster.exec("login-0", "test", "-e", f"{folder}/whose").code != 0


def test_each_node_has_its_own_name_address_and_processes(cluster: Cluster) -> None:
    script = "echo $(hostname) $(hostname -I) $(readlink /proc/1/ns/pid /proc/1/ns/net)"
    rows = [line.split() for line in cluster.srun("-N4", "sh", "-c", script).out.splitlines()]

    names, addresses, pids, nets = zip(*rows, strict=True)
    assert sorted(names) == sorted(WORKERS)
    assert [len(set(each)) for each in (addresses, pids, nets)] == [4, 4, 4]
    for name, address in zip(names, addresses, strict=True):
        assert cluster.on("login-0", "getent", "ahostsv4", name).split()[0] == address


def test_a_node_does_not_see_the_processes_of_this_machine_or_of_others(cluster: Cluster) -> None:
    told = cluster.srun("-w", "cpu-0", "ps", "-eo", "args=").out

    assert "npa-node:cpu-0" in told
    assert not [line for line in told.splitlines() if "npa-node" in line and "cpu-0" not in line]
    assert "slurmctld" not in told
    assert "pytest" not in told


@pytest.mark.parametrize(
    "attack",
    [
        pytest.param("rm -f /run/slurm/sack.socket", id="the-socket"),
        pytest.param("touch /run/slurm/mine", id="the-folder-of-the-socket"),
        pytest.param("rm -f /etc/slurm/slurm.conf", id="the-configuration"),
        pytest.param("echo > /etc/slurm/slurm.conf", id="its-content"),
        pytest.param("rm /dev/null", id="a-device"),
        pytest.param("mknod /dev/nvidia9 c 195 9", id="a-new-device"),
        pytest.param("rm -f /proc/1/root/usr/sbin/slurmd-wlm", id="the-daemons-root-by-the-back-door"),
        pytest.param("rm -f /proc/1/root/etc/slurm/slurm.key", id="the-key-by-the-back-door"),
    ],
)  # fmt: skip
def test_root_in_a_job_cannot_take_from_the_daemons(cluster: Cluster, attack: str) -> None:
    done = cluster.srun("-w", "gpu-0", "sh", "-c", attack)

    assert done.code != 0
    assert "Read-only file system" in done.err, done
    assert cluster.srun("-w", "gpu-0", "hostname").out.strip() == "gpu-0"


def test_users_cannot_read_what_the_daemons_keep_secret(cluster: Cluster) -> None:
    script = "cd /etc/slurm; cat slurm.key jwt_hs256.key slurmdbd.conf /proc/1/root/etc/slurm/slurm.key; true"
    done = cluster.exec(
        "login-0", "setpriv", "--reuid=alice", "--regid=alice", "--clear-groups", "sh", "-c", script
    )

    assert done.out == ""
    assert done.err.count("No such file") + done.err.count("Permission denied") == 4, done


def test_the_machines_own_files_are_out_of_reach(cluster: Cluster) -> None:
    marker = cluster.npa.state / "marker"
    marker.write_text("of this machine\n")
    script = f"cat {marker} /proc/1/root{marker}; ls -d /proc/1/root/var/lib/npa*"

    assert cluster.srun("-w", "cpu-0", "sh", "-c", script).out == ""


def test_a_setuid_program_works_in_a_job(cluster: Cluster) -> None:
    cluster.login("cp /usr/bin/id /usr/local/bin/rootid; chmod 4755 /usr/local/bin/rootid")

    assert "euid=0(root)" in cluster.user("alice", "srun -w cpu-1 /usr/local/bin/rootid")
