"""Cluster DNS of the test bed: host names of headless Services and their pods, from the API's Endpoints."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from dnslib import QTYPE, RCODE, RR, A, DNSRecord  # type: ignore[import-untyped]
from dnslib.server import (  # type: ignore[import-untyped]
    BaseResolver,
    DNSHandler,
    DNSLogger,
    DNSServer,
)
from tests.kube.bed import Bed

from npa.render.objects import Kind, Object, dig
from npa.slurm.lookup import Found
from npa.tools.kube import Kube

ENDPOINTS = Kind("", "v1", "Endpoints", "endpoints")
FRESH = 0.3  # seconds for which an answer of the API server is used


def table(endpoints: tuple[Object, ...]) -> dict[str, tuple[str, ...]]:
    """Return the addresses of each name: of a Service, and of each of its pods that has a host name."""
    found: dict[str, tuple[str, ...]] = {}
    for each in endpoints:
        service = f"{dig(each, 'metadata', 'name')}.{dig(each, 'metadata', 'namespace')}.svc.cluster.local"
        for subset in each.get("subsets") or ():
            for address in (*(subset.get("addresses") or ()), *(subset.get("notReadyAddresses") or ())):
                host = address.get("hostname")
                for name in (service, *([f"{host}.{service}"] if host else ())):
                    found[name] = (*found.get(name, ()), address["ip"])
    return found


class _Resolver(BaseResolver):  # type: ignore[misc]  # dnslib has no types
    def __init__(self, kube: Kube) -> None:
        self._kube, self._lock = kube, threading.Lock()
        self._at, self._known = 0.0, dict[str, tuple[str, ...]]()

    def resolve(self, request: DNSRecord, handler: DNSHandler) -> DNSRecord:
        del handler
        reply = request.reply()
        found = self._table().get(str(request.q.qname).rstrip(".").lower())
        if found is None:
            reply.header.rcode = RCODE.NXDOMAIN  # at once: whoever asks would otherwise wait for an answer
        elif request.q.qtype == QTYPE.A:
            for address in found:
                reply.add_answer(RR(request.q.qname, QTYPE.A, rdata=A(address), ttl=1))
        return reply

    def _table(self) -> Mapping[str, tuple[str, ...]]:
        with self._lock:
            if time.monotonic() - self._at > FRESH:
                listed = self._kube.list(ENDPOINTS)
                if isinstance(listed, Found):
                    self._at, self._known = time.monotonic(), table(listed.value)
            return self._known


@contextmanager
def serving(bed: Bed, address: str) -> Iterator[None]:
    """Answer at an address of this machine, port 53, beside a block."""
    kube = bed.kube()
    server = DNSServer(_Resolver(kube), address=address, port=53, logger=DNSLogger("-request,-reply"))
    server.start_thread()
    try:
        yield
    finally:
        server.stop()
        server.server.server_close()
        kube.close()
