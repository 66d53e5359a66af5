"""Whole conversations in simulated time: the real five handlers, scripted models."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from s2s.core.audio import BLOCK_SAMPLES, Block, Framer
from s2s.core.events import AnswerText, Heard, Interruption, ResponseDone, ResponseStarted
from s2s.core.messages import AudioIn
from s2s.llm.base import LlmError
from s2s.session.config import SessionConfig
from s2s.session.models import Models
from s2s.session.session import stages_alive
from s2s.testing.simulator import (
    SYNTH_HZ,
    EnergyVad,
    ModelCosts,
    Said,
    Simulation,
    tone,
    with_pauses,
)
from s2s.transport.wav import WavTransport
from s2s.turns.config import TurnsConfig

QUESTION = Said(tone(1.5), "what time is it now")
SECOND = Said(tone(2.0, 200), "and what about tomorrow then")
LONG_ANSWER = " ".join(f"Sentence number {n} of a long answer is this." for n in range(8))


def done(simulation: Simulation) -> list[ResponseDone]:
    return [event for _, event in simulation.events if isinstance(event, ResponseDone)]


def heard(simulation: Simulation) -> list[str]:
    return [e.text for _, e in simulation.events if isinstance(e, Heard) and e.final]


def actions(simulation: Simulation) -> list[str]:
    return [e.action for _, e in simulation.events if isinstance(e, Interruption)]


def test_a_question_is_answered_and_both_sides_are_remembered() -> None:
    simulation = Simulation([QUESTION, SECOND]).run()
    assert heard(simulation) == ["what time is it now", "and what about tomorrow then"]
    assert [each.status for each in done(simulation)] == ["completed", "completed"]
    assert [m.role for m in simulation.session.history.prompt()] == [
        "system", "user", "assistant", "user", "assistant",
    ]  # fmt: skip
    assert simulation.session.history.prompt()[2].content == (
        "You said what time is it now. That is fine with me."
    )


def test_the_same_conversation_has_the_same_trace() -> None:
    first = Simulation([QUESTION, with_pauses(SECOND, (0.5, 0.6))]).run()
    again = Simulation([QUESTION, with_pauses(SECOND, (0.5, 0.6))]).run()
    rename = str.maketrans("", "", "0123456789")
    assert len(first.trace()) == len(again.trace())
    for one, other in zip(first.trace(), again.trace(), strict=True):
        assert one[:9] == other[:9]
        assert one.translate(rename) == other.translate(rename)


def test_sessions_over_the_same_models_hear_only_themselves() -> None:
    """A voice detector keeps the state of a stream: shared, two people would spoil each other's."""

    class Stream(EnergyVad):
        def __init__(self) -> None:
            super().__init__()
            self.heard: list[bytes] = []

        def probability(self, block: Block) -> float:
            self.heard.append(block.tobytes())
            return super().probability(block)

    class Shared:
        def __init__(self) -> None:
            self.streams: list[Stream] = []

        def open(self) -> Stream:
            self.streams.append(Stream())
            return self.streams[-1]

    shared = Shared()
    said = (QUESTION, SECOND)
    simulations = [
        Simulation([each], models=lambda models, _clock: replace(models, vad=shared))
        for each in said
    ]
    threads = [threading.Thread(target=simulation.run) for simulation in simulations]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(shared.streams) == 2
    mine = [{window for window in stream.heard if any(window)} for stream in shared.streams]
    spoken = [set(_windows(each.audio)) for each in said]
    assert sorted(map(len, mine)) == sorted(map(len, spoken))
    assert all(any(windows == each for each in spoken) for windows in mine)


def _windows(audio: Block) -> list[bytes]:
    blocks = list(Framer(BLOCK_SAMPLES).push(audio))
    rest = np.zeros(BLOCK_SAMPLES, dtype=np.float32)
    rest[: len(audio) % BLOCK_SAMPLES] = audio[len(audio) - len(audio) % BLOCK_SAMPLES :]
    return [block.tobytes() for block in [*blocks, rest] if block.any()]


def test_no_thread_is_left() -> None:
    before = set(threading.enumerate())
    Simulation([QUESTION]).run()
    assert stages_alive() == []
    assert set(threading.enumerate()) <= before


def test_models_start_at_the_soft_end_and_the_grace_is_not_added() -> None:
    simulation = Simulation([QUESTION]).run()
    (timeline,) = simulation.session.metrics.finished()
    ms = timeline.since_speech_ms()
    costs = ModelCosts()
    assert ms["transcript"] <= 64 + 64 + 1000 * costs.stt_s + 33
    assert ms["first_played"] <= ms["first_audio"] + 9
    assert ms["first_played"] < 420


def test_a_pause_within_a_sentence_is_one_turn_with_one_answer() -> None:
    paused = with_pauses(Said(tone(3.0), "turn the lights on in the kitchen please"), (0.5, 0.8))
    simulation = Simulation([paused]).run()
    assert heard(simulation) == ["turn the lights on in the kitchen please"]
    assert [each.status for each in done(simulation)] == ["completed"]
    assert len(simulation.session.history.prompt()) == 3


def interrupted_by(words: str, seconds: float, *, after_s: float = 3.0) -> Simulation:
    """A question, a long answer, and `words` said over it, `after_s` after the question."""
    silence = np.zeros(int(16_000 * after_s), dtype=np.float32)
    over = Said(np.concatenate([silence, tone(seconds, 230)]), words, None)
    return Simulation([QUESTION, over], answer=lambda _: LONG_ANSWER).run()


def test_speech_with_content_during_playback_cancels() -> None:
    simulation = interrupted_by("no tell me about london instead", 2.0)
    assert [each.status for each in done(simulation)] == ["cancelled", "completed"]
    assert heard(simulation)[-1] == "no tell me about london instead"
    assert actions(simulation) == ["duck", "pause", "cancel"]


def test_history_holds_what_was_heard_of_a_cancelled_answer() -> None:
    simulation = interrupted_by("no tell me about london instead", 2.0)
    cancelled = done(simulation)[0]
    assert 0 < len(cancelled.played) < len(LONG_ANSWER)
    assert LONG_ANSWER.startswith(cancelled.played.strip())
    prompt = simulation.session.history.prompt()
    assert prompt[2].content == cancelled.played.strip()


@pytest.mark.parametrize("words", ["mm-hmm", "yeah", "okay"])
def test_a_backchannel_goes_on_with_the_same_answer(words: str) -> None:
    simulation = interrupted_by(words, 0.4)
    assert [each.status for each in done(simulation)] == ["completed"]
    assert done(simulation)[0].played == LONG_ANSWER
    assert actions(simulation) == ["duck", "restore"]


def test_stop_stops_and_is_not_answered() -> None:
    simulation = interrupted_by("stop", 0.5)
    assert [each.status for each in done(simulation)] == ["cancelled"]
    assert len(simulation.chat.prompts) == 1


def test_a_key_silences_the_assistant_as_speech_does() -> None:
    pressed: list[float] = []

    class Keyboard(WavTransport):
        def run(self, heard: Callable[[AudioIn], None], tick: Callable[[], bool]) -> None:
            def press_once() -> bool:
                if self.playback.played_samples > SYNTH_HZ and not pressed:
                    pressed.append(simulation.clock.now())
                    simulation.session.interrupt()
                return tick()

            super().run(heard, press_once)

    simulation = Simulation([QUESTION], answer=lambda _: LONG_ANSWER, room=Keyboard)
    simulation.run()
    (cancelled,) = done(simulation)
    assert cancelled.status == "cancelled"
    assert 0 < len(cancelled.played) < len(LONG_ANSWER)
    after = simulation.transport.assistant()[int((pressed[0] + 0.1) * SYNTH_HZ) :]
    assert not after.any()


def test_nothing_of_a_cancelled_answer_is_said_afterwards() -> None:
    simulation = interrupted_by("no tell me about london instead", 2.0)
    over: set[str | None] = set()
    for _, event in simulation.events:
        if isinstance(event, ResponseDone):
            assert event.response.response_key not in over
            over.add(event.response.response_key)
        if isinstance(event, (AnswerText, ResponseStarted)):
            assert event.response.response_key not in over


def test_every_response_has_exactly_one_end() -> None:
    simulation = interrupted_by("no tell me about london instead", 2.0)
    started = Counter(e.response for _, e in simulation.events if isinstance(e, ResponseStarted))
    ended = Counter(e.response for _, e in simulation.events if isinstance(e, ResponseDone))
    assert started == ended
    assert set(started.values()) == {1}


class Broken:
    """A model whose first calls fail."""

    def __init__(self, inner: object, method: str, error: Exception, times: int = 1) -> None:
        self._inner, self._method, self._error, self._left = inner, method, error, times

    def __getattr__(self, name: str) -> object:
        if name == self._method and self._left > 0:
            self._left -= 1

            def fail(*args: object, **kwargs: object) -> object:
                raise self._error

            return fail
        return getattr(self._inner, name)


@pytest.mark.parametrize(
    ("field", "method"),
    [("transcriber", "transcribe"), ("chat", "stream"), ("synthesizer", "synthesize")],
)
def test_a_failing_stage_fails_the_response_audibly_and_the_next_turn_works(
    field: str, method: str
) -> None:
    def broken(models: Models, _clock: object) -> Models:
        times = 2 if field == "transcriber" else 1  # at the first silence, and for the final
        inner = getattr(models, field)
        return replace(models, **{field: Broken(inner, method, LlmError("gone"), times)})

    config = SessionConfig(turns=TurnsConfig(partial_interval_ms=0))
    simulation = Simulation([QUESTION, SECOND], config=config, models=broken).run()
    first, second = done(simulation)
    assert (first.status, second.status) == ("failed", "completed")
    assert "gone" in (first.error or "")
    start = next(at for at, e in simulation.events if isinstance(e, ResponseStarted))
    end = next(at for at, e in simulation.events if isinstance(e, ResponseDone))
    played = simulation.transport.assistant()[int(start * 24000) : int(end * 24000)]
    assert abs(played).max() > 0.05, "a failure must be heard"
    assert all("Sorry" not in m.content for m in simulation.session.history.prompt())


@pytest.mark.parametrize("sounds", [True, False])
def test_a_voice_that_fails_is_heard_unless_that_is_not_wanted(sounds: bool) -> None:
    def broken(models: Models, _clock: object) -> Models:
        failing = Broken(models.synthesizer, "synthesize", LlmError("gone"), 99)
        return replace(models, synthesizer=failing)

    config = SessionConfig(failure_sound=sounds)
    simulation = Simulation([QUESTION], config=config, models=broken).run()
    assert [event.status for event in done(simulation)] == ["failed"]
    assert bool(simulation.transport.assistant().any()) is sounds


def test_silence_alone_starts_nothing() -> None:
    simulation = Simulation([Said(np.zeros(32_000, dtype=np.float32), "")]).run()
    assert simulation.events == []


def test_channels_stay_within_their_bounds() -> None:
    simulation = interrupted_by("no tell me about london instead", 2.0)
    for stage in simulation.session.stages:
        assert stage.inbox.peak <= stage.inbox.capacity
