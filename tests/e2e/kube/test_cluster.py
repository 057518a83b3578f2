"""A SlurmCluster applied to a real Kubernetes node: jobs run in the jail, and what happens to them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.e2e.kube.cluster import Cluster


def test_runs_a_job_on_both_workers(idle: Cluster) -> None:
    hosts = idle.ctl("srun -N2 hostname")

    assert sorted(hosts.split()) == ["cpu-0", "cpu-1"]


def test_jobs_run_in_the_jail_that_all_share(idle: Cluster) -> None:
    idle.ctl("srun -N1 -w cpu-0 sh -c 'echo written > /home/shared'")

    assert idle.ctl("srun -N1 -w cpu-1 cat /home/shared") == "written"
    assert idle.exec("cpu-1", "test", "-e", "/home/shared").code != 0


def test_ssh_opens_in_the_jail_and_speaks_to_slurm(idle: Cluster, key: tuple[Path, str]) -> None:
    idle.ctl("srun -N1 sh -c 'echo written > /home/seen'")
    argv = ["ssh", "-i", str(key[0]), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"]
    login = f"root@{idle.address('one-login-0')}"
    done = subprocess.run(
        [*argv, "-o", "LogLevel=ERROR", login, "cat /home/seen; srun -N2 hostname | sort"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.stdout.split() == ["written", "cpu-0", "cpu-1"], done.stderr
