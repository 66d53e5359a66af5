"""Sockets to a language model on a server: which are kept, which are opened again."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, replace

import pytest

from s2s.core.arrays import Ids
from s2s.system.remote import RemoteError, SocketMessage, stalled
from s2s.tts.codec_stream.feeding import TextFeed
from s2s.tts.codec_stream.messages import CreditGrant, InputDone, SpeechConfig, SpeechText
from s2s.tts.codec_stream.source import SpeechEnd, SpeechFrame, SpeechWish
from s2s.tts.qwen3.engine.decode_loop import Frame, FrameItem, Stop
from s2s.tts.qwen3.engine.stop_rules import StopReason
from s2s.tts.qwen3.errors import RemoteLanguageError
from s2s.tts.qwen3.interfaces import never
from s2s.tts.qwen3.remote.dictation import Dictation
from s2s.tts.qwen3.remote.language import CodecLine, RemoteLanguage, RemoteServer
from tests.support.codec_stream import CODEC, HELLO, PulledLine, some_frames

SERVER = RemoteServer("ws://test", window_frames=8, per_message=3)


@dataclass
class Counted:
    """A voice of so many frames."""

    frames: int = 20

    codec_format = CODEC
    model = "counted"
    voices = ()
    languages = ()
    threads = 1

    def reference_codes(self, voice: str | None) -> Ids | None:
        return None

    def takes_words(self, voice: str | None) -> bool:
        return False

    def codec_frames(
        self, wish: SpeechWish, stop: Callable[[], bool]
    ) -> Generator[SpeechFrame | SpeechEnd, None, None]:
        for codes in some_frames(self.frames):
            yield SpeechFrame(codes)
        yield SpeechEnd("end", self.frames)


class Broken(PulledLine):
    """A socket that sends what cannot be."""

    def receive(self, stop: Callable[[], bool], most_s: float) -> SocketMessage | None:
        return SocketMessage("nonsense", 0.0)


def language_of(*lines: CodecLine) -> RemoteLanguage:
    """Opens these, one after the other."""
    left = iter(lines)
    return RemoteLanguage(SERVER, CODEC, lambda: next(left))


def spoken(language: RemoteLanguage) -> list[FrameItem]:
    with closing(language.utterance(HELLO, never)) as utterance:
        assert utterance.begin() is not None
        return list(utterance.items())


def test_the_frames_come_with_their_stop_and_the_time_between_them() -> None:
    line = PulledLine(Counted())
    items = spoken(language_of(line))
    frames = [each for each in items if isinstance(each, Frame)]
    assert [each.codes.tolist() for each in frames] == some_frames(20).tolist()
    assert [each.index for each in frames] == list(range(20))
    assert items[-1] == Stop(StopReason.END, 20)
    # Messages come every 10 ms: of one frame at first, then of two, then of three.
    assert frames[1].took_s == pytest.approx(0.01)
    assert frames[-5].took_s == pytest.approx(0.01 / 3)
    granted = [each.frames for each in line.sent if isinstance(each, CreditGrant)]
    assert granted == sorted(granted)
    assert granted[-1] >= 20


def test_a_socket_is_kept_for_the_next_and_closed_at_the_end() -> None:
    line = PulledLine(Counted())
    language = language_of(line)
    for _ in range(3):
        assert spoken(language)[-1] == Stop(StopReason.END, 20)
    assert not line.closed
    language.close()
    assert line.closed


def test_two_at_once_have_a_socket_each() -> None:
    one, two = PulledLine(Counted()), PulledLine(Counted())
    language = language_of(one, two)
    with closing(language.utterance(HELLO, never)) as first:
        assert first.begin() is not None
        assert spoken(language)[-1] == Stop(StopReason.END, 20)
        assert list(first.items())[-1] == Stop(StopReason.END, 20)
    assert one.sent
    assert two.sent
    language.close()


def test_a_socket_that_the_server_has_ended_meanwhile_is_opened_again() -> None:
    silently, openly, fresh = (PulledLine(Counted()) for _ in range(3))
    language = language_of(silently, openly, fresh)
    assert spoken(language)
    silently.lost = True  # known when it is taken
    assert spoken(language)

    def refuse(message: str | bytes) -> None:
        raise RemoteError("ws://test was lost")

    openly.send = refuse  # found out with the first message
    assert spoken(language)[-1] == Stop(StopReason.END, 20)
    assert silently.closed
    assert openly.closed
    assert not fresh.closed


def test_a_socket_that_never_worked_is_tried_once() -> None:
    line = PulledLine(Counted(), lost_after=0)
    with (
        closing(language_of(line).utterance(HELLO, never)) as utterance,
        pytest.raises(RemoteLanguageError, match="was lost"),
    ):
        utterance.begin()
    assert line.closed


def test_what_cannot_be_ends_the_socket_with_its_name() -> None:
    line = Broken(Counted())
    with (
        closing(language_of(line).utterance(HELLO, never)) as utterance,
        pytest.raises(RemoteLanguageError, match="ws://test sends what cannot be: message: Inv"),
    ):
        utterance.begin()
    assert line.closed


class Slow(PulledLine):
    """A server that is silent twice before it begins; told before each time."""

    before: Callable[[], None]
    silences = 0

    def receive(self, stop: Callable[[], bool], most_s: float) -> SocketMessage | None:
        if self.silences < 2:
            self.silences += 1
            self.before()
            raise stalled("ws://test", most_s)
        return super().receive(stop, most_s)


def test_a_server_may_be_silent_while_its_text_is_being_written() -> None:
    line, feed = Slow(Counted()), TextFeed()
    feed.push("Hel")
    language = language_of(line)
    wish = replace(HELLO, text=feed)
    with closing(Dictation(feed, never)) as dictation:
        line.before = lambda: None if line.silences < 2 else feed.push("lo.") or feed.end()
        with closing(language.utterance(wish, never, dictation=dictation)) as utterance:
            assert utterance.begin() is not None
            assert list(utterance.items())[-1] == Stop(StopReason.END, 20)
    [config, *texts, done] = [
        each for each in line.sent if isinstance(each, SpeechConfig | SpeechText | InputDone)
    ]
    assert isinstance(config, SpeechConfig)
    assert config.codec_stream is not None
    assert config.codec_stream.fed
    assert "".join(each.text for each in texts if isinstance(each, SpeechText)) == "Hello."
    assert isinstance(done, InputDone)


def test_a_server_that_has_all_of_the_text_may_not_be_silent() -> None:
    line, feed = Slow(Counted()), TextFeed()
    line.before = lambda: None
    feed.push("Hello.")
    feed.end()
    dictation = Dictation(feed, never)
    dictation.finish()
    with (
        closing(dictation),
        closing(
            language_of(line).utterance(replace(HELLO, text=feed), never, dictation=dictation)
        ) as utterance,
        pytest.raises(RemoteLanguageError, match="no answer for 20 s"),
    ):
        utterance.begin()
    assert line.closed


def test_a_key_is_sent_with_the_request_for_a_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, dict[str, str]]] = []
    monkeypatch.setattr(
        "s2s.tts.qwen3.remote.language.ServerWebSocket",
        lambda url, headers: asked.append((url, headers)),
    )
    RemoteServer("ws://a", "secret").line()
    RemoteServer("ws://a").line()
    assert asked == [("ws://a", {"Authorization": "Bearer secret"}), ("ws://a", {})]
