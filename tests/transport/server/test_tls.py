"""A certificate that is made here."""

from __future__ import annotations

import datetime
import os
import ssl
from pathlib import Path

import pytest

from s2s.transport.server import tls
from s2s.transport.server.tls import DAYS, RENEW_DAYS, fingerprint, own_addresses, self_made

NOW = datetime.datetime(2026, 11, 30, tzinfo=datetime.UTC)


def test_it_can_be_served_with_and_is_kept(tmp_path: Path):
    files = self_made(tmp_path / "tls")
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(files.certificate, files.key)
    if os.name == "posix":
        assert files.key.stat().st_mode & 0o077 == 0
    before = fingerprint(files.certificate)
    assert self_made(tmp_path / "tls") == files
    assert fingerprint(files.certificate) == before
    parts = before.split(":")
    assert len(parts) == 32
    assert all(len(part) == 2 and int(part, 16) < 256 for part in parts)


def test_it_names_this_machine(tmp_path: Path):
    from cryptography import x509

    made = x509.load_pem_x509_certificate(self_made(tmp_path).certificate.read_bytes())
    known = made.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert "localhost" in known.get_values_for_type(x509.DNSName)
    addresses = [str(each) for each in known.get_values_for_type(x509.IPAddress)]
    assert {"127.0.0.1", "::1", *own_addresses()} <= set(addresses)


@pytest.mark.parametrize(("later", "kept"), [(1, True), (DAYS - RENEW_DAYS + 1, False)])
def test_it_is_made_anew_before_it_ends(tmp_path: Path, later: int, kept: bool):
    before = fingerprint(self_made(tmp_path, now=NOW).certificate)
    after = self_made(tmp_path, now=NOW + datetime.timedelta(days=later))
    assert (fingerprint(after.certificate) == before) is kept


def test_it_is_made_anew_where_this_machine_has_a_new_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    before = fingerprint(self_made(tmp_path).certificate)
    monkeypatch.setattr(tls, "own_addresses", lambda: ["192.168.77.77"])
    assert fingerprint(self_made(tmp_path).certificate) != before


def test_what_is_damaged_is_made_anew(tmp_path: Path):
    self_made(tmp_path).certificate.write_text("no certificate", encoding="utf-8")
    files = self_made(tmp_path)
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(files.certificate, files.key)
