"""Language servers on this machine: those that listen are found, and how they are used."""

from __future__ import annotations

import json
import socket
from http.server import BaseHTTPRequestHandler

import pytest

from s2s.app.doctor.servers import USUAL, ServerFound, UsualServer, local_servers
from s2s.config.loader import load
from s2s.llm.openai import OpenAiChatConfig
from tests.support.server import ScriptedServer


def at(server: ScriptedServer) -> UsualServer:
    return UsualServer("Some", "some", int(server.base_url.split(":")[2].split("/")[0]), "get one")


def listing(server: ScriptedServer, document: object, status: int = 200) -> None:
    def script(request: BaseHTTPRequestHandler) -> None:
        body = json.dumps(document).encode()
        request.send_response(status)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    server.script = script


def test_what_listens_is_told_with_the_command_line_to_use_it(server: ScriptedServer):
    names = [f"model-{number}" for number in range(6)]
    listing(server, {"object": "list", "data": [{"id": name} for name in names]})
    [found] = local_servers([at(server)])
    assert found.told.endswith("and has model-0, model-1, model-2, model-3, 2 more")
    assert found.remedy == "python -m s2s --profile some --llm.model model-0"
    assert server.requests[0][0] == "/v1/models"


def test_a_server_without_a_model_says_how_to_get_one(server: ScriptedServer):
    listing(server, {"object": "list", "data": []})
    [found] = local_servers([at(server)])
    assert found == ServerFound(at(server), ())
    assert found.told.endswith("has no model")
    assert found.remedy == "get one"


@pytest.mark.parametrize("document", [{"detail": "what?"}, [], "models", {"data": 3}])
def test_what_is_no_language_server_is_none(server: ScriptedServer, document: object):
    listing(server, document)
    assert list(local_servers([at(server)])) == []
    listing(server, {"data": [{"id": "x"}]}, status=404)
    assert list(local_servers([at(server)])) == []


def test_where_nobody_listens_there_is_none():
    with socket.socket() as taken:  # bound and not listening: refused at once
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        assert list(local_servers([UsualServer("Some", "some", port, "")])) == []


@pytest.mark.parametrize("usual", USUAL, ids=lambda usual: usual.profile)
def test_the_profile_of_each_has_its_address(usual: UsualServer):
    pytest.importorskip("openai")
    options = load(usual.profile, environment={}).llm.options
    assert isinstance(options, OpenAiChatConfig)
    assert options.base_url == f"http://127.0.0.1:{usual.port}/v1"
    assert options.model == "auto"
