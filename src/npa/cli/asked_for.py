"""What a command that changes a cluster was asked for: a spec, or the file of a plan, and what is allowed."""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING

from npa.cli import request as given
from npa.cli.options import Place
from npa.errors import UsageError

if TYPE_CHECKING:
    from npa.plan.model import Options, Plan
    from npa.spec.model import SoperatorSpec


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be planned, and how it was asked for."""

    spec: SoperatorSpec
    text: str
    path: str
    target: Place
    force: bool = False
    force_steps: tuple[str, ...] = ()
    wait_for_jobs: float = 0.0  # seconds
    shown: Plan | None = None  # of a plan file: exactly this is to be done

    @property
    def options(self) -> Options:
        """What the caller allows, as the api takes it."""
        from npa.plan.model import Options

        return Options(self.force, self.force_steps, self.wait_for_jobs)

    def command(self, verb: str) -> str:
        """Return the command that asks for the same with another verb."""
        given = "" if self.spec.target == self.target else f" --target {self.target}"
        force = " --force" if self.force else ""
        force += "".join(f" --force-step {quote(step)}" for step in self.force_steps)
        wait = f" --wait-for-jobs {self.wait_for_jobs:.0f}s" if self.wait_for_jobs else ""
        return f"npa soperator {verb} --spec {quote(self.path)}{given}{force}{wait}"


def request(path: str, target: Place | None, force: tuple[bool, list[str]], wait: str | None) -> Request:
    """Return what a spec and its options ask for."""
    from npa import api

    patience = given.seconds(wait) if wait else 0.0
    spec, text = given.load(path)
    return Request(spec, text, path, api.target_of(spec, target), force[0], tuple(force[1]), patience)


def filed(path: str) -> Request:
    """Return what a plan file asks for."""
    from npa.plan import codec
    from npa.spec import load

    file = codec.decode_file(given.read(path))
    spec = load.parse(file.spec, path)
    return Request(
        spec, file.spec, path, file.target, file.force, file.force_steps, file.wait_for_jobs, file.plan
    )


def planned(asked: Request) -> Plan:
    """Return the plan: the file's, or a new one."""
    from npa import api
    from npa.spec import nearest

    if asked.shown is not None:
        return asked.shown
    made = api.plan(asked.spec, target=asked.target, options=asked.options)
    keys = [step.key for step in made.steps]
    for wanted in asked.force_steps:
        if wanted not in keys:
            raise UsageError(f"the plan has no step {wanted!r}", hint=nearest.hint(wanted, keys))
    return made
