"""What this machine has of what the provider's clusters need; changes nothing."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from npa.errors import NpaError
from npa.targets import login_keys
from npa.targets.nebius import config
from npa.targets.nebius.outside import Outside
from npa.tools import disk, run

ROOM = 2 << 30  # bytes: a copy of the recipe, Terraform's providers, plans and logs
ASKED = 20.0  # seconds for a program to say its version


@dataclass(frozen=True, slots=True)
class Program:
    """A program that the recipe's own scripts call; Terraform is asked apart."""

    name: str
    asks: tuple[str, ...]  # the words that make it say its version
    hint: str
    needs: str = ""  # what the answer has to hold


PROGRAMS = (
    Program("git", ("--version",), "apt-get install -y git"),
    Program("nebius", ("version",), "install the provider's CLI: the recipe's scripts sign in with it"),
    Program("kubectl", ("version", "--client"), "install kubectl: the recipe's scripts call it"),
    Program("helm", ("version", "--short"), "install helm 3 or later: the scripts call it", r"v[3-9]\."),
    Program("jq", ("--version",), "apt-get install -y jq"),
    # Another program of this name, from PyPI, takes other words.
    Program("yq", ("--version",), "install yq 4 (mikefarah/yq): Debian's is another one", r"version v?4\."),
)

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
    for program in PROGRAMS:
        named = outside.environ.get(f"NPA_{program.name.upper()}_BIN") or program.name
        yield _program(outside, program, named)


def _program(outside: Outside, program: Program, named: str) -> Check:
    found = shutil.which(named, path=outside.environ.get("PATH"))
    if found is None:
        return Check(program.name, "missing", "not found", program.hint)
    try:
        told = run.run([found, *program.asks], env=dict(outside.environ), timeout=ASKED)
    except NpaError as error:
        return Check(program.name, "warning", f"{found}, which does not say its version", str(error))
    said = " ".join(told.split())[:80]
    if program.needs and not re.search(program.needs, said):
        return Check(program.name, "missing", f"{found}: {said}", program.hint)
    return Check(program.name, "ok", f"{found}: {said}")


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
