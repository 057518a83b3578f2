from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
import yaml

from npa.errors import KubeError
from npa.tools import kube_access


def kubeconfig(folder: Path, user: dict[str, Any], **cluster: Any) -> Path:
    document = {
        "current-context": "one",
        "contexts": [{"name": "one", "context": {"cluster": "c", "user": "u", "namespace": "ns"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://h:1/", **cluster}}],
        "users": [{"name": "u", "user": user}],
    }
    path = folder / "config"
    path.write_text(yaml.safe_dump(document))
    return path


def test_certificates_come_from_files_beside_it_or_from_within(tmp_path: Path) -> None:
    (tmp_path / "ca").write_text("CA")
    encoded = base64.b64encode(b"KEY").decode()
    user = {"client-certificate-data": base64.b64encode(b"CERT").decode(), "client-key-data": encoded}
    found = kube_access.from_kubeconfig(kubeconfig(tmp_path, user, **{"certificate-authority": "ca"}))

    assert (found.endpoint, found.ca_pem, found.certificate) == ("https://h:1", "CA", ("CERT", "KEY"))
    assert found.namespace == "ns"
    assert "KEY" not in repr(found)


def test_a_token_is_read_again_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("secret\n")
    found = kube_access.from_kubeconfig(kubeconfig(tmp_path, {"tokenFile": "token"}))

    assert found.token() == "secret"


def test_a_program_may_give_the_token(tmp_path: Path) -> None:
    def runs(argv: Any, **_: Any) -> str:
        assert argv == ["login", "--now"]
        return '{"status": {"token": "given"}}'

    user = {"exec": {"command": "login", "args": ["--now"], "apiVersion": "client.authentication.k8s.io/v1"}}

    assert kube_access.from_kubeconfig(kubeconfig(tmp_path, user), runs=runs).token() == "given"


@pytest.mark.parametrize(
    ("user", "context", "why"),
    [
        pytest.param({}, "two", "no context 'two'", id="no-such-context"),
        pytest.param({"username": "a", "password": "b"}, "", "cannot log in by username", id="password"),
        pytest.param({"client-certificate": "no"}, "", "client-certificate", id="no-such-file"),
    ],
)
def test_what_cannot_be_used_is_said(tmp_path: Path, user: dict[str, Any], context: str, why: str) -> None:
    with pytest.raises(KubeError, match=why):
        kube_access.from_kubeconfig(kubeconfig(tmp_path, user), context)


def test_a_pod_is_known_by_its_service_account(tmp_path: Path) -> None:
    for name, text in (("ca.crt", "CA"), ("namespace", "ns\n"), ("token", "t\n")):
        (tmp_path / name).write_text(text)
    env = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    found = kube_access.in_cluster(tmp_path, env)

    assert (found.endpoint, found.namespace, found.token()) == ("https://[fd00::1]:443", "ns", "t")
