"""Engine, stage, sender and playback buffer together: who does not listen makes the talker stand
still. On a clock that only moves when all of them wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from s2s.core.audio import BLOCK_SAMPLES
from s2s.core.cancel import CancelScope
from s2s.core.channel import Channel
from s2s.core.clock import Clock, ManualClock
from s2s.core.handler import Stage
from s2s.core.messages import EndOfResponse, ResponseId, SenderInput, TtsInput, TtsMessage
from s2s.core.metrics import Metrics
from s2s.core.speculation import SpeculativeTurns
from s2s.core.state import SessionState
from s2s.session.channels import sound_waiting
from s2s.transport.playback import Playback
from s2s.transport.sender import Sender
from s2s.tts.base import AudioChunk, Capabilities
from s2s.tts.handler import TtsHandler, TtsSettings
from s2s.tts.qwen3.checkpoint.spec import Spec, read_spec
from s2s.tts.qwen3.engine.chunk_schedule import ScheduleConfig
from s2s.tts.qwen3.engine.engine import UNTOUCHED, Engine
from s2s.tts.qwen3.engine.language_model import LanguageModel
from s2s.tts.qwen3.engine.stop_rules import UNGUARDED
from s2s.tts.qwen3.interfaces import Floats, Ids, Stale, TalkerOutput, never
from s2s.tts.qwen3.sampling import Draws, Sampling
from s2s.tts.qwen3.text.prompt import PromptBuilder, Request
from s2s.tts.qwen3.text.tokenizer import Tokenizer
from tests.support.patience import PATIENCE_S

HZ = 16_000
MODEL_HZ = 24_000
FRAME_S = 0.08
CODES_S, CALL_S, DECODE_S = 0.030, 0.010, 0.020
CHUNK = 4
FRAMES = 250  # twenty seconds
AHEAD_S = 2.0
RESPONSE = ResponseId("t", 0, 0, "r")


@dataclass
class Working:
    """Fake ports, each of which takes its time on the clock."""

    spec: Spec
    clock: Clock
    frames: int = 0
    decoded: int = 0
    forward_passes: int = 0

    def close(self) -> None: ...

    def new_state(self, max_positions: int = 0) -> Working:
        return self

    def rewind(self, state: Working, positions: int) -> None: ...

    def text(self, ids: Ids) -> Floats:
        return np.zeros((len(ids), self.spec.talker.hidden), np.float32)

    def frames_of(self, codes: Ids) -> Floats:
        return np.zeros((len(codes), self.spec.talker.hidden), np.float32)

    def prefill(self, state: Working, embeddings: Floats) -> TalkerOutput:
        logits = np.zeros(self.spec.talker.vocabulary, np.float32)
        logits[self.spec.ids.eos] = -np.inf
        return TalkerOutput(logits, np.zeros(self.spec.talker.hidden, np.float32))

    def step(self, state: Working, embedding: Floats) -> TalkerOutput:
        return self.prefill(state, embedding[None])

    def frame(
        self, state: Working, hidden: Floats, code0: int, sampling: Sampling, draws: Draws
    ) -> Ids:
        self.clock.wait_until(self.clock.now() + CODES_S)
        self.frames += 1
        return np.zeros(self.spec.groups - 1, np.int64)

    def decode(self, state: Working, codes: Ids, stale: Stale = never) -> Floats:
        self.clock.wait_until(self.clock.now() + CALL_S + DECODE_S * len(codes))
        self.decoded += len(codes)
        return np.full(round(len(codes) * FRAME_S * MODEL_HZ), 0.3, np.float32)

    def fork(self, state: Working) -> Working:
        return self


@dataclass
class Tables:
    """The embeddings of fake ports."""

    work: Working

    def text(self, ids: Ids) -> Floats:
        return self.work.text(ids)

    def codec(self, ids: Ids) -> Floats:
        return self.work.text(ids)

    def frames(self, codes: Ids) -> Floats:
        return self.work.frames_of(codes)


@dataclass
class Voice:
    """What `Qwen3` makes of an engine."""

    engine: Engine[Working, Working, Working]
    ahead_s: float = AHEAD_S

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(MODEL_HZ, True, ("en",), ahead_s=self.ahead_s)

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        schedule = ScheduleConfig(initial_codec_chunk_frames=1, codec_chunk_frames=CHUNK)
        speech = self.engine.speak(Request(text, speaker="ryan"), schedule=schedule, stale=stop)
        try:
            for chunk in speech.chunks:
                yield AudioChunk(chunk.pcm)
        finally:
            speech.close()

    def warm(self) -> None: ...

    def close(self) -> None: ...


@dataclass
class Rig:
    folder: Path
    ahead_s: float = AHEAD_S
    clock: ManualClock = field(default_factory=ManualClock)

    def __post_init__(self) -> None:
        clock = self.clock
        spec = read_spec(self.folder)
        spec = replace(spec, generation=replace(spec.generation, max_new_tokens=FRAMES + 1))
        self.work = Working(spec, clock)
        tables = Tables(self.work)
        engine = Engine(
            LanguageModel(spec, tables, self.work, self.work),
            self.work,
            PromptBuilder(spec, Tokenizer.load(self.folder), tables),
            samples_per_frame=round(FRAME_S * MODEL_HZ),
            sample_rate_hz=MODEL_HZ,
            guards=UNGUARDED,
            start_trim=UNTOUCHED,
        )
        voice = self.voice = Voice(engine, self.ahead_s)
        self.scope, turns = CancelScope(clock), SpeculativeTurns(clock)
        self.metrics = Metrics()
        state = SessionState(self.scope, turns, clock, self.metrics, lambda event: None)
        self.playback = Playback(clock, HZ)
        settings = TtsSettings(HZ)
        self.inbox: Channel[TtsMessage] = Channel(16, clock=clock)
        waiting = sound_waiting(voice, settings, self.playback)
        sound: Channel[SenderInput] = Channel(waiting, clock=clock)
        self.sender = Sender(self.playback, state, lambda response, text, whole: None)
        self.stages = [
            Stage(TtsHandler(voice, self.inbox, state, settings), self.inbox, sound, clock),
            Stage(self.sender, sound, None, clock),
        ]
        turns.observe(RESPONSE.turn, grace_until_s=0.0)

    @property
    def unplayed_s(self) -> float:
        """Sound of all frames that were begun, less what was played."""
        return self.work.frames * FRAME_S - self.playback.played_samples / HZ

    def play(self, seconds: float) -> None:
        """Pull as a loudspeaker does."""
        out = np.zeros(160, np.float32)
        until_s = self.clock.now() + seconds
        while self.clock.now() < until_s:
            self.playback.pull(out)
            self.clock.wait_until(self.clock.now() + 0.01)

    def wait(self, seconds: float) -> None:
        self.clock.wait_until(self.clock.now() + seconds)


@pytest.fixture
def rig(tiny_qwen3: Callable[[str], Path]) -> Iterator[Rig]:
    rig = Rig(tiny_qwen3("0.6b-customvoice"))
    for stage in rig.stages:
        stage.start()
    rig.inbox.put(TtsInput("Say this, please.", RESPONSE, "en", 0.0))
    rig.inbox.put(EndOfResponse(RESPONSE))
    yield rig
    rig.scope.cancel()
    rig.playback.close()
    for stage in rig.stages:
        stage.inbox.close(discard=True)
        assert stage.join(PATIENCE_S)


SLACK_S = (CHUNK + 1) * FRAME_S + 0.3
"""A chunk cut into blocks, one more in the making, and the blocks on their way."""


def test_without_a_listener_the_talker_stands_still_after_two_seconds(rig: Rig) -> None:
    rig.wait(60.0)
    assert AHEAD_S <= rig.unplayed_s <= AHEAD_S + SLACK_S
    frames, decoded = rig.work.frames, rig.work.decoded
    rig.wait(600.0)
    assert (rig.work.frames, rig.work.decoded) == (frames, decoded)
    assert rig.work.decoded == rig.work.frames  # nothing waits between talker and decoder


def test_while_it_plays_no_more_than_two_seconds_wait_and_nothing_is_missing(rig: Rig) -> None:
    rig.wait(0.5)
    most = 0.0
    for _ in range(40):
        rig.play(0.25)
        most = max(most, rig.unplayed_s)
    assert rig.playback.underruns == 0
    assert most <= AHEAD_S + SLACK_S
    assert rig.unplayed_s >= AHEAD_S - CHUNK * FRAME_S
    rig.play(15.0)
    assert rig.work.frames == FRAMES
    assert rig.playback.played_samples / HZ == pytest.approx(FRAMES * FRAME_S, abs=0.1)
    timeline = rig.metrics.finish(RESPONSE.turn)
    assert timeline is not None
    expected = (CODES_S + DECODE_S + CALL_S / CHUNK) / FRAME_S  # not the waiting
    assert timeline.values["tts_rtf"] == pytest.approx(expected, rel=0.02)


def test_it_goes_on_where_it_stood_as_soon_as_there_is_room(rig: Rig) -> None:
    rig.wait(60.0)
    frames = rig.work.frames
    rig.play(1.0)
    made_s = (rig.work.frames - frames) * FRAME_S
    assert made_s == pytest.approx(1.0, abs=CHUNK * FRAME_S)


def test_a_barge_in_wakes_and_ends_what_stood_still(rig: Rig) -> None:
    rig.wait(60.0)
    frames = rig.work.frames
    rig.scope.cancel()
    rig.sender.interrupt()
    rig.wait(1.0)
    assert rig.work.frames <= frames + 1
    assert all(stage.idle for stage in rig.stages)
    assert rig.playback.silent


def test_a_voice_that_wants_more_ahead_gets_more(tiny_qwen3: Callable[[str], Path]) -> None:
    rig = Rig(tiny_qwen3("0.6b-customvoice"), ahead_s=5.0)
    quick, slow = TtsSettings(HZ), TtsSettings(HZ, real_time_factor=2.0, max_coalesced_s=20.0)

    def waiting_s(settings: TtsSettings) -> float:
        return sound_waiting(rig.voice, settings, rig.playback) * BLOCK_SAMPLES / HZ

    assert waiting_s(quick) == pytest.approx(3.0, abs=0.04)
    assert waiting_s(slow) == pytest.approx(8.0, abs=0.04)  # half of what one call may speak
