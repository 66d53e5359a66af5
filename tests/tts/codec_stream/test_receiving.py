"""The end that decodes: what comes through, what is dropped, and what is refused."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.arrays import Ids
from s2s.tts.codec_stream.feeding import TextFeed
from s2s.tts.codec_stream.framing import Flag, FrameMessage, WireError, pack, unpack
from s2s.tts.codec_stream.messages import (
    CodecDone,
    CodecStart,
    CreditGrant,
    ErrorMessage,
    InputCancel,
    InputCancelled,
    InputDone,
    SpeechConfig,
    SpeechText,
    parse_client,
    parse_server,
)
from s2s.tts.codec_stream.receiving import (
    Codes,
    Event,
    FrameReceiver,
    Over,
    Refused,
    StreamBegun,
    text_messages,
)
from s2s.tts.codec_stream.sending import FrameSender, Sent
from s2s.tts.codec_stream.source import SpeechEnd, prefix_hash
from tests.support.codec_stream import (
    CODEC,
    HELLO,
    answered,
    begun,
    codes_of,
    sender_of,
    some_frames,
)


def config_of(asked: list[str]) -> SpeechConfig:
    config = parse_client(asked[0])
    assert isinstance(config, SpeechConfig)
    return config


def epoch_of(asked: list[str]) -> int:
    stream = config_of(asked).codec_stream
    assert stream is not None
    return stream.epoch


def start_of(sent: list[Sent]) -> CodecStart:
    assert isinstance(sent[0], str)
    start = parse_server(sent[0])
    assert isinstance(start, CodecStart)
    return start


def all_of(receiver: FrameReceiver, sent: list[Sent]) -> list[Event]:
    return [event for message in sent for event in receiver.receive(message)]


@given(
    st.integers(0, 90),
    st.none() | st.integers(1, 60),
    st.integers(1, 6),
    st.sampled_from((1, 2)),
)
def test_all_frames_come_through_in_their_order(
    count: int, window: int | None, per_message: int, version: int
) -> None:
    receiver = FrameReceiver(CODEC, window, per_message)
    for first in (0, 7):  # one answer after the other
        frames = some_frames(count, first)
        events = answered(receiver, frames, version=version)
        assert isinstance(events[0], StreamBegun)
        assert events[-1] == Over("end", count)
        assert codes_of(events).tolist() == frames.tolist()


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.data())
def test_any_split_into_messages_gives_the_same_frames(
    sizes: list[int], data: st.DataObject
) -> None:
    receiver = FrameReceiver(CODEC)
    asked = receiver.ask(HELLO)
    frames = some_frames(sum(sizes))
    events = receiver.receive(sender_of(asked).begin("m", None)[0])
    at = 0
    for seq, size in enumerate(sizes):
        flags = Flag.EOS if seq == len(sizes) - 1 and data.draw(st.booleans()) else Flag(0)
        message = FrameMessage(seq, flags, frames[at : at + size], epoch_of(asked))
        events += receiver.receive(pack(message, 2))
        at += size
    assert codes_of(events).tolist() == frames.tolist()


@given(st.integers(2, 40), st.data())
def test_what_was_lost_doubled_or_swapped_on_the_way_is_noticed(
    count: int, data: st.DataObject
) -> None:
    receiver = FrameReceiver(CODEC)
    sender = sender_of(receiver.ask(HELLO))
    sent = [*sender.begin("m", None)]
    for each in some_frames(count):
        sent += sender.push(each, None)
    sent += sender.end(SpeechEnd("end", count))
    at = data.draw(st.integers(1, len(sent) - 2))
    match data.draw(st.sampled_from(("lost", "doubled", "swapped"))):
        case "lost":
            del sent[at]
        case "doubled":
            sent.insert(at, sent[at])
        case _:
            sent[at], sent[at + 1] = sent[at + 1], sent[at]
    with pytest.raises(WireError):
        all_of(receiver, sent)


@given(st.lists(st.binary(max_size=40) | st.text(max_size=60), max_size=8), st.booleans())
def test_whatever_a_server_sends_is_an_event_or_refused(
    hostile: list[bytes | str], began: bool
) -> None:
    receiver = FrameReceiver(CODEC, 8)
    sender = sender_of(receiver.ask(HELLO))
    if began:
        receiver.receive(sender.begin("m", None)[0])
    for message in hostile:
        with suppress(WireError):
            assert not any(isinstance(each, Codes) for each in receiver.receive(message))


@given(st.data())
def test_a_message_of_which_a_byte_was_changed_decodes_to_frames_or_is_refused(
    data: st.DataObject,
) -> None:
    receiver = FrameReceiver(CODEC, 8)
    sender = sender_of(receiver.ask(HELLO))
    receiver.receive(sender.begin("m", None)[0])
    (message,) = sender.push(some_frames(1)[0], None)
    assert isinstance(message, bytes)
    at = data.draw(st.integers(0, len(message) - 1))
    changed = bytes((*message[:at], data.draw(st.integers(0, 255)), *message[at + 1 :]))
    events: list[Event] = []
    with suppress(WireError):
        events = receiver.receive(changed)
    for event in events:
        assert isinstance(event, Codes)
        assert event.codes.shape == (1, 2)
        assert 0 <= event.codes.min() <= event.codes.max() < 16


def test_a_frame_that_cannot_be_decoded_is_left_out_and_counted() -> None:
    receiver = FrameReceiver(CODEC, window=6)
    frames = some_frames(20)
    frames[3, 1] = -1
    frames[5, 0] = 16
    frames[9] = 0
    events = answered(receiver, frames)
    kept = [index for index in range(20) if index not in (3, 5)]
    assert codes_of(events).tolist() == frames[kept].tolist()
    assert receiver.dropped == 2
    assert events[-1] == Over("end", 18)


def test_vllm_omni_pads_with_zeros_which_are_no_frames() -> None:
    receiver = FrameReceiver(CODEC)
    frames = some_frames(6)
    frames[2] = 0
    events = answered(receiver, frames, version=1)
    assert codes_of(events).tolist() == frames[[0, 1, 3, 4, 5]].tolist()


def test_a_prefix_is_heard_first_and_sent_once() -> None:
    receiver = FrameReceiver(CODEC)
    prefix = some_frames(700)  # more than one message holds
    first = begun(answered(receiver, some_frames(3), prefix=prefix))
    assert first.prefix is not None
    assert first.prefix.tolist() == prefix.tolist()
    asked = receiver.ask(HELLO)
    stream = config_of(asked).codec_stream
    assert stream is not None
    assert stream.prefixes == [prefix_hash(prefix)]
    sent = sender_of(asked).begin("m", prefix)
    assert len(sent) == 1
    (again,) = receiver.receive(sent[0])
    assert isinstance(again, StreamBegun)
    assert again.prefix is not None
    assert again.prefix.tolist() == prefix.tolist()


def test_a_prefix_that_is_another_one_is_refused() -> None:
    receiver = FrameReceiver(CODEC)
    start, data = sender_of(receiver.ask(HELLO)).begin("m", some_frames(4))
    assert receiver.receive(start) == []
    assert isinstance(data, bytes)
    message = unpack(data, 2, 2)
    with pytest.raises(WireError, match="not the one"):
        receiver.receive(pack(replace(message, codes=some_frames(4, 1)), 2))


def test_speech_before_the_prefix_is_refused() -> None:
    receiver = FrameReceiver(CODEC)
    sender = sender_of(receiver.ask(HELLO))
    receiver.receive(sender.begin("m", some_frames(600))[0])
    with pytest.raises(WireError, match="before all of the prefix"):
        receiver.receive(pack(FrameMessage(0, Flag(0), some_frames(1), 1), 2))


def test_nothing_of_a_cancelled_answer_comes_through() -> None:
    receiver = FrameReceiver(CODEC)
    answered(receiver, some_frames(2))
    old = sender_of(receiver.ask(HELLO))
    late: list[Sent] = [*old.begin("m", None), *old.push(some_frames(1)[0], None)]
    (cancel,) = receiver.cancel()
    told = parse_client(cancel)
    assert isinstance(told, InputCancel)
    assert told.epoch == old.epoch
    assert receiver.cancel() == []
    late += [InputCancelled(epoch=old.epoch).written(), *old.end(None)]
    asked = receiver.ask(HELLO)
    for message in late:
        assert receiver.receive(message) == []
    new = sender_of(asked)
    frames = some_frames(5)
    events = [event for each in new.begin("m", None) for event in receiver.receive(each)]
    for each in frames:
        events += [event for data in new.push(each, None) for event in receiver.receive(data)]
    for each in new.end(SpeechEnd("end", 5)):
        events += receiver.receive(each)
    assert codes_of(events).tolist() == frames.tolist()


def test_version_1_ends_what_was_cancelled_before_the_next_is_heard() -> None:
    receiver = FrameReceiver(CODEC)
    answered(receiver, some_frames(2), version=1)
    old = sender_of(receiver.ask(HELLO), version=1)
    late = [*old.begin("m", None), *old.push(some_frames(1)[0], None)]
    assert receiver.cancel()
    receiver.ask(HELLO)
    for message in [*late, *old.push(some_frames(1)[0], None), *old.end(None)]:
        assert receiver.receive(message) == []
    new = sender_of(receiver.ask(HELLO), version=1)
    # The answer that was asked for in between is over when its own end comes.
    between = sender_of(receiver.ask(HELLO), version=1)
    for unheard in (new, between):
        for message in [*unheard.begin("m", None), *unheard.end(None)]:
            assert receiver.receive(message) == []
    last = sender_of([SpeechConfig().written()], version=1)
    (event,) = receiver.receive(last.begin("m", None)[0])
    assert isinstance(event, StreamBegun)


def test_more_than_was_granted_is_refused() -> None:
    receiver = FrameReceiver(CODEC, window=3)
    sender = sender_of(receiver.ask(HELLO))
    receiver.receive(sender.begin("m", None)[0])
    for each in some_frames(3):
        receiver.receive(sender.push(each, None)[0])
    with pytest.raises(WireError, match="4 frames came where 3 were granted"):
        receiver.receive(sender.push(some_frames(1)[0], None)[0])


def test_credit_is_granted_by_halves_of_the_window() -> None:
    receiver = FrameReceiver(CODEC, window=8)
    assert receiver.taken(0) is None
    asked = receiver.ask(HELLO)
    receiver.receive(sender_of(asked).begin("m", None)[0])
    assert [receiver.taken(frames) is not None for frames in range(9)] == [
        False, False, False, False, True, False, False, False, True,
    ]  # fmt: skip
    told = parse_client(receiver.taken(12) or "")
    assert told == CreditGrant(epoch=epoch_of(asked), frames=20)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("decoder", "another", "decoder is 'another' there and 'decoder' here"),
        ("codebooks", 3, "codebooks is 3 there and 2 here"),
        ("codebook_size", 17, "codebook_size"),
        ("sample_rate", 16_000, "sample_rate"),
        ("frame_rate_hz", 25.0, "frame_rate_hz"),
        ("decoder_id", "mimi", "decoder_id"),
        ("header_format", "<IHB", "header_format is '<IHB' in version 2"),
    ],
)
def test_codes_for_another_decoder_are_refused(field: str, value: object, words: str) -> None:
    receiver = FrameReceiver(CODEC)
    start = start_of(sender_of(receiver.ask(HELLO)).begin("m", None))
    with pytest.raises(WireError, match=words):
        receiver.receive(start.model_copy(update={field: value}).written())


def test_codes_before_their_answer_begins_are_refused() -> None:
    receiver = FrameReceiver(CODEC)
    epoch = epoch_of(receiver.ask(HELLO))
    with pytest.raises(WireError, match=r"before codec\.start"):
        receiver.receive(pack(FrameMessage(0, Flag(0), some_frames(1), epoch), 2))


def test_a_server_that_cannot_says_so() -> None:
    receiver = FrameReceiver(CODEC)
    receiver.ask(HELLO)
    told = ErrorMessage(message="no voice 'ada'", action="discard")
    assert receiver.receive(told.written()) == [Refused("no voice 'ada'", discard=True)]
    sender = sender_of(receiver.ask(HELLO))
    receiver.receive(sender.begin("m", None)[0])
    assert receiver.receive(sender.end(None, error="it broke")[0]) == [Refused("it broke")]


def test_totals_that_do_not_add_up_are_refused() -> None:
    receiver = FrameReceiver(CODEC)
    asked = receiver.ask(HELLO)
    sender = sender_of(asked)
    receiver.receive(sender.begin("m", None)[0])
    receiver.receive(sender.push(some_frames(1)[0], None)[0])
    done = CodecDone(total_frames=1, seq_last=0, epoch=epoch_of(asked), sent_frames=2)
    with pytest.raises(WireError, match="2 frames were sent, 1 of them speech, and 1 came"):
        receiver.receive(done.written())


def test_frames_that_a_guard_found_to_say_nothing_are_told() -> None:
    events = answered(FrameReceiver(CODEC), some_frames(20), end=SpeechEnd("silence", 8))
    assert events[-1] == Over("silence", 8)
    assert len(codes_of(events)) == 20
    assert np.array_equal(codes_of(events), some_frames(20))


ACTIONS = st.lists(
    st.tuples(st.just("ask"), st.integers(0, 12))
    | st.tuples(st.just("hear"), st.integers(1, 9))
    | st.tuples(st.just("cancel"), st.integers(0, 5)),
    max_size=30,
)


class Server:
    """Answers what it is asked, all at once; what is sent arrives in its order, some time later."""

    def __init__(self, version: int) -> None:
        self._version = version
        self._sender: FrameSender | None = None
        self.on_its_way: list[Sent] = []

    def ask(self, asked: list[str], frames: Ids) -> None:
        sender = self._sender = sender_of(asked, version=self._version)
        self.on_its_way += sender.begin("m", None)
        for each in frames:
            self.on_its_way += sender.push(each, None)
        self.on_its_way += sender.end(SpeechEnd("end", len(frames)))

    def cancel(self, kept: int) -> None:
        """It hears a cancel when it has sent all but so many of what is on its way."""
        if self._sender is not None:
            told = InputCancelled(epoch=self._sender.epoch)
            self.on_its_way.insert(max(0, len(self.on_its_way) - kept), told.written())


@given(ACTIONS, st.sampled_from((1, 2)))
def test_whatever_is_cancelled_and_late_each_answer_has_its_own_frames(
    actions: list[tuple[str, int]], version: int
) -> None:
    receiver, server = FrameReceiver(CODEC, per_message=3), Server(version)
    # As the device learns with the first answer which version the server speaks:
    answered(receiver, some_frames(1), version=version)
    asked = heard = 0
    wanted = some_frames(0)
    events: list[Event] = []
    for action, count in actions:
        if action == "ask":
            asked += 1
            wanted, events = some_frames(count, 13 * asked), []
            server.ask(receiver.ask(HELLO), wanted)
        elif action == "cancel":
            if receiver.cancel():
                server.cancel(count)
            events = []
        else:
            for _ in range(min(count, len(server.on_its_way))):
                new = receiver.receive(server.on_its_way.pop(0))
                events += new
                got = codes_of(events)
                assert got.tolist() == wanted[: len(got)].tolist()
                if any(isinstance(each, Over) for each in new):
                    assert len(got) == len(wanted)
                    heard += 1
    assert heard <= asked


def test_a_text_that_is_being_written_is_asked_for_without_it_and_told_in_pieces() -> None:
    asked = FrameReceiver(CODEC).ask(replace(HELLO, text=TextFeed()))
    assert len(asked) == 1
    stream = config_of(asked).codec_stream
    assert stream is not None
    assert stream.fed
    assert text_messages("", ended=False) == []
    told = [parse_client(each) for each in text_messages("a" * 20_001, ended=True)]
    assert [len(each.text) for each in told if isinstance(each, SpeechText)] == [20_000, 1]
    assert isinstance(told[-1], InputDone)


def test_that_the_text_is_late_is_told_with_the_frames_before_it() -> None:
    receiver = FrameReceiver(CODEC)
    sender = sender_of(receiver.ask(replace(HELLO, text=TextFeed())))
    sent = sender.begin("m", None) + sender.push(some_frames(1)[0], None)
    sent += sender.push(some_frames(1)[0], None, text_late=True)
    found = [each.text_late for each in all_of(receiver, sent) if isinstance(each, Codes)]
    assert found == [False, True]
