"""Which addresses there are, and who may use which."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from s2s.transport.server.config import ServeConfig
from tests.support.http import client
from tests.support.serving import fake_server


def test_the_page_is_served_to_everybody_and_nothing_else_is_a_file():
    with client(fake_server(key="k")) as http:
        page = http.get("/")
        assert page.status_code == 200
        assert "text/html" in page.headers["content-type"]
        assert "default-src" in page.headers["content-security-policy"]
        for path in ("/../server/app.py", "/%2e%2e/page.py", "/etc/passwd", "/index.html/../x"):
            answer = http.get(path)
            assert answer.status_code == 404
            assert answer.json()["error"]["code"] == "not_found"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/models"),
        ("GET", "/v1/models/x"),
        ("GET", "/v1/audio/voices"),
        ("GET", "/v1/realtime"),
        ("GET", "/metrics"),
        ("POST", "/v1/audio/speech"),
        ("POST", "/v1/audio/transcriptions"),
        ("POST", "/v1/chat/completions"),
        ("POST", "/v1/realtime/client_secrets"),
    ],
)
def test_everything_asks_for_the_key(method: str, path: str):
    server = fake_server(key="secret")
    with client(server) as http:
        answer = http.request(method, path)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.json()["error"]["code"] == "missing_api_key"
        wrong = http.request(method, path, headers={"Authorization": "Bearer x"})
        assert wrong.json()["error"]["code"] == "invalid_api_key"
        right = http.request(method, path, headers={"Authorization": "Bearer secret"})
        assert right.status_code != 401


def test_pages_of_others_and_names_of_others_are_refused(http: TestClient):
    assert http.get("/v1/models", headers={"Origin": "http://evil.com"}).status_code == 403
    assert http.get("/health", headers={"Host": "evil.com"}).status_code == 403
    assert http.get("/", headers={"Host": "evil.com"}).status_code == 403
    assert http.get("/v1/models", headers={"Origin": "http://localhost"}).status_code == 200


def test_pages_that_are_named_may_ask_from_elsewhere():
    config = ServeConfig(origins=("https://friend.org",))
    with client(fake_server(config, key="k")) as http:
        asked = {"Origin": "https://friend.org", "Access-Control-Request-Method": "POST",
                 "Access-Control-Request-Headers": "authorization"}  # fmt: skip
        before = http.options("/v1/audio/speech", headers=asked)
        assert before.status_code == 200
        assert before.headers["access-control-allow-origin"] == "https://friend.org"
        answer = http.get(
            "/v1/models", headers={"Origin": "https://friend.org", "Authorization": "Bearer k"}
        )
        assert answer.headers["access-control-allow-origin"] == "https://friend.org"
