"""Commands that are cut short, meet, or find the machine started anew."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from bench.faults import lab
from bench.faults.row import Row
from tests.e2e.local.harness import CPU_POOL, Cluster, Npa, kill, said, traces, until

NUMBERS = (signal.SIGINT, signal.SIGKILL)
DELAYS = (0.0, 0.04, 0.15)  # seconds after a step has begun
DESTROYS = tuple(0.2 + 0.04 * step for step in range(12))  # seconds after the start; the whole takes 0.5
# 130 is what a shell makes of a program that SIGINT itself ends, as in its very last moments
CUT = "1 where it is not there yet, 4 where it is not whole, 0 where it is"
CODES = {signal.SIGINT: (0, 130, -2), signal.SIGKILL: (0, -9)}


def rows(npa: Npa) -> list[Row]:
    """Cut deploys and destroys short at every step; run two at once; start the machine anew."""
    return [deploys(npa), changes(npa), destroys(npa), two(npa), reboot(npa)]


def deploys(npa: Npa, every: int = 1) -> Row:
    """Cut the first deploy short at each of its steps, each finished by another."""
    cluster = _cluster(npa)
    steps = [f"{step['verb']} {step['subject']}" for step in cluster.plan()["steps"]][::every]
    cuts = [(step, number) for step in steps for number in NUMBERS]
    times = []
    for index, (step, number) in enumerate(cuts):
        _cut(cluster, ["deploy", "-f", str(cluster.write())], f"] {step}", number, DELAYS[index % 3])
        times.append(lab.deploy(cluster))
        assert cluster.plan()["steps"] == [], step
        _destroyed(cluster)
    return Row(f"`deploy` is cut short, {len(cuts)} times: at each of its {len(steps)} steps",
               "Ctrl-C, `kill -KILL`", CUT, "`deploy`", tuple(times), job="none yet")  # fmt: skip


def changes(npa: Npa) -> Row:
    """Cut a growing deploy short at each of its steps while a job runs."""
    cluster, times = _cluster(npa), []
    cluster.deploy()
    job = lab.start_job(cluster)
    steps = [f"{s['verb']} {s['subject']}" for s in cluster.plan(workers=[_pool(3)])["steps"]]
    for step in steps:
        for number in NUMBERS:
            spec = str(cluster.write(workers=[_pool(3)]))
            _cut(cluster, ["deploy", "-f", spec], f"] {step}", number, 0.02)
            times.append(lab.deploy(cluster))
            lab.goes_on(cluster, job)
            cluster.deploy(workers=[_pool(2)])
    _destroyed(cluster)
    return Row(f"a `deploy` of one more worker is cut short, {2 * len(steps)} times",
               "Ctrl-C, `kill -KILL`", CUT, "`deploy`", tuple(times))  # fmt: skip


def destroys(npa: Npa, delays: Sequence[float] = DESTROYS) -> Row:
    """Cut destroys short at all times, each finished by another."""
    cluster, finished = _cluster(npa), 0
    for index, delay in enumerate(delays):
        cluster.deploy()
        process = npa.start("destroy", cluster.name, "--yes", "--force", group=True)
        time.sleep(delay)
        process.send_signal(NUMBERS[index % 2])
        _, err = process.communicate(timeout=60)
        assert "Traceback" not in err, err
        assert process.returncode in CODES[NUMBERS[index % 2]], err
        finished += process.returncode == 0
        if npa.folder(cluster.name).exists():
            _told(cluster)
        _destroyed(cluster)
    return Row(f"`destroy` is cut short, {len(delays) - finished} times", "Ctrl-C, `kill -KILL`",
               CUT, "`destroy`", job="none left")  # fmt: skip


def two(npa: Npa, runs: int = 6) -> Row:
    """Of two deploys of a cluster that is not there yet one goes on, and the other is refused."""
    cluster = _cluster(npa)
    for _ in range(runs):
        spec = str(cluster.write())
        both = [npa.start("deploy", "-f", spec, "--yes") for _ in range(2)]
        said_ = [process.communicate(timeout=120)[1] for process in both]
        codes = sorted(process.returncode for process in both)
        assert codes == [0, 3], said_
        assert any("another command" in err or "moved on" in err for err in said_), said_
        cluster.assert_healthy()
        assert cluster.plan()["steps"] == []
        _destroyed(cluster)
    return Row("two deploys at once", f"{runs} times, started together",
               "0", "nothing to repair: one exits 0, the other 3", job="none yet")  # fmt: skip


def reboot(npa: Npa, runs: int = 3) -> Row:
    """Leave a cluster as the machine's restart would: files and record, no process, group or mount."""
    cluster, times = _cluster(npa), []
    cluster.deploy()
    cluster.login("echo kept > /root/kept")
    job = cluster.on("login-0", "sbatch", "--parsable", "--wait", "-o", "/dev/null", "--wrap=true")
    until(lambda: cluster.sacct(job, "State") == ["COMPLETED"], "the job is in the database")
    for _ in range(runs):
        kill(cluster.lab_pid())
        _without_groups(npa, cluster)
        lock = npa.state / "local" / f".{cluster.name}.lock"
        lock.touch()  # of a deploy that was under way
        lab.ill(cluster, f"cluster {cluster.name}: is stopped")
        times.append(lab.deploy(cluster))
        assert cluster.login("cat /root/kept") == "kept"
        assert cluster.sacct(job, "State") == ["COMPLETED"]
        assert not lock.exists()
    _destroyed(cluster)
    return Row("the machine starts anew", "all processes and control groups taken away, a lock left",
               "4, `is stopped`", "`deploy`; the jail and the database are kept", tuple(times),
               job="none left")  # fmt: skip


def _pool(size: int) -> dict[str, object]:
    return {**CPU_POOL, "size": size}


def _cluster(npa: Npa) -> Cluster:
    return Cluster(npa, "e2e-cut", accounting=True, workers=[_pool(2)], users=[{"name": "hugo"}])


def _cut(cluster: Cluster, args: Sequence[str], words: str, number: signal.Signals, delay: float) -> None:
    process = cluster.npa.start(*args, "--yes", group=True)
    said(process, words)
    time.sleep(delay)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert "Traceback" not in err, err
    assert process.returncode in CODES[number], err  # 0: the last step may have ended by itself
    _told(cluster)


def _told(cluster: Cluster) -> None:
    """Assert that `status` is well only where all is, and says what is wrong elsewhere."""
    report = cluster.npa("status", cluster.name, "-o", "json")
    assert "Traceback" not in report.err, str(report)
    if report.code == 1:
        assert report.json["error"]["code"] == "not-found", str(report)
    else:
        assert report.code == (0 if report.json["ok"] else 4), str(report)


def _destroyed(cluster: Cluster) -> None:
    done = cluster.destroy("--force")
    assert done.code == 0 or done.json["error"]["code"] == "not-found", str(done)
    assert not cluster.npa.folder(cluster.name).exists()
    assert traces(f"{cluster.npa.state}/local/{cluster.name}") == []


def _without_groups(npa: Npa, cluster: Cluster) -> None:
    """Remove the control groups of a cluster whose processes have ended."""
    record = (npa.folder(cluster.name) / "record.json").read_text()
    groups = {word for word in record.split('"') if word.startswith("/sys/fs/cgroup/")}
    for group in groups:
        folders = sorted(Path(group).rglob("*/"), key=lambda path: -len(path.parts))
        for folder in (*folders, Path(group)):
            subprocess.run(["rmdir", str(folder)], check=False, capture_output=True)
        assert not Path(group).exists(), group
