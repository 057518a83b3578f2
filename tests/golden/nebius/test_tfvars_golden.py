"""`terraform.tfvars` byte for byte. NPA_GOLDEN=rewrite writes it anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from npa.render.nebius import tfvars
from npa.render.nebius.tfvars import Resolved
from npa.spec import load

HERE = Path(__file__).parent
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0t0t0t0t0t0t0t0t0t0t0t0t0t0t0t0t0t0t0t0t0t me@home"
CASES = ("cpu-only", "gpu-and-cpu")


@pytest.mark.parametrize("name", CASES)
def test_tfvars(name: str) -> None:
    spec = load.parse((HERE / f"{name}.yaml").read_text())
    text = tfvars.render(spec, Resolved(KEY, {"night": "capacityblockgroup-night"}))
    path = HERE / f"{name}.tfvars"
    if os.environ.get("NPA_GOLDEN") == "rewrite":
        path.write_text(text)

    assert text == path.read_text()
