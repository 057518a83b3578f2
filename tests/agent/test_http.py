"""The tools over HTTP, with a real client and a real server on loopback."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest
from tests.agent import serving
from tests.fakes.tools import PATIENCE, Gate, failing

from npa.agent import registry
from npa.agent.guard import MAX_BODY
from npa.errors import (
    NotFoundError,
    PreflightError,
    ProviderDeniedError,
    RefusedError,
    ToolTimeoutError,
    UsageError,
)

SPEC = """\
name: lab
region: us-central1
workers:
  - {name: cpu, platform: cpu-d3, preset: 4vcpu-16gb}
"""
Event = tuple[str, dict[str, Any]]


GATE = Gate()


@pytest.fixture(scope="module")
def served() -> Iterator[serving.Served]:
    with serving.serve((*registry.tools(), GATE.tool())) as served:
        yield served


@pytest.fixture
def gate(served: serving.Served) -> Iterator[Gate]:
    GATE.close()
    yield GATE
    GATE.opened.set()
    assert served.jobs.join(PATIENCE) == []


@pytest.fixture
def client(served: serving.Served) -> Iterator[httpx.Client]:
    with served.client() as client:
        yield client


def begun(client: httpx.Client, gate: Gate, name: str = "a") -> str:
    """Begin a change and wait until it stands at its gate; returns the job."""
    answer = client.post("/infra/fake/change", json={"name": name})
    assert answer.status_code == 202, answer.text
    assert gate.reached.wait(PATIENCE)
    job: str = answer.json()["id"]
    assert answer.headers["location"] == answer.json()["links"]["self"] == f"/jobs/{job}"
    return job


def events(response: httpx.Response) -> Iterator[Event]:
    """Yield the events of a stream."""
    kind = ""
    for line in response.iter_lines():
        if line.startswith("event: "):
            kind = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield kind, json.loads(line.removeprefix("data: "))


def end(client: httpx.Client, job: str) -> dict[str, Any]:
    """Return a job's document once it has ended."""
    with client.stream("GET", f"/jobs/{job}/events") as response:
        *_, (kind, document) = events(response)
    assert kind == "end"
    return document


@pytest.mark.parametrize("token", ["", "wrong", serving.TOKEN.value[:-1], "a-token-that-tests-knoW"])
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/tools"),
        ("GET", "/jobs"),
        ("GET", "/openapi.json"),
        ("GET", "/nothing"),
        ("POST", "/infra/soperator/validate"),
        ("POST", "/infra/fake/change"),
        ("DELETE", "/jobs/000000000000"),
    ],
)
def test_nobody_gets_in_without_the_token(served: serving.Served, method: str, path: str, token: str) -> None:
    before = served.jobs.all()
    with served.client(token) as stranger:
        answer = stranger.request(method, path, json={"name": "a"} if method == "POST" else None)

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json()["error"]["code"] == "unauthorized"
    assert served.jobs.all() == before


def test_whether_it_is_up_may_be_asked_by_anybody(served: serving.Served) -> None:
    with served.client("") as stranger:
        assert stranger.get("/healthz").json() == {"ok": True}


def test_a_spec_is_validated(client: httpx.Client) -> None:
    answer = client.post("/infra/soperator/validate", json={"spec_yaml": SPEC})

    assert answer.status_code == 200
    assert answer.json()["name"] == "lab"


def test_a_wrong_spec_is_told_with_every_problem(client: httpx.Client) -> None:
    wrong = SPEC.replace("lab", "UPPER").replace("4vcpu-16gb", "4vcpu-17gb")

    answer = client.post("/infra/soperator/validate", json={"spec": wrong})

    assert answer.status_code == 400
    document = answer.json()
    assert (document["ok"], document["apiVersion"]) == (False, "npa.soperator/v0.0.1")
    assert [each["line"] for each in document["error"]["problems"]] == [1, 4]


def test_dry_run_is_what_a_deploy_does_by_default(served: serving.Served, client: httpx.Client) -> None:
    before = served.jobs.all()
    answer = client.post("/infra/soperator/deploy", json={"spec": SPEC})

    assert (answer.status_code, answer.json()["status"]) == (200, "dry-run")
    assert served.jobs.all() == before


@pytest.mark.parametrize("field", ["terraform_dir", "spec_path", "root_login_ssh_public_key_file", "path"])
def test_no_field_may_name_a_file(client: httpx.Client, field: str) -> None:
    answer = client.post("/infra/soperator/deploy", json={"spec": SPEC, field: "/etc/passwd"})

    (problem,) = answer.json()["error"]["problems"]
    assert (answer.status_code, problem["at"], problem["message"]) == (400, field, "names a file")


@pytest.mark.parametrize(
    "spec", ["/etc/passwd", "file:///etc/passwd", "../cluster.yaml", "~/.ssh/id_ed25519"]
)
def test_a_path_is_never_opened(client: httpx.Client, spec: str) -> None:
    answer = client.post("/infra/soperator/plan", json={"spec": spec})

    assert answer.status_code == 400
    assert "root:" not in answer.text


@pytest.mark.parametrize("name", ["..", "%2e%2e%2f%2e%2e", "-x", "a" * 64, "A", "a*", "%00"])
def test_a_name_that_no_cluster_can_have_is_refused(client: httpx.Client, name: str) -> None:
    assert client.get(f"/infra/soperator/status/{name}").status_code in (400, 404)


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        pytest.param(b"{", "application/json", 400, id="not-json"),
        pytest.param(b"", "application/json", 400, id="nothing"),
        pytest.param(b"\xff", "application/json", 400, id="not-utf8"),
        pytest.param(b'{"spec": NaN}', "application/json", 400, id="nan"),
        pytest.param(b"[" * 100_000, "application/json", 400, id="deep"),
        pytest.param(b"[]", "application/json", 400, id="no-object"),
        pytest.param(b'{"spec": "\\ud800"}', "application/json", 400, id="lone-surrogate"),
        pytest.param(b'{"spec": {"\\ud800": "\\ud800"}}', "application/json", 400, id="surrogate-key"),
        pytest.param(b"{}", "text/plain", 415, id="text"),
        pytest.param(b"{}", "", 415, id="no-type"),
    ],
)
def test_a_body_that_is_no_input(client: httpx.Client, content: bytes, kind: str, status: int) -> None:
    answer = client.post(
        "/infra/soperator/validate", content=content, headers={"content-type": kind} if kind else {}
    )

    assert answer.status_code == status
    assert answer.json()["ok"] is False


def test_a_body_that_announces_too_much_is_not_waited_for(served: serving.Served) -> None:
    head = [
        "POST /infra/soperator/validate HTTP/1.1",
        "Host: here",
        "Content-Type: application/json",
        f"Authorization: Bearer {serving.TOKEN.value}",
        f"Content-Length: {MAX_BODY + 1}",
    ]
    host, port = served.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=serving.PATIENCE) as plain:
        plain.sendall("\r\n".join([*head, "", ""]).encode())
        answer = b""
        while piece := plain.recv(65_536):  # to the end: the connection is of no use any more
            answer += piece

    assert answer.startswith(b"HTTP/1.1 413 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == "too-large"


def test_a_body_that_does_not_end_is_cut_off(client: httpx.Client) -> None:
    head = {"content-type": "application/json"}

    answer = client.post("/infra/soperator/validate", headers=head, content=_endless(2 * MAX_BODY // 65_536))

    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too-large")


def _endless(pieces: int) -> Iterator[bytes]:
    for _ in range(pieces):
        yield b" " * 65_536


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        pytest.param(RefusedError("no"), 409, "refused", id="refused"),
        pytest.param(PreflightError([("no room", "make some")]), 409, "preflight", id="blocked"),
        pytest.param(NotFoundError("nothing"), 404, "not-found", id="absent"),
        pytest.param(UsageError("what"), 400, "usage", id="usage"),
        pytest.param(ToolTimeoutError(("scontrol",), 5), 502, "tool-timeout", id="timeout"),
        pytest.param(ProviderDeniedError("list"), 502, "provider-denied", id="provider"),
        pytest.param(ZeroDivisionError("surprise"), 500, "unexpected", id="unexpected"),
    ],
)
def test_an_error_is_one_document_with_a_fitting_status(error: Exception, status: int, code: str) -> None:
    with serving.serve([failing(error)]) as served, served.client() as client:
        answer = client.post("/infra/fake/fail", json={"name": "a"})

    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert answer.json()["schema_version"] == "npa.error/v1"


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/nothing", 404), ("PUT", "/tools", 405), ("GET", "/jobs/x", 404)]
)
def test_what_is_not_there_is_told_in_json(client: httpx.Client, method: str, path: str, status: int) -> None:
    answer = client.request(method, path)

    assert (answer.status_code, answer.json()["ok"]) == (status, False)


def test_long_work_is_a_job_with_a_stream_of_events(client: httpx.Client, gate: Gate) -> None:
    job = begun(client, gate)
    assert client.get(f"/jobs/{job}").json()["state"] == "running"

    with client.stream("GET", f"/jobs/{job}/events") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        heard = events(response)
        first = next(heard)
        gate.opened.set()
        rest = list(heard)

    assert first == ("started", {"number": 1, "kind": "started", "step": "one", "message": "step one",
                                 "seconds": 0.0, "fraction": None})  # fmt: skip
    assert [kind for kind, _ in rest] == ["started", "end"]
    assert rest[-1][1] == client.get(f"/jobs/{job}").json()
    assert rest[-1][1]["result"]["ok"] is True


def test_a_stream_goes_on_where_it_was_cut(client: httpx.Client, gate: Gate) -> None:
    job = begun(client, gate)
    gate.opened.set()
    end(client, job)

    with client.stream("GET", f"/jobs/{job}/events", headers={"last-event-id": "1"}) as response:
        heard = list(events(response))

    assert [(kind, each.get("step")) for kind, each in heard] == [("started", "two"), ("end", None)]


def test_a_client_that_goes_leaves_the_job_running(
    served: serving.Served, client: httpx.Client, gate: Gate
) -> None:
    with served.client() as other, other.stream("GET", f"/jobs/{begun(other, gate)}/events") as response:
        next(events(response))  # and the client goes, in the middle of it
    job = client.get("/jobs").json()["jobs"][-1]
    assert job["state"] == "running"

    gate.opened.set()

    assert end(client, job["id"])["state"] == "done"


def test_a_second_change_of_the_same_is_refused_with_who_does_it(client: httpx.Client, gate: Gate) -> None:
    job = begun(client, gate)

    answer = client.post("/infra/fake/change", json={"name": "a"})

    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "busy")
    assert answer.json()["error"]["holder"]["job"] == job
    assert client.post("/infra/fake/change", json={"name": "b"}).status_code == 202


def test_a_job_stops_before_its_next_step(client: httpx.Client, gate: Gate) -> None:
    job = begun(client, gate)

    answer = client.delete(f"/jobs/{job}")
    gate.opened.set()

    assert (answer.status_code, answer.json()["stopping"]) == (202, True)
    document = end(client, job)
    assert (document["state"], document["result"]["error"]["code"]) == ("stopped", "stopped")


def test_the_description_names_every_tool_and_fits_what_is_answered(client: httpx.Client) -> None:
    description = client.get("/openapi.json").json()

    assert {f"/{each.name.replace('.', '/')}" for each in registry.tools()} <= description["paths"].keys()
    schema = description["components"]["schemas"]["soperator.validate.output"]
    jsonschema.validate(client.post("/infra/soperator/validate", json={"spec": SPEC}).json(), schema)


def test_the_server_ends_in_order_and_stops_its_jobs() -> None:
    gate = Gate()
    with serving.serve([gate.tool()]) as served, served.client() as client:
        job = served.jobs.find(begun(client, gate))
        with client.stream("GET", f"/jobs/{job.id}/events") as response:
            heard = events(response)
            next(heard)
            served.server.should_exit = True
            # The stream ends once the job has stopped, so this waits for both.
            while not served.jobs.closing:
                gate.opened.wait(0.01)
            gate.opened.set()
            *_, (kind, document) = heard

    assert (kind, document["state"]) == ("end", "stopped")
    assert served.server.left == ()
    label = f"job {job.id}, infra.fake.change of thing a"
    assert served.said == [
        f"ending: {label} stops before its next step",
        f"{label}: stopped: call the same again, it goes on from what is there",
    ]


def test_a_job_that_does_not_stop_is_cut_off_and_that_is_said() -> None:
    gate = Gate()
    with serving.serve([gate.tool()]) as served, served.client() as client:
        served.server.grace = 0.1
        job = served.jobs.find(begun(client, gate))
    gate.opened.set()

    assert served.server.left == (job.id,)
    assert served.said[-1].endswith("cut off after 0.1 s: call the same again, it goes on from what is there")


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_the_program_serves_and_ends_when_it_is_told_to(tmp_path: Path, how: signal.Signals) -> None:
    env = {"NPA_STATE_DIR": str(tmp_path), "HOME": str(tmp_path)}
    with serving.program(env, "serve") as (process, url):
        answer = httpx.get(f"{url}/tools", headers={"authorization": f"Bearer {serving.TOKEN.value}"})
        process.send_signal(how)
        code = process.wait(serving.PATIENCE)
        assert process.stderr is not None
        said = process.stderr.read()

    assert said.splitlines()[-1] == "ended"
    assert {each["name"] for each in answer.json()["tools"]} == {each.name for each in registry.tools()}
    assert code == 0


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl, which makes the certificate")
def test_the_program_serves_tls(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-keyout", str(key), "-out", str(certificate), "-days", "2", "-subj", "/CN=here",
            "-addext", "subjectAltName=IP:127.0.0.1"]  # fmt: skip
    subprocess.run(made, check=True, capture_output=True)
    argv = ["serve", "--tls-certificate", str(certificate), "--tls-key", str(key)]
    trusted = ssl.create_default_context(cafile=str(certificate))

    with serving.program({"HOME": str(tmp_path)}, *argv) as (_, url):
        answer = httpx.get(f"{url}/healthz", verify=trusted)

    assert url.startswith("https://")
    assert answer.json() == {"ok": True}
