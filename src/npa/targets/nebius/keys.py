"""Root's key of a cluster at the provider: exactly one, from the first source that is there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from npa.spec.model import SoperatorSpec
from npa.targets import login_keys
from npa.targets.login_keys import LoginKey


def resolve(
    spec: SoperatorSpec,
    *,
    file: Path | None = None,
    env: Mapping[str, str] = os.environ,
    home: Path | None = None,
) -> LoginKey:
    """Return the key; raises RefusedError where there is none, or the source that counts holds none."""
    fields = [("root_login_ssh_public_key", spec.root_login_ssh_public_key)]
    fields.extend((f"ssh_public_keys[{index}]", text) for index, text in enumerate(spec.ssh_public_keys))
    return login_keys.choose(file=file, spec=fields, env=env, home=home)


def with_key(spec: SoperatorSpec, key: LoginKey) -> SoperatorSpec:
    """Return the spec with the key in its one canonical place."""
    return spec.model_copy(update={"root_login_ssh_public_key": key.record, "ssh_public_keys": ()})
