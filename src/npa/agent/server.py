"""Serves an ASGI application until it is told to end; running jobs are stopped in order."""

from __future__ import annotations

import ipaddress
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from anyio import to_thread

from npa.agent.errors import InputError
from npa.agent.guard import App
from npa.agent.jobs import Job, Jobs
from npa.errors import Problem, UsageError

GRACE = 30.0  # seconds that open requests, and then jobs, are given to end
PORT = 7421


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen. Elsewhere than on this machine it needs to be said twice, and TLS."""

    host: str = "127.0.0.1"
    port: int = PORT
    remote: bool = False  # let other machines in
    certificate: Path | None = None
    key: Path | None = None

    @property
    def scheme(self) -> str:
        """`http` or `https`."""
        return "https" if self.certificate else "http"


def check(address: Address) -> None:
    """Raise InputError, with all that is wrong, for an address that may not be listened on."""
    wrong = []
    if bool(address.certificate) != bool(address.key):
        wrong.append(Problem(0, 0, "--tls-certificate", "and --tls-key go together", "give both"))
    if not is_loopback(address.host):
        if not address.remote:
            what = f"{address.host} lets other machines in"
            wrong.append(Problem(0, 0, "--host", what, "add `--allow-remote` if that is meant"))
        if not address.certificate:
            what = "a token is sent in the clear without TLS"
            wrong.append(Problem(0, 0, "--host", what, "give `--tls-certificate` and `--tls-key`"))
    if wrong:
        raise InputError(wrong)


def is_loopback(host: str) -> bool:
    """Say whether only this machine reaches an address; a name other than `localhost` may lead anywhere."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(address: Address) -> socket.socket:
    """Return a socket that listens; raise UsageError where that cannot be."""
    check(address)
    _read_certificate(address)
    host = "127.0.0.1" if address.host == "localhost" else address.host
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, address.port))
        bound.listen(128)  # at once: whoever is told of the address may come before uvicorn takes over
    except OSError as error:
        bound.close()
        what = f"{address.host}:{address.port}: {(error.strerror or str(error)).lower()}"
        raise UsageError(what, hint="choose another `--port`; 0 takes one that is free") from error
    return bound


def _read_certificate(address: Address) -> None:
    """Raise UsageError for a certificate that cannot be used, before anybody is told of the server."""
    if not address.certificate:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(address.certificate, address.key)
    except OSError as error:  # ssl.SSLError is one
        why = "is no certificate in PEM, or not of this key" if isinstance(error, ssl.SSLError) else ""
        what = f"{address.certificate}: {why or (error.strerror or str(error)).lower()}"
        raise UsageError(what, hint="give files that can be read, the key without a password") from error


def url(address: Address, bound: socket.socket) -> str:
    """Return where the server is."""
    host, port = bound.getsockname()[:2]
    return f"{address.scheme}://{f'[{host}]' if ':' in host else host}:{port}"


class Server(uvicorn.Server):
    """uvicorn, which asks running jobs to stop before it waits for requests to end.

    `said` hears in words what becomes of jobs that run when it is told to end.
    """

    def __init__(
        self,
        app: App,
        jobs: Jobs,
        address: Address | None = None,
        grace: float = GRACE,
        said: Callable[[str], None] = lambda _: None,
    ) -> None:
        address = address or Address()
        self._jobs, self._said = jobs, said
        self.grace = grace
        self.left: tuple[str, ...] = ()  # jobs that had not ended in time
        super().__init__(
            uvicorn.Config(
                app,
                log_level="warning",
                access_log=False,
                server_header=False,
                ws="none",
                timeout_graceful_shutdown=max(1, int(grace)),
                ssl_certfile=address.certificate,
                ssl_keyfile=address.key,
            )
        )

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End: no new jobs, running ones stop before their next step, open requests are answered."""
        running = self._jobs.close()
        for each in running:
            self._said(f"ending: {each.label} stops before its next step")
        await super().shutdown(sockets)
        left: list[Job] = await to_thread.run_sync(self._jobs.join, self.grace)
        self.left = tuple(each.id for each in left)
        for each in running:
            how = f"was cut off after {self.grace:g} s" if each in left else each.state
            again = "" if how == "done" else ": call the same again, it goes on from what is there"
            self._said(f"{each.label}: {how}{again}")
