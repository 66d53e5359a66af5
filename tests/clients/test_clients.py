"""Clients of others, unmodified, against a whole server: docs/clients.md has the table.

Each runs in an environment of its own from the package index (`--require clients`), in real time,
with scripted models behind the real session, wire and server.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.clients import OtherClient, question, run_client
from tests.support.realtime_corpus import Corpus, corpus
from tests.support.scripted_server import scripted_server

pytestmark = [pytest.mark.clients, pytest.mark.timeout(1500)]

CLIENTS = (
    OtherClient("openai", ["openai[realtime]==3.57.0"], "drive_openai.py"),
    OtherClient(
        "openai-agents",
        ["openai-agents==0.24.0", "websockets<16"],
        "drive_agents.py",
        "parse_agents.py",
    ),
    OtherClient("pipecat", ["pipecat-ai[openai]==1.14.0"], "drive_pipecat.py", "parse_pipecat.py"),
    OtherClient(
        "livekit",
        ["livekit-agents==1.8.9", "livekit-plugins-openai==1.8.9"],
        "drive_livekit.py",
    ),
    OtherClient(
        "agents-js",
        ["@openai/agents-realtime@0.20.0", "zod@4"],
        "drive_agents_js.mjs",
        "parse_agents_js.mjs",
    ),
)
UNKNOWN_TO = {
    "openai-agents": Corpus(),
    "pipecat": Corpus(transcription=False, silence=False, calls=False, tools=False),
    "agents-js": Corpus(pictures=False, silence=False, failed_tools=False),
}
"""What a client's models do not have: `input_audio_buffer.timeout_triggered`, which both pass over;
pipecat knows no transcription sessions and no calls, and agents-JS no pictures in items and no
`response.mcp_call.failed`."""


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    with scripted_server() as port:
        yield f"http://127.0.0.1:{port}/v1"


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_a_client_cannot_tell_it_from_the_real_service(
    client: OtherClient, base_url: str, tmp_path: Path
):
    results = run_client(client, client.driver, base_url, question(tmp_path))
    assert {what: said for what, said in results.items() if said != "passes"} == {}
    assert len(results) >= 6


@pytest.mark.parametrize(
    "client", [each for each in CLIENTS if each.parser], ids=lambda client: client.name
)
def test_its_own_models_read_everything_that_we_send(client: OtherClient, tmp_path: Path):
    texts = corpus(UNKNOWN_TO[client.name])
    path = tmp_path / "events.jsonl"
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    assert run_client(client, client.parser, path) == {"read": len(texts), "refused": []}
