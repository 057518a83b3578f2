"""Secrets out of text that is about to be shown. Only for display: what is parsed is parsed as it came."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

SHORTEST = 6  # a shorter value is in too many words to be taken out of all of them
REDACTED = "***"

_NAME = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|PRIVATE_KEY|ACCESS_KEY|API_KEY|CREDENTIAL", re.IGNORECASE)
_PATTERNS = (
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
    re.compile(r"(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_.-]+"),  # a JSON web token
    re.compile(r"(?<![A-Za-z0-9])(?:ne1|v1\.)[A-Za-z0-9._-]{20,}"),  # a token of the provider
    re.compile(r"(?i)(?<=bearer )\S+"),
    re.compile(
        r"""(?ix)(?<![A-Za-z0-9])
        (?P<name>[\w.-]*(?:token|secret|password|passwd|private_key|access_key|api_key))
        (?P<sign>["']?\s*[:=]\s*) (?P<value>"[^"\n]*"|'[^'\n]*'|[^\s,;"']+)"""
    ),
)


def secrets(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of an environment that its names say are secret."""
    return tuple(
        value for name, value in environment.items() if _NAME.search(name) and len(value) >= SHORTEST
    )


def redact(text: str, known: Iterable[str] = ()) -> str:
    """Return the text without these secrets, and without what looks like one."""
    for secret in sorted(set(known), key=len, reverse=True):
        if len(secret) >= SHORTEST:
            text = text.replace(secret, REDACTED)
    for pattern in _PATTERNS:
        text = pattern.sub(_hidden, text)
    return text


def _hidden(match: re.Match[str]) -> str:
    groups = match.groupdict()
    return f"{groups['name']}{groups['sign']}{REDACTED}" if groups else REDACTED
