"""The digest of what a caller was shown; pure. Whoever names it says: I have seen exactly this."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

from npa.agent.errors import NotAgreedError

BEGIN = "sha256:"
PLAN_FIRST = "look at this plan, and call again with its digest and `dry_run` false"
MOVED_ON = "look at what changed, and call again with the digest of this plan"


def digest(verb: str, asked: Mapping[str, Any], plan: Mapping[str, Any]) -> str:
    """Return the digest of a plan, and of everything that decides what carrying it out does."""
    text = json.dumps([verb, asked, plan], sort_keys=True, separators=(",", ":"))
    return BEGIN + hashlib.sha256(text.encode()).hexdigest()


def require(named: str, plan: Mapping[str, Any], current: str) -> None:
    """Raise NotAgreedError unless the caller names this plan's digest."""
    if not named:
        raise NotAgreedError("no `digest` says that this plan was seen", plan, current, hint=PLAN_FIRST)
    if not hmac.compare_digest(named.encode(), current.encode()):
        what = "the digest is that of another plan: the world, the spec or the options changed since"
        raise NotAgreedError(what, plan, current, hint=MOVED_ON)
