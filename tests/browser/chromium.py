"""Debian's Chromium, driven over its own protocol: what a page does once it is looked at."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

PATIENCE = 60.0  # seconds for a browser to start; on an idle machine it takes one
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
LACK = "needs a browser: apt-get install -y chromium"


def program() -> str:
    """Return the browser's program, or skip the test, saying what is missing."""
    found = next((path for each in PROGRAMS if (path := shutil.which(each))), None)
    if found is None:
        pytest.skip(LACK)
    return found


@dataclass
class Tab:
    """One tab, and everything that it complained of or asked the network for."""

    socket: ClientConnection
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    _last: int = 0
    _loaded: bool = False

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of the protocol and return its result."""
        self._last += 1
        self.socket.send(json.dumps({"id": self._last, "method": method, "params": params}))
        while True:
            told = json.loads(self.socket.recv(timeout=PATIENCE))
            if told.get("id") == self._last:
                assert "error" not in told, told
                return dict(told["result"])
            self._heard(told)

    def _heard(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        match event.get("method"):
            case "Runtime.consoleAPICalled" | "Runtime.exceptionThrown":
                self.complaints.append(json.dumps(params))
            case "Log.entryAdded":
                self.complaints.append(params["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])
            case "Page.loadEventFired":
                self._loaded = True

    def open(self, page: Path, width: int, *, dark: bool = False, media: str = "") -> None:
        """Show a file in a window of this width, and wait until all of it is there."""
        self._loaded = False
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self.call("Page.navigate", url=page.absolute().as_uri())
        while not self._loaded:
            self._heard(json.loads(self.socket.recv(timeout=PATIENCE)))

    def value(self, expression: str) -> Any:
        """Return what an expression is worth in the page."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def picture(self, path: Path) -> None:
        """Save the whole page as a picture, for people."""
        found = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(found["data"]))


@contextmanager
def tab() -> Iterator[Tab]:
    """Start a browser with a profile of its own, and end it afterwards."""
    found = program()
    with tempfile.TemporaryDirectory(prefix="npa-chromium-", ignore_cleanup_errors=True) as profile:
        argv = [
            found,
            "--headless",
            "--no-sandbox",  # or root may not start it
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--remote-debugging-port=0",
            f"--user-data-dir={profile}",
            "about:blank",
        ]
        browser = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            with connect(_address(Path(profile)), max_size=None, open_timeout=PATIENCE) as socket:
                opened = Tab(socket)
                for domain in ("Page", "Runtime", "Log", "Network"):
                    opened.call(f"{domain}.enable")
                yield opened
        finally:
            browser.terminate()
            browser.wait(PATIENCE)


def _address(profile: Path) -> str:
    """Return where the first tab listens; the browser writes its port down once it does."""
    import urllib.request

    port, deadline = profile / "DevToolsActivePort", time.monotonic() + PATIENCE
    while True:
        lines = port.read_text().splitlines() if port.exists() else []
        if len(lines) >= 2:
            with urllib.request.urlopen(f"http://127.0.0.1:{lines[0]}/json/list", timeout=PATIENCE) as answer:
                pages = [each for each in json.load(answer) if each["type"] == "page"]
            if pages:
                return str(pages[0]["webSocketDebuggerUrl"])
        assert time.monotonic() < deadline, "the browser did not start"
        time.sleep(0.05)
