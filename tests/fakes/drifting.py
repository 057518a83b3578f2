"""A provider of Terraform's whose things are in a file that anybody may change behind Terraform's back.

`terraform_data` is only what the state says of it, so nothing can happen to it outside. This provider is a
real plugin, `drifting_plugin`, a process that Terraform finds in a mirror and starts.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from platform import machine
from typing import Any

SOURCE, VERSION = "example.test/npa/drifting", "1.0.0"
PLATFORM = f"linux_{ {'x86_64': 'amd64', 'aarch64': 'arm64'}.get(machine(), machine()) }"
CHECKOUT = Path(__file__).parents[2]


def install(place: Path) -> Path:
    """Put the plugin into a mirror of Terraform's, and return the CLI configuration that names the mirror."""
    mirror = place / "mirror"
    folder = mirror / SOURCE / VERSION / PLATFORM
    folder.mkdir(parents=True)
    plugin = folder / f"terraform-provider-drifting_v{VERSION}"
    plugin.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(CHECKOUT)!r})\n"
        "from tests.fakes import drifting_plugin\ndrifting_plugin.serve()\n"
    )
    plugin.chmod(0o755)
    config = place / "terraform.rc"
    config.write_text(
        f'provider_installation {{\n  filesystem_mirror {{\n    path = "{mirror}"\n'
        f'    include = ["{SOURCE}"]\n  }}\n}}\ndisable_checkpoint = true\n'
    )
    return config


def header(truth: Path, more: str = "") -> str:
    """Return the part of a configuration that asks for the provider."""
    return (
        f'terraform {{\n  required_providers {{\n    drifting = {{ source = "{SOURCE}" }}\n  }}\n}}\n'
        f'provider "drifting" {{\n  file = "{truth}"\n{more}}}\n'
    )


def load(truth: Path) -> dict[str, dict[str, Any]]:
    """Return what there is, by id."""
    found: dict[str, dict[str, Any]] = json.loads(truth.read_text()) if truth.exists() else {}
    return found


def save(truth: Path, things: dict[str, dict[str, Any]]) -> None:
    """Have exactly this be there."""
    truth.write_text(json.dumps(things))
