"""The TTS stage, rule by rule, with a synthesizer that writes down what it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.core.cancel import CancelScope
from s2s.core.channel import Channel
from s2s.core.clock import ManualClock
from s2s.core.events import Event, Notice
from s2s.core.messages import (
    AssistantText,
    AudioOut,
    AudioResponseDone,
    EndOfResponse,
    Ends,
    ResponseId,
    SenderInput,
    SessionEnd,
    SignOfLife,
    TtsInput,
    TtsMessage,
)
from s2s.core.metrics import Metrics
from s2s.core.speculation import SpeculativeTurns
from s2s.core.state import SessionState
from s2s.tts.base import CUT_NOTICE, AudioChunk, Capabilities, SegmentReport, TtsError, WrittenText
from s2s.tts.handler import TtsHandler, TtsSettings
from s2s.tts.passage import joined
from s2s.tts.unspoken import unspoken_phrase

HZ = 16_000
RESPONSE = ResponseId("t", 0, 0, "r")


@dataclass
class Voice:
    """Says each text as a loud tone; counts."""

    chunk_samples: tuple[int, ...] = (1600,)
    samples_a_char: int = 160
    lead: int = 0
    languages: tuple[str, ...] = ("en",)
    voices: tuple[str, ...] = ()
    asked: list[tuple[str, str | None, str | None]] = field(default_factory=list)
    made: int = 0
    fail_after: int | None = None
    on_chunk: Callable[[], object] = lambda: None

    reads_first: bool = False

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            HZ, True, self.languages, voices=self.voices, reads_first=self.reads_first
        )

    mute_for: str = "\0"

    def sound(self, text: str) -> np.ndarray:
        if self.mute_for in text:
            return np.zeros(0, dtype=np.float32)
        n = np.arange(len(text) * self.samples_a_char)
        tone = (0.3 + 0.1 * np.sin(n / 7)).astype(np.float32)
        return np.concatenate([np.zeros(self.lead, dtype=np.float32), tone])

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        self.asked.append((text, voice, language))
        samples, start, index = self.sound(text), 0, 0
        while start < len(samples):
            if stop():
                return
            if self.fail_after is not None and index >= self.fail_after:
                raise TtsError("voice broke")
            size = self.chunk_samples[index % len(self.chunk_samples)]
            self.made += 1
            end = min(start + size, len(samples))
            spoken = round(len(text) * (end - self.lead) / (len(samples) - self.lead))
            yield AudioChunk(samples[start:end], max(0, spoken))
            self.on_chunk()
            start, index = start + size, index + 1

    def warm(self) -> None: ...

    def close(self) -> None: ...


@dataclass
class Rig:
    voice: Voice = field(default_factory=Voice)
    speculative: bool = True
    real_time_factor: float = 0.0
    output_hz: int = HZ

    def __post_init__(self) -> None:
        self.clock = ManualClock()
        self.scope = CancelScope(self.clock)
        self.turns = SpeculativeTurns(self.clock)
        self.metrics = Metrics()
        self.events: list[Event] = []
        self.inbox: Channel[TtsMessage] = Channel(32, clock=self.clock)
        state = SessionState(self.scope, self.turns, self.clock, self.metrics, self.events.append)
        settings_ = TtsSettings(
            self.output_hz, speculative=self.speculative, real_time_factor=self.real_time_factor
        )
        self.handler = TtsHandler(self.voice, self.inbox, state, settings_)
        self.turns.observe(RESPONSE.turn, grace_until_s=0.0)

    def send(self, *messages: TtsMessage) -> list[SenderInput]:
        """Let the first be processed while the others wait; then those that are left."""
        for message in messages:
            self.inbox.put(message)
        out: list[SenderInput] = []
        while len(self.inbox):
            out += self.handler.process(self.inbox.get())
        return out


def say(text: str, response: ResponseId = RESPONSE, **options: object) -> TtsInput:
    return replace(TtsInput(text, response, "en", 0.0), **options)


def sound(out: list[SenderInput]) -> np.ndarray:
    blocks = [m.block for m in out if isinstance(m, AudioOut)]
    return np.concatenate(blocks) if blocks else np.zeros(0, dtype=np.float32)


# --- the door ------------------------------------------------------------------------------------


def test_end_of_a_stale_turn_without_a_key_gives_nothing() -> None:
    rig = Rig()
    rig.turns.confirm_reopen("t")
    assert rig.send(EndOfResponse(replace(RESPONSE, response_key=None))) == []


def test_end_of_a_stale_turn_with_a_key_goes_on_as_cleanup_only() -> None:
    rig = Rig()
    rig.turns.confirm_reopen("t")
    assert rig.send(EndOfResponse(RESPONSE)) == [AudioResponseDone(RESPONSE, cleanup_only=True)]


def test_an_end_closes_a_response_exactly_once() -> None:
    rig = Rig()
    out = rig.send(say("Hello."), EndOfResponse(RESPONSE), EndOfResponse(RESPONSE))
    assert [m for m in out if isinstance(m, AudioResponseDone)] == [AudioResponseDone(RESPONSE)]
    assert isinstance(out[-1], AudioResponseDone)


def test_stale_input_is_dropped_and_not_committed() -> None:
    rig = Rig()
    rig.turns.confirm_reopen("t")
    assert rig.send(say("Hello.")) == []
    assert rig.voice.asked == []
    assert not rig.turns.is_committed("t")


def test_interrupted_input_is_dropped() -> None:
    rig = Rig()
    rig.scope.cancel()
    assert rig.send(say("Hello.")) == []
    assert rig.voice.asked == []


def test_it_commits_before_the_first_audio_leaves() -> None:
    rig = Rig()
    rig.inbox.put(say("Hello."))
    first = next(iter(rig.handler.process(rig.inbox.get())))
    assert isinstance(first, AudioOut)
    assert rig.turns.is_committed("t")


def test_speculation_makes_the_sound_during_the_grace_and_sends_it_after() -> None:
    rig = Rig()
    rig.turns.set_grace(RESPONSE.turn, 1.0)
    made_at: list[float] = []
    rig.voice.on_chunk = lambda: made_at.append(rig.clock.now())
    left_at: list[float] = []
    for message in rig.handler.process(say("Hello.")):
        left_at.append(rig.clock.now())
        assert isinstance(message, AudioOut)
    assert max(made_at) == 0.0
    assert min(left_at) == 1.0


def test_without_speculation_nothing_is_made_before_the_grace_is_over() -> None:
    rig = Rig(speculative=False)
    rig.turns.set_grace(RESPONSE.turn, 1.0)
    rig.voice.on_chunk = lambda: made.append(rig.clock.now())
    made: list[float] = []
    assert rig.send(say("Hello."))
    assert min(made) == 1.0


def test_a_reopening_during_the_grace_drops_what_was_made() -> None:
    rig = Rig()
    rig.turns.set_grace(RESPONSE.turn, 1.0)
    rig.voice.on_chunk = lambda: rig.turns.confirm_reopen("t")
    assert rig.send(say("Hello."), EndOfResponse(RESPONSE)) == [
        AudioResponseDone(RESPONSE, cleanup_only=True)
    ]


# --- coalescing ----------------------------------------------------------------------------------


def texts(rig: Rig) -> list[str]:
    return [text for text, _, _ in rig.voice.asked]


def test_what_waits_for_the_same_response_is_spoken_in_one_call() -> None:
    rig = Rig()
    rig.send(say("One. "), say("Two. "), say("Three."), EndOfResponse(RESPONSE))
    assert texts(rig) == ["One. Two. Three."]


def test_a_voice_that_reads_all_before_its_first_sound_begins_with_the_first_clause() -> None:
    rig = Rig(Voice(reads_first=True))
    texts = ("Well, there we are,", "at last.", "More.")
    rig.send(*(TtsInput(text, RESPONSE, "en", 0.0) for text in texts))
    assert [text for text, *_ in rig.voice.asked] == ["Well, there we are,", "at last. More."]


def test_text_events_leave_before_the_audio_and_in_order() -> None:
    rig = Rig()
    events = [AssistantText("One. ", RESPONSE), AssistantText("Two.", RESPONSE)]
    out = rig.send(events[0], say("One. "), events[1], say("Two."))
    assert out[:2] == events
    assert all(isinstance(m, AudioOut) for m in out[2:])


def test_coalescing_stops_at_another_response() -> None:
    rig = Rig()
    other = ResponseId("u", 0, 0, "s")
    rig.turns.observe(other.turn, grace_until_s=0.0)
    rig.send(say("One."), say("Two.", other))
    assert texts(rig) == ["One.", "Two."]


def test_coalescing_stops_at_another_language_and_an_unknown_one_fits_any() -> None:
    rig = Rig()
    rig.send(say("One. ", language=None), say("Two. "), say("Drei. ", language="de"))
    assert texts(rig) == ["One. Two.", "Drei."]


@pytest.mark.parametrize("barrier", [EndOfResponse(RESPONSE), SessionEnd("s")])
def test_coalescing_stops_at_an_end(barrier: TtsMessage) -> None:
    rig = Rig()
    rig.inbox.put(barrier)
    rig.inbox.put(say("Two."))
    list(rig.handler.process(say("One.")))
    assert texts(rig) == ["One."]


def test_coalescing_stops_at_the_cap() -> None:
    rig = Rig()
    sentence = "This is a sentence of quite some length, as they go, is it not? " * 2
    rig.send(*(say(sentence) for _ in range(6)))
    assert len(texts(rig)) > 1
    assert " ".join(texts(rig)).split() == (sentence * 6).split()


def test_pieces_are_joined_with_a_space_unless_they_are_cjk() -> None:
    assert joined(["One.", "Two."]) == "One. Two."
    assert joined(["One. ", "Two."]) == "One. Two."
    assert joined(["你好。", "今天天气不错。"]) == "你好。今天天气不错。"


# --- streaming -----------------------------------------------------------------------------------


def test_blocks_have_512_samples_and_the_last_is_padded() -> None:
    out = Rig(Voice(chunk_samples=(700, 100))).send(say("Hello."))
    blocks = [m.block for m in out if isinstance(m, AudioOut)]
    assert {len(block) for block in blocks} == {512}
    assert not blocks[-1][960 - 512 :].any()
    assert blocks[-1][: 960 - 512].all()


def test_a_lead_of_silence_is_cut_to_40_ms() -> None:
    out = sound(Rig(Voice(lead=8000)).send(say("Hello.")))
    assert int(np.flatnonzero(out)[0]) == 640


@settings(max_examples=60, deadline=None)
@given(
    chunks=st.lists(st.integers(1, 3000), min_size=1, max_size=8),
    lead=st.integers(0, 3000),
    output_hz=st.sampled_from([16_000, 24_000, 44_100]),
)
def test_splitting_the_models_output_differently_changes_no_sample(
    chunks: list[int], lead: int, output_hz: int
) -> None:
    def heard(voice: Voice) -> np.ndarray:
        rig = Rig(voice, output_hz=output_hz)
        return sound(rig.send(say("Hello there.")))

    whole = heard(Voice(chunk_samples=(10**6,), lead=lead))
    assert np.array_equal(heard(Voice(chunk_samples=tuple(chunks), lead=lead)), whole)


def test_an_interruption_stops_the_model_at_the_next_chunk() -> None:
    voice = Voice(chunk_samples=(160,), samples_a_char=1600)
    rig = Rig(voice)
    out = iter(rig.handler.process(say("Hello there.")))
    next(out)
    before = voice.made
    rig.scope.cancel()
    assert len(list(out)) <= 1
    assert voice.made <= before + 1


def test_the_text_of_a_block_is_what_has_been_spoken_by_its_end() -> None:
    voice = Voice(chunk_samples=(10**6,), samples_a_char=800)
    out = Rig(voice).send(say("Good day to you all. "), say("Bye."))
    heard = [m.text for m in out if isinstance(m, AudioOut)]
    assert heard == sorted(heard, key=len)
    assert heard[-1] == "Good day to you all. Bye."
    assert all("Good day to you all. Bye.".startswith(text) for text in heard)
    words = {text.strip() for text in heard if text.strip()}
    assert {"Good", "Good day", "Good day to"} <= words


def test_a_system_note_is_heard_but_is_no_part_of_the_answer() -> None:
    out = Rig().send(say("One. "), say("Sorry, that failed.", system_note=True))
    blocks = [m for m in out if isinstance(m, AudioOut)]
    assert blocks[-1].text == "One. "
    assert len(blocks) > 4


NOTHING = ["🎉🎉", "```python\nprint(1)\n```", "", "---", "<think>hm. so</think>", "~~~\nx\n~~~"]


@pytest.mark.parametrize("text", NOTHING)
def test_where_nothing_can_be_spoken_a_sentence_is_and_it_is_an_event(text: str) -> None:
    rig = Rig()
    out = rig.send(AssistantText(text, RESPONSE), say(text), EndOfResponse(RESPONSE))
    phrase, language = unspoken_phrase(text, None, ("en",))
    assert rig.voice.asked == [(phrase, None, language)]
    assert language == "en"
    assert AssistantText(text, RESPONSE) in out
    assert AssistantText(phrase, RESPONSE, instead_of=text) in out
    assert len(sound(out))
    assert out[-1] == AudioResponseDone(RESPONSE)


def test_what_could_not_be_spoken_is_remembered_as_it_is_shown() -> None:
    code = "```\nx = 1\n```"
    for messages in ([say(code)], [say("Here it is. "), say(code)]):
        rig = Rig()
        out = [each for m in (*messages, EndOfResponse(RESPONSE)) for each in rig.send(m)]
        blocks = [m for m in out if isinstance(m, AudioOut)]
        assert blocks[-1].text == "".join(m.text for m in messages)


def test_the_sentence_is_in_the_language_of_the_person_where_the_voice_has_it() -> None:
    for heard, spoken in (("de", "de"), ("ja", "en"), (None, "en")):
        rig = Rig(Voice(languages=("en", "de")))
        rig.send(EndOfResponse(RESPONSE, language=heard))
        assert rig.voice.asked[0][0] == unspoken_phrase("", spoken, ("en", "de"))[0]


def test_a_script_that_the_voice_lacks_is_told_of() -> None:
    rig = Rig()
    rig.voice.mute_for = "你好"
    out = rig.send(say("你好，世界。"), EndOfResponse(RESPONSE))
    assert len(sound(out))
    assert [m.instead_of for m in out if isinstance(m, AssistantText)] == ["你好，世界。"]


def test_a_voice_that_makes_no_sound_at_all_has_failed() -> None:
    rig = Rig(Voice(samples_a_char=0))
    out = rig.send(say("Hello there."), EndOfResponse(RESPONSE))
    assert out[-1] == AudioResponseDone(RESPONSE, "the voice made no sound")


def test_an_answer_that_ends_as_failed_or_stale_is_not_filled_up() -> None:
    for end in (EndOfResponse(RESPONSE, "gone"), EndOfResponse(RESPONSE, cleanup_only=True)):
        rig = Rig()
        out = rig.send(end)
        assert [type(m) for m in out] == [AudioResponseDone]


# --- failure, voices, measures -------------------------------------------------------------------


def test_a_failure_in_mid_utterance_ends_the_response_as_failed_once() -> None:
    rig = Rig(Voice(chunk_samples=(800,), fail_after=1))
    message = say("Hello there, you.")
    out: list[SenderInput] = []
    with pytest.raises(TtsError, match="voice broke"):
        out.extend(rig.handler.process(message))
    out += rig.handler.failed(message, TtsError("voice broke"))
    out += rig.handler.process(say("More."))
    out += rig.handler.process(EndOfResponse(RESPONSE))
    ends = [m for m in out if isinstance(m, AudioResponseDone)]
    assert ends == [AudioResponseDone(RESPONSE, "speech synthesis failed: voice broke")]


def test_the_session_may_change_its_voice_among_those_there_are() -> None:
    rig = Rig(Voice(voices=("ann", "bob")))
    rig.handler.set_voice("bob")
    rig.send(say("Hello."))
    assert rig.voice.asked[-1][1] == "bob"
    with pytest.raises(TtsError, match=r"no voice named '/etc/passwd'; this backend has ann, bob"):
        rig.handler.set_voice("/etc/passwd")
    rig.handler.end_session()
    rig.send(say("Hello."))
    assert rig.voice.asked[-1][1] is None


def test_the_language_heard_chooses_the_voice_and_one_misheard_word_does_not() -> None:
    rig = Rig(Voice(languages=("en", "de")))
    rig.send(say("Das ist nicht die Antwort auf die Frage.", language="de"))
    assert rig.voice.asked[-1][2] == "de"
    rig.send(say("Ja.", ResponseId("t", 0, 0, "x"), language="en"))
    assert rig.voice.asked[-1][2] == "de"


def test_time_to_first_audio_and_real_time_factor_are_measured() -> None:
    voice = Voice(chunk_samples=(1600,), samples_a_char=1600)
    rig = Rig(voice)
    voice.on_chunk = lambda: rig.clock.wait_until(rig.clock.now() + 0.05)
    rig.metrics.mark(RESPONSE.turn, "speech_stopped", 0.0)
    rig.send(say("Hello."))
    timeline = rig.metrics.finish(RESPONSE.turn)
    assert timeline is not None
    assert timeline.values["tts_ttfa_ms"] == 0.0
    assert timeline.values["tts_rtf"] == pytest.approx(0.5)
    assert timeline.since_speech_ms()["first_audio"] == 0.0


@dataclass
class Counting(Voice):
    """Tells how each segment went: one that ended at once, then one that was spoken."""

    stop_reason: str = "end"

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        nothing = np.zeros(0, dtype=np.float32)
        yield AudioChunk(nothing, report=SegmentReport("silence", {"frames": 1}))
        self.on_chunk()
        yield from super().synthesize(text, voice=voice, language=language, stop=stop)
        stop_reason = "stopped" if stop() else self.stop_reason
        yield AudioChunk(nothing, report=SegmentReport(stop_reason, {"frames": 12, "rtf": 0.5}))


def test_what_the_backend_counts_reaches_the_metrics_and_is_no_sound() -> None:
    rig = Rig(Counting(samples_a_char=1600))
    rig.voice.on_chunk = lambda: rig.clock.wait_until(rig.clock.now() + 0.05)
    rig.metrics.mark(RESPONSE.turn, "speech_stopped", 0.0)
    assert sound(rig.send(say("Hello."))).size
    timeline = rig.metrics.finish(RESPONSE.turn)
    assert timeline is not None
    assert timeline.segments == [
        {"stop_reason": "silence", "frames": 1},
        {"stop_reason": "end", "frames": 12, "rtf": 0.5},
    ]
    assert timeline.values["tts_ttfa_ms"] == pytest.approx(50)


def test_speech_that_was_cut_at_its_limit_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    rig = Rig(Counting(stop_reason="limit"))
    rig.send(say("One."))
    assert rig.events == [Notice(CUT_NOTICE)]
    assert "frames" in caplog.text
    rig = Rig(Counting())
    rig.send(say("One."))
    assert rig.events == []


def test_a_segment_that_was_interrupted_is_told_of_too() -> None:
    rig = Rig(Counting(samples_a_char=1600))
    rig.voice.on_chunk = lambda: rig.scope.cancel() if rig.voice.made == 2 else None
    rig.send(say("Hello."))
    timeline = rig.metrics.finish(RESPONSE.turn)
    assert timeline is not None
    assert [segment["stop_reason"] for segment in timeline.segments] == ["silence", "stopped"]


def test_a_voice_slower_than_speech_starts_late_and_then_never_runs_dry() -> None:
    voice = Voice(chunk_samples=(1600,), samples_a_char=1000)
    rig = Rig(voice, real_time_factor=1.6)
    voice.on_chunk = lambda: rig.clock.wait_until(rig.clock.now() + 0.16)
    left: list[float] = []
    for message in rig.handler.process(say("This is a sentence that takes its time to be said.")):
        assert isinstance(message, AudioOut)
        left.append(rig.clock.now())
    played_at = [left[0] + 512 / HZ * index for index in range(len(left))]
    assert left[0] > 0.5
    assert all(made <= due for made, due in zip(left, played_at, strict=True))


def test_nobody_waits_long_for_a_head_start() -> None:
    """A clause of twelve seconds at 2.5 times as slow as speech: it begins after five seconds."""
    voice = Voice(chunk_samples=(1600,), samples_a_char=1000)
    rig = Rig(voice, real_time_factor=2.5)
    voice.on_chunk = lambda: rig.clock.wait_until(rig.clock.now() + 0.25)
    next(iter(rig.handler.process(say("This is a clause that goes on and on " * 5))))
    assert 4.0 < rig.clock.now() < 6.0


def test_a_quick_voice_is_not_held_back() -> None:
    rig = Rig(Voice(chunk_samples=(1600,)), real_time_factor=0.5)
    next(iter(rig.handler.process(say("This is a sentence."))))
    assert rig.voice.made == 1


# --- text that is still being written ------------------------------------------------------------


@dataclass
class WordVoice(Voice):
    """Takes text while it is written: says each part that it reads, as it comes."""

    written: list[str] = field(default_factory=list)
    closed: int = 0

    def takes_words(self, voice: str | None = None, language: str | None = None) -> bool:
        return voice != "whole"

    def synthesize_written(
        self,
        text: WrittenText,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        try:
            while part := text.read(stop):
                self.written.append(part)
                yield AudioChunk(self.sound(part))
                self.on_chunk()
        finally:
            text.close()
            self.closed += 1


def word(text: str, response: ResponseId = RESPONSE, ends: Ends = Ends.WORD) -> TtsInput:
    return TtsInput(text, response, "en", 0.0, ends=ends)


def told(text: str) -> list[TtsMessage]:
    return [AssistantText(text, RESPONSE), word(text)]


def test_a_voice_that_takes_words_speaks_while_they_are_written() -> None:
    voice = WordVoice()
    rig = Rig(voice)
    later = [*told("of "), *told("the "), *told("seas "), EndOfResponse(RESPONSE)]
    voice.on_chunk = lambda: [rig.inbox.put(later.pop(0)) for _ in range(min(2, len(later)))]
    out = rig.send(*told("Whales live in all "))
    assert voice.written == ["Whales live in ", "all ", "of ", "the ", "seas"]
    assert voice.asked == []
    assert isinstance(out[-1], AudioResponseDone)
    sound = [message for message in out if isinstance(message, AudioOut)]
    assert sound[-1].text == "Whales live in all of the seas "
    assert voice.closed == 1


def test_the_text_of_each_word_leaves_before_its_sound() -> None:
    voice = WordVoice(samples_a_char=512)
    rig = Rig(voice)
    later = [*told("of "), *told("the "), *told("seas "), EndOfResponse(RESPONSE)]
    voice.on_chunk = lambda: [rig.inbox.put(later.pop(0)) for _ in range(min(2, len(later)))]
    shown = ""
    for message in rig.send(*told("Whales live in all ")):
        if isinstance(message, AssistantText):
            shown += message.text
        elif isinstance(message, AudioOut):
            assert shown.startswith(message.text)
    assert shown == "Whales live in all of the seas "


def test_an_interruption_ends_a_voice_that_takes_words() -> None:
    voice = WordVoice()
    rig = Rig(voice)

    def interrupt() -> None:
        rig.scope.cancel()
        rig.inbox.put(EndOfResponse(RESPONSE, cleanup_only=True))

    voice.on_chunk = interrupt
    out = rig.send(*told("Whales live in all "))
    assert voice.written == ["Whales live in "]
    assert voice.closed == 1
    assert out[-1] == AudioResponseDone(RESPONSE, cleanup_only=True)


def test_voices_and_texts_that_need_whole_texts_get_clauses() -> None:
    for voice, first in (
        (Voice(), word("Whales live in all ")),
        (WordVoice(), replace(word("Whales live in all "), voice="whole")),
        (WordVoice(languages=("de", "en")), word("Whales live in all ")),
    ):
        rig = Rig(voice)
        seas = replace(first, text="the seas, ", ends=Ends.CLAUSE)
        rig.send(
            first, seas, replace(seas, text="the old ", ends=Ends.WORD), EndOfResponse(RESPONSE)
        )
        assert [text for text, *_ in voice.asked] == ["Whales live in all the seas, the old"]
        assert not isinstance(voice, WordVoice) or voice.written == []


def test_a_voice_slower_than_speech_gets_whole_texts() -> None:
    voice = WordVoice()
    rig = Rig(voice, real_time_factor=1.2)
    rig.send(word("Whales live in all "), word("seas.", ends=Ends.SENTENCE))
    assert [text for text, *_ in voice.asked] == ["Whales live in all seas."]


class PacedVoice(WordVoice):
    """Knows how fast it is now."""

    now: float = 0.8

    def pace(self, language: str | None = None) -> float:
        return self.now


def test_a_voice_whose_machine_became_busy_gets_whole_texts_and_starts_late() -> None:
    """By its pace now, not by what was measured at the start."""
    voice = PacedVoice()
    rig = Rig(voice, real_time_factor=0.8)
    rig.send(
        word("Whales live in all "), word("seas.", ends=Ends.SENTENCE), EndOfResponse(RESPONSE)
    )
    assert voice.asked == []
    assert voice.written
    voice.now = 1.7
    rig = Rig(voice, real_time_factor=0.8)
    voice.on_chunk = lambda: rig.clock.wait_until(rig.clock.now() + 0.17)
    first = next(
        iter(rig.handler.process(say("This is a sentence that takes its time to be said.")))
    )
    assert isinstance(first, AudioOut)
    assert rig.clock.now() > 0.5


def test_a_slow_voice_gets_its_first_clause_alone_and_then_little_at_a_time() -> None:
    """Each piece is held back for its head start: the shorter it is, the shorter the silence."""
    voice = Voice()
    rig = Rig(voice, real_time_factor=1.7)
    sentence = "This takes about two seconds to say."
    rig.send(*[say(sentence) for _ in range(5)], EndOfResponse(RESPONSE))
    assert [text.count("This") for text, *_ in voice.asked] == [1, 1, 1, 1, 1]
    quick = Voice()
    Rig(quick, real_time_factor=0.5).send(
        *[say(sentence) for _ in range(5)], EndOfResponse(RESPONSE)
    )
    assert quick.asked[0][0].count("This") > 1


def test_a_language_is_spoken_once_its_voice_is_loaded_and_that_is_told() -> None:
    @dataclass
    class LoadingVoice(Voice):
        loaded: bool = False

        def offers(self, language: str) -> bool:
            return language in ("en", "de")

        def prepare(self, language: str) -> bool:
            return self.loaded or language == "en"

    voice = LoadingVoice()
    rig = Rig(voice)
    german = TtsInput("Das ist nicht der Weg.", RESPONSE, "de", 0.0, ends=Ends.SENTENCE)
    rig.send(german)
    voice.loaded = True
    rig.send(german, EndOfResponse(RESPONSE))
    assert [language for _, _, language in voice.asked] == ["en", "de"]
    assert rig.events == [Notice("the voice for de is not loaded yet; until it is, en goes on")]


# --- provisional starts --------------------------------------------------------------------------


def provisional_rig(answer_s: float = 0.0) -> Rig:
    """The answer may begin at `answer_s` and is certain at 1.5 s."""
    rig = Rig()
    rig.turns.observe(RESPONSE.turn)
    rig.turns.set_grace(RESPONSE.turn, 1.5, provisional_from_s=answer_s)
    return rig


def test_an_answer_that_may_begin_provisionally_leaves_and_commits_nothing() -> None:
    rig = provisional_rig(0.4)
    out = rig.send(say("It is noon now."), EndOfResponse(RESPONSE))
    assert rig.clock.now() == 0.4
    assert len(sound(out)) > 0
    assert out[-1] == AudioResponseDone(RESPONSE)
    assert rig.turns.is_provisional(RESPONSE.turn)
    assert not rig.turns.is_committed("t")
    timeline = rig.metrics.finish(RESPONSE.turn)
    assert timeline is not None
    assert timeline.marks["provisional"] == 0.4
    assert "committed" not in timeline.marks


def test_an_answer_whose_voice_is_late_is_committed_as_before() -> None:
    rig = provisional_rig()
    rig.clock.wait_until(1.5)
    assert rig.send(say("It is noon now."))
    assert rig.turns.is_committed("t")
    assert not rig.turns.is_provisional(RESPONSE.turn)


def test_what_the_person_goes_on_with_stops_an_answer_that_has_begun() -> None:
    rig = provisional_rig()
    chunks = 0

    def go_on() -> None:
        nonlocal chunks
        chunks += 1
        if chunks == 2:
            rig.turns.begin_reopen("t")
            rig.turns.confirm_reopen("t")

    rig.voice.on_chunk = go_on
    out = rig.send(say("It is noon now, and a good deal more than that is to be said."))
    assert 0 < len(sound(out)) <= 3 * 1600
    assert rig.voice.made == 2
    assert rig.send(EndOfResponse(RESPONSE)) == [AudioResponseDone(RESPONSE, cleanup_only=True)]


def test_more_of_an_answer_waits_while_the_person_may_be_going_on() -> None:
    rig = provisional_rig()
    rig.send(say("It is noon."))
    assert rig.turns.begin_reopen("t")
    worker = rig.clock.start(lambda: rig.turns.cancel_reopen("t"), "person")
    assert len(sound(rig.send(say("And warm.")))) > 0
    worker.join()
    assert rig.turns.is_provisional(RESPONSE.turn)


def test_a_sign_of_life_is_given_before_the_answer_and_not_within_it() -> None:
    rig = Rig()
    before = rig.send(SignOfLife(RESPONSE, "en"))
    assert before
    assert all(isinstance(out, AudioOut) and out.text == "" for out in before)
    assert rig.send(TtsInput("One two.", RESPONSE, "en", 0.0))
    assert rig.send(SignOfLife(RESPONSE, "en")) == []


def test_a_sign_of_life_that_is_not_wanted_any_more_is_none() -> None:
    rig = Rig()
    rig.scope.cancel()
    assert rig.send(SignOfLife(RESPONSE, "en")) == []
