"""Tells Kubernetes Events about objects: each once in a while, however often it is said."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from npa.errors import KubeError
from npa.reconcile.decision import Notice
from npa.render.objects import EVENT, Object, dig, name_of
from npa.tools.kube_api import KubeApi

_LOG = logging.getLogger(__name__)
QUIET = 600.0  # seconds for which the same is not said again of the same object
REPORTER = "npa-operator"
_LONGEST = 1000  # characters of a message


@dataclass(slots=True)
class _Said:
    at: float
    count: int


class Notices:
    """Events, without repeating oneself."""

    def __init__(self, api: KubeApi, clock: Callable[[], float] = time.monotonic) -> None:
        self._api, self._clock = api, clock
        self._said: dict[str, _Said] = {}

    async def tell(self, about: Object, notice: Notice) -> bool:
        """Say something of an object; True where it was written. What cannot be told is no failure."""
        name, now = _name(about, notice), self._clock()
        said = self._said.get(name)
        if said is not None and now - said.at < QUIET:
            return False
        count = said.count + 1 if said is not None else 1
        self._said[name] = _Said(now, count)
        self._forget(now)
        event = render(about, notice, name, count, datetime.now(UTC))
        try:
            if await self._api.create(event) is None:
                again = {key: event[key] for key in ("count", "lastTimestamp", "message")}
                await self._api.patch(EVENT, name, event["metadata"]["namespace"], again)
        except KubeError as error:
            _LOG.warning("event not written: %s", error.reason)
        return True

    def _forget(self, now: float) -> None:
        if len(self._said) > 10_000:
            self._said = {name: each for name, each in self._said.items() if now - each.at < QUIET}


def render(about: Object, notice: Notice, name: str, count: int, now: datetime) -> dict[str, Any]:
    """Return the Event."""
    moment = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    metadata = about.get("metadata") or {}
    return EVENT.object(
        name,
        str(metadata.get("namespace") or "default"),
        involvedObject={
            "apiVersion": about.get("apiVersion"),
            "kind": about.get("kind"),
            "name": name_of(about),
            "namespace": metadata.get("namespace") or "",
            "uid": metadata.get("uid") or "",
            "resourceVersion": metadata.get("resourceVersion") or "",
        },
        type=notice.type,
        reason=notice.reason,
        message=notice.message[:_LONGEST],
        source={"component": REPORTER},
        reportingComponent=REPORTER,
        reportingInstance=REPORTER,
        firstTimestamp=moment,
        lastTimestamp=moment,
        count=count,
    )


def _name(about: Object, notice: Notice) -> str:
    said = "\0".join(
        (str(dig(about, "metadata", "uid") or ""), notice.type, notice.reason, notice.message[:_LONGEST])
    )
    return f"{name_of(about)[:200]}.{hashlib.sha256(said.encode()).hexdigest()[:16]}"
