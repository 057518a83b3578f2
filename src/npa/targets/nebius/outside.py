"""Everything outside of npa that the Nebius target uses; tests give their own."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from npa.render.nebius import adapter as adapters
from npa.render.nebius import source
from npa.render.nebius.adapter import Adapter
from npa.render.nebius.source import Contract
from npa.targets.nebius import config
from npa.targets.nebius.ports import Clock, KubeApi, SystemClock
from npa.tools import kube, nebius, nebius_session, terraform
from npa.tools.git import Git
from npa.tools.kube import Access
from npa.tools.nebius import Nebius
from npa.tools.terraform import Deadlines, Terraform

# Where the recipe's own entry point writes down a remote state; its credentials are then the environment's.
BACKEND = "terraform_backend_override.tf"

OpenTerraform = Callable[[Path, Mapping[str, str], Deadlines, str], Terraform]


def open_terraform(directory: Path, env: Mapping[str, str], deadlines: Deadlines, program: str) -> Terraform:
    """Return Terraform in a directory."""
    return Terraform(directory, env, program=program, deadlines=deadlines)


@dataclass(frozen=True, slots=True)
class Outside:
    """The provider, the programs, the clock, and where things lie."""

    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ), repr=False)
    connect: Callable[[Mapping[str, str]], Nebius] = nebius.connect
    terraform: OpenTerraform = open_terraform
    kube: Callable[[Access], KubeApi] = kube.Kube
    clock: Clock = field(default_factory=SystemClock)
    adapter: Callable[[str], Adapter] = adapters.adapter
    contract: Callable[[str], Contract] = source.contract
    remote: str = source.REMOTE
    git: Callable[[Path], Git] = Git
    pin: str = adapters.PIN

    @property
    def root(self) -> Path:
        """Where installations live."""
        return config.work_root(self.environ)

    @property
    def home(self) -> Path:
        """The user's home folder."""
        return Path(self.environ.get("HOME") or "~").expanduser()

    @property
    def profile(self) -> str:
        """The profile of the provider's CLI that is asked for; empty: its active one."""
        return self.environ.get("NPA_NEBIUS_PROFILE") or self.environ.get("NEBIUS_PROFILE") or ""

    @property
    def given_token(self) -> bool:
        """Whether somebody gave us a token (NPA_REUSE_IAM_TOKEN), which nobody can renew."""
        return bool(nebius_session.choose(self.environ).token)

    @contextlib.contextmanager
    def provider(self) -> Iterator[Nebius]:
        """Sign in, and sign out at the end of the block."""
        with self.connect(self.environ) as found:
            yield found

    def reader(self, directory: Path) -> Terraform:
        """Return Terraform without credentials: for its version and its state."""
        return self.opened(directory, terraform.environment(self.environ, {}), Deadlines())

    def opened(self, directory: Path, env: Mapping[str, str], deadlines: Deadlines) -> Terraform:
        """Return Terraform in a directory; NPA_TERRAFORM_BIN names another program."""
        if (directory / BACKEND).exists():
            env = {**env, **{name: text for name, text in self.environ.items() if name.startswith("AWS_")}}
        return self.terraform(directory, env, deadlines, self.environ.get("NPA_TERRAFORM_BIN") or "terraform")
