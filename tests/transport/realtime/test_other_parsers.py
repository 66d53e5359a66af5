"""One corpus of our own traffic, read by others: what openai's types say of every event we send.

The other two parsers, pipecat's and agents-JS', read it where those clients are installed:
tests/clients.
"""

from __future__ import annotations

from typing import get_args

import pytest
from pydantic import BaseModel, TypeAdapter

from s2s.transport.realtime.wire.parse import parse_server_event
from s2s.transport.realtime.wire.server_events import ServerEvent
from tests.support.realtime_corpus import corpus, kinds

openai_types = pytest.importorskip("openai.types.realtime")
IN_NO_SCHEMA = {
    "session.created": {"id", "object", "expires_at"},
    "session.updated": {"id", "object", "expires_at"},
    "response.output_audio_transcript.delta": {"start_time"},
}
"""What openai's types do not have: what the real service was recorded to send, and the time of a
word, which LiveKit reads."""


def test_the_corpus_holds_every_event_there_is():
    every = {each.model_fields["type"].default for each in get_args(ServerEvent)}
    assert kinds(corpus()) == every


def test_our_own_models_read_it():
    for text in corpus():
        parse_server_event(text)


def test_every_event_is_one_of_openai_s_with_no_field_that_it_does_not_know():
    events = TypeAdapter(openai_types.RealtimeServerEvent)
    for text in corpus():
        read = events.validate_json(text)
        assert f'"type":"{read.type}"' in text
        assert unknown(read) <= IN_NO_SCHEMA.get(read.type, set()), text


def unknown(value: object) -> set[str]:
    """Names in an object that its model does not have."""
    found: set[str] = set()
    if isinstance(value, BaseModel):
        found |= set(value.model_extra or {})
        inner = [getattr(value, name) for name in type(value).model_fields]
    else:
        inner = value if isinstance(value, list) else []
    for each in inner:
        found |= unknown(each)
    return found
