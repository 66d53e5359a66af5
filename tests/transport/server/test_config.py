"""Settings of the server that cannot be are refused by name and value."""

from __future__ import annotations

from dataclasses import replace

import pytest

from s2s.transport.server.config import ServeConfig


@pytest.mark.parametrize("port", [0, 1, 65_535])
def test_every_port_may_be_listened_on(port: int) -> None:
    assert ServeConfig(port=port).port == port


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("port", -1),
        ("port", 65_536),
        ("max_sessions", 0),
        ("max_message_bytes", 0),
        ("max_upload_bytes", -1),
        ("max_input_chars", 0),
        ("max_items", 0),
        ("max_text_chars", 0),
        ("http_workers", 0),
        ("max_events_per_s", 0.0),
        ("slow_reader_s", -0.5),
        ("max_upload_s", 0.0),
        ("resume_s", -1.0),
        ("http_waiting", -1),
    ],
)
def test_a_value_that_cannot_be_is_refused(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"(?s){name}.*{value}"):
        replace(ServeConfig(), **{name: value})


def test_nothing_need_wait_or_be_kept() -> None:
    config = ServeConfig(http_waiting=0, resume_s=0.0)
    assert (config.http_waiting, config.resume_s) == (0, 0.0)


def test_a_certificate_and_its_key_go_together_and_make_it_secure() -> None:
    for half in ({"tls_cert": "cert.pem"}, {"tls_key": "key.pem"}):
        with pytest.raises(ValueError, match="go together"):
            replace(ServeConfig(), **half)
    assert ServeConfig(tls_cert="cert.pem", tls_key="key.pem").secure
    assert ServeConfig(tls=True).secure
    assert not ServeConfig().secure
