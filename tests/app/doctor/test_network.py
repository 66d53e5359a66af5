"""Whether the hub can be reached; no test asks it."""

from __future__ import annotations

import socket

import pytest

from s2s.app.doctor.network import network


@pytest.fixture(autouse=True)
def online(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.delenv("HF_ENDPOINT", raising=False)


def test_a_hub_that_answers_is_well() -> None:
    asked: list[tuple[str, int]] = []
    found = network(lambda host, port: asked.append((host, port)))
    assert (found.state, found.area) == ("ok", "network")
    assert found.values["reachable"] is True
    assert asked == [("huggingface.co", 443)]


def test_one_that_does_not_is_told_with_what_to_do() -> None:
    def refuse(host: str, port: int) -> None:
        raise OSError(f"{host}:{port} is unreachable")

    found = network(refuse)
    assert found.state == "warning", "what is here works without"
    assert "unreachable" in found.what
    assert "HF_ENDPOINT" in found.remedy
    assert found.values["reachable"] is False


def test_who_forbids_it_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    found = network(lambda *_: pytest.fail("it was asked"))
    assert (found.state, found.values["reachable"]) == ("ok", None)


def test_another_hub_is_asked_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{port}")
        assert network().values["reachable"] is True
    asked: list[tuple[str, int]] = []
    monkeypatch.setenv("HF_ENDPOINT", "http://mirror.example")
    network(lambda host, port: asked.append((host, port)))
    assert asked == [("mirror.example", 80)]
