"""Terraform in one installation: signed in anew for each command, each line into the log."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from npa.plan.model import Event
from npa.render.nebius import tfguard, tfjson
from npa.render.nebius.identity import Identity
from npa.targets.login_keys import LoginKey
from npa.targets.nebius import environment, records
from npa.targets.nebius.outside import Outside
from npa.tools.nebius import Nebius
from npa.tools.terraform import Deadlines, Saved, Terraform

Listener = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class Teller:
    """Says what happens, to whoever listens and to the installation's log."""

    heard: Listener
    folder: Path | None = None  # None: there is no installation yet
    key: LoginKey | None = None  # never told: its fingerprint stands for it

    def note(self, text: str) -> None:
        """Say something that stays on the screen."""
        self._log(text)
        self.heard(Event("note", "", self.masked(text)))

    def line(self, text: str) -> None:
        """Pass on a line of a program's, already without secrets."""
        self._log(text)
        if text.strip():
            self.heard(Event("progress", "", self.masked(text.strip())))

    def masked(self, text: str) -> str:
        """Return a text without root's key."""
        if self.key is None:
            return text
        kept = text.replace(self.key.record, self.key.fingerprint)
        return kept.replace(self.key.record.split()[1], self.key.fingerprint)

    def _log(self, text: str) -> None:
        if self.folder is None:
            return
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        with records.log_file(self.folder).open("a", encoding="utf-8") as file:
            file.write(f"{now} {self.masked(text)}\n")


@dataclass(frozen=True, slots=True)
class Runs:
    """Opens Terraform anew for each command, so that none begins where nobody can sign in any more."""

    outside: Outside
    provider: Nebius
    who: Identity
    folder: Path
    profile: str
    o11y_profile: str
    teller: Teller

    def terraform(self, deadlines: Deadlines) -> Terraform:
        """Return Terraform for one command; raises where nobody could sign in for it."""
        token = self.provider.token().value
        env = environment.of_terraform(
            self.outside.environ,
            self.who,
            profile=self.profile,
            o11y_profile=self.o11y_profile,
            token=token if self.outside.given_token else "",
            folder=self.folder,
        )
        return self.outside.opened(self.folder, env, deadlines)

    def state(self) -> Mapping[str, Any]:
        """Return the state as it is now."""
        return self.outside.reader(self.folder).state_pull()


@dataclass(frozen=True, slots=True)
class Ending:
    """Terraform as a destroy uses it (`ports.Terraform`)."""

    runs: Runs

    def init(self) -> None:
        """Fetch providers and modules."""
        self.runs.terraform(Deadlines()).init(self.runs.teller.line)

    def state_pull(self) -> Mapping[str, Any]:
        """Return the state, empty where there is none."""
        return self.runs.state()

    @contextlib.contextmanager
    def planned(self, *, destroy: bool = False, timeout: float | None = None) -> Iterator[Saved]:
        """Plan into a file that is there inside the `with` block only."""
        tool = self.runs.terraform(Deadlines())
        with tool.planned(destroy=destroy, heard=self.runs.teller.line, timeout=timeout) as saved:
            yield saved

    def show(self, saved: Saved) -> Any:
        """Return a saved plan, decoded."""
        return self.runs.terraform(Deadlines()).show(saved)

    def apply(self, saved: Saved, *, timeout: float | None = None) -> None:
        """Apply exactly a saved plan."""
        self.runs.terraform(Deadlines()).apply(saved, self.runs.teller.line, timeout)


@contextlib.contextmanager
def inspected(
    runs: Runs, judge: Callable[[Any, Saved], tfguard.Verdict], deadlines: Deadlines, target: str
) -> Iterator[tuple[Saved, tfguard.Verdict]]:
    """Yield a plan with the verdict on it; it is gone after the block."""
    tool = runs.terraform(deadlines)
    with tool.planned(target=target, heard=runs.teller.line) as saved:
        yield saved, judge(tfjson.decode(tool.show(saved)), saved)
