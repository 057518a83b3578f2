"""A real server on loopback for tests, in this process or as the program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from npa.agent import server, web
from npa.agent.guard import App
from npa.agent.jobs import Jobs
from npa.agent.server import Address, Server
from npa.agent.token import Token
from npa.agent.tool import Tool

NPA = str(Path(sys.executable).with_name("npa"))
TOKEN = Token("a-token-that-tests-know", "the test")
PATIENCE = 60.0


class Served:
    """A server in a thread of this process."""

    def __init__(self, app: App, jobs: Jobs) -> None:
        address = Address(port=0)
        self.jobs = jobs
        self._bound = server.listen(address)
        self.url = server.url(address, self._bound)
        self.said: list[str] = []
        self.server = Server(app, jobs, grace=5, said=self.said.append)
        self._thread = threading.Thread(target=self.server.run, args=([self._bound],), daemon=True)

    def __enter__(self) -> Served:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.should_exit = True
        self._thread.join(PATIENCE)
        self._bound.close()
        assert not self._thread.is_alive()

    def client(self, token: str = TOKEN.value) -> httpx.Client:
        """Return a client with a token."""
        headers = {"authorization": f"Bearer {token}"} if token else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=PATIENCE, verify=False)


def serve(tools: Sequence[Tool[Any]]) -> Served:
    """Return a server of tools."""
    jobs = Jobs()
    return Served(web.app(tools, jobs, TOKEN), jobs)


@contextmanager
def program(env: Mapping[str, str], *argv: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `npa serve` or the like on a free port; gives the process and its address."""
    process = subprocess.Popen(
        [NPA, *argv, "--port", "0"],
        env={**os.environ, "NO_COLOR": "1", "NPA_SERVE_TOKEN": TOKEN.value, **env},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    with process:
        try:
            first = process.stderr.readline()
            assert first.startswith("serving "), first + process.stderr.read()
            yield process, first.removeprefix("serving ").strip()
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                process.wait(PATIENCE)
