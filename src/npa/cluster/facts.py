"""The Facts: what a spec leaves open and had to be looked up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Facts:
    """What was found outside the spec."""

    root_keys: tuple[str, ...] = ()  # OpenSSH public keys found on this machine, used where the spec has none
