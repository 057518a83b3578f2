"""An npa in a process of its own that can be killed (SIGKILL) at any of its steps, and what outlives it.

What the provider holds are files: the stand-in recipe makes and removes them while Terraform works, whether
npa lives or not. Kubernetes' objects and Slurm's jobs are in files, too. A step is whatever leaves a trace
outside of the process: a file put in place, a program started, a request that changes something.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import re
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from tests.fakes import cloud as clouds
from tests.fakes import provider as fake
from tests.fakes.cloud import Cloud
from tests.fakes.lasting import FileKube, FileProvider, FileSlurm, MortalNebius
from tests.fakes.provider import Provider
from tests.nebius import repository

from npa.errors import NpaError
from npa.render.nebius import held
from npa.render.nebius.sidecar import Sidecar
from npa.spec.model import SoperatorSpec, WorkerPoolSpec
from npa.targets.nebius import records, world
from npa.targets.nebius.checkout import LEGACY
from npa.targets.nebius.options import NebiusOptions
from npa.targets.nebius.outside import Outside
from npa.targets.nebius.target import NebiusTarget
from npa.tools import disk, unfinished
from npa.tools.nebius import Nebius

Verb = Literal["deploy", "destroy"]
_READING = (["git", "rev-parse"], ["git", "cat-file"], ["git", "status"], ["git", "ls-tree"], ["git", "blob"])
_OWNED = ("filesystem", "allocation")
KINDS = ("clusters", "filesystems", "allocations")
_MAKERS = {
    "modules/k8s/made_override.tf": (
        ("this", "clusters", "mk8scluster"),
        ("static_ip", "allocations", "vpcallocation"),
    ),
    "modules/filestore/made_override.tf": (
        ("jail", "filesystems", "computefilesystem"),
        ("controller_spool", "filesystems", "computefilesystem"),
    ),
    "modules/slurm/made_override.tf": (("flux_values", "charts", "helm"),),
}  # fmt: skip
_MAKER = """\
resource "terraform_data" "{name}" {{
  provisioner "local-exec" {{
    command = "{script} made {kind} {prefix}-${{substr(self.id, 0, 8)}} ${{try(self.input.name, "x")}}"
  }}
  provisioner "local-exec" {{
    when    = destroy
    command = "{script} gone {kind} {prefix}-${{substr(self.id, 0, 8)}}"
  }}
}}
"""
# The provider's side of a resource. Where npa is to die here it does so before Terraform hears of it.
_SCRIPT = """#!/bin/sh
set -e
cd {root}
case $1 in
  made) printf %s "$4" > .new.$3; mv .new.$3 provider/$2/$3 ;;
  gone) rm -f provider/$2/$3 ;;
esac
if [ "$(cat kill)" = "$1 $2#1" ]; then : > kill; kill -9 $(cat pid) || true; fi
while [ -e hold ]; do sleep 0.05; done
"""


def spec() -> SoperatorSpec:
    """Return a cluster with GPUs: its deploy has every phase."""
    gpu = WorkerPoolSpec(
        name="gpu", platform="gpu-h200-sxm", preset="8gpu-128vcpu-1600gb", size=2, fabric="fabric-3"
    )
    return SoperatorSpec(name="quick", workers=(gpu,))


@dataclass
class Reaper:
    """Kills this process at one step; notes every step."""

    root: Path
    seen: Counter[str] = field(default_factory=Counter)
    labels: list[str] = field(default_factory=list)

    def hit(self, label: str) -> None:
        self.seen[label] += 1
        told = f"{label}#{self.seen[label]}"
        self.labels.append(told)
        if (self.root / "kill").read_text() == told:
            (self.root / "kill").write_text("")
            os.kill(os.getpid(), signal.SIGKILL)

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Take part in what the interpreter does (sys.addaudithook): files put in place, programs started."""
        if event in ("os.rename", "os.remove"):
            path = os.fsdecode(arguments[1] if event == "os.rename" else arguments[0])
            if name := self._named(path):
                self.hit(f"{'write' if event == 'os.rename' else 'remove'} {name}")
        elif event == "subprocess.Popen":
            argv = [os.fsdecode(each) for each in arguments[1]]
            words = [each for each in argv if not each.startswith("-") and not set("=/^") & set(each)]
            told = [each for each in words[:3] if not re.fullmatch("[0-9a-f]{40}", each)]
            if told[:2] not in _READING:
                self.hit(f"start {' '.join(told)}")

    def _named(self, path: str) -> str:
        home = str(self.root / "home")
        if not path.startswith(home) or "/.npa-plan-" in path:
            return ""
        name = Path(path).name
        if name.startswith(LEGACY):
            return "the shared checkout"
        return "" if name.startswith((".", "tmp")) and not name.startswith(".npa-soperator") else name


@dataclass(frozen=True)
class Stage:
    """Where everything that outlives npa is."""

    root: Path
    address: str
    pin: str

    @property
    def installation(self) -> Path:
        return self.root / "home/.npa/soperator/sources/quick/soperator/installations/quick"

    def at(self, kind: str) -> list[str]:
        """Return the ids of what the provider holds."""
        return sorted(each.name for each in (self.root / "provider" / kind).iterdir())

    def jobs(self) -> list[str]:
        """Return the jobs of Slurm."""
        return [each.name for each in (self.root / "jobs").iterdir()]

    def disagreements(self) -> list[str]:
        """Return in what the record, Terraform's state, the provider and Slurm differ after a deploy."""
        record = records.load_sidecar(self.installation) or Sidecar()
        state = held.read(world.state_of(self.outside(Reaper(self.root)), self.installation))
        mine = {kind: sorted(each.id for each in state.auxiliaries if each.kind == kind) for kind in _OWNED}
        compared: tuple[tuple[str, object, object], ...] = (
            ("cluster, record", [record.cluster_id], self.at("clusters")),
            ("cluster, state", [state.cluster_id], self.at("clusters")),
            ("filesystems, record", sorted(record.filesystem_ids), self.at("filesystems")),
            ("filesystems, state", mine["filesystem"], self.at("filesystems")),
            ("addresses, record", sorted(record.allocation_ids), self.at("allocations")),
            ("addresses, state", mine["allocation"], self.at("allocations")),
            ("charts", len(self.at("charts")), 1),
            ("jobs of the GPU check", self.jobs(), []),
        )
        return [f"{what}: {ours} and {theirs}" for what, ours, theirs in compared if ours != theirs]

    def outside(self, reaper: Reaper) -> Outside:
        """Return what an npa in this process uses."""
        recipe = repository.Upstream(self.root / "upstream", "", self.pin, "")
        cloud = Cloud(self.root, Provider(address=self.address), recipe=recipe)
        cloud.slurm = FileSlurm(reaper.hit, self.root / "jobs")
        cloud.kube = FileKube(cloud.slurm, reaper.hit, self.root / "kube")
        cloud.sync = lambda *_: None  # type: ignore[method-assign]  # what there is comes of the recipe
        cloud.after = lambda command: reaper.hit(f"after {command}")

        def connect(_: Mapping[str, str]) -> Nebius:
            found = MortalNebius(cloud.provider.sdk(), deadline=10)
            found.hit = reaper.hit
            return found

        return replace(cloud.outside, connect=connect)

    def run(self, verb: Verb, kill: str = "") -> Run:
        """Have an npa of its own do something, and die at a step."""
        (self.root / "kill").write_text(kill)
        (self.root / "result").unlink(missing_ok=True)
        process = _FORKS.Process(target=_live, args=(self, verb))
        process.start()
        process.join(120)
        assert process.exitcode is not None, f"{verb} did not end"
        result = self.root / "result"
        told: Any = pickle.loads(result.read_bytes()) if result.exists() else ("killed", "", [])
        return Run(process.exitcode, *told)

    def settled(self) -> None:
        """Wait until no apply that outlived its npa is left."""
        path = self.installation / unfinished.APPLYING
        if path.exists():
            with disk.lock(path, "an apply does not end", patience=60):
                pass


@dataclass(frozen=True)
class Run:
    """How an npa ended."""

    code: int
    status: str
    message: str
    labels: list[str]

    @property
    def killed(self) -> bool:
        return self.code == -signal.SIGKILL


def _live(stage: Stage, verb: Verb) -> None:
    """Be an npa, from here to the end."""
    (stage.root / "pid").write_text(str(os.getpid()))
    reaper = Reaper(stage.root)
    target = NebiusTarget(stage.outside(reaper))
    sys.addaudithook(reaper.audit)
    try:
        if verb == "deploy":
            found = target.deploy(
                spec(), NebiusOptions(), lambda *_: reaper.hit("when asked"), lambda _: None
            )
        else:
            found = target.destroy("quick", NebiusOptions(), lambda _: None)
        told = (str(found["status"]), "", reaper.labels)
    except NpaError as error:
        told = (error.code, f"{error}; {error.hint}", reaper.labels)
    draft = stage.root / "result.new"
    draft.write_bytes(pickle.dumps(told))
    draft.rename(stage.root / "result")


_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.fakes.mortal"])


@contextmanager
def stage(root: Path) -> Iterator[Stage]:
    """Set up a provider and a recipe for mortal npas."""
    for kind in (*KINDS, "charts"):
        (root / "provider" / kind).mkdir(parents=True)
    (root / "jobs").mkdir()
    script = root / "provider.sh"
    script.write_text(_SCRIPT.format(root=root))
    script.chmod(0o755)
    more = {
        f"soperator/{path}": "".join(
            _MAKER.format(name=name, kind=kind, prefix=prefix, script=script) for name, kind, prefix in makers
        )
        for path, makers in _MAKERS.items()
    }
    recipe = clouds.upstream(root / "upstream", more)
    provider = FileProvider(clouds.room(spec()))
    provider.root = root
    with fake.serve(provider):
        found = Stage(root, provider.address, recipe.pin)
        Cloud(root, provider, recipe=recipe)  # the user's home
        yield found
