"""The other Slurm that is supported."""

from __future__ import annotations

from tests.e2e.local.harness import CPU_POOL, GPU_POOL, Cluster, Npa, until

BUILD = 600.0  # seconds for an image that is not cached yet


def test_slurm_24_11_runs_jobs_in_the_jail(npa: Npa) -> None:
    cluster = Cluster(
        npa,
        "e2e-older",
        accounting=True,
        slurm={"version": "24.11"},
        workers=[{**GPU_POOL, "size": 1}, {**CPU_POOL, "size": 1}],
        users=[{"name": "ines"}],
    )
    done = npa.ok("deploy", "-f", str(cluster.write()), "--yes", "-o", "json", timeout=BUILD).json

    assert done["report"]["slurm_version"].startswith("24.11")
    assert sorted(cluster.srun("-N2", "hostname").out.split()) == ["cpu-0", "gpu-0"]
    assert cluster.srun("--gres=gpu:b200:3", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES").out.strip() == "0,1,2"
    assert cluster.srun("stat", "-f", "-c", "%T", "/").out.strip() == "overlayfs"
    job = cluster.user("ines", "sbatch --parsable --wait -o out --wrap='id -un'")
    assert cluster.user("ines", "cat out") == "ines"
    until(lambda: cluster.sacct(job, "User,State") == ["ines", "COMPLETED"], "the database has the job")
    assert npa.ok("ssh", "-c", cluster.name, "ines", "--", "hostname").out.strip() == "login-0"
    assert cluster.plan()["steps"] == []
    assert cluster.destroy().code == 0
