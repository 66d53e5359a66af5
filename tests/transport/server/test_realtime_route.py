"""The upgrade of `/v1/realtime`, and connections on fakes."""

from __future__ import annotations

import json

import pytest
from starlette.testclient import TestClient, WebSocketDenialResponse, WebSocketTestSession
from starlette.websockets import WebSocketDisconnect

from s2s.transport.server.app import make_app
from s2s.transport.server.config import ServeConfig
from s2s.transport.server.handover import ClientOpening, ClientSocket
from s2s.transport.server.server import Server
from s2s.transport.server.web_socket import TAKEN_OVER, EventRate
from tests.support.serving import fake_server

REALTIME = "ws://localhost/v1/realtime"
TOKEN = "t" * 32


def client(server: Server) -> TestClient:
    return TestClient(make_app(server), base_url="http://localhost")


def counted(server: Server, line: str) -> bool:
    return line in server.metrics.text({})


def error_code(socket: WebSocketTestSession) -> str:
    event = json.loads(socket.receive_text())
    assert event["type"] == "error"
    assert event["event_id"]
    assert set(event["error"]) == {"type", "code", "message", "param", "event_id"}
    return event["error"]["code"]


def refusal(http: TestClient, url: str = REALTIME, **options: object) -> tuple[int, str]:
    """Status and code of an upgrade that is refused."""
    with (
        pytest.raises(WebSocketDenialResponse) as caught,
        http.websocket_connect(url, **options),  # pyright: ignore[reportArgumentType]
    ):
        pass
    return caught.value.status_code, caught.value.json()["error"]["code"]


def test_a_client_is_served():
    server = fake_server()
    with (
        client(server) as http,
        http.websocket_connect(f"{REALTIME}?model=any") as socket,
    ):
        assert socket.receive_text() == "hello any 0"
        assert server.sessions.taken == 1
        socket.send_text("abc")
        assert socket.receive_text() == "abc"
    assert server.sessions.taken == 0
    assert counted(server, "s2s_sessions_total 1")


def test_the_sub_protocol_that_is_answered_is_realtime():
    with client(fake_server()) as http:
        offered = ["realtime", "openai-agents-sdk.0.20.0"]
        with http.websocket_connect(REALTIME, subprotocols=offered) as socket:
            assert socket.accepted_subprotocol == "realtime"
        with http.websocket_connect(REALTIME) as socket:
            assert socket.accepted_subprotocol is None


def test_a_key_is_asked_for_before_the_upgrade():
    server = fake_server(key="secret")
    with client(server) as http:
        assert refusal(http) == (401, "missing_api_key")
        wrong = {"Authorization": "Bearer x"}
        assert refusal(http, headers=wrong) == (401, "invalid_api_key")
        right = {"Authorization": "Bearer secret"}
        with http.websocket_connect(REALTIME, headers=right) as socket:
            assert socket.receive_text().startswith("hello")
        offered = ["realtime", "openai-insecure-api-key.secret"]
        with http.websocket_connect(REALTIME, subprotocols=offered) as socket:
            assert socket.receive_text().startswith("hello")
            assert socket.accepted_subprotocol == "realtime"
    assert counted(server, 's2s_refused_total{reason="missing_api_key"} 1')


def test_a_page_of_others_gets_no_upgrade():
    with client(fake_server()) as http:
        evil = {"Origin": "http://evil.example"}
        assert refusal(http, headers=evil) == (403, "origin_not_allowed")


def test_a_client_secret_opens_a_session_made_for_it():
    openings: list[ClientOpening] = []

    async def converse(socket: ClientSocket, opening: ClientOpening) -> None:
        openings.append(opening)
        await socket.send_text("here")

    server = fake_server(key="secret", converse=converse)
    with client(server) as http:
        made = http.post(
            "/v1/realtime/client_secrets",
            json={"session": {"type": "realtime", "instructions": "Be brief."}},
            headers={"Authorization": "Bearer secret"},
        ).json()
        bearer = {"Authorization": f"Bearer {made['value']}"}
        for _ in range(2):
            with http.websocket_connect(REALTIME, headers=bearer) as socket:
                assert socket.receive_text() == "here"
        assert http.get("/v1/models", headers=bearer).status_code == 401
    assert [opening.session for opening in openings] == [made["session"]] * 2


def test_who_comes_when_all_places_are_taken_is_told_before_the_upgrade():
    server = fake_server(ServeConfig(max_sessions=1))
    with client(server) as http:
        with http.websocket_connect(REALTIME) as socket:
            socket.receive_text()
            assert refusal(http) == (503, "session_limit_reached")
            asked = http.get("/v1/realtime")
            assert asked.status_code == 503
            assert int(asked.headers["retry-after"]) > 0
        with http.websocket_connect(REALTIME) as socket:
            assert socket.receive_text().startswith("hello")
        assert http.get("/v1/realtime").status_code == 426


def test_a_session_that_fails_ends_alone():
    async def converse(socket: ClientSocket, opening: ClientOpening) -> None:
        if opening.model == "bad":
            raise ArithmeticError("a fault of ours")
        await socket.send_text(f"{await socket.receive_text()}")

    server = fake_server(converse=converse)
    with client(server) as http, http.websocket_connect(REALTIME) as good:
        with http.websocket_connect(f"{REALTIME}?model=bad") as bad:
            with pytest.raises(WebSocketDisconnect) as caught:
                bad.receive_text()
            assert caught.value.code == 1011
        good.send_text("still here")
        assert good.receive_text() == "still here"
    assert server.sessions.taken == 0
    assert counted(server, 's2s_errors_total{code="internal",where="session"} 1')
    assert counted(server, 's2s_connections_ended_total{how="failed"} 1')


# --- coming back ----------------------------------------------------------------------------------


def test_a_dropped_client_goes_on():
    server = fake_server()
    with client(server) as http:
        header = {"x-s2s-resume": TOKEN}
        with http.websocket_connect(REALTIME, headers=header) as socket:
            assert dict(socket.extra_headers or [])[b"x-s2s-resume"] == TOKEN.encode()
            assert socket.receive_text() == "hello  0"
            socket.send_text("one")
            socket.receive_text()
            socket.close(1006)
        with http.websocket_connect(
            REALTIME, subprotocols=["realtime", f"s2s-resume.{TOKEN}"]
        ) as socket:
            assert socket.receive_text() == "hello  1"
            socket.close(1000)
        with http.websocket_connect(REALTIME, headers=header) as socket:
            assert socket.receive_text() == "hello  0"  # it had left on purpose
    assert counted(server, "s2s_sessions_resumed_total 1")


def test_a_client_that_comes_again_takes_over_from_its_own_connection():
    """Its old one may be half-open: nobody has noticed that it is gone. Its place is its own, also
    where all are taken."""
    server = fake_server(ServeConfig(max_sessions=1))
    with client(server) as http:
        header = {"x-s2s-resume": TOKEN}
        with http.websocket_connect(REALTIME, headers=header) as old:
            old.receive_text()
            old.send_text("one")
            old.receive_text()
            with http.websocket_connect(REALTIME, headers=header) as new:
                assert new.receive_text() == "hello  1"
                with pytest.raises(WebSocketDisconnect) as caught:
                    old.receive_text()
                assert caught.value.code == TAKEN_OVER
                assert server.sessions.taken == 1
                assert refusal(http) == (503, "session_limit_reached")
        assert server.sessions.taken == 0


def test_a_client_without_a_token_is_given_one():
    with client(fake_server()) as http:
        with http.websocket_connect(REALTIME) as socket:
            socket.receive_text()
            token = dict(socket.extra_headers or [])[b"x-s2s-resume"].decode()
            socket.send_text("x")
            socket.receive_text()
            socket.close(1006)
        with http.websocket_connect(REALTIME, headers={"x-s2s-resume": token}) as socket:
            assert socket.receive_text() == "hello  1"


def test_a_token_that_can_be_guessed_is_refused():
    with client(fake_server()) as http:
        header = {"x-s2s-resume": "guess"}
        assert refusal(http, headers=header) == (400, "invalid_resume_token")


# --- what comes that should not -------------------------------------------------------------------


def test_a_bad_frame_costs_one_error_and_the_next_is_read():
    server = fake_server(ServeConfig(max_message_bytes=1_000))
    with client(server) as http, http.websocket_connect(REALTIME) as socket:
        socket.receive_text()
        socket.send_bytes(b"\x00\xff")
        assert error_code(socket) == "invalid_event"
        socket.send_text("x" * 1_001)
        assert error_code(socket) == "event_too_large"
        socket.send_text("x" * 1_000)
        assert socket.receive_text() == "x" * 1_000
    assert counted(server, 's2s_errors_total{code="event_too_large",where="event"} 1')


def test_a_flood_is_answered_by_errors():
    server = fake_server(ServeConfig(max_events_per_s=0.25))  # one, and another after 4 s
    with client(server) as http, http.websocket_connect(REALTIME) as socket:
        socket.receive_text()
        codes: list[str] = []
        for number in range(6):
            socket.send_text(f"{number}")
            text = socket.receive_text()
            codes.append(text if text.isdigit() else json.loads(text)["error"]["code"])
    assert codes[0] == "0"
    assert codes.count("rate_limit_exceeded") >= 3


def test_a_rate_is_kept_over_some_seconds():
    now = [0.0]
    rate = EventRate(10.0, lambda: now[0])
    assert [rate.admit() for _ in range(42)] == [True] * 40 + [False] * 2
    now[0] = 0.5
    assert [rate.admit() for _ in range(6)] == [True] * 5 + [False]
    now[0] = 1_000.0
    assert sum(rate.admit() for _ in range(100)) == 40
