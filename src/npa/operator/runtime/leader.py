"""Holds a Lease: one leader at a time, which stops before another may begin."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime

from npa.errors import KubeError
from npa.operator.runtime import lease
from npa.operator.runtime.lease import Sight, Terms
from npa.render.objects import LEASE
from npa.slurm.lookup import Found, Unknown
from npa.tools.kube_api import KubeApi

_LOG = logging.getLogger(__name__)
_RELEASE = 3.0  # seconds to give the Lease up in, when stopping


class Leader:
    """One candidate for a Lease; `leads` is asked before each write, and is false in time by our clock."""

    def __init__(self, api: KubeApi, terms: Terms, clock: Callable[[], float] = time.monotonic) -> None:
        self._api, self.terms, self._clock = api, terms, clock
        self._sight = Sight()
        self.elected = asyncio.Event()
        self.lost = asyncio.Event()  # was leader and is not any more: the process is to end

    def leads(self) -> bool:
        """Say whether we may write at this moment."""
        return lease.leads(self._sight, self.terms, self._clock())

    async def run(self) -> None:
        """Stand for election, then renew until it fails; returns once leadership is lost."""
        while not self.elected.is_set() or self.leads():
            await self._turn()
            if self.leads() and not self.elected.is_set():
                _LOG.info("%s leads", self.terms.identity)
                self.elected.set()
            await asyncio.sleep(self.terms.retry)
        _LOG.error("%s leads no more: the Lease was not renewed in time", self.terms.identity)
        self.lost.set()

    async def release(self) -> None:
        """Give the Lease up, where it is ours."""
        if not self.leads():
            return
        try:
            async with asyncio.timeout(_RELEASE):
                found = await self._api.get(LEASE, self.terms.name, self.terms.namespace)
                if isinstance(found, Found):
                    given = lease.released(found.value, self.terms, datetime.now(UTC))
                    if given is not None:
                        self._sight = Sight()
                        await self._api.replace(LEASE, given)
        except (KubeError, TimeoutError) as error:
            _LOG.warning("the Lease was not given up: %s", error)

    async def _turn(self) -> None:
        """Look at the Lease once, and write it where that is the move. A failure is a turn without effect."""
        try:
            async with asyncio.timeout(self.terms.renew_within / 2):
                found = await self._api.get(LEASE, self.terms.name, self.terms.namespace)
                if isinstance(found, Unknown):
                    raise KubeError(found.why)
                there = found.value if isinstance(found, Found) else None
                asked_at = self._clock()
                move = lease.decide(self._sight, there, self.terms, asked_at, datetime.now(UTC))
                self._sight = move.sight
                if move.write is None:
                    return
                answer = (
                    await self._api.create(move.write)
                    if there is None
                    else await self._api.replace(LEASE, move.write)
                )
                if answer is not None:
                    self._sight = lease.written(answer, asked_at)
        except (KubeError, TimeoutError) as error:
            _LOG.warning("lease %s: %s", self.terms.name, error)
