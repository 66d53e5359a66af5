"""What there is, and keys for single clients."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from s2s.transport.server.config import ServeConfig
from s2s.transport.server.handover import SessionRefused
from tests.support.http import client
from tests.support.serving import Voice, fake_server


def test_the_models_are_listed_and_every_name_will_do(http: TestClient):
    listed = http.get("/v1/models").json()
    assert listed["object"] == "list"
    assert [each["id"] for each in listed["data"]] == ["s2s", "writer", "ear"]
    assert {each["object"] for each in listed["data"]} == {"model"}
    assert http.get("/v1/models/ear").json()["id"] == "ear"
    assert http.get("/v1/models/openai/gpt-realtime").json()["id"] == "openai/gpt-realtime"


def test_the_voices_are_told_in_both_forms(http: TestClient):
    told = http.get("/v1/audio/voices").json()
    assert told["voices"] == ["ada", "ben"]
    assert [each["id"] for each in told["data"]] == ["ada", "ben"]
    with client(fake_server(synthesizer=Voice(voices=()))) as one:
        assert one.get("/v1/audio/voices").json()["voices"] == ["default"]


def test_health_tells_whether_there_is_a_place():
    server = fake_server(ServeConfig(max_sessions=1), key="k")
    with client(server) as http:
        assert http.get("/health").json() == {"status": "ok", "sessions": 0, "max_sessions": 1}
        server.sessions.take()
        assert http.get("/health").json()["status"] == "full"


def test_who_distributes_clients_is_told_where_one_would_be_let_in():
    server = fake_server(ServeConfig(max_sessions=1), key="k")
    with client(server) as http:
        assert http.get("/ready").status_code == 200
        server.sessions.take()
        assert http.get("/ready").status_code == 503
        server.sessions.leave()
        assert http.get("/ready").json() == {"ready": True}
        server.draining = True
        assert http.get("/ready").status_code == 503


def test_metrics_are_for_prometheus(http: TestClient):
    http.get("/v1/models")
    http.get("/nothing/here")
    answer = http.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 's2s_http_requests_total{endpoint="/v1/models",status="200"} 1' in answer.text
    assert 'status="404"' in answer.text
    assert "nothing/here" not in answer.text
    assert "s2s_sessions 0" in answer.text


def test_a_client_secret_is_made_for_a_session(http: TestClient):
    asked = {"expires_after": {"anchor": "created_at", "seconds": 20},
             "session": {"type": "realtime", "instructions": "Be brief."}}  # fmt: skip
    made = http.post("/v1/realtime/client_secrets", json=asked).json()
    assert made["value"].startswith("ek_")
    assert made["session"] == asked["session"]
    assert isinstance(made["expires_at"], int)


@pytest.mark.parametrize("seconds", [9, 7_201, "soon", True])
def test_a_client_secret_lives_neither_too_short_nor_too_long(http: TestClient, seconds: object):
    answer = http.post("/v1/realtime/client_secrets", json={"expires_after": {"seconds": seconds}})
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "seconds"


def test_a_session_that_cannot_be_makes_no_client_secret():
    def refuse(session: object) -> dict[str, object]:
        raise SessionRefused("no such voice", param="session.audio.output.voice")

    with client(fake_server(validate_session=refuse)) as http:
        answer = http.post("/v1/realtime/client_secrets", json={"session": {"type": "realtime"}})
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "session.audio.output.voice"
