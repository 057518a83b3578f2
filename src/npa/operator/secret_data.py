"""What goes into a new Secret: random bytes, passwords and host keys, known to nobody else."""

from __future__ import annotations

import base64
import secrets
import string
from collections.abc import Mapping
from typing import Any

from npa.reconcile.decision import KeyChange, NewSecret

BEFORE = ".before"  # after an entry's name: the key that the one there replaces
_LETTERS = string.ascii_letters + string.digits


def fill(new: NewSecret) -> dict[str, Any]:
    """Return the Secret with its data."""
    data = {key: secrets.token_bytes(count) for key, count in new.random}
    data |= {key: _password(length).encode() for key, length in new.passwords}
    data |= _host_keys() if new.ssh_host_keys else {}
    held = dict(new.wanted.get("data") or {})
    encoded = {key: base64.b64encode(value).decode() for key, value in data.items()}
    return {**new.wanted, "data": {**held, **encoded}}


def change(change: KeyChange, held: Mapping[str, str]) -> dict[str, str | None]:
    """Return what becomes of a Secret's data, of which None is removed."""
    before = f"{change.entry}{BEFORE}"
    old = held.get(before, held[change.entry])
    match change.how:
        case "replace":
            new = base64.b64encode(secrets.token_bytes(change.size)).decode()
            return {change.entry: new, before: old}
        case "restore":
            return {change.entry: old, before: None}
        case "settle":
            return {before: None}
        case "mark":
            return {}


def _password(length: int) -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(length))


def _host_keys() -> dict[str, bytes]:
    """Return a host key of each type, as ssh-keygen would write it, with its public half.

    None is of RSA: clients have known one of the others since OpenSSH 5.7 (2011), and making such a key takes
    more time than all else that is done for a new cluster.
    """
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519

    made: dict[str, ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey] = {
        "ecdsa": ec.generate_private_key(ec.SECP256R1()),
        "ed25519": ed25519.Ed25519PrivateKey.generate(),
    }
    data = {}
    for kind, key in made.items():
        name = f"ssh_host_{kind}_key"
        data[name] = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.OpenSSH, form.NoEncryption())
        public = key.public_key().public_bytes(form.Encoding.OpenSSH, form.PublicFormat.OpenSSH)
        data[f"{name}.pub"] = public + b"\n"
    return data
