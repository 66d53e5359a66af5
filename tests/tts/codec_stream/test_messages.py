"""The messages in JSON: each comes out as it was written, and what is none is refused by name."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.tts.codec_stream.framing import WireError
from s2s.tts.codec_stream.messages import (
    MOST_MESSAGE,
    ClientMessage,
    CodecDone,
    CodecStart,
    CreditGrant,
    ErrorMessage,
    InputCancel,
    InputCancelled,
    InputDone,
    Prefix,
    ServerMessage,
    SessionClose,
    SessionDone,
    SpeechConfig,
    SpeechText,
    StreamWishes,
    parse_client,
    parse_server,
)

START = CodecStart(
    version=2,
    codebooks=16,
    codebook_size=2048,
    frame_rate_hz=12.5,
    sample_rate=24_000,
    decoder_id="qwen3_tts_tokenizer_v2_12hz",
    header_format="<IHBH",
    decoder="0123456789abcdef",
    epoch=3,
    prefix=Prefix(id="abc", frames=40, sent=True),
)
CLIENT = (
    SpeechConfig(voice="vivian", seed=2**40, codec_stream=StreamWishes(epoch=9, credit=48)),
    SpeechText(text="Grüß Gott, 你好."),
    InputDone(),
    InputCancel(epoch=4),
    CreditGrant(epoch=4, frames=96),
    SessionClose(),
)
SERVER = (
    START,
    CodecDone(total_frames=8, seq_last=3, epoch=3, stop_reason="end", sent_frames=9),
    InputCancelled(epoch=3),
    SessionDone(),
    ErrorMessage(message="no voice", code="TtsError", action="discard"),
)


def test_every_message_is_among_the_examples() -> None:
    assert {type(each) for each in CLIENT} == set(get_args(ClientMessage))
    assert {type(each) for each in SERVER} == set(get_args(ServerMessage))


@pytest.mark.parametrize("message", CLIENT, ids=lambda each: type(each).__name__)
def test_a_clients_message_comes_out_as_it_was_written(message: ClientMessage) -> None:
    assert parse_client(message.written()) == message


@pytest.mark.parametrize("message", SERVER, ids=lambda each: type(each).__name__)
def test_a_servers_message_comes_out_as_it_was_written(message: ServerMessage) -> None:
    assert parse_server(message.written()) == message


def test_what_the_prototype_of_vllm_omni_sends_is_understood() -> None:
    told = parse_server(
        json.dumps({
            "type": "codec.start", "version": 1, "utterance_index": 0, "sentence_index": 0,
            "sentence_text": "Hello.", "model": "Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice",
            "codebooks": 16, "codebook_size": 2048, "frame_rate_hz": 12.5, "sample_rate": 24000,
            "decoder_id": "qwen3_tts_tokenizer_v2_12hz", "header_format": "<IHB",
        })
    )  # fmt: skip
    assert isinstance(told, CodecStart)
    assert told.epoch is told.prefix is told.decoder is None


def test_fields_of_a_newer_version_are_left_alone() -> None:
    assert parse_client('{"type": "input.done", "of": "tomorrow"}') == InputDone()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "message: Invalid JSON"),
        ("[]", "message: Input should be"),
        ('{"type": "input.texts"}', "'input.texts'"),
        ('{"type": "input.text"}', "input.text.text: Field required"),
        ('{"type": "input.text", "text": 3}', "input.text.text: Input should be a valid string"),
        ('{"type": "codec.credit", "epoch": 65536, "frames": 1}', "codec.credit.epoch: .*65536"),
        ('{"type": "codec.credit", "epoch": 1, "frames": -1}', "codec.credit.frames"),
        ('{"type": "session.config", "codec_stream": {"credit": 0}}', "codec_stream.credit"),
        ('{"type": "input.text", "text": "' + "a" * 20_001 + '"}', "at most 20000"),
        (" " * (MOST_MESSAGE + 1), "characters; at most"),
    ],
)
def test_what_is_none_is_refused_by_the_name_of_its_field(text: str, words: str) -> None:
    with pytest.raises(WireError, match=words):
        parse_client(text)


_JSON = st.sampled_from(
    (None, True, -1, 0, 3, 2**40, 1.5, "", "x" * 300, "<IHB", [], [1], {}, {"id": "a"})
)


@given(st.sampled_from(SERVER), st.data())
def test_a_servers_message_of_which_a_field_was_changed_is_one_or_refused(
    message: ServerMessage, data: st.DataObject
) -> None:
    fields = json.loads(message.written())
    fields[data.draw(st.sampled_from(sorted(fields)))] = data.draw(_JSON)
    with suppress(WireError):
        again = parse_server(json.dumps(fields))
        assert parse_server(again.written()) == again


@given(st.text(max_size=40))
def test_any_text_is_a_message_or_refused(text: str) -> None:
    for parse in (parse_client, parse_server):
        with pytest.raises(WireError):
            parse(text)
