"""The provider `drifting` as a program: run by Terraform, it serves it until it ends."""

from __future__ import annotations

import shlex
import subprocess
import time
import urllib.request
import uuid
from pathlib import Path
from typing import Any

from tests.fakes.drifting import SOURCE, load, save
from tf import iface, runner, schema, types


class Told:
    """What a configuration says to the provider: where things are, and how it signs in."""

    def __init__(self, truth: Path = Path("nowhere"), profile: str = "", api: str = "") -> None:
        self.truth, self._profile, self._api = truth, profile, api
        self._token, self._until = "", 0.0

    def ask(self) -> None:
        """Ask the API, and pause until the token has ended; raises where the API does not take it."""
        if time.time() >= self._until:
            argv = shlex.split(self._profile)
            self._token = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()
            self._until = float(self._token.rpartition("-")[2])
        urllib.request.urlopen(f"{self._api}{self._token}", timeout=10).close()
        time.sleep(max(0.0, self._until - time.time()))


class Pool(iface.Resource):  # type: ignore[misc]
    """Nodes of one kind; `status` is what they do, and nobody asks for it."""

    def __init__(self, provider: Drifting) -> None:
        self._provider = provider

    @classmethod
    def get_name(cls) -> str:
        return "pool"

    @classmethod
    def get_schema(cls) -> Any:
        text, number = types.String(), types.Number()
        return schema.Schema(
            attributes=[
                schema.Attribute("id", text, computed=True),
                schema.Attribute("name", text, required=True, requires_replace=True),
                schema.Attribute("fixed_node_count", number, required=True),
                schema.Attribute("status", text, computed=True),
                schema.Attribute("turns", number, optional=True),
            ],
            version=1,
        )

    def create(self, _: Any, planned: dict[str, Any]) -> dict[str, Any]:
        for _turn in range(planned["turns"] or 0):
            self._provider.told.ask()
        return self._put({**planned, "id": f"pool-{uuid.uuid4().hex[:8]}", "status": "new"})

    def read(self, _: Any, current: dict[str, Any]) -> dict[str, Any] | None:
        found = load(self._provider.told.truth).get(current["id"])
        return {**current, **found} if found else None

    def update(self, _: Any, current: dict[str, Any], planned: dict[str, Any]) -> dict[str, Any]:
        return self._put({**current, **planned})

    def delete(self, _: Any, current: dict[str, Any]) -> None:
        things = load(self._provider.told.truth)
        things.pop(current["id"], None)
        save(self._provider.told.truth, things)

    def _put(self, made: dict[str, Any]) -> dict[str, Any]:
        save(self._provider.told.truth, {**load(self._provider.told.truth), made["id"]: made})
        return made


class Drifting(iface.Provider):  # type: ignore[misc]
    """The provider."""

    told = Told()

    def get_model_prefix(self) -> str:
        return "drifting_"

    def full_name(self) -> str:
        return SOURCE

    def get_provider_schema(self, _: Any) -> Any:
        text = types.String()
        attributes = [schema.Attribute("file", text, required=True)]
        attributes += [schema.Attribute(each, text, optional=True) for each in ("profile", "api")]
        return schema.Schema(attributes=attributes)

    def validate_config(self, _: Any, config: dict[str, Any]) -> None:
        pass

    def configure_provider(self, _: Any, config: dict[str, Any]) -> None:
        self.told = Told(Path(config["file"]), config["profile"] or "", config["api"] or "")

    def get_data_sources(self) -> list[Any]:
        return []

    def get_resources(self) -> list[Any]:
        return [Pool]


def serve() -> None:
    """Serve Terraform on its standard output, as a plugin does."""
    runner.run_provider(Drifting())
