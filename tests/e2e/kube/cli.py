"""`npa soperator` on a real Kubernetes node: one cluster of its own, by the command line alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.e2e.kube.bed import Place
from tests.kube.bed import CHECKOUT, Done

from npa.render.kube import names

NPA = str(Path(sys.executable).with_name("npa"))
NAME, NAMESPACE = "twin", "npa-e2e-cli"
PATIENCE = 240.0  # seconds for one command
# a worker's CPUs and memory are the spec's to Slurm, and what this machine has to spare to Kubernetes
SMALL = ("--worker-cpu=200m", "--worker-memory=400Mi")
KINDS = (
    *("slurmclusters", "nodesets", "pods", "statefulsets", "deployments", "jobs", "services"),
    *("configmaps", "secrets", "persistentvolumeclaims"),
)
SPEC = """\
apiVersion: npa.soperator/v0.0.1
name: {name}
target: kubernetes
region: us-central1
accounting: false
slurm_rest_enabled: false
root_login_ssh_public_key: {key}
workers:
  - {{name: small, platform: cpu-d3, preset: 4vcpu-16gb, size: {size}}}
users:
  - {{name: alice, ssh_public_keys: ["{key}"]}}
"""


class Cli:
    """The command line with records of its own."""

    def __init__(self, place: Place, state: Path, key: str) -> None:
        self._place, self._state, self._key = place, state, key
        tools = f"{CHECKOUT / '.venv/bin'}:{os.environ.get('PATH', '')}"
        home = {"HOME": str(state), "NPA_STATE_DIR": str(state), "KUBECONFIG": str(place.bed.kubeconfig)}
        self._env = {**os.environ, **home, "PATH": tools, "NO_COLOR": "1"}

    @property
    def where(self) -> tuple[str, ...]:
        """The options of a first deploy."""
        jail = (
            ("--jail-path", str(self._place.bed.state / "twin"))
            if self._place.jail
            else ("--storage-class", self._place.jail_class)
        )
        images = ("--slurm-image", self._place.image, "--jail-image", self._place.image)
        own = ("--namespace", NAMESPACE, "--no-operator", "--login-service", "ClusterIP")
        return (*own, *images, *jail, *SMALL, "--cgroup-version", self._place.cgroups)

    def spec(self, size: int) -> str:
        """Write the spec; returns its path."""
        path = self._state / "twin.yaml"
        path.write_text(SPEC.format(name=NAME, key=self._key, size=size), encoding="utf-8")
        return str(path)

    def begin(self, *arguments: str) -> subprocess.Popen[str]:
        """Begin a command."""
        argv = [NPA, "soperator", *arguments]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            argv, env=self._env, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True
        )

    def __call__(self, *arguments: str) -> Done:
        """Run a command to its end; its exit code is an answer."""
        running = self.begin(*arguments)
        out, err = running.communicate(timeout=PATIENCE)
        return Done(running.returncode, out, err)

    def good(self, *arguments: str) -> str:
        """Return what a command that has to succeed prints."""
        done = self(*arguments)
        assert done.code == 0, f"npa soperator {' '.join(arguments)}: {done}"
        return done.out

    def phase(self) -> str:
        """Return what the operator says of the cluster, in one word."""
        asked = ("-n", NAMESPACE, "get", "slurmcluster", NAME, "-o", "jsonpath={.status.phase}")
        return self._place.bed.kubectl(*asked).out

    def key(self) -> dict[str, str]:
        """Return what is in the Secret of the key that all daemons share."""
        asked = ("-n", NAMESPACE, "get", "secret", names.auth_key(NAME), "-o", "jsonpath={.data}")
        found: dict[str, str] = json.loads(self._place.bed.kubectl(*asked).out)
        return found

    def left(self) -> list[str]:
        """Return whatever is in the namespace but what Kubernetes puts there itself."""
        done = self._place.bed.kubectl("-n", NAMESPACE, "get", ",".join(KINDS), "-o", "name")
        assert done.code == 0, str(done)
        return sorted(each for each in done.out.split() if "kube-root-ca" not in each and "token" not in each)

    def story(self) -> str:
        """Return what is there, for a failure's message."""
        log = self._place.bed.state / "operator.log"
        kept = log.read_text(errors="replace").splitlines()[-15:] if log.exists() else []
        shown = self._place.bed.kubectl("-n", NAMESPACE, "describe", "pods,slurmclusters,nodesets").out
        return "\n".join([shown[-6000:], *kept])

    def document(self, *arguments: str) -> dict[str, Any]:
        """Return the document that a command prints."""
        found: dict[str, Any] = json.loads(self.good(*arguments, "-o", "json"))
        return found
