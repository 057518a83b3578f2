"""Specs for tests to spoil, and what was said about them."""

from __future__ import annotations

import base64

from npa.errors import Problem, SpecError
from npa.spec import load

HEAD = "name: lab\n"
CPU = "workers: [{name: cpu}]\n"
MINIMAL = HEAD + CPU
GPU = "platform: gpu-b200-sxm, preset: 8gpu-160vcpu-1792gb, fabric: f-b"
GB300 = "platform: gpu-gb300, preset: 4gpu-112vcpu-800gb, fabric: f-r"


def problems(text: str | bytes) -> tuple[Problem, ...]:
    """Return what is wrong with a text; nothing where it is a spec."""
    try:
        load.parse(text, "c.yaml")
    except SpecError as error:
        return error.problems
    return ()


def said(text: str | bytes) -> dict[str, str]:
    """Return path -> message and hint."""
    return {each.at: f"{each.message} | {each.hint}" for each in problems(text)}


def key(kind: str = "ssh-ed25519", inner: str = "") -> str:
    """Return a public key record as sshd reads it."""
    name = (inner or kind).encode()
    blob = len(name).to_bytes(4, "big") + name + (32).to_bytes(4, "big") + bytes(32)
    return f"{kind} {base64.b64encode(blob).decode()}"
