"""Who talks to the provider: which credentials, and how the SDK is opened with them."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from npa.errors import ProviderDeniedError, ToolError, ToolMissingError
from npa.tools.nebius_errors import SIGN_IN, translate
from npa.tools.run import Run, run

if TYPE_CHECKING:
    from nebius.aio.cli_config import Config
    from nebius.aio.token.token import Bearer
    from nebius.sdk import SDK

CLIENT = "npa"
CONFIG_FILE = "~/.nebius/config.yaml"
# A token in the environment, in the order in which Terraform and the provider's CLI look for it.
TOKENS = ("TF_VAR_iam_token", "NEBIUS_IAM_TOKEN")
SIGN_IN_DEADLINE = 300.0  # somebody may have to answer in a browser
_YES = frozenset({"1", "true", "yes", "on"})
_KEPT = 600.0  # seconds that a token of the CLI's is used; it is good for hours


@dataclass(frozen=True, slots=True)
class Choice:
    """Which credentials are used."""

    profile: str = ""  # of the provider's CLI; empty: the one that is active
    token: str = field(default="", repr=False)
    ignored: tuple[str, ...] = ()  # variables that hold a token and were not asked for


def choose(environ: Mapping[str, str]) -> Choice:
    """Return the credentials to use.

    A token in the environment is used with NPA_REUSE_IAM_TOKEN only: it goes stale, and the provider's own
    tools prefer it to the profile, which would renew it.
    """
    profile = environ.get("NPA_NEBIUS_PROFILE") or environ.get("NEBIUS_PROFILE") or ""
    ambient = [name for name in TOKENS if environ.get(name)]
    if environ.get("NPA_REUSE_IAM_TOKEN", "").strip().lower() in _YES and ambient:
        return Choice(profile, environ[ambient[0]])
    return Choice(profile, "", tuple(ambient))


def open_sdk(
    choice: Choice,
    *,
    domain: str = "",
    config_file: str = CONFIG_FILE,
    environ: Mapping[str, str] = os.environ,
    execute: Run = run,
) -> SDK:
    """Open the SDK; raises ToolMissingError without it and ProviderDeniedError without credentials."""
    try:
        from nebius.base.error import SDKError
        from nebius.sdk import SDK
    except ImportError as error:
        raise ToolMissingError("nebius-python-sdk", hint="pip install 'npa[nebius]'") from error

    try:
        if choice.token:
            return SDK(credentials=choice.token, domain=domain or None, user_agent_prefix=CLIENT)
        config = _config(choice, config_file)
        if _signs_in_by_browser(config):
            bearer = cli_bearer(config.profile_name() or "", environ, execute)
            return SDK(
                credentials=bearer, domain=domain or config.endpoint() or None, user_agent_prefix=CLIENT
            )
        return SDK(config_reader=config, domain=domain or None, user_agent_prefix=CLIENT)
    except (SDKError, OSError) as error:
        raise _unopened(choice, error) from error


def _config(choice: Choice, config_file: str) -> Config:
    from nebius.aio.cli_config import Config

    # no_env: the environment was looked at already, and its token may be stale.
    return Config(config_file=Path(config_file), profile=choice.profile or None, no_env=True)


def _signs_in_by_browser(config: Config) -> bool:
    """Whether the profile is a person's. The SDK has no client id of its own to sign one in with."""
    profile = config._profile
    return profile.get("auth-type") == "federation" and not (
        profile.get("token-file") or profile.get("token-endpoint")
    )


def _unopened(choice: Choice, error: BaseException) -> ProviderDeniedError:
    hint = SIGN_IN
    if choice.ignored:
        hint += f"; {choice.ignored[0]} is not used unless NPA_REUSE_IAM_TOKEN=1"
    said = translate(error, "sign in", "")
    return ProviderDeniedError("sign in", detail=said.detail, hint=hint)


def cli_bearer(profile: str, environ: Mapping[str, str], execute: Run) -> Bearer:
    """Return tokens of the provider's CLI, which keeps and renews those of people."""
    from nebius.aio.token.token import Bearer, Receiver, Token

    kept = _Kept(profile, environ, execute)

    class CliReceiver(Receiver):
        """Fetches from the CLI."""

        async def _fetch(self, timeout: float | None = None, options: dict[str, str] | None = None) -> Token:
            import asyncio

            del options
            return Token(await asyncio.to_thread(kept.token, timeout or SIGN_IN_DEADLINE))

        def can_retry(self, err: Exception, options: dict[str, str] | None = None) -> bool:
            """A token that was refused is fetched anew by the next call, not again and again by this one."""
            del err, options
            kept.forget()
            return False

    class CliBearer(Bearer):
        """Tokens of the CLI's active or named profile."""

        def receiver(self) -> CliReceiver:
            """Return a fetcher for one call."""
            return CliReceiver()

    return CliBearer()


class _Kept:
    """One token for several calls that run side by side."""

    def __init__(self, profile: str, environ: Mapping[str, str], execute: Run) -> None:
        program = environ.get("NPA_NEBIUS_BIN") or "nebius"
        chosen = ["--profile", profile] if profile else []
        self._argv = [program, *chosen, "iam", "get-access-token"]
        self._environ = {key: value for key, value in environ.items() if key not in TOKENS}
        self._run = execute
        self._lock = threading.Lock()
        self._token, self._until = "", 0.0

    def token(self, timeout: float) -> str:
        """Return a token; raises ProviderDeniedError where the CLI gives none."""
        with self._lock:
            if time.monotonic() >= self._until:
                self._token, self._until = self._fetched(timeout), time.monotonic() + _KEPT
            return self._token

    def forget(self) -> None:
        """Have the next call fetch anew."""
        with self._lock:
            self._until = 0.0

    def _fetched(self, timeout: float) -> str:
        try:
            token = self._run(self._argv, env=self._environ, timeout=timeout).strip()
        except ToolMissingError:
            raise
        except ToolError as error:
            raise ProviderDeniedError("sign in", detail=str(error), hint=SIGN_IN) from error
        if not token or len(token.split()) != 1:
            raise ProviderDeniedError("sign in", detail="the CLI printed no token", hint=SIGN_IN)
        return token
