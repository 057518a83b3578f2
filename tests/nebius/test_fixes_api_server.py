"""Repairs against a real API server, and the client's own promises."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.nebius.after import CLUSTER, NAME, PROJECT, FakeProvider, FakeTerraform, managed

from npa.errors import KubeError
from npa.render.nebius import definitions
from npa.render.nebius import fixes as rules
from npa.render.nebius.fix_model import Context
from npa.render.nebius.sidecar import Sidecar
from npa.render.objects import CLAIM, CONFIG_MAP, CRD, HELM_RELEASE, JOB, NAMESPACE, SLURM_CLUSTER, Kind, dig
from npa.slurm.lookup import Absent, Found, Unknown
from npa.targets.nebius import fixes
from npa.targets.nebius.ports import SystemClock
from npa.targets.nebius.teardown import Teardown
from npa.tools.kube import Access, Kube

UP = Path(__file__).parents[3] / "shared" / "k8s" / "k8s-up"
pytestmark = pytest.mark.skipif(not UP.exists(), reason=f"needs a Kubernetes API server: {UP} is not here")

NOW = Context("1700000000")


@dataclass(frozen=True)
class Server:
    """A real API server."""

    endpoint: str
    pki: Path

    @property
    def ca(self) -> str:
        return (self.pki / "ca.crt").read_text()

    def kube(self, **more: Any) -> Kube:
        return Kube(
            Access("mk8scluster-1", more.pop("endpoint", self.endpoint), self.ca, lambda: "t"), **more
        )


class Hasty(SystemClock):
    """Waits a little where a minute is asked for."""

    def sleep(self, seconds: float) -> None:
        super().sleep(min(seconds, 0.1))


def free_ports(count: int) -> int:
    """Return the first of so many ports that nobody uses."""
    for first in range(24_100 + os.getpid() % 400 * 10, 32_000, 10):
        try:
            for port in range(first, first + count):
                with closing(socket.socket()) as probe:
                    probe.bind(("127.0.0.1", port))
        except OSError:
            continue
        return first
    raise AssertionError("no free ports")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    state, port = tmp_path_factory.mktemp("k8s"), free_ports(8)
    env = {**os.environ, "STATE": str(state), "PORT": str(port)}
    done = subprocess.run([UP, "mini"], env=env, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    yield Server(f"https://127.0.0.1:{port}", state / "pki")
    subprocess.run([UP, "down"], env=env, capture_output=True, check=False, timeout=60)


@pytest.fixture
def kube(server: Server) -> Iterator[Kube]:
    client = server.kube()
    yield client
    client.close()


def definition(
    kind: Kind, schema: dict[str, Any] | None = None, versions: tuple[str, ...] = ()
) -> dict[str, Any]:
    loose = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    names = versions or (kind.version,)
    return CRD.object(
        kind.crd,
        spec={
            "group": kind.group,
            "scope": "Namespaced",
            "names": {"kind": kind.kind, "plural": kind.plural, "singular": kind.kind.lower()},
            "versions": [
                {
                    "name": name,
                    "served": True,
                    "storage": name == names[0],
                    "schema": {"openAPIV3Schema": schema or loose},
                }
                for name in names
            ],
        },
    )


def settled(kube: Kube, name: str, context: Context = NOW) -> fixes.FixOutcome:
    fix = next(each for each in rules.ALL if each.name == name)
    (outcome,) = fixes.until_done(kube, (fix,), lambda: context, Hasty(), timeout=20.0)
    return outcome


def served(kube: Kube, kind: Kind) -> None:
    until = time.monotonic() + 20
    while not isinstance(kube.list(kind), Found):
        assert time.monotonic() < until
        time.sleep(0.1)


def test_the_namespace_is_made_and_then_left_alone(kube: Kube) -> None:
    first, second = settled(kube, "monitoring-namespace"), settled(kube, "monitoring-namespace")

    assert (first.ok, first.acted, second.ok, second.acted) == (True, True, True, False)


def test_open_definitions_take_objects_and_give_way_to_those_of_a_file(kube: Kube) -> None:
    monitor = definitions.KINDS[0]
    spec = {"endpoints": [{"port": "metrics"}], "selector": {"matchLabels": {"a": "b"}}}
    made = settled(kube, "monitoring-definitions")
    kube.apply(NAMESPACE.object("monitored"))
    kept = kube.apply(monitor.object("m", "monitored", spec=spec))
    again = settled(kube, "monitoring-definitions")
    given = {kind.crd: definition(kind) for kind in definitions.KINDS}
    replaced = settled(kube, "monitoring-definitions", Context("1", crds=given))

    assert (made.ok, again.ok, again.acted) == (True, True, False)
    assert kept["spec"] == spec
    assert replaced.ok
    found = kube.get(CRD, monitor.crd)
    assert isinstance(found, Found)
    assert not definitions.is_ours(found.value)
    there = kube.get(monitor, "m", "monitored")
    assert isinstance(there, Found)
    assert there.value["spec"] == spec


def test_the_schema_is_opened_in_every_version(kube: Kube) -> None:
    setting = {"type": "object", "properties": {"plugStackConfig": {"type": "object", "properties": {}}}}
    schema = {"type": "object", "properties": {"spec": setting}}
    kube.apply(NAMESPACE.object("schema"))
    kube.apply(definition(SLURM_CLUSTER, schema, ("v1", "v2")))

    outcome = settled(kube, "plugstack-schema")
    served(kube, SLURM_CLUSTER)
    sent = {"plugStackConfig": {"ncclInspectorPreConf": {"a": 1}}}
    kept = kube.apply(SLURM_CLUSTER.object("c", "schema", spec=sent))

    assert outcome.ok
    assert kept["spec"] == sent


def test_a_definition_that_changed_meanwhile_is_not_patched(kube: Kube) -> None:
    kind = Kind("example.org", "v1", "Thing", "things")
    kube.apply(definition(kind))

    with pytest.raises(KubeError):
        kube.patch(
            CRD, kind.crd, "", [{"op": "test", "path": "/spec/versions/0/name", "value": "v9"}], "json"
        )


def test_scripts_are_copied_with_every_key(kube: Kube) -> None:
    kube.apply(NAMESPACE.object("soperator"))
    kube.apply(CONFIG_MAP.object("slurm-scripts", "soperator", data={"token.sh": "secret: 1"}))

    outcome = settled(kube, "prefixed-scripts")

    copy = kube.get(CONFIG_MAP, "soperator-slurm-scripts", "soperator")
    assert outcome.ok
    assert isinstance(copy, Found)
    assert copy.value["data"] == {"token.sh": "secret: 1"}


def test_a_release_that_gave_up_is_asked_once(kube: Kube) -> None:
    assert settled(kube, "dashboards-release").ok  # no Flux is nothing to do
    kube.apply(NAMESPACE.object("flux-system"))
    kube.apply(definition(HELM_RELEASE))
    served(kube, HELM_RELEASE)
    status = {"conditions": [{"type": "Stalled", "status": "True"}]}
    kube.apply(HELM_RELEASE.object("x-monitoring-dashboards", "flux-system", status=status))
    fix = next(each for each in rules.ALL if each.name == "dashboards-release")

    first, second = (fixes.once(kube, fix, Context(stamp)) for stamp in ("1", "2"))

    found = kube.get(HELM_RELEASE, "x-monitoring-dashboards", "flux-system")
    assert (first.state, first.acted, second.state, second.acted) == ("waiting", True, "waiting", False)
    assert isinstance(found, Found)
    assert dig(found.value, "metadata", "annotations", "reconcile.fluxcd.io/resetAt") == "1"


def test_absent_is_what_the_api_names_and_nothing_else(kube: Kube, server: Server) -> None:
    unserved = Kind("nobody.example.org", "v1", "Thing", "things")
    wrong = Kind("apps", "v9", "Deployment", "deployments")

    assert kube.get(NAMESPACE, "nobody") == Absent()
    assert kube.get(unserved, "x", "default") == Absent()
    assert kube.list(unserved) == Absent()
    assert isinstance(kube.list(wrong), Unknown)
    with closing(server.kube(endpoint="https://127.0.0.1:1")) as nowhere:
        assert isinstance(nowhere.get(NAMESPACE, "default"), Unknown)
        with pytest.raises(KubeError):
            nowhere.delete(NAMESPACE, "default")


def test_a_server_of_another_authority_is_not_spoken_to(server: Server) -> None:
    other = server.pki / "other.crt"
    request = f"req -x509 -newkey rsa:2048 -nodes -subj /CN=other -days 1 -keyout {os.devnull} -out {other}"
    subprocess.run(
        ["openssl", *request.split(), "-addext", "keyUsage=critical,keyCertSign"],
        check=True,
        capture_output=True,
    )
    stranger = Kube(Access("x", server.endpoint, other.read_text(), lambda: "t"))

    with closing(stranger):
        assert isinstance(stranger.get(NAMESPACE, "default"), Unknown)


def test_a_list_is_read_to_its_end(kube: Kube) -> None:
    kube.apply(NAMESPACE.object("many"))
    for index in range(7):
        kube.apply(CONFIG_MAP.object(f"c{index}", "many", data={}))

    listed = kube.list(CONFIG_MAP, "many")

    assert isinstance(listed, Found)
    assert len(listed.value) == 7
    assert kube.delete(CONFIG_MAP, "c0", "many") is True
    assert kube.delete(CONFIG_MAP, "c0", "many") is False


@contextmanager
def answering(server: Server, answer: Callable[[ssl.SSLSocket], None]) -> Iterator[str]:
    """Serve one connection after the other on loopback, with the API server's own certificate."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(server.pki / "apiserver.crt", server.pki / "apiserver.key")
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:

        def serve() -> None:
            with context.wrap_socket(listening.accept()[0], server_side=True) as connection:
                answer(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"https://127.0.0.1:{listening.getsockname()[1]}"
        thread.join(10)


def test_an_answer_that_drips_ends_at_its_deadline(server: Server) -> None:
    def drip(connection: ssl.SSLSocket) -> None:
        connection.recv(65536)
        connection.sendall(
            b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\nContent-Type: application/json\r\n\r\n"
        )
        for _ in range(40):
            time.sleep(0.05)
            try:
                connection.sendall(b" ")
            except OSError:
                return

    with answering(server, drip) as endpoint, closing(server.kube(endpoint=endpoint, deadline=0.5)) as slow:
        began = time.monotonic()
        found = slow.get(NAMESPACE, "default")

    assert isinstance(found, Unknown)
    assert time.monotonic() - began < 2


def test_a_command_in_a_pod_gives_its_output_and_its_code(server: Server) -> None:
    wsproto = pytest.importorskip("wsproto")
    events = pytest.importorskip("wsproto.events")
    asked: list[str] = []

    def run(connection: ssl.SSLSocket) -> None:
        protocol = wsproto.WSConnection(wsproto.ConnectionType.SERVER)
        while not asked:
            protocol.receive_data(connection.recv(65536))
            asked.extend(event.target for event in protocol.events() if isinstance(event, events.Request))
        failure = (
            b'{"status":"Failure","reason":"NonZeroExitCode",'
            b'"details":{"causes":[{"reason":"ExitCode","message":"3"}]}}'
        )
        said = [b"\x01out", b"\x02err", b"\x01put", b"\x03" + failure]
        connection.sendall(protocol.send(events.AcceptConnection(subprotocol="v5.channel.k8s.io")))
        for part in said:
            connection.sendall(protocol.send(events.BytesMessage(part)))
        time.sleep(0.2)

    with answering(server, run) as endpoint, closing(server.kube(endpoint=endpoint)) as kube:
        done = kube.exec("controller-0", "soperator", ["sinfo", "-N"], container="slurmctld", timeout=5)

    assert (done.code, done.stdout, done.stderr) == (3, "output", "err")
    assert asked[0].startswith("/api/v1/namespaces/soperator/pods/controller-0/exec?")
    assert "command=sinfo&command=-N" in asked[0]
    assert "container=slurmctld" in asked[0]


def test_a_command_that_does_not_end_is_left_at_its_deadline(server: Server) -> None:
    wsproto = pytest.importorskip("wsproto")
    events = pytest.importorskip("wsproto.events")

    def hang(connection: ssl.SSLSocket) -> None:
        protocol = wsproto.WSConnection(wsproto.ConnectionType.SERVER)
        protocol.receive_data(connection.recv(65536))
        list(protocol.events())
        connection.sendall(protocol.send(events.AcceptConnection(subprotocol="v5.channel.k8s.io")))
        time.sleep(2)

    with answering(server, hang) as endpoint, closing(server.kube(endpoint=endpoint)) as kube:
        began = time.monotonic()
        with pytest.raises(KubeError, match="deadline"):
            kube.exec("controller-0", "soperator", ["sleep", "99"], timeout=0.5)

    assert time.monotonic() - began < 4


def test_what_a_deleted_job_started_ends_with_it(server: Server) -> None:
    asked: list[str] = []

    def answer(connection: ssl.SSLSocket) -> None:
        asked.append(connection.recv(65536).decode().splitlines()[0])
        body = b'{"kind":"Status","apiVersion":"v1","status":"Success"}'
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)

    with answering(server, answer) as endpoint, closing(server.kube(endpoint=endpoint)) as kube:
        assert kube.delete(JOB, "wait", "soperator")

    # kube-mini has no defaults of its own kinds; a real API server orphans a Job's pods without this
    assert "/apis/batch/v1/namespaces/soperator/jobs/wait?propagationPolicy=Background" in asked[0]


def test_a_destroy_frees_the_recipe_s_volumes_and_nobody_else_s(kube: Kube) -> None:
    for namespace in ("soperator", "default"):
        if namespace != "default":
            kube.apply(NAMESPACE.object(namespace))
        wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        kube.apply(CLAIM.object("data", namespace, spec=wanted))
    provider = FakeProvider()
    record = Sidecar(cluster_name="lab", cluster_id=CLUSTER, provider_cluster_name=NAME, project_id=PROJECT)
    state = {"serial": 1, "resources": [managed("nebius_mk8s_v1_cluster", CLUSTER, NAME)]}
    ended = Teardown(
        "lab",
        record,
        provider,
        FakeTerraform(provider, state),
        Hasty(),
        lambda _: None,
        60.0,
        to=lambda _: kube,
    ).destroy()

    assert (ended.status, ended.notes) == ("destroyed", ())
    ours, other = (kube.get(CLAIM, "data", namespace) for namespace in ("soperator", "default"))
    # Whatever protects a claim in use lets it go once nobody uses it; here it is at least on its way.
    assert isinstance(ours, Absent) or dig(ours.value, "metadata", "deletionTimestamp")  # type: ignore[union-attr]
    assert isinstance(other, Found)
    assert dig(other.value, "metadata", "deletionTimestamp") is None
