"""A certificate that an operator makes for its own webhook, and makes anew in time."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LIFE = timedelta(days=365)  # of a certificate, and of the authority that signed it alone
EARLY = timedelta(days=120)  # this long before its end it is replaced
_BACK = timedelta(hours=1)  # clocks may differ


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate with its key, and whom to trust for it. Two authorities while one replaces the other."""

    ca_pem: str
    certificate_pem: str
    key_pem: str

    def __repr__(self) -> str:
        return "Pair(***)"


def make(names: Sequence[str], now: datetime, before: Pair | None = None, *, life: timedelta = LIFE) -> Pair:
    """Return a new certificate for these host names, signed by an authority whose key nobody keeps.

    The authority of the one before stays trusted as long as it is good: others serve with it for a while yet.
    """
    signer, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    # two authorities may be trusted at a time, so they need names of their own
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"npa-operator-{secrets.token_hex(8)}")])
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0][:64])])
    ca = (
        _begun(issuer, issuer, signer.public_key(), now, life)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(signer, hashes.SHA256())
    )
    served = (
        _begun(subject, issuer, key.public_key(), now, life)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([_name(each) for each in names]), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(signer, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    trusted = [ca, *(each for each in _authorities(before) if each.not_valid_after_utc > now)][:2]
    return Pair(
        "".join(each.public_bytes(pem).decode() for each in trusted),
        served.public_bytes(pem).decode(),
        private.decode(),
    )


def ends(pair: Pair) -> datetime:
    """Return until when a certificate is good; ValueError where it is none."""
    return x509.load_pem_x509_certificate(pair.certificate_pem.encode()).not_valid_after_utc


def due(pair: Pair | None, names: Sequence[str], now: datetime, early: timedelta = EARLY) -> bool:
    """Say whether a certificate has to be made: there is none, it ends soon, or it is for other names."""
    if pair is None:
        return True
    try:
        found = x509.load_pem_x509_certificate(pair.certificate_pem.encode())
        held = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        serialization.load_pem_private_key(pair.key_pem.encode(), password=None)
    except (ValueError, TypeError, x509.ExtensionNotFound):
        return True
    return found.not_valid_after_utc - now < early or {_name(each) for each in names} != set(held)


def _begun(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime, life: timedelta
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now.astimezone(UTC) - _BACK)
        .not_valid_after(now.astimezone(UTC) + life)
    )


def _authorities(pair: Pair | None) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(pair.ca_pem.encode()) if pair is not None else []
    except ValueError:
        return []


def _name(host: str) -> x509.GeneralName:
    import ipaddress

    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
