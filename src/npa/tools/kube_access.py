"""How a Kubernetes API is reached: from a kubeconfig, or from the service account of the pod that runs us."""

from __future__ import annotations

import base64
import json
import os
import ssl
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from npa.errors import KubeError, NpaError
from npa.tools.run import Run, run

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
DEFAULT = Path("~/.kube/config")
_REREAD = 60.0  # seconds for which a token that was read or asked for is used without looking again
_PLUGIN = 30.0  # seconds for a kubeconfig's credential program


@dataclass(frozen=True, slots=True)
class Access:
    """How one cluster is reached, and which one it is."""

    cluster_id: str
    endpoint: str  # https://host:port
    ca_pem: str  # empty: the certificate authorities of this machine
    token: Callable[[], str]  # asked for each call, so that a token may be renewed in between; "" for none
    certificate: tuple[str, str] | None = field(default=None, repr=False)  # PEM of who we are, and its key
    insecure: bool = False  # whoever answers is believed: as a kubeconfig may say
    namespace: str = "default"  # where objects go that name none
    server_name: str = ""  # that the certificate is checked for, where it is not the endpoint's


def context(access: Access) -> ssl.SSLContext:
    """Return the TLS settings by which a cluster is known, and we are known to it."""
    made = ssl.create_default_context(cadata=access.ca_pem or None)
    if access.insecure:
        made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
    if access.certificate is not None:
        with tempfile.TemporaryDirectory() as folder:  # 0700; the ssl module takes files only
            chain, key = Path(folder, "chain"), Path(folder, "key")
            chain.write_text(access.certificate[0])
            key.write_text(access.certificate[1])
            made.load_cert_chain(chain, key)
    return made


def find(kubeconfig: Path | None = None, context_name: str = "") -> Access:
    """Return the access that is meant: the kubeconfig named, else the pod's own, else $KUBECONFIG's."""
    if kubeconfig is None and not context_name and inside():
        return in_cluster()
    named = os.environ.get("KUBECONFIG", "").split(os.pathsep)[0]
    return from_kubeconfig(kubeconfig or Path(named or DEFAULT), context_name)


def inside() -> bool:
    """Say whether this process runs in a pod with a service account."""
    return bool(os.environ.get("KUBERNETES_SERVICE_HOST")) and (SERVICE_ACCOUNT / "token").is_file()


def in_cluster(folder: Path = SERVICE_ACCOUNT, env: Mapping[str, str] = os.environ) -> Access:
    """Return the access of a pod's service account; its token is read again as the kubelet renews it."""
    host, port = env.get("KUBERNETES_SERVICE_HOST", ""), env.get("KUBERNETES_SERVICE_PORT", "443")
    try:
        ca, namespace = (folder / "ca.crt").read_text(), (folder / "namespace").read_text().strip()
    except OSError as error:
        hint = "give the pod a service account, or name a kubeconfig"
        raise KubeError(f"no service account in {folder}: {error.strerror}", hint=hint) from error
    endpoint = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    token = _renewed(lambda: (folder / "token").read_text().strip())
    return Access("in-cluster", endpoint, ca, token, namespace=namespace)


def from_kubeconfig(path: Path, context_name: str = "", runs: Run = run) -> Access:
    """Return the access that a context of a kubeconfig describes, the current one unless one is named."""
    path = path.expanduser()
    try:
        document = yaml.safe_load(path.read_text())
    except OSError as error:
        raise KubeError(f"{path}: {(error.strerror or '').lower()}", hint="name one: --kubeconfig") from error
    except yaml.YAMLError as error:
        raise KubeError(f"{path}: not YAML", hint="name a kubeconfig: --kubeconfig") from error
    listed = document if isinstance(document, dict) else {}
    wanted = context_name or str(listed.get("current-context") or "")
    chosen = _named(listed, "contexts", "context", wanted, path)
    cluster = _named(listed, "clusters", "cluster", str(chosen.get("cluster", "")), path)
    user = _named(listed, "users", "user", str(chosen["user"]), path) if chosen.get("user") else {}
    insecure = bool(cluster.get("insecure-skip-tls-verify"))
    return Access(
        cluster_id=wanted,
        endpoint=str(cluster.get("server", "")).rstrip("/"),
        ca_pem="" if insecure else _pem(cluster, "certificate-authority", path),
        token=_token(user, path, runs),
        certificate=_certificate(user, path),
        insecure=insecure,
        namespace=str(chosen.get("namespace") or "default"),
        server_name=str(cluster.get("tls-server-name") or ""),
    )


def _named(document: Mapping[str, Any], listed: str, key: str, name: str, path: Path) -> Mapping[str, Any]:
    for each in document.get(listed) or ():
        if each.get("name") == name:
            found: Mapping[str, Any] = each.get(key) or {}
            return found
    known = ", ".join(str(each.get("name")) for each in document.get(listed) or ()) or "none"
    raise KubeError(f"{path}: no {key} {name!r}", hint=f"it has: {known}")


def _pem(part: Mapping[str, Any], key: str, path: Path) -> str:
    """Return a PEM that a kubeconfig holds or names; "" where it does neither."""
    try:
        if inline := part.get(f"{key}-data"):
            return base64.b64decode(str(inline), validate=True).decode()
        if file := part.get(key):
            return (path.parent / str(file)).read_text()
    except (OSError, ValueError) as error:
        raise KubeError(f"{path}: {key}: {error}") from error
    return ""


def _certificate(user: Mapping[str, Any], path: Path) -> tuple[str, str] | None:
    chain, key = _pem(user, "client-certificate", path), _pem(user, "client-key", path)
    return (chain, key) if chain and key else None


def _token(user: Mapping[str, Any], path: Path, runs: Run) -> Callable[[], str]:
    if user.get("tokenFile"):
        return _renewed(lambda: (path.parent / str(user["tokenFile"])).read_text().strip())
    if user.get("exec"):
        return _renewed(lambda: _asked(user["exec"], runs))
    unsupported = sorted({"username", "auth-provider"} & set(user))
    if unsupported:
        what = f"{path}: this npa cannot log in by {', '.join(unsupported)}"
        raise KubeError(what, hint="use a token, a client certificate or an `exec` program")
    fixed = str(user.get("token") or "")
    return lambda: fixed


def _asked(how: Mapping[str, Any], runs: Run) -> str:
    """Return the token that a credential program gives."""
    added = {str(each["name"]): str(each["value"]) for each in how.get("env") or ()}
    about = {"kind": "ExecCredential", "apiVersion": how.get("apiVersion"), "spec": {"interactive": False}}
    env = {**os.environ, **added, "KUBERNETES_EXEC_INFO": json.dumps(about)}
    argv: Sequence[str] = [str(how.get("command")), *map(str, how.get("args") or ())]
    try:
        status = json.loads(runs(argv, env=env, timeout=_PLUGIN))["status"]
        return str(status["token"])
    except (NpaError, ValueError, KeyError, TypeError) as error:
        raise KubeError(f"no token from `{argv[0]}`: {error}"[:300]) from error


def _renewed(read: Callable[[], str]) -> Callable[[], str]:
    """Return a function that gives what was read last, and reads again after a while."""
    kept: list[tuple[float, str]] = []

    def token() -> str:
        now = time.monotonic()
        if not kept or now - kept[0][0] > _REREAD:
            try:
                kept[:] = [(now, read())]
            except OSError as error:
                raise KubeError(f"no token: {error}") from error
        return kept[0][1]

    return token
