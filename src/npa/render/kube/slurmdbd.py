"""slurmdbd.conf of a cluster: its database is the pod's own, or somebody else's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from npa.errors import Problem
from npa.render.kube import names
from npa.render.kube.context import Context
from npa.slurm import conf

ARCHIVE = "/var/lib/slurm/archive"
CA, CLIENT = "/mnt/slurmdbd-ssl-ca-cert", "/mnt/slurmdbd-ssl-client-key"
LOCATION = "slurm_acct_db"
Pair = tuple[str, str]
_AT = "spec.slurmNodes.accounting"
# what of the data that are purged is archived before
_KEPT = {
    "Event": "archive_events",
    "Job": "archive_jobs",
    "Resv": "archive_resvs",
    "Step": "archive_steps",
    "Suspend": "archive_suspend",
    "TXN": "archive_txn",
    "Usage": "archive_usage",
}
_PLURAL = {"Event": "Events", "Job": "Jobs", "Resv": "Resvs", "Step": "Steps"}


@dataclass(frozen=True, slots=True)
class Password:
    """The password of somebody else's database; never shown."""

    text: str = ""

    def __repr__(self) -> str:
        return "Password('***')"


@dataclass(frozen=True, slots=True)
class Server:
    """Where a database is, and as whom slurmdbd comes."""

    host: str
    port: int
    user: str


def settings(
    context: Context, password: Password, problems: list[Problem], server: Server | None = None
) -> tuple[Pair, ...]:
    """Return the settings of slurmdbd.conf in place of ours; `server` is where mariadb-operator's is."""
    database = _external(context, problems) if context.database == "external" else _server(server)
    secret = (("StoragePass", password.text),) if password.text else ()
    return (*_place(context), *database, *secret, *_kept(context))


def _place(context: Context) -> Iterator[Pair]:
    asked = context.spec.slurm_nodes.accounting
    yield "DbdHost", f"{names.workload(context.name, 'accounting')}-0"
    if asked.slurmdbd is not None and asked.slurmdbd.port:
        yield "DbdPort", str(asked.slurmdbd.port)
    yield "LogFile", "/dev/null"
    said = asked.slurmdbd_config
    yield "DebugLevel", said.debug_level
    if said.debug_flags:
        yield "DebugFlags", said.debug_flags
    if said.private_data:
        yield "PrivateData", said.private_data
    yield "TCPTimeout", str(said.tcp_timeout)


def _server(server: Server | None) -> Iterator[Pair]:
    """Yield where the database is; nothing of one beside slurmdbd: its socket knows who speaks."""
    if server is not None:
        yield "StorageHost", server.host
        yield "StoragePort", str(server.port)
        yield "StorageUser", server.user
        yield "StorageLoc", LOCATION


def _external(context: Context, problems: list[Problem]) -> Iterator[Pair]:
    asked, at = context.spec.slurm_nodes.accounting.external_db, f"{_AT}.externalDB"
    host, _, port = asked.host.partition(":")
    for name, text in (("host", host), ("user", asked.user)):
        if not text:
            problems.append(Problem(0, 0, f"{at}.{name}", "is empty", f"say the {name} of the database"))
    if port and port != str(asked.port) and asked.port != 3306:
        text = f"{asked.host!r} names another port than {asked.port}"
        problems.append(Problem(0, 0, f"{at}.host", text, "write the host alone"))
    yield "StorageHost", host
    yield "StoragePort", port if port.isdecimal() and asked.port == 3306 else str(asked.port)
    yield "StorageUser", asked.user
    yield "StorageLoc", LOCATION
    parameters = dict(asked.storage_parameters)
    if asked.tls is not None and asked.tls.server_ca_secret_ref:
        parameters["SSL_CA"] = f"{CA}/ca.crt"
    if asked.tls is not None and asked.tls.client_cert_secret_ref:
        parameters |= {"SSL_CERT": f"{CLIENT}/tls.crt", "SSL_KEY": f"{CLIENT}/tls.key"}
    if parameters:
        yield "StorageParameters", ",".join(f"{key}={value}" for key, value in sorted(parameters.items()))


def _kept(context: Context) -> Iterator[Pair]:
    """What is purged, and what of it is archived before; what could not be archived is not purged."""
    said = context.spec.slurm_nodes.accounting.slurmdbd_config
    archives = context.database == "embedded"  # which alone has a place for them
    for what, field in _KEPT.items():
        wanted = getattr(said, field) == "yes"
        if wanted and not archives:
            continue
        after = getattr(said, f"purge_{what.lower()}_after")
        if after:
            yield f"Purge{what}After", after
        yield f"Archive{_PLURAL.get(what, what)}", "yes" if wanted else "no"
    if archives:
        yield "ArchiveDir", ARCHIVE


def password_of(data: bytes | None, name: str, problems: list[Problem], of: str = "externalDB") -> Password:
    """Return a password as Slurm reads it back; what it would read as another is refused, and never shown."""
    at = f"{_AT}.{of}" + (".passwordSecretKeyRef" if of == "externalDB" else "")
    if data is None:
        problems.append(Problem(0, 0, at, f"Secret {name} has no such key", "make the Secret"))
        return Password()
    try:
        text = data.decode().rstrip("\r\n")
    except UnicodeDecodeError:
        problems.append(Problem(0, 0, at, f"the password in Secret {name} is no text", "choose another"))
        return Password()
    if not text:
        problems.append(Problem(0, 0, at, f"the password in Secret {name} is empty", "choose one"))
        return Password()
    try:
        conf.check_value("StoragePass", text)
    except conf.ConfError as error:
        what = f"the password in Secret {name} holds {error.character!r}, which slurmdbd.conf cannot"
        problems.append(Problem(0, 0, at, what, "choose one without `#`, quotes and backslashes"))
        return Password()
    return Password(text)
