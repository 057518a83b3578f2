"""All that a deploy needs outside of npa: real git and Terraform, a provider on loopback, a fake Slurm.

The stand-in recipe makes `terraform_data` only. What its state holds is told as the recipe's own types, and
the provider on loopback has exactly those things.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from nebius.api.nebius.compute import v1 as compute
from nebius.api.nebius.vpc import v1 as vpc
from tests.fakes import provider as fake
from tests.fakes import standin
from tests.fakes.provider import Provider
from tests.nebius import repository
from tests.nebius.after import FakeClock, FakeKube

from npa.render.nebius import gate_script, quotas, source
from npa.render.nebius.patches import PIN, Patch
from npa.render.nebius.source import EXAMPLE, Contract
from npa.render.objects import CONFIG_MAP, CRD
from npa.spec.model import SoperatorSpec, WorkerPoolSpec
from npa.targets.nebius.outside import Outside
from npa.tools import nebius_session
from npa.tools.kube import Executed
from npa.tools.nebius import Nebius
from npa.tools.terraform import Deadlines, Saved, Terraform

TENANT, PROJECT, REGION, SUBNET = "tenant-1", "project-1", "eu-north1", "vpcsubnet-1"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBuQp1vK0tqkP4T0h7g2Y0yqkqv3mV5iM0p3m3b2x0aT me"
NOTHING: Mapping[str, str] = MappingProxyType({})
_CLOCK = "  triggers_replace = [\n    terraform_data.this.id,\n    timestamp(),\n  ]\n"
PATCHES = (
    Patch(
        "soperator/modules/k8s/k8s_cluster.tf",
        "the context is written again only for another cluster",
        _CLOCK,
        "  # npa: the id alone\n  triggers_replace = [\n    terraform_data.this.id,\n  ]\n",
    ),
)
_TYPES = {
    ("module.k8s", "this"): ("nebius_mk8s_v1_cluster", "mk8scluster"),
    ("module.k8s", "static_ip"): ("nebius_vpc_v1_allocation", "vpcallocation"),
    ("module.slurm", "flux_values"): ("helm_release", "helm"),
    **{
        ("module.k8s", name): ("nebius_mk8s_v1_node_group", "mk8snodegroup")
        for name in ("system", "controller", "login", "accounting", "worker_v2")
    },
    **{
        ("module.filestore", name): ("nebius_compute_v1_filesystem", "computefilesystem")
        for name in ("jail", "controller_spool", "accounting_fs")
    },
}


def spec(**more: Any) -> SoperatorSpec:
    """Return a cluster of two CPU nodes."""
    return SoperatorSpec(**{"name": "quick", "workers": (WorkerPoolSpec(name="cpu", size=2),), **more})


def upstream(path: Path, more: Mapping[str, str] = NOTHING) -> repository.Upstream:
    """Make a git repository of the stand-in recipe; `more` files are added to it."""
    shutil.copytree(standin.RECIPE, path)
    repository.write(path, dict(more))
    providers = path / EXAMPLE / "terraform.tf"
    providers.write_text(providers.read_text() + f"# {source.api_domain('eu-north1')}\n")
    repository.git(path, "init", "-q", "-b", "main")
    repository.git(path, "config", "uploadpack.allowAnySHA1InWant", "true")
    repository.git(path, "config", "uploadpack.allowFilter", "true")
    pin = repository.commit(path, {"soperator/VERSION": "4.1.6-1\n"}, "pin")
    return repository.Upstream(path, "", pin, "")


class Cloud:
    """A provider whose things are those that Terraform made; `before` is called ahead of every command."""

    def __init__(
        self,
        root: Path,
        provider: Provider,
        more: Mapping[str, str] = NOTHING,
        recipe: repository.Upstream | None = None,
    ) -> None:
        self.provider = provider
        self.environ: dict[str, str] = {}
        self.clock = FakeClock()
        self.slurm = Slurm()
        self.kube = cluster(self.slurm)
        self.states: dict[Path, Mapping[str, Any]] = {}
        self.before: Callable[[str], None] = lambda _: None
        self.after: Callable[[str], None] = lambda _: None
        self.commands: list[str] = []
        self.minimum = (1, 5)
        self._recipe = recipe or upstream(root / "upstream", more)
        self.home = root / "home"
        (self.home / ".npa").mkdir(parents=True, exist_ok=True)
        project = f"{{project_id: {PROJECT}, tenant_id: {TENANT}, region: {REGION}}}"
        (self.home / ".npa/config.yaml").write_text(f"projects:\n  lab: {project}\n")

    @property
    def outside(self) -> Outside:
        """What the target is given."""
        return Outside(
            environ={
                "PATH": os.environ["PATH"],
                "HOME": str(self.home),
                "NPA_SOPERATOR_ROOT_LOGIN_SSH_PUBLIC_KEY": KEY,
                **self.environ,
            },
            connect=lambda environ: Nebius(
                self.provider.sdk(nebius_session.choose(environ).token or "good"), deadline=10
            ),
            terraform=lambda folder, env, deadlines, program: CloudTerraform(
                self, folder, env, deadlines, program
            ),
            kube=lambda _: self.kube,
            clock=self.clock,
            adapter=lambda ref: replace(standin.standin(self.minimum), ref=ref),
            contract=self._contract,
            remote=self._recipe.url,
            pin=self._recipe.pin,
        )

    def release(self, files: Mapping[str, str], without: str = "") -> str:
        """Have the recipe's repository move on, and npa pin what is there then."""
        if without:
            (self._recipe.path / without).unlink()
        self._recipe = replace(self._recipe, pin=repository.commit(self._recipe.path, dict(files), "next"))
        return self._recipe.pin

    def _contract(self, ref: str) -> Contract:
        real = source.contract(PIN)
        said = {f"{EXAMPLE}/terraform.tfvars": ('slurm_operator_version = "4.1.6"',)}
        return replace(real, ref=ref, critical=said, patches=PATCHES)

    @property
    def installation(self) -> Path:
        """Where the cluster of `spec()` is."""
        return self.home / ".npa/soperator/sources/quick/soperator/installations/quick"

    def ids(self, kind: str) -> list[str]:
        """Return the ids of everything of a kind at the provider."""
        return [each.metadata.id for each in self.provider.held.get(kind, [])]

    def sync(self, folder: Path, state: Mapping[str, Any]) -> None:
        """Have the provider hold what the states of all installations say."""
        self.states[folder] = state
        found = [each for one in self.states.values() for each in one.get("resources", [])]

        def of(kind: str) -> Iterator[dict[str, Any]]:
            for each in found:
                if each["type"] == kind:
                    yield from (one["attributes"] for one in each["instances"])

        self.provider.held["clusters"] = [
            fake.cluster(each["id"], name=each["name"]) for each in of("nebius_mk8s_v1_cluster")
        ]
        self.provider.held["filesystems"] = [
            compute.Filesystem(metadata=fake.metadata(each["id"], PROJECT, each["name"]))
            for each in of("nebius_compute_v1_filesystem")
        ]
        self.provider.held["allocations"] = [
            vpc.Allocation(metadata=fake.metadata(each["id"], PROJECT, each["name"]))
            for each in of("nebius_vpc_v1_allocation")
        ]


class CloudTerraform(Terraform):
    """Real Terraform; what it makes is at the provider."""

    def __init__(
        self, cloud: Cloud, folder: Path, env: Mapping[str, str], deadlines: Deadlines, program: str
    ) -> None:
        super().__init__(folder, env, program=program, deadlines=deadlines)
        self._cloud, self._folder = cloud, folder

    def init(self, heard: Callable[[str], None] | None = None) -> None:
        with self._told("init"):
            super().init(heard)

    @contextmanager
    def planned(self, **given: Any) -> Iterator[Saved]:
        self._cloud.before("plan")
        with super().planned(**given) as saved:
            self._cloud.commands.append("plan")
            self._cloud.after("plan")
            yield saved

    def apply(
        self, saved: Saved, heard: Callable[[str], None] | None = None, timeout: float | None = None
    ) -> None:
        with self._told("apply"):
            try:
                super().apply(saved, heard, timeout)
            finally:
                self._cloud.sync(self._folder, translated(super().state_pull()))

    def state_pull(self) -> dict[str, Any]:
        with self._told("state"):
            return translated(super().state_pull())

    @contextmanager
    def _told(self, command: str) -> Iterator[None]:
        self._cloud.before(command)
        yield
        self._cloud.commands.append(command)
        self._cloud.after(command)


def translated(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state of the stand-in in the recipe's own types."""
    if "resources" not in state:
        return state
    return {**state, "resources": [_translated(each) for each in state["resources"]]}


def _translated(resource: dict[str, Any]) -> dict[str, Any]:
    found = _TYPES.get((resource.get("module", ""), resource["name"]))
    if found is None:
        return resource
    kind, prefix = found
    instances = [{"attributes": _attributes(prefix, each["attributes"])} for each in resource["instances"]]
    return {**resource, "type": kind, "instances": instances}


def _attributes(prefix: str, attributes: Mapping[str, Any]) -> dict[str, Any]:
    own = dict(attributes["output"]["value"])
    if "template" in own and prefix == "mk8snodegroup":
        labels = {"slurm.nebius.ai/nodeset": str(own["name"]).rpartition("-")[0]}
        template = {**own["template"], "metadata": {"labels": labels}}
        own["template"] = {**template, "preemptible": {} if template.get("preemptible") else None}
    return {"name": own.get("release", "x"), **own, "id": f"{prefix}-{attributes['id'][:8]}"}


class Slurm:
    """A Slurm on which every worker is up; the GPU check passes unless told otherwise."""

    def __init__(self) -> None:
        self.workers = ["cpu-0", "cpu-1"]
        self.jobs: list[dict[str, Any]] = []
        self.past: list[dict[str, Any]] = []  # of accounting
        self.bad: set[str] = set()  # workers whose GPUs fail

    def __call__(self, _: str, argv: Sequence[str]) -> Executed:
        words = list(argv)[2:] if argv[0] == "chroot" else list(argv)
        words = words[1:] if words[0].startswith("/mnt") else words
        if words[0] == "sinfo":
            return Executed(0, "\n".join(self.workers) + "\n")
        if words[:2] == ["scontrol", "show"]:
            return Executed(0, json.dumps({"nodes": [_node(each) for each in self.workers]}))
        if words[0] == "squeue":
            return Executed(0, json.dumps({"jobs": self.jobs}) if "--json" in words else "")
        if words[0] == "sacct":
            return Executed(0, json.dumps({"jobs": self.past}))
        if words[0] == "srun":
            return self._step(words)
        return Executed(0, "NPA_USERNS sysctl=0 unshare=ok" if words[0] == "sh" else "")

    def _step(self, words: Sequence[str]) -> Executed:
        given = dict(each.split("=", 1) for each in words if each.startswith("--") and "=" in each)
        run = given["--job-name"].rpartition("-")[2]
        lines = []
        for host in given["--nodelist"].split(","):
            begin = f"{gate_script.MARKER} run={run} host={host}"
            rc = int(host in self.bad)
            lines.append(f"{begin} gpus=8 name=NVIDIA_H200")
            status = "FAIL" if rc else "PASS"
            lines += [f"{begin} test={test} status={status} rc={rc}" for test in gate_script.TESTS]
            lines.append(f"{begin} end rc={rc}")
        return Executed(int(bool(self.bad)), "\n".join(lines) + "\n")


def _node(name: str) -> dict[str, Any]:
    return {"name": name, "state": ["IDLE"], "cpus": 8, "real_memory": 1000, "gres": ""}


def cluster(slurm: Slurm) -> FakeKube:
    """Return a Kubernetes in which the charts have made what they make."""
    kube = FakeKube(slurm)
    served = {"conditions": [{"type": "Established", "status": "True"}]}
    for plural in ("servicemonitors", "podmonitors", "probes"):
        kube.put(CRD, f"{plural}.monitoring.coreos.com", status=served)
    kept = {"plugStackConfig": {"x-kubernetes-preserve-unknown-fields": True}}
    schema = {"openAPIV3Schema": {"properties": {"spec": {"properties": kept}}}}
    kube.put(CRD, "slurmclusters.slurm.nebius.ai", spec={"versions": [{"name": "v1", "schema": schema}]})
    kube.put(CONFIG_MAP, "slurm-scripts", "soperator", data={"a": "b"})
    return kube


def enough(wanted: SoperatorSpec) -> list[Any]:
    """Return quotas that reach for far more than a spec asks for."""
    return [
        fake.allowance(need.quota, need.grown * 100 + 100, unit=unit(need.unit), tenant=TENANT)
        for need in quotas.needs(wanted)
    ]


def unit(of: str) -> str:
    """Return how the provider writes the unit of a quota."""
    return "byte" if of == "byte" else "count"


def room(*wanted: SoperatorSpec) -> dict[str, list[Any]]:
    """Return what a provider with room for these clusters holds."""
    records = {each.metadata.name: each for one in wanted for each in enough(one)}
    return {
        "projects": [fake.project(PROJECT, tenant=TENANT, region=REGION)],
        "subnets": [vpc.Subnet(metadata=fake.metadata(SUBNET, PROJECT, "default"))],
        "quotas": list(records.values()),
    }


@contextmanager
def serve(root: Path, *wanted: SoperatorSpec, more: Mapping[str, str] = NOTHING) -> Iterator[Cloud]:
    """Have a cloud with room for these clusters, whose recipe has `more` files."""
    with fake.serve(Provider(room(*(wanted or (spec(),))))) as provider:
        yield Cloud(root, provider, more)
