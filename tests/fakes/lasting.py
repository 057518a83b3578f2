"""What outlives an npa that is killed: a provider, a Kubernetes and a Slurm whose things are files."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import grpc
from nebius.api.nebius.compute import v1 as compute
from nebius.api.nebius.vpc import v1 as vpc
from tests.fakes import cloud as clouds
from tests.fakes import provider as fake
from tests.fakes.cloud import PROJECT, Slurm
from tests.fakes.provider import Provider
from tests.nebius.after import FakeKube

from npa.render.objects import Kind, Object, name_of
from npa.tools.kube import Executed
from npa.tools.nebius import Nebius

Hit = Callable[[str], None]  # hears of each step


class FileProvider(Provider):
    """A provider whose clusters, filesystems and addresses are files."""

    root: Path

    def answer(self, path: str, body: bytes, context: grpc.ServicerContext) -> bytes:
        makers: Mapping[str, Callable[[str, str], Any]] = {
            "clusters": lambda key, _: fake.cluster(key),
            "filesystems": lambda key, name: compute.Filesystem(metadata=fake.metadata(key, PROJECT, name)),
            "allocations": lambda key, name: vpc.Allocation(metadata=fake.metadata(key, PROJECT, name)),
        }
        for kind, make in makers.items():
            there = sorted((self.root / "provider" / kind).iterdir())
            self.held[kind] = [make(each.name, each.read_text()) for each in there]
        found = super().answer(path, body, context)
        for kind in makers if path.endswith("/Delete") else ():
            kept = {each.metadata.id for each in self.held[kind]}
            for each in (self.root / "provider" / kind).iterdir():
                if each.name not in kept:
                    each.unlink()
        return found


class FileKube(FakeKube):
    """A Kubernetes that outlives its clients; each change is a step."""

    def __init__(self, slurm: Slurm, hit: Hit, path: Path) -> None:
        super().__init__(slurm)
        self._hit, self._path = hit, path
        self.objects = pickle.loads(path.read_bytes()) if path.exists() else clouds.cluster(slurm).objects

    def apply(self, wanted: Object) -> Object:
        self._hit(f"before a repair of {name_of(wanted)}")
        done = super().apply(wanted)
        self._save()
        self._hit(f"after a repair of {name_of(wanted)}")
        return done

    def delete(self, kind: Kind, name: str, namespace: str = "") -> bool:
        self._hit(f"before deleting {kind.plural} {name}")
        done = super().delete(kind, name, namespace)
        self._save()
        return done

    def _save(self) -> None:
        draft = self._path.with_suffix(".new")
        draft.write_bytes(pickle.dumps(self.objects))
        draft.replace(self._path)


class FileSlurm(Slurm):
    """A Slurm whose jobs outlive whoever waits for them."""

    def __init__(self, hit: Hit, jobs: Path) -> None:
        super().__init__()
        self.workers = ["gpu-0", "gpu-1"]
        self._hit, self._jobs = hit, jobs

    def __call__(self, pod: str, argv: Sequence[str]) -> Executed:
        words = list(argv)
        program = next((each for each in words if each in ("srun", "scancel", "squeue")), "")
        name = next((each.partition("=")[2] for each in words if each.startswith("--job-name=")), "")
        if program == "srun":
            (self._jobs / name).touch()
            self._hit("inside the GPU check")
            found = super().__call__(pod, argv)
            (self._jobs / name).unlink()
            self._hit("after the GPU check")
            return found
        if program == "scancel":
            for each in self._jobs.iterdir():
                if any(each.name in word for word in words):
                    each.unlink()
            return Executed(0, "")
        if program == "squeue" and "--json" not in words:
            left = [each.name for each in self._jobs.iterdir() if any(each.name in word for word in words)]
            return Executed(0, "\n".join(left))
        return super().__call__(pod, argv)


class MortalNebius(Nebius):
    """The provider's API, in which each deletion is a step."""

    hit: Hit

    def delete(self, kind: Any, resource_id: str) -> None:
        named = f"an {kind}" if kind == "allocation" else f"a {kind}"
        self.hit(f"before the provider deletes {named}")
        super().delete(kind, resource_id)
        self.hit(f"after the provider deletes {named}")
