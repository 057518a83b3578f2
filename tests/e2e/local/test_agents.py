"""A cluster as programs handle it: deployed over HTTP, ended over MCP, each by the digest of its plan."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from typing import Any

import anyio
import httpx
import pytest
import yaml
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from tests.agent import serving
from tests.e2e.local.harness import CPU_POOL, Cluster, Npa, finished

HEAD = {"authorization": f"Bearer {serving.TOKEN.value}"}


def own(npa: Npa) -> dict[str, str]:
    """Return what a server of these clusters is told by its environment."""
    return {key: value for key, value in npa.env.items() if key.startswith(("NPA_", "HOME"))}


@pytest.fixture
def client(npa: Npa) -> Iterator[httpx.Client]:
    with (
        serving.program(own(npa), "serve") as (_, url),
        httpx.Client(base_url=url, headers=HEAD, timeout=serving.PATIENCE, verify=False) as client,
    ):
        yield client


def end(client: httpx.Client, job: str) -> tuple[list[str], dict[str, Any]]:
    """Follow a job; returns the kinds of its events, and its document."""
    kinds, data = [], ""
    with client.stream("GET", f"/jobs/{job}/events") as response:
        for line in response.iter_lines():
            if line.startswith("event: "):
                kinds.append(line.removeprefix("event: "))
            data = line.removeprefix("data: ") if line.startswith("data: ") else data
    return kinds, json.loads(data)


def test_a_cluster_is_deployed_over_http_and_destroyed_over_mcp(npa: Npa, client: httpx.Client) -> None:
    cluster = Cluster(npa, "e2e-agents", workers=[{**CPU_POOL, "size": 1}])
    spec = yaml.safe_dump(cluster.spec)
    plan = client.post("/infra/soperator/plan", json={"spec": spec}).json()
    asked = {"spec": spec, "dry_run": False}

    refused = client.post("/infra/soperator/deploy", json=asked)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "not-agreed")
    assert refused.json()["error"]["digest"] == plan["digest"]
    assert cluster.lab_pid() == 0

    begun = client.post("/infra/soperator/deploy", json={**asked, "digest": plan["digest"]})
    client.delete(begun.json()["links"]["self"])
    kinds, job = end(client, begun.json()["id"])
    assert (job["state"], job["exit_code"], kinds[-1]) == ("stopped", 130, "end")
    plan = client.post("/infra/soperator/plan", json={"spec": spec}).json()  # of what is left to do

    begun = client.post("/infra/soperator/deploy", json={**asked, "digest": plan["digest"]})
    second = client.post("/infra/soperator/deploy", json={**asked, "digest": plan["digest"]})
    kinds, job = end(client, begun.json()["id"])

    assert (second.status_code, second.json()["error"]["holder"]["job"]) == (409, begun.json()["id"])
    assert (job["state"], job["result"]["status"], job["result"]["report"]["ok"]) == (
        "done",
        "deployed",
        True,
    )
    assert {"started", "done"} <= set(kinds)
    assert client.get("/infra/soperator/status/e2e-agents").json()["status"] == "healthy"
    again = client.post("/infra/soperator/deploy", json={**asked, "digest": plan["digest"]})
    assert end(client, again.json()["id"])[1]["result"]["error"]["code"] == "not-agreed"  # the world moved on

    anyio.run(destroyed, npa, cluster.name)

    assert client.get("/infra/soperator/status/e2e-agents").status_code == 404
    assert not npa.folder(cluster.name).exists()


async def destroyed(npa: Npa, name: str) -> None:
    """Destroy a cluster as an agent does: it looks at the plan, and names its digest."""
    program = StdioServerParameters(command=serving.NPA, args=["mcp"], env=dict(npa.env))
    async with Client(program, read_timeout_seconds=serving.PATIENCE) as agent:
        blind = await agent.call_tool("infra.soperator.destroy", {"name": name, "dry_run": False})
        assert blind.is_error
        shown = await agent.call_tool("infra.soperator.destroy", {"name": name})
        assert shown.structured_content["status"] == "dry-run"

        digest = shown.structured_content["digest"]
        done = await agent.call_tool(
            "infra.soperator.destroy", {"name": name, "dry_run": False, "digest": digest}
        )

    assert done.structured_content["status"] == "destroyed"


def test_a_server_that_is_told_to_end_stops_its_deploy_and_the_cluster_goes_on(npa: Npa) -> None:
    cluster = Cluster(npa, "e2e-served", workers=[{**CPU_POOL, "size": 1}])
    asked = {"spec": yaml.safe_dump(cluster.spec)}
    with (
        serving.program(own(npa), "serve") as (process, url),
        httpx.Client(base_url=url, headers=HEAD, timeout=serving.PATIENCE, verify=False) as client,
    ):
        plan = client.post("/infra/soperator/plan", json=asked).json()
        agreed = {**asked, "dry_run": False, "digest": plan["digest"]}
        job = client.post("/infra/soperator/deploy", json=agreed).json()["id"]
        process.send_signal(signal.SIGTERM)
        _, ended = end(client, job)
        code = process.wait(serving.PATIENCE)
        assert process.stderr is not None
        said = process.stderr.read()

    assert (ended["state"], code) == ("stopped", 0), said
    assert f"job {job}, infra.soperator.deploy of cluster e2e-served: stopped" in said
    assert "it goes on from what is there" in said
    cluster.deploy()
    cluster.assert_healthy()
    assert cluster.destroy().code == 0


FLEET = """\
name: e2e-tools
target: local
region: us-central1
defaults:
  soperator: {workers: [{name: cpu, platform: cpu-d3, preset: 4vcpu-16gb}]}
projects:
  - name: team
    clusters: [{name: e2e-one}, {name: e2e-two}]
"""


def run(npa: Npa, tool: str, **asked: Any) -> dict[str, Any]:
    """Call a tool as a script does; it has to succeed."""
    argv = (serving.NPA, "tool", "run", tool, "--input", "-")
    done = finished(argv, npa.env, json.dumps(asked), serving.PATIENCE)
    assert done.code == 0, str(done)
    return done.json


def test_a_fleet_is_deployed_and_destroyed_by_the_digests_of_its_plans(npa: Npa) -> None:
    shown = run(npa, "infra.fleet.plan", spec=FLEET)
    assert shown["refusals"] == []

    made = run(npa, "infra.fleet.deploy", spec=FLEET, dry_run=False, digest=shown["digest"])

    assert [each["status"] for each in made["result"]["clusters"]] == ["healthy", "healthy"]
    assert run(npa, "infra.fleet.status", name="e2e-tools")["ok"] is True
    ending = run(npa, "infra.fleet.destroy", name="e2e-tools")
    ended = run(npa, "infra.fleet.destroy", name="e2e-tools", dry_run=False, digest=ending["digest"])
    assert (ended["status"], ended["result"]["ok"]) == ("destroyed", True)
    assert run(npa, "infra.fleet.list")["fleets"] == []
    assert not npa.folder("e2e-one").exists()
