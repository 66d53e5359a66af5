"""The end that makes codes: what it sends when, and how far it goes ahead."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from s2s.core.arrays import Ids
from s2s.tts.codec_stream.framing import Flag, FrameMessage, unpack
from s2s.tts.codec_stream.messages import (
    CodecDone,
    CodecStart,
    SessionDone,
    SpeechConfig,
    StreamWishes,
    parse_server,
)
from s2s.tts.codec_stream.sending import Credit, FrameSender, Sent
from s2s.tts.codec_stream.source import CodecFormat, SpeechEnd, prefix_hash
from tests.support.patience import PATIENCE_S

CODEC = CodecFormat(2, 16, 12.5, 24_000, "decoder")
PREFIX = np.arange(6).reshape(3, 2)


def sender(**wishes: object) -> FrameSender:
    config = SpeechConfig(codec_stream=StreamWishes(epoch=5, **wishes))  # pyright: ignore
    return FrameSender(CODEC, config, 7)


def frame(index: int) -> Ids:
    return np.array([index, 1])


def pushed(made: FrameSender, frames: int, allowed: int | None = None) -> list[FrameMessage]:
    sent = [each for at in range(frames) for each in made.push(frame(at), allowed)]
    return unpacked(sent, made.version)


def unpacked(sent: list[Sent], version: int) -> list[FrameMessage]:
    return [unpack(each, version, 2) for each in sent if isinstance(each, bytes)]


def test_it_begins_with_all_that_a_decoder_needs() -> None:
    (text,) = sender().begin("a model", None, ("ada",), ("en",))
    assert isinstance(text, str)
    start = parse_server(text)
    assert isinstance(start, CodecStart)
    assert (start.version, start.epoch, start.utterance_index) == (2, 5, None)
    assert (start.codebooks, start.codebook_size, start.header_format) == (2, 16, "<IHBH")
    assert (start.decoder, start.prefix, start.voices) == ("decoder", None, None)


def test_voices_and_languages_are_told_where_they_are_asked_for() -> None:
    (text,) = sender(about=True).begin("a model", None, ("ada",), ("en", "de"))
    assert isinstance(text, str)
    start = parse_server(text)
    assert isinstance(start, CodecStart)
    assert (start.voices, start.languages) == (["ada"], ["en", "de"])


def test_the_prefix_is_sent_once() -> None:
    text, data = sender().begin("m", PREFIX)
    assert isinstance(text, str)
    assert isinstance(data, bytes)
    message = unpack(data, 2, 2)
    assert message.codes.tolist() == PREFIX.tolist()
    assert message.flags == Flag.PREFIX | Flag.RESET
    assert message.epoch == 5
    again = sender(prefixes=[prefix_hash(PREFIX)]).begin("m", PREFIX)
    assert len(again) == 1


def test_frames_go_alone_at_first_and_together_later() -> None:
    messages = pushed(sender(per_message=4), 24)
    sizes = [len(each.codes) for each in messages]
    assert sizes == [1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4]
    assert [each.seq for each in messages] == list(range(len(sizes)))
    assert [each.flags for each in messages] == [Flag.RESET, *[Flag(0)] * (len(sizes) - 1)]
    assert np.concatenate([each.codes for each in messages])[:, 0].tolist() == list(range(24))


def test_no_frame_waits_for_one_that_was_not_granted() -> None:
    made = sender(per_message=4)
    assert sum(len(each.codes) for each in pushed(made, 15, allowed=15)) == 15


def test_the_end_brings_what_waits_and_the_totals() -> None:
    made = sender(per_message=4)
    before = pushed(made, 14)
    data, text = made.end(SpeechEnd("silence", 12))
    assert isinstance(data, bytes)
    assert isinstance(text, str)
    last = unpack(data, 2, 2)
    assert sum(len(each.codes) for each in before) + len(last.codes) == 14
    assert last.flags == Flag.EOS | Flag.SEGMENT_END
    done = parse_server(text)
    assert isinstance(done, CodecDone)
    assert (done.total_frames, done.sent_frames, done.seq_last) == (12, 14, last.seq)
    assert (done.stop_reason, done.error, done.cancelled) == ("silence", None, None)


@pytest.mark.parametrize("error", [None, "it broke"])
def test_what_waits_is_not_sent_of_an_answer_that_was_cancelled_or_failed(
    error: str | None,
) -> None:
    made = sender(per_message=4)
    sent = sum(len(each.codes) for each in pushed(made, 14))
    (text,) = made.end(None, error=error)
    assert isinstance(text, str)
    done = parse_server(text)
    assert isinstance(done, CodecDone)
    assert done.cancelled is (True if error is None else None)
    assert (done.error, done.total_frames, done.sent_frames) == (error, sent, None)
    assert sent < 14


def test_version_1_has_neither_epoch_nor_prefix() -> None:
    made = FrameSender(CODEC, SpeechConfig(), 0)
    (text,) = made.begin("m", PREFIX)
    assert isinstance(text, str)
    start = parse_server(text)
    assert isinstance(start, CodecStart)
    assert (start.version, start.header_format, start.epoch) == (1, "<IHB", None)
    assert (start.utterance_index, start.sentence_index) == (0, 0)
    assert [len(each.codes) for each in pushed(made, 20)] == [1] * 20
    kinds = [type(parse_server(each)) for each in made.end(SpeechEnd("end", 20))[1:]]  # pyright: ignore
    assert kinds == [CodecDone, SessionDone]


def test_credit_lets_who_computes_wait() -> None:
    credit = Credit(2)
    waits, went = threading.Event(), threading.Event()

    def computes() -> None:
        assert credit.wait(1)
        waits.set()
        assert credit.wait(2)
        went.set()
        assert not credit.wait(4)

    thread = threading.Thread(target=computes)
    thread.start()
    assert waits.wait(PATIENCE_S)
    credit.grant(1)  # never fewer than before
    assert credit.frames == 2
    credit.grant(4)
    assert went.wait(PATIENCE_S)
    credit.close()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def test_without_a_limit_nobody_waits() -> None:
    credit = Credit(None)
    credit.grant(3)
    assert credit.frames is None
    assert credit.wait(10**6)


def test_no_frame_waits_while_the_text_is_late() -> None:
    made = sender(per_message=4, fed=True)
    pushed(made, 13)  # the last of them waits for three others
    (data,) = made.push(frame(13), None, text_late=True)
    assert isinstance(data, bytes)
    message = unpack(data, 2, 2)
    assert message.flags == Flag.TEXT_LATE
    assert len(message.codes) == 2


@pytest.mark.parametrize(("version", "told"), [(1, None), (2, True)])
def test_that_a_voice_takes_words_is_told_in_version_2(version: int, told: bool | None) -> None:
    made = sender() if version == 2 else FrameSender(CODEC, SpeechConfig(), 0)
    (text,) = made.begin("m", None, feeds=True)
    assert isinstance(text, str)
    start = parse_server(text)
    assert isinstance(start, CodecStart)
    assert start.feeds is told
