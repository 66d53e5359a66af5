"""Whole conversations over a real socket: on models that take no time, and on the embedded ones."""

from __future__ import annotations

import io
import json
import logging
import re
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import httpx2
import pytest
from openai import OpenAI
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from s2s.app.loading import close_models, load_models
from s2s.app.serving.command import model_names
from s2s.app.serving.conversing import Conversing
from s2s.bench.load.served import ANSWER, models_at_once
from s2s.config import loader
from s2s.config.schema import Config, RecordConfig
from s2s.models.store import Store
from s2s.records.folder import read_record
from s2s.session.models import Models
from s2s.transport.server.draining import COME_AGAIN
from s2s.transport.server.kept.ray_store import Actor, RayStore
from s2s.transport.server.kept.store import ConversationStore
from s2s.transport.server.metrics import ServerMetrics
from s2s.transport.server.server import Server
from s2s.transport.server.web_socket import TAKEN_OVER
from tests.support.recordings import DATA
from tests.support.serving import served
from tests.support.stores import actor_between_loops

WAIT_S = 60


def a_server(
    models: Models, config: Config | None = None, store: ConversationStore | None = None
) -> Server:
    config = config or Config()
    metrics = ServerMetrics()
    services = Conversing(config, models, metrics).services(model_names(config))
    return Server(config.serve, None, services, metrics, store)


def say(client: ClientConnection, **event: object) -> None:
    client.send(json.dumps(event))


def until(client: ClientConnection, kind: str) -> list[dict[str, object]]:
    """All events up to the next of that type."""
    found: list[dict[str, object]] = []
    while not found or found[-1]["type"] != kind:
        found.append(json.loads(client.recv(WAIT_S)))
        assert found[-1]["type"] != "error", found[-1]
    return found


def ask(client: ClientConnection, text: str) -> str:
    """Type something; what is said."""
    content = [{"type": "input_text", "text": text}]
    item = {"type": "message", "role": "user", "content": content}
    say(client, type="conversation.item.create", item=item)
    say(client, type="response.create")
    events = until(client, "response.done")
    done = [each for each in events if each["type"] == "response.output_audio_transcript.done"]
    return str(done[0]["transcript"])


def url(port: int) -> str:
    return f"ws://127.0.0.1:{port}/v1/realtime?model=any"


@pytest.fixture(scope="module")
def quick() -> Iterator[int]:
    with served(a_server(models_at_once())) as port:
        yield port


def test_a_typed_turn_is_answered_by_voice(quick: int):
    with connect(url(quick)) as client:
        created = until(client, "session.created")[0]
        assert created["session"]["model"] == "any"  # pyright: ignore
        assert ask(client, "Hello?") == ANSWER


def session_threads() -> set[threading.Thread]:
    return {each for each in threading.enumerate() if each.name.startswith("s2s-")}


def test_a_closed_session_leaves_no_thread():
    before = session_threads()
    with served(a_server(models_at_once())) as port, connect(url(port)) as client:
        until(client, "session.created")
        assert 0 < len(session_threads() - before) <= 5
        assert ask(client, "Hello?") == ANSWER
    assert session_threads() <= before


def test_a_dropped_client_goes_on_with_its_conversation(quick: int):
    """The items of before are there, under their ids; another token begins anew."""
    header = {"X-S2S-Resume": "r" * 32}
    with connect(url(quick), additional_headers=header) as client:
        session = until(client, "session.created")[0]["session"]
        ask(client, "Hello?")
        say(client, type="conversation.item.create", item={
            "id": "item_mine", "type": "message", "role": "user",
            "content": [{"type": "input_text", "text": "Remember."}]})  # fmt: skip
        until(client, "conversation.item.done")
        client.socket.shutdown(2)  # without a word
    with connect(url(quick), additional_headers=header) as client:
        again = until(client, "session.created")[0]["session"]
        assert again["id"] == session["id"]  # pyright: ignore
        say(client, type="conversation.item.retrieve", item_id="item_mine")
        item = until(client, "conversation.item.retrieved")[-1]["item"]
        assert item["content"][0]["text"] == "Remember."  # pyright: ignore
    with connect(url(quick)) as client:
        assert until(client, "session.created")[0]["session"]["id"] != session["id"]  # pyright: ignore


def test_a_model_that_fails_ends_its_response_alone():
    class Failing:
        reads_ahead = False
        fails = threading.Event()

        def stream(self, messages: object, **options: object) -> Iterator[str]:
            if self.fails.is_set():
                raise ArithmeticError("a fault")
            yield ANSWER

        def warm(self, messages: object, **options: object) -> None: ...

        def ending(self, messages: object, **options: object) -> None:
            return None

        def count_tokens(self, text: str) -> int:
            return 1

        def close(self) -> None: ...

    from dataclasses import replace

    models = replace(models_at_once(), chat=Failing())
    server = a_server(models)
    with served(server) as port, connect(url(port)) as good, connect(url(port)) as bad:
        for client in (good, bad):
            until(client, "session.created")
        Failing.fails.set()
        item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "?"}]}
        say(bad, type="conversation.item.create", item=item)
        say(bad, type="response.create")
        response = until(bad, "response.done")[-1]["response"]
        assert response["status"] == "failed"  # pyright: ignore
        Failing.fails.clear()
        assert ask(good, "Hello?") == ANSWER
        assert ask(bad, "Hello?") == ANSWER
    assert 's2s_responses_total{status="failed"} 1' in server.metrics.text({})


def test_logs_hold_no_words(quick: int, caplog: pytest.LogCaptureFixture):
    """Of what is typed, answered, refused or asked of the HTTP endpoints; down to `info`."""
    caplog.set_level(logging.INFO)
    base = f"http://127.0.0.1:{quick}"
    with connect(url(quick)) as client:
        until(client, "session.created")
        ask(client, "Platypus?")
        for bad in ('{"type": "platypus"}', "platypus"):
            client.send(bad)
            while json.loads(client.recv(WAIT_S))["type"] != "error":
                continue
    httpx2.post(f"{base}/v1/audio/speech", json={"input": "Platypus.", "voice": "x"})
    httpx2.post(f"{base}/v1/chat/completions", json={"messages": [{"role": "platypus"}]})
    told = [record.getMessage() for record in caplog.records if record.name[:3] != "htt"]
    assert not [line for line in told if "latypus" in line or ANSWER in line]


def test_a_client_secret_is_made_for_a_whole_session(quick: int):
    base = f"http://127.0.0.1:{quick}/v1"
    with OpenAI(base_url=base, api_key="x", max_retries=0) as client:
        made = client.realtime.client_secrets.create(
            session={"type": "realtime", "instructions": "Be brief."}
        )
        assert made.session.instructions == "Be brief."  # pyright: ignore
        assert made.session.audio is not None  # pyright: ignore
    with connect(url(quick), additional_headers={"Authorization": f"Bearer {made.value}"}) as one:
        created = until(one, "session.created")[0]["session"]
        assert created["instructions"] == "Be brief."  # pyright: ignore


@pytest.mark.models
@pytest.mark.filterwarnings("ignore:connect.. must be used:DeprecationWarning")  # openai's own
def test_the_official_client_on_the_embedded_models():
    """Spoken by one endpoint and heard by the other, written and talked about."""
    config = loader.load(flags=[("", "serve.max_sessions", "2")])
    models = load_models(config, Store(), lambda _: None)
    try:
        with served(a_server(models, config)) as port:
            base = f"http://127.0.0.1:{port}/v1"
            with OpenAI(base_url=base, api_key="x", max_retries=0, timeout=WAIT_S) as client:
                sentence = "The weather will be nice tomorrow."
                spoken = client.audio.speech.create(
                    model="tts-1", voice="alloy", input=sentence, response_format="wav"
                )
                heard = client.audio.transcriptions.create(
                    model="whisper-1", file=("a.wav", io.BytesIO(spoken.content))
                )
                assert heard.text.lower().strip(" .") == sentence.lower().strip(" .")
                verbose = client.audio.transcriptions.create(
                    model="whisper-1",
                    file=("q.wav", (DATA / "librivox_0930.wav").read_bytes()),
                    response_format="verbose_json",
                    timestamp_granularities=["word"],
                )
                assert verbose.words
                answer = client.chat.completions.create(
                    model="any", messages=[{"role": "user", "content": "Say hello."}]
                )
                assert answer.choices[0].message.content
                assert "smollm2-135m" in [each.id for each in client.models.list()]
                with client.realtime.connect(model="any") as connection:
                    connection.conversation.item.create(item={
                        "type": "message", "role": "user",
                        "content": [{"type": "input_text", "text": "Say hello."}]})  # fmt: skip
                    connection.response.create()
                    kinds: list[str] = []
                    for event in connection:
                        kinds.append(event.type)
                        if event.type == "response.done":
                            assert event.response.status == "completed"
                            break
                    assert "response.output_audio.delta" in kinds
    finally:
        close_models(models)


def test_each_conversation_is_recorded_where_that_is_asked_for(tmp_path: Path) -> None:
    config = replace(Config(), record=RecordConfig(tmp_path / "records"))
    metrics = ServerMetrics()
    conversing = Conversing(config, models_at_once(), metrics, ("the-key-of-the-server",))
    server = Server(config.serve, None, conversing.services(model_names(config)), metrics)
    with served(server) as port:
        for words in ("Hello? the-key-of-the-server", "Again?"):
            with connect(url(port)) as client:
                until(client, "session.created")
                ask(client, words)
    conversing.close()
    folders = sorted((tmp_path / "records").iterdir())
    assert len(folders) == 2
    for folder in folders:
        record = read_record(folder)
        (answer,) = record.story.answers
        assert answer.text == ANSWER
        assert (folder / "report.html").is_file()
        assert not any(b"the-key-of" in path.read_bytes() for path in folder.iterdir())


def test_a_record_that_cannot_be_made_keeps_nobody_from_talking(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    config = replace(Config(), record=RecordConfig(tmp_path / "file"))
    with served(a_server(models_at_once(), config)) as port, connect(url(port)) as client:
        until(client, "session.created")
        assert ask(client, "Hello?") == ANSWER
    assert "nothing can be recorded there" in caplog.text


def how_it_ended(client: ClientConnection) -> tuple[int | None, str | None]:
    """Close code and reason, once it has."""
    with suppress(ConnectionClosed):
        while True:
            client.recv(WAIT_S)
    return client.close_code, client.close_reason


def test_a_server_that_drains_tells_its_clients_to_come_again():
    config = Config()
    conversing = Conversing(config, models_at_once(), ServerMetrics())
    server = Server(config.serve, None, conversing.services({}), ServerMetrics())
    with ExitStack() as stack:
        draining = partial(conversing.drain, server, 60.0)
        serving = stack.enter_context(ExitStack())
        port = serving.enter_context(served(server, drain=draining))
        client = stack.enter_context(connect(url(port)))
        until(client, "session.created")
        serving.close()
        assert how_it_ended(client)[0] == COME_AGAIN


# --- over several servers -------------------------------------------------------------------------


def test_a_client_whose_server_is_lost_goes_on_on_another_with_its_history():
    """The first server is not asked for anything: it may be gone. Its own connection is ended, in
    case it is not."""
    header = {"X-S2S-Resume": "m" * 32}
    with ExitStack() as stack:
        place = stack.enter_context(actor_between_loops())
        first, second = (
            stack.enter_context(served(a_server(models_at_once(), store=place()))) for _ in "ab"
        )
        client = stack.enter_context(connect(url(first), additional_headers=header))
        session = until(client, "session.created")[0]["session"]
        settings = {"type": "realtime", "instructions": "Rhyme."}
        say(client, type="session.update", session=settings)
        assert ask(client, "Hello?") == ANSWER
        say(client, type="conversation.item.create", item={
            "id": "item_mine", "type": "message", "role": "user",
            "content": [{"type": "input_text", "text": "Remember."}]})  # fmt: skip
        until(client, "conversation.item.done")
        with connect(url(second), additional_headers=header) as again:
            moved = until(again, "session.created")[0]["session"]
            assert moved == {**session, "instructions": "Rhyme."}  # pyright: ignore
            say(again, type="conversation.item.retrieve", item_id="item_mine")
            item = until(again, "conversation.item.retrieved")[-1]["item"]
            assert item["content"][0]["text"] == "Remember."  # pyright: ignore
            assert how_it_ended(client) == (TAKEN_OVER, "resumed on another connection")
            assert ask(again, "Still here?") == ANSWER
            text = httpx2.get(f"http://127.0.0.1:{second}/metrics").text
            assert len(set(re.findall(r's2s_sessions\{replica="([^"]+)"\}', text))) == 2
            own = httpx2.get(f"http://127.0.0.1:{second}/metrics/replica").text
            assert "\ns2s_sessions 1\n" in own


def test_a_place_out_of_reach_is_told_and_the_conversation_goes_on():
    def nowhere() -> Actor:
        raise ConnectionError("no cluster")

    header = {"X-S2S-Resume": "n" * 32}
    server = a_server(models_at_once(), store=RayStore(nowhere))
    with served(server) as port, connect(url(port), additional_headers=header) as client:
        until(client, "session.created")
        error = json.loads(client.recv(WAIT_S))["error"]
        assert (error["type"], error["code"]) == ("server_error", "resume_unavailable")
        assert "same token" in error["message"]
        assert ask(client, "Hello?") == ANSWER
