"""A certificate for this machine, made here: browsers give the microphone to https alone.

Nobody has vouched for it, so a browser warns; its fingerprint is shown for who wants to compare.
It is kept, so that a browser that was told to trust it still does next time.
"""

from __future__ import annotations

import datetime
import hashlib
import ipaddress
import os
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path

import psutil

DAYS = 397
"""How long it lasts: the most that browsers take."""
RENEW_DAYS = 14


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """What a server serves https with."""

    certificate: Path
    key: Path


def own_addresses() -> list[str]:
    """The IPv4 addresses of this machine in its networks, those of home networks first."""
    found = {
        address.address
        for addresses in psutil.net_if_addrs().values()
        for address in addresses
        if address.family == socket.AF_INET
    }
    usable = [each for each in found if not ipaddress.ip_address(each).is_loopback]
    return sorted(usable, key=_how_far)


def _how_far(address: str) -> tuple[int, str]:
    for rank, start in enumerate(("192.168.", "10.")):
        if address.startswith(start):
            return rank, address
    return 2, address


def self_made(folder: Path, *, now: datetime.datetime | None = None) -> TlsFiles:
    """The certificate in `folder`, made if there is none that lasts and names this machine.

    Args:
        folder: where it is kept; made, for its owner alone.
        now: what time it is.

    Raises:
        ValueError: the package that makes certificates is not installed.
        OSError: it cannot be written.
    """
    try:
        import cryptography  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError as error:
        raise ValueError(
            "--tls makes a certificate with the package cryptography, which is not installed: "
            "pip install 's2s[serve]', or give a certificate and its key."
        ) from error
    files = TlsFiles(folder / "certificate.pem", folder / "key.pem")
    now = now or datetime.datetime.now(datetime.UTC)
    if not _still_good(files, now):
        folder.mkdir(parents=True, exist_ok=True)
        _make(files, now)
    return files


def fingerprint(certificate: Path) -> str:
    """SHA-256 of a certificate (PEM), as browsers show it: `AB:CD:...`."""
    text = certificate.read_text(encoding="ascii")
    first = text[: text.index("-----END CERTIFICATE-----")] + "-----END CERTIFICATE-----\n"
    digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert(first[first.index("-----BEGIN") :])).digest()
    return ":".join(f"{byte:02X}" for byte in digest)


def _names() -> tuple[list[str], list[str]]:
    """Names and addresses that the certificate is for."""
    host = socket.gethostname()
    short = host.partition(".")[0]
    names = dict.fromkeys(["localhost", host, short, f"{short}.local"])
    return [name for name in names if name], ["127.0.0.1", "::1", *own_addresses()]


def _still_good(files: TlsFiles, now: datetime.datetime) -> bool:
    from cryptography import x509

    if not files.certificate.is_file() or not files.key.is_file():
        return False
    try:
        made = x509.load_pem_x509_certificate(files.certificate.read_bytes())
        known = made.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (ValueError, x509.ExtensionNotFound):
        return False
    addresses = {str(each) for each in known.get_values_for_type(x509.IPAddress)}
    lasts = made.not_valid_after_utc - now > datetime.timedelta(days=RENEW_DAYS)
    return lasts and addresses >= set(_names()[1])


def _make(files: TlsFiles, now: datetime.datetime) -> None:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    names, addresses = _names()
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"s2s on {names[-1][:40]}")])
    alternatives = x509.SubjectAlternativeName(
        [x509.DNSName(name) for name in names]
        + [x509.IPAddress(ipaddress.ip_address(address)) for address in addresses]
    )
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=DAYS))
        .add_extension(alternatives, critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    descriptor = os.open(files.key, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as out:
        out.write(private)
    files.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
