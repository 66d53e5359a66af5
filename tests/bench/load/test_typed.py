"""Very many typed turns: each is answered, and nothing of it is left behind."""

from __future__ import annotations

import json

import pytest

from s2s.app.serving.conversing import Conversing
from s2s.bench.load.served import models_at_once
from s2s.bench.load.typed import typed_turns
from s2s.config.schema import Config
from s2s.transport.server.config import ServeConfig
from s2s.transport.server.handover import ClientOpening, ClientSocket
from s2s.transport.server.metrics import ServerMetrics
from s2s.transport.server.server import Server
from tests.support.serving import fake_server, served


def test_turns_are_held_with_a_real_session_and_told_now_and_then() -> None:
    config = Config(serve=ServeConfig(port=0, max_sessions=1))
    metrics = ServerMetrics()
    conversing = Conversing(config, models_at_once(), metrics)
    server = Server(config.serve, None, conversing.services({}), metrics)
    with served(server) as port:
        assert list(typed_turns(port, 7, 3)) == [3, 6]


class Scripted:
    """A server that answers each question with two items, or from some turn on with an error."""

    def __init__(self, fails_at: int = 10**6) -> None:
        self.fails_at = fails_at
        self.held: set[str] = set()
        self.most_held = 0

    async def __call__(self, socket: ClientSocket, opening: ClientOpening) -> None:
        turn = 0
        while (text := await socket.receive_text()) is not None:
            event = json.loads(text)
            if event["type"] == "conversation.item.delete":
                self.held.remove(event["item_id"])
            elif event["type"] == "response.create":
                turn += 1
                if turn == self.fails_at:
                    error = {"type": "error", "error": {"code": "too_much"}}
                    await socket.send_text(json.dumps(error))
                for name in ("question", "answer"):
                    self.held.add(f"{name}{turn}")
                    done = {"type": "conversation.item.done", "item": {"id": f"{name}{turn}"}}
                    await socket.send_text(json.dumps(done))
                self.most_held = max(self.most_held, len(self.held))
                await socket.send_text(json.dumps({"type": "response.done"}))


def test_what_was_said_is_deleted_before_more_is_said() -> None:
    script = Scripted()
    with served(fake_server(converse=script)) as port:
        assert list(typed_turns(port, 5, 1)) == [1, 2, 3, 4, 5]
    assert script.most_held == 2


def test_an_error_ends_it_and_names_the_turn() -> None:
    with served(fake_server(converse=Scripted(fails_at=3))) as port:
        turns = typed_turns(port, 5, 1)
        assert [next(turns), next(turns)] == [1, 2]
        with pytest.raises(RuntimeError, match=r"turn 3: .*too_much"):
            next(turns)
