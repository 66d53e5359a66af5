"""One turn, heard as it grows: whole recordings again, or what is new of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.audio import Block
from s2s.stt.base import Transcription
from s2s.stt.hearing import StreamedHearing, WholeHearing, hearing_of, partial_interval_ms


def never() -> bool:
    return False


class CountingEar:
    """Writes down how many samples it was given. Whole recordings."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, str | None, Transcription | None]] = []

    def transcribe(
        self,
        audio: Block,
        *,
        language: str | None = None,
        earlier: Transcription | None = None,
        stop: Callable[[], bool] = never,
    ) -> Transcription:
        self.asked.append((len(audio), language, earlier))
        return Transcription(str(len(audio)), language)

    def warm(self) -> None: ...

    def close(self) -> None: ...


class CountingStream:
    """The samples it was given, summed; `.` at its end."""

    def __init__(self, ear: StreamingEar, language: str | None) -> None:
        self._ear = ear
        self._language = language
        self._total = 0.0
        self._samples = 0

    def push(self, audio: Block, *, stop: Callable[[], bool] = never) -> Transcription:
        self._ear.pushed += len(audio)
        self._total += float(audio.sum())
        self._samples += len(audio)
        return Transcription(f"{self._total:g} {self._samples}", self._language)

    def end(self, *, stop: Callable[[], bool] = never) -> Transcription:
        return Transcription(f"{self._total:g} {self._samples}.", self._language)


class StreamingEar(CountingEar):
    interval_ms = 160

    def __init__(self) -> None:
        super().__init__()
        self.pushed = self.opened = 0

    def open(self, *, language: str | None = None) -> CountingStream:
        self.opened += 1
        return CountingStream(self, language)


def sound(samples: int, value: float = 1.0) -> Block:
    return np.full(samples, value, dtype=np.float32)


def test_each_recogniser_is_heard_in_its_way() -> None:
    assert isinstance(hearing_of(CountingEar()), WholeHearing)
    assert isinstance(hearing_of(StreamingEar()), StreamedHearing)


def test_words_are_asked_for_as_often_as_there_are_new_ones() -> None:
    assert partial_interval_ms(500, CountingEar()) == 500
    assert partial_interval_ms(500, StreamingEar()) == 160
    assert partial_interval_ms(100, StreamingEar()) == 100
    assert partial_interval_ms(0, StreamingEar()) == 0


def test_a_whole_recording_is_not_heard_twice_and_the_last_result_is_handed_on() -> None:
    ear = CountingEar()
    hearing = WholeHearing(ear)
    for samples in (10, 20, 20):
        hearing.hear(sound(samples), final=False, language=None, stop=never)
    assert hearing.hear(sound(20), final=True, language=None, stop=never).text == "20"
    assert [(samples, earlier and earlier.text) for samples, _, earlier in ear.asked] == [
        (10, None),
        (20, "10"),
    ]


def test_in_another_language_it_is_heard_afresh() -> None:
    ear = CountingEar()
    hearing = WholeHearing(ear)
    hearing.hear(sound(10), final=False, language="en", stop=never)
    assert hearing.hear(sound(10), final=True, language="de", stop=never).language == "de"
    assert ear.asked[-1] == (10, "de", None)
    streaming = StreamingEar()
    streamed = StreamedHearing(streaming)
    streamed.hear(sound(10), final=False, language="en", stop=never)
    assert streamed.hear(sound(10), final=True, language="de", stop=never).text == "10 10."
    assert streaming.pushed == 20


def test_what_was_stopped_is_not_kept() -> None:
    ear = CountingEar()
    hearing = WholeHearing(ear)
    hearing.hear(sound(10), final=True, language=None, stop=lambda: True)
    hearing.hear(sound(10), final=True, language=None, stop=never)
    assert len(ear.asked) == 2
    streaming = StreamingEar()
    streamed = StreamedHearing(streaming)
    streamed.hear(sound(10), final=True, language=None, stop=lambda: True)
    assert streamed.hear(sound(10), final=True, language=None, stop=never).text == "10 10."
    assert streaming.opened == 2


def test_a_stream_hears_each_sample_once() -> None:
    ear = StreamingEar()
    hearing = StreamedHearing(ear)
    said = [
        hearing.hear(sound(samples), final=final, language=None, stop=never).text
        for samples, final in ((10, False), (25, False), (25, False), (25, True), (25, True))
    ]
    assert said == ["10 10", "25 25", "25 25", "25 25.", "25 25."]
    assert (ear.pushed, ear.opened) == (25, 1)


@given(st.lists(st.tuples(st.integers(0, 40), st.booleans(), st.booleans()), max_size=10))
def test_a_stream_says_what_a_fresh_one_would(steps: list[tuple[int, bool, bool]]) -> None:
    """However the recordings follow on one another: longer, shorter, of other samples, after an
    end."""
    hearing = StreamedHearing(StreamingEar())
    for samples, final, other in steps:
        audio = sound(samples, 0.5 if other else 1.0)
        fresh = StreamedHearing(StreamingEar())
        expected = fresh.hear(audio, final=final, language=None, stop=never)
        heard = hearing.hear(audio, final=final, language=None, stop=never)
        assert heard.text.rstrip(".") == expected.text.rstrip(".")
        assert heard.text.endswith(".") or not final


class GrowingEar(CountingEar):
    """Writes its words one by one."""

    def transcribe_growing(
        self,
        audio: Block,
        *,
        so_far: Callable[[Transcription], None],
        language: str | None = None,
        earlier: Transcription | None = None,
        stop: Callable[[], bool] = never,
    ) -> Transcription:
        for text in ("He", "He was"):
            so_far(Transcription(text))
        return self.transcribe(audio, language=language, earlier=earlier, stop=stop)


def test_words_of_one_recording_come_one_after_another() -> None:
    ear = GrowingEar()
    hearing = hearing_of(ear)
    assert isinstance(hearing, WholeHearing)
    so_far: list[Transcription] = []
    audio = np.ones(4, np.float32)
    heard = hearing.hear(audio, final=True, language=None, stop=never, so_far=so_far.append)
    assert heard.text == "4"
    assert [each.text for each in so_far] == ["He", "He was"]
    again = hearing.hear(audio, final=True, language=None, stop=never, so_far=so_far.append)
    assert again is heard
    assert len(so_far) == 2, "it was not asked again"
    longer = hearing.hear(np.ones(5, np.float32), final=True, language=None, stop=never)
    assert (longer.text, ear.asked[-1]) == ("5", (5, None, heard))
