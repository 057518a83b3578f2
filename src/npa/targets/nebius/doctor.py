"""What this machine has of what the provider's clusters need; changes nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from npa.errors import NpaError
from npa.targets import login_keys
from npa.targets.nebius import config
from npa.targets.nebius.outside import Outside
from npa.tools import disk

ROOM = 2 << 30  # bytes: a copy of the recipe, Terraform's providers, plans and logs
# What the recipe's own scripts call; Terraform and the provider's CLI are asked for their versions.
SCRIPTS = ("kubectl", "helm", "jq", "yq")

State = Literal["ok", "warning", "missing"]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    state: State
    found: str
    hint: str = ""


def ok(checks: tuple[Check, ...]) -> bool:
    """Say whether nothing that is needed is missing."""
    return all(each.state != "missing" for each in checks)


def examine(outside: Outside) -> tuple[Check, ...]:
    """Look at tools, credentials, configuration, keys and room."""
    return (
        _asked("configuration", lambda: _configuration(outside)),
        _asked("terraform", lambda: _terraform(outside)),
        *_programs(outside),
        _asked("credentials", lambda: _credentials(outside)),
        _asked("ssh key", lambda: _key(outside)),
        _room(outside),
    )


def _asked(name: str, look: Callable[[], str]) -> Check:
    try:
        return Check(name, "ok", look())
    except NpaError as error:
        return Check(name, "missing", str(error), error.hint)


def _configuration(outside: Outside) -> str:
    found = config.load(outside.environ)
    count = len(found.projects)
    return f"{config.folder(outside.environ) / config.FILE}: {count} project{'s' * (count != 1)}"


def _terraform(outside: Outside) -> str:
    found = outside.reader(Path.cwd()).require(outside.adapter(outside.pin).terraform)
    return ".".join(map(str, found))


def _programs(outside: Outside) -> Iterator[Check]:
    path = outside.environ.get("PATH")
    git = shutil.which("git", path=path)
    yield Check("git", "ok", git) if git else Check("git", "missing", "not found", "apt-get install -y git")
    cli = shutil.which(outside.environ.get("NPA_NEBIUS_BIN") or "nebius", path=path)
    hint = "install the provider's CLI: the recipe's scripts sign in with it"
    yield Check("nebius", "ok", cli) if cli else Check("nebius", "missing", "not found", hint)
    for each in SCRIPTS:
        program = outside.environ.get(f"NPA_{each.upper()}_BIN") or each
        found = shutil.which(program, path=path)
        lacking = Check(each, "missing", "not found", f"install {each}: the recipe's scripts call it")
        yield Check(each, "ok", found) if found else lacking


def _credentials(outside: Outside) -> str:
    with outside.provider() as provider:
        provider.token(deadline=30.0)
    return f"profile {outside.profile}" if outside.profile else "the active profile"


def _key(outside: Outside) -> str:
    return str(login_keys.choose(env=outside.environ, home=outside.home))


def _room(outside: Outside) -> Check:
    free = disk.free_bytes(outside.root)
    found = f"{free >> 30} GiB free in {outside.root}"
    if free >= ROOM:
        return Check("disk", "ok", found)
    return Check("disk", "missing", found, f"free {ROOM >> 30} GiB there")
