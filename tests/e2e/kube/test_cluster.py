"""A SlurmCluster applied to a real Kubernetes node: jobs run in the jail, and what happens to them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.e2e.kube.cli import NAME, Cli, Running
from tests.e2e.kube.cluster import Cluster
from tests.e2e.kube.conftest import Operator
from tests.kube.bed import until


def test_runs_a_job_on_both_workers(idle: Cluster) -> None:
    hosts = idle.ctl("srun -N2 hostname")

    assert sorted(hosts.split()) == ["cpu-0", "cpu-1"]


def test_jobs_run_in_the_jail_that_all_share(idle: Cluster) -> None:
    idle.ctl("srun -N1 -w cpu-0 sh -c 'echo written > /home/shared'")

    assert idle.ctl("srun -N1 -w cpu-1 cat /home/shared") == "written"
    assert idle.exec("cpu-1", "test", "-e", "/home/shared").code != 0


def ssh(cluster: Cluster, user: str, key: Path, command: str) -> subprocess.CompletedProcess[str]:
    with cluster.forwarded("one-login-0", 22) as port:
        options = (
            "StrictHostKeyChecking=no",
            "UserKnownHostsFile=/dev/null",
            "LogLevel=ERROR",
            f"Port={port}",
        )
        argv = ["ssh", "-i", str(key), *(f"-o{each}" for each in options), f"{user}@127.0.0.1", command]
        return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)


def test_ssh_opens_in_the_jail_and_speaks_to_slurm(idle: Cluster, key: tuple[Path, str]) -> None:
    idle.ctl("srun -N1 sh -c 'echo written > /home/seen'")
    done = ssh(idle, "root", key[0], "cat /home/seen; srun -N2 hostname | sort")

    assert done.stdout.split() == ["written", "cpu-0", "cpu-1"], done.stderr


def test_a_user_of_a_login_node_takes_no_more_than_is_allowed(idle: Cluster, key: tuple[Path, str]) -> None:
    idle.ctl(
        f"srun -N1 sh -euc 'useradd -m -u 1234 alice; mkdir /home/alice/.ssh; "
        f"echo {key[1]} > /home/alice/.ssh/authorized_keys; chown -R alice /home/alice'"
    )
    much = "head -c 200m /dev/zero | tail | wc -c"

    assert "/users/user-1234" in ssh(idle, "alice", key[0], "cat /proc/self/cgroup").stdout
    assert ssh(idle, "alice", key[0], much).stdout.strip() == "0"
    assert ssh(idle, "root", key[0], much).stdout.strip() == str(200 * 1024**2)


def test_a_job_over_its_memory_is_ended_and_only_that(idle: Cluster) -> None:
    done = idle.exec(idle.controller, "srun", "--mem=50", "sh", "-c", "head -c 200m /dev/zero | tail")

    assert done.code != 0
    assert "Out Of Memory" in done.err
    assert idle.ctl("srun -N2 hostname | wc -l") == "2"


def test_an_array_runs_and_is_accounted_for(idle: Cluster) -> None:
    job = idle.ctl("sbatch --parsable --array=0-3 -o /home/array-%a --wrap 'echo task $SLURM_ARRAY_TASK_ID'")
    idle.await_(lambda: not idle.ctl(f"squeue -h -j {job}"), f"the array {job} has ended")

    assert idle.on("one-login-0", "cat /mnt/jail/home/array-3") == "task 3"
    idle.await_(
        lambda: idle.ctl(f"sacct -nXP -j {job} -o state").split() == ["COMPLETED"] * 4,
        f"all four tasks of {job} are in the database",
    )


def test_rest_takes_a_token_and_nothing_else(idle: Cluster) -> None:
    token = idle.ctl("scontrol token username=root lifespan=600").removeprefix("SLURM_JWT=")
    pod = next(name for name in idle.listed("pods") if "-rest-" in name)
    url = f"http://{idle.address(pod)}:6820/slurm/v0.0.45/nodes/"
    ask = f"curl -s -m 20 -o /dev/null -w '%{{http_code}}' {url}"

    assert idle.ctl(ask) == "401"
    assert idle.ctl(f"{ask} -H 'X-SLURM-USER-TOKEN: {token}'") == "200"


def test_the_exporter_tells_of_nodes_and_jobs(idle: Cluster) -> None:
    if not idle.place.operator_image:
        pytest.skip("NPA_E2E_OPERATOR_IMAGE names no image, which the exporter is of")
    job = idle.submit("-w", "cpu-0")

    def told() -> str:
        pods = [name for name in idle.listed("pods") if name.startswith("one-slurm-exporter-")]
        asked = (f"http://{idle.address(name)}:8080/metrics" for name in pods)
        return "".join(idle.exec(idle.controller, "curl", "-s", "-m", "20", url).out for url in asked)

    idle.await_(lambda: f'job_id="{job}"' in told(), f"the exporter tells of job {job}")
    assert 'node_name="cpu-1"' in told()


def test_settled_it_is_available_and_says_so(idle: Cluster) -> None:
    idle.await_(lambda: idle.status().get("phase") == "Available", "the cluster is Available")
    conditions = {each["type"]: each["status"] for each in idle.status()["conditions"]}

    wanted = ("JailPopulated", "ConfigurationApplied", "ControllersAvailable", "LoginAvailable")
    assert {each: conditions[each] for each in wanted} == dict.fromkeys(wanted, "True")


def test_grows_and_shrinks_around_a_running_job(idle: Cluster) -> None:
    job = idle.submit("-w", "cpu-0")
    idle.scale(3)
    idle.await_workers(3)
    late = idle.submit("-w", "cpu-2")
    idle.scale(2)
    idle.await_(lambda: idle.states().get("cpu-2") in ("draining", "drng"), "cpu-2 drains")

    assert "cpu-2" in idle.listed("pods")
    assert {idle.job_state(each) for each in (job, late)} == {"RUNNING"}

    idle.ctl(f"scancel {late}")
    idle.await_(lambda: "cpu-2" not in idle.listed("pods"), "the pod of cpu-2 is gone")
    idle.await_workers(2)

    assert idle.job_state(job) == "RUNNING"


def test_a_setting_is_changed_live_by_one_reconfigure(idle: Cluster) -> None:
    job, digest = idle.submit(), idle.await_applied()
    before = idle.reconfigures()
    idle.spec = {**idle.spec, "customSlurmConfig": "Licenses=matlab:4\n"}
    idle.apply()
    idle.await_applied(digest)

    assert "LicenseName=matlab" in idle.ctl("scontrol show license")
    assert idle.reconfigures() == before + 1
    assert idle.job_state(job) == "RUNNING"


def test_a_setting_that_slurm_does_not_know_changes_nothing(idle: Cluster) -> None:
    good, digest = idle.spec, idle.await_applied()
    idle.spec = {**good, "customSlurmConfig": "NoSuchSetting=1\n"}
    idle.apply()

    def refused() -> bool:
        rows = {each["type"]: each for each in idle.status()["conditions"]}
        return (
            rows["ConfigurationValid"]["status"] == "False"
            and "NoSuchSetting" in rows["ConfigurationValid"]["message"]
        )

    idle.await_(refused, "the setting is refused, by name")
    assert idle.digest() == digest

    idle.spec = good
    idle.apply()
    idle.await_(lambda: not refused(), "the files are valid again")


def test_a_worker_that_is_killed_comes_back(idle: Cluster) -> None:
    uid = idle.uid("cpu-1")
    done = idle.kubectl("delete", "pod", "cpu-1", "--grace-period=0", "--force")
    assert done.code == 0, str(done)
    idle.await_(lambda: idle.uid("cpu-1") not in ("", uid), "there is another cpu-1")
    idle.await_(
        lambda: idle.exec(idle.controller, "srun", "--immediate=5", "-N2", "hostname").code == 0,
        "jobs run on both workers again",
    )


def test_jobs_outlive_slurmctld(idle: Cluster) -> None:
    job, uid = idle.submit("-N2", command="srun sleep 600"), idle.uid(idle.controller)
    done = idle.kubectl("delete", "pod", idle.controller, "--grace-period=0", "--force")
    assert done.code == 0, str(done)
    idle.await_(lambda: idle.uid(idle.controller) not in ("", uid), "there is another slurmctld")
    idle.await_(lambda: idle.job_state(job) == "RUNNING", f"job {job} runs on")
    idle.await_workers(2)

    assert idle.ctl(f"scontrol show job {job} | grep -o Restarts=.") == "Restarts=0"
    assert idle.ctl(f"srun --jobid {job} --overlap -N2 hostname | wc -l") == "2"


def test_an_operator_that_is_killed_goes_on_where_it_was(idle: Cluster, operator: Operator) -> None:
    job = idle.submit("-w", "cpu-0")
    idle.scale(3)
    idle.await_(lambda: "cpu-2" in idle.listed("pods"), "there is a pod of cpu-2")
    operator.kill()
    idle.scale(2)
    operator.start()
    idle.await_(lambda: "cpu-2" not in idle.listed("pods"), "the pod of cpu-2 is gone")
    idle.await_workers(2)

    assert idle.job_state(job) == "RUNNING"


def test_deployed_it_is_as_the_spec_says(bursting: tuple[str, str], deploying: Running, npa: Cli) -> None:
    del bursting  # its workers start meanwhile
    deploying.good()

    assert npa.document("plan", "-f", npa.spec(1), "--no-operator")["steps"] == []
    report = npa.document("status", NAME)
    assert (report["ok"], npa.phase()) == (True, "Available"), report


def test_deployed_it_is_open_to_its_users(deploying: Running, npa: Cli) -> None:
    deploying.good()

    assert npa.good("exec", "small-0", "--root", "daemons", "--", "hostname") == "small-0\n"
    assert npa.good("exec", "login-0", "--", "sinfo", "-ho", "%n %c %t") == "small-0 4 idle\n"
    # four tasks on a node of four CPUs, whatever the machine has
    assert npa.good("ssh", "alice", "--", "srun", "-n4", "whoami").split() == ["alice"] * 4
    until(lambda: "launch task" in npa.good("logs", "small-0"), "slurmd's log tells of them", 60)


def test_ephemeral_workers_are_there_only_for_their_job(
    bursting: tuple[str, str], rotating: object, cluster: Cluster
) -> None:
    del rotating  # it goes on meanwhile
    job, lost = bursting
    cluster.await_(lambda: cluster.job_state(job) == "COMPLETED", f"job {job} ran on workers made for it")
    ran = cluster.on("one-login-0", "cat /mnt/jail/home/burst")
    assert sorted(ran.split()) == ["burst-0", "burst-1"]
    cluster.await_(lambda: not cluster.pods_of("burst"), "their pods are gone")

    assert cluster.active("burst") == []
    assert cluster.off("burst")

    cluster.await_(lambda: "never-0 goes back to its pool" in cluster.told(), "it is told who did not start")

    def returned() -> bool:
        off = cluster.off("never") and not cluster.active("never") and not cluster.pods_of("never")
        return off and cluster.job_state(lost) == "PENDING"

    cluster.await_(returned, "its pod is gone, it can be asked for again, and its job waits")


def test_a_new_key_is_known_to_all_who_are_in_the_cluster(
    rotating: tuple[dict[str, str], Running], npa: Cli
) -> None:
    before, running = rotating
    running.good()
    after = npa.key()

    assert [*after] == [*before]  # the old one is not kept
    assert after != before
    assert npa.good("ssh", "alice", "--", "srun", "-n4", "whoami").split() == ["alice"] * 4


def test_deleted_it_leaves_nothing_but_its_data(cluster: Cluster, destroying: Running) -> None:
    del destroying  # it goes on meanwhile
    cluster.ctl("scancel -u root")
    for kind, names in (("nodesets", [*cluster.nodesets()]), ("slurmclusters", [cluster.name])):
        done = cluster.kubectl("delete", kind, *names, "--wait=false")
        assert done.code == 0, str(done)
    kinds = ("pods", "statefulsets", "deployments", "jobs", "services", "configmaps")

    def left() -> list[str]:
        found = {f"{kind}/{name}" for kind in kinds for name in cluster.listed(kind)}
        return sorted(found - {"configmaps/kube-root-ca.crt"})  # Kubernetes' own

    cluster.await_(lambda: not left(), "everything is gone")
    assert not cluster.listed("slurmclusters")
    assert not cluster.listed("nodesets")


def test_destroyed_nothing_is_left_of_it(destroying: Running, npa: Cli) -> None:
    destroying.good()

    assert npa.left() == []
    assert npa("status", NAME).code == 1
