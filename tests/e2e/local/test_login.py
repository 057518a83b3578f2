"""Ways in: ssh with npa's own key, the spec's keys and users' own; always into the jail."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.e2e.local.harness import NPA, Cluster, Done


def _ssh(
    cluster: Cluster, user: str, key: str, *argv: str, program: str = "ssh"
) -> subprocess.CompletedProcess[str]:
    """Log in with the machine's own client and nothing of npa but the proxy."""
    options = {
        "ProxyCommand": f"{NPA} soperator proxy --cluster {cluster.name} login-0 22",
        "IdentityFile": str(cluster.npa.state / key),
        "IdentitiesOnly": "yes",
        "BatchMode": "yes",
        "StrictHostKeyChecking": "no",
        "UserKnownHostsFile": "/dev/null",
        "LogLevel": "ERROR",
    }
    flags = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    return subprocess.run(
        [program, "-F", "none", *flags, *([f"{user}@login-0", *argv] if program == "ssh" else argv)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
        env=dict(cluster.npa.env),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("user", "said"),
    [
        pytest.param(("alice",), ["alice", "/home/alice", "login-0"], id="of-the-spec"),
        pytest.param((), ["root", "/root", "login-0"], id="root"),
    ],
)
def test_ssh_logs_in(cluster: Cluster, user: tuple[str, ...], said: list[str]) -> None:
    told = cluster.npa.ok("ssh", "--cluster", cluster.name, *user, "--", "id -un; pwd; hostname")

    assert told.out.split() == said
    assert told.err == ""


def test_ssh_exits_as_the_command_does(cluster: Cluster) -> None:
    assert cluster.npa("ssh", "--cluster", cluster.name, "alice", "--", "exit 7").code == 7


def test_somebody_who_is_not_in_the_spec_is_refused(cluster: Cluster) -> None:
    done = cluster.npa("ssh", "--cluster", cluster.name, "mallory", "--", "id")

    assert done.code == 255
    assert "Permission denied" in done.err
    assert not done.out


@pytest.mark.parametrize(
    ("user", "key", "allowed"),
    [
        pytest.param("root", "root.key", True, id="the-specs-root-key"),
        pytest.param("alice", "alice.key", True, id="a-users-key"),
        pytest.param("bob", "alice.key", False, id="another-users-key"),
        pytest.param("root", "alice.key", False, id="a-user-is-not-root"),
        pytest.param("root", "stranger.key", False, id="a-strangers-key"),
    ],
)
def test_keys_open_what_the_spec_says(cluster: Cluster, user: str, key: str, allowed: bool) -> None:
    done = _ssh(cluster, user, key, "id", "-un")

    assert (done.returncode, done.stdout.strip()) == ((0, user) if allowed else (255, "")), done.stderr


def test_a_key_that_a_user_puts_into_their_home_logs_in(cluster: Cluster, keys: dict[str, str]) -> None:
    cluster.user("bob", f"umask 077; mkdir -p .ssh; echo '{keys['stranger']}' > .ssh/authorized_keys")
    inside = _ssh(cluster, "bob", "stranger.key", "id", "-un")
    cluster.user("bob", "rm -r .ssh")

    assert inside.stdout.strip() == "bob", inside.stderr
    assert _ssh(cluster, "bob", "stranger.key", "id", "-un").returncode == 255


def test_a_login_runs_jobs(cluster: Cluster) -> None:
    told = cluster.npa.ok("ssh", "--cluster", cluster.name, "alice", "--", "srun -N4 id -un")

    assert told.out.split() == ["alice"] * 4


def test_a_login_is_in_the_jail(cluster: Cluster) -> None:
    script = "stat -f -c %T /; ls /mnt/jail | wc -l; echo mine > /srv/from-login; ls /etc/slurm"
    told = cluster.npa.ok("ssh", "--cluster", cluster.name, "--", script).out.split()

    assert told[:2] == ["overlayfs", "0"]
    assert "slurm.conf" in told
    assert not {"slurm.key", "jwt_hs256.key", "slurmdbd.conf"} & set(told)
    assert cluster.on("cpu-0", "cat", "/srv/from-login") == "mine"


def test_sshd_itself_is_not_in_the_jail(cluster: Cluster) -> None:
    daemons = cluster.on("login-0", "cat", "/etc/ssh/sshd_config", root="daemons")

    assert "Written by npa" in daemons
    assert cluster.exec("login-0", "test", "-e", "/etc/ssh/npa_ed25519.pub").code != 0


def test_files_come_and_go_over_sftp(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("to and fro\n")
    (tmp_path / "batch").write_text(f"put {tmp_path}/there moved\nget moved {tmp_path}/back\n")
    done = _ssh(cluster, "alice", "alice.key", "-b", str(tmp_path / "batch"), "alice@login-0", program="sftp")

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "back").read_text() == "to and fro\n"
    assert cluster.on("cpu-0", "stat", "-c", "%U", "/home/alice/moved") == "alice"


def _exec(cluster: Cluster, *args: str, stdin: str = "") -> Done:
    return cluster.npa("exec", "--cluster", cluster.name, *args, stdin=stdin)


def test_exec_passes_the_exit_code_and_stdin(cluster: Cluster) -> None:
    assert _exec(cluster, "gpu-0", "--", "sh", "-c", "exit 3").code == 3
    assert _exec(cluster, "gpu-0", "--", "cat", stdin="through\n").out == "through\n"


@pytest.mark.parametrize(
    ("flags", "node", "jailed"),
    [
        pytest.param((), "gpu-0", True, id="workers-in-the-jail"),
        pytest.param((), "controller-0", False, id="controllers-among-the-daemons"),
        pytest.param(("--root", "daemons"), "gpu-0", False, id="daemons"),
        pytest.param(("--root", "jail"), "controller-0", True, id="jail"),
    ],
)
def test_exec_chooses_a_root(cluster: Cluster, flags: tuple[str, ...], node: str, jailed: bool) -> None:
    done = _exec(cluster, *flags, node, "--", "test", "-d", "/mnt/jail/etc")

    assert done.code == (1 if jailed else 0), done


def test_exec_names_the_node_that_was_meant(cluster: Cluster) -> None:
    done = _exec(cluster, "gpu-00", "--", "true")

    assert done.code != 0
    assert "'gpu-00' is not running" in done.err
    assert "gpu-0" in done.err.partition("hint:")[2]


def test_the_proxy_says_which_port_does_not_answer(cluster: Cluster) -> None:
    done = cluster.npa("proxy", "--cluster", cluster.name, "login-0", "9")

    assert done.code == 1
    assert "login-0 does not answer on port 9" in done.err
