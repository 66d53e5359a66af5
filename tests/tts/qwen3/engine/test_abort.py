"""Stopping real engines at random moments: no work goes on, nothing is left or forgotten.

On every core that is here, all three parts as far as it computes them. Cores that need an
environment of their own run this file there: tests/tts/qwen3/engine/elsewhere.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
import psutil
import pytest

from s2s.tts.qwen3.backend import Backend, DevicePlacement, Quants
from s2s.tts.qwen3.backends import BACKENDS, backend_named
from s2s.tts.qwen3.codec.decoder import CheckpointDecoder, CodecState
from s2s.tts.qwen3.codec.open import open_decoder
from s2s.tts.qwen3.engine.chunk_schedule import ScheduleConfig
from s2s.tts.qwen3.engine.engine import UNTOUCHED, Engine, Speech, StartTrim
from s2s.tts.qwen3.engine.language_model import LanguageModel
from s2s.tts.qwen3.engine.stop_rules import UNGUARDED, StopReason
from s2s.tts.qwen3.errors import BackendError
from s2s.tts.qwen3.interfaces import (
    CodecDecoder,
    CodePredictor,
    Floats,
    Ids,
    PredictorState,
    Stale,
    State,
    Talker,
    TalkerOutput,
    never,
)
from s2s.tts.qwen3.language import load_language
from s2s.tts.qwen3.sampling import Draws, Sampling
from s2s.tts.qwen3.text.prompt import PromptBuilder, Request
from s2s.tts.qwen3.text.tokenizer import Tokenizer
from tests.tts.qwen3.engine.elsewhere import elsewhere

ABORTS = {"native": 200}
USUAL_ABORTS = 60
FRAMES = 4
SEED = 11
QUANTS = Quants("q8_0")
REQUEST = Request("Stop me at any moment, please.", language="English", speaker="ryan")
SCHEDULE = ScheduleConfig(codec_chunk_ramp=(1, 2), codec_chunk_frames=2)
FLAT_BYTES = 6 << 20

T = TypeVar("T", bound=State)
P = TypeVar("P", bound=PredictorState)


@dataclass
class Work:
    """Counts the calls of all ports; raises the alarm in the middle of one of them."""

    alarm_at: int | None = None
    calls: int = 0
    begun_after_alarm: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self) -> None:
        with self._lock:
            self.begun_after_alarm += self.alarm
            self.calls += 1

    @property
    def alarm(self) -> bool:
        return self.alarm_at is not None and self.calls > self.alarm_at

    def reset(self, alarm_at: int | None) -> None:
        self.alarm_at, self.calls, self.begun_after_alarm = alarm_at, 0, 0


@dataclass
class WatchedTalker(Generic[T]):
    inner: Talker[T]
    work: Work

    def new_state(self, max_positions: int) -> T:
        return self.inner.new_state(max_positions)

    def prefill(self, state: T, embeddings: Floats) -> TalkerOutput:
        self.work.begin()
        return self.inner.prefill(state, embeddings)

    def step(self, state: T, embedding: Floats) -> TalkerOutput:
        self.work.begin()
        return self.inner.step(state, embedding)

    def rewind(self, state: T, positions: int) -> None:
        self.inner.rewind(state, positions)


@dataclass
class WatchedPredictor(Generic[P]):
    inner: CodePredictor[P]
    work: Work

    def new_state(self) -> P:
        return self.inner.new_state()

    def frame(self, state: P, hidden: Floats, code0: int, sampling: Sampling, draws: Draws) -> Ids:
        self.work.begin()
        return self.inner.frame(state, hidden, code0, sampling, draws)


@dataclass
class WatchedDecoder:
    inner: CodecDecoder[CodecState]
    work: Work

    def new_state(self) -> CodecState:
        return self.inner.new_state()

    def decode(self, state: CodecState, codes: Ids, stale: Stale = never) -> Floats:
        self.work.begin()
        return self.inner.decode(state, codes, stale)

    def fork(self, state: CodecState) -> CodecState:
        return self.inner.fork(state)


@dataclass
class Rig(Generic[T, P]):
    """A tiny model on a real backend, with all its work watched."""

    backend: str
    model: LanguageModel[T, P]
    decoder: CheckpointDecoder
    prompts: PromptBuilder
    work: Work = field(default_factory=Work)

    def engine(
        self, frames_ahead: int = 0, start_trim: StartTrim | None = None
    ) -> Engine[T, P, CodecState]:
        watched = replace(
            self.model,
            talker=WatchedTalker(self.model.talker, self.work),
            predictor=WatchedPredictor(self.model.predictor, self.work),
        )
        return Engine(
            watched,
            WatchedDecoder(self.decoder, self.work),
            self.prompts,
            samples_per_frame=self.decoder.samples_per_frame,
            sample_rate_hz=24_000,
            guards=UNGUARDED,
            start_trim=start_trim or StartTrim(silence_dbfs=-200.0),
            frames_ahead=frames_ahead,
        )

    def speak(self, engine: Engine[T, P, CodecState]) -> Speech:
        return engine.speak(REQUEST, seed=SEED, schedule=SCHEDULE, stale=lambda: self.work.alarm)

    def whole(self, engine: Engine[T, P, CodecState]) -> Floats:
        self.work.reset(None)
        return np.concatenate([chunk.pcm for chunk in self.speak(engine).chunks])


def found_backends() -> list[str]:
    return [backend.name for backend in BACKENDS if backend.missing() is None]


def quants_of(backend: Backend) -> Quants:
    """Eight bits, or the first of its own where it has nothing near."""
    try:
        return backend.quant(QUANTS)
    except BackendError:
        return Quants(backend.quants[0])


def test_every_core_is_stopped_here_or_in_an_environment_of_its_own() -> None:
    lacking = {backend.name for backend in BACKENDS} - set(found_backends())
    assert lacking <= set(elsewhere()), "write abort_qwen3_NAME.py as the one of mlx is"


@pytest.fixture(scope="module", params=found_backends())
def rig(
    request: pytest.FixtureRequest,
    tiny_qwen3: Callable[[str], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Rig[State, PredictorState]:
    home, name = tmp_path_factory.mktemp("home"), request.param
    kernels = request.getfixturevalue("kernel_cache") if name == "native" else home
    backend = backend_named(name)
    placement = DevicePlacement(backend)
    opened = load_language(
        tiny_qwen3("0.6b-customvoice"),
        home,
        quants_of(backend),
        (placement, placement),
        threads=1,
        kernels=kernels,
    )
    endless = replace(
        opened.language.spec.generation, min_new_tokens=10_000, max_new_tokens=FRAMES + 1
    )
    model = replace(opened.language, spec=replace(opened.language.spec, generation=endless))
    decoder = open_decoder(
        opened.folder / "speech_tokenizer",
        home / "graphs",
        threads=1,
        placement="onnx" if backend.codec is None else name,
        kernels=kernels,
    )
    prompts = PromptBuilder(model.spec, Tokenizer.load(opened.folder), model.embeddings)
    return Rig(name, model, decoder, prompts)


@pytest.mark.parametrize("frames_ahead", [0, 3])
def test_stops_at_random_moments_leave_nothing_behind(
    rig: Rig[State, PredictorState], frames_ahead: int
) -> None:
    random = np.random.Generator(np.random.PCG64(frames_ahead))
    aborts = ABORTS.get(rig.backend, USUAL_ABORTS) // (2 if frames_ahead else 1)
    engine = rig.engine(frames_ahead)
    expected = rig.whole(rig.engine(frames_ahead))
    assert expected.size == FRAMES * rig.decoder.samples_per_frame
    calls = rig.work.calls
    assert calls >= 2 * FRAMES
    threads = set(threading.enumerate())
    process, resident = psutil.Process(), 0
    for at in range(aborts):
        rig.work.reset(int(random.integers(0, calls - 1)))
        speech = rig.speak(engine)
        chunks = [chunk.pcm for chunk in speech.chunks]
        heard = np.concatenate(chunks) if chunks else np.zeros(0, np.float32)
        # Who had already asked may begin one more call, in the other thread.
        assert rig.work.begun_after_alarm <= (1 if frames_ahead else 0)
        assert speech.report.stop_reason is StopReason.STOPPED
        assert set(threading.enumerate()) == threads
        assert np.array_equal(heard, expected[: heard.size])
        if at % 20 == 10:
            assert np.array_equal(rig.whole(engine), expected)
        if at == aborts // 4:
            resident = process.memory_info().rss
    assert process.memory_info().rss - resident < FLAT_BYTES
    engine.close()


@pytest.mark.parametrize("frames_ahead", [0, 3])
def test_a_reader_that_stops_listening_stops_the_work(
    rig: Rig[State, PredictorState], frames_ahead: int
) -> None:
    engine = rig.engine(frames_ahead)
    expected = rig.whole(rig.engine(frames_ahead))
    threads = set(threading.enumerate())
    for chunks in range(3):
        rig.work.reset(None)
        speech = rig.speak(engine)
        for _ in range(chunks):
            next(speech.chunks)
        speech.close()
        calls = rig.work.calls
        assert set(threading.enumerate()) == threads
        assert rig.work.calls == calls
        assert np.array_equal(rig.whole(engine), expected)
    engine.close()


def test_after_a_stop_speech_starts_as_softly_as_ever(rig: Rig[State, PredictorState]) -> None:
    """The 5 ms of the fade and the trimmed frames are those of a fresh engine."""
    plain = rig.whole(rig.engine(start_trim=UNTOUCHED))
    frame = rig.decoder.samples_per_frame
    loudness = [float(np.sqrt(np.mean(plain[at * frame :][:frame] ** 2))) for at in range(2)]
    floor_dbfs = 20 * np.log10(max(loudness) * 2)  # both count as silence, and no more may
    engine = rig.engine(start_trim=StartTrim(silent_frames=2, silence_dbfs=float(floor_dbfs)))
    expected = plain[2 * frame :].copy()
    expected[:120] *= np.arange(120, dtype=np.float32) / 120
    for alarm_at in (1, 4, 6):
        rig.work.reset(alarm_at)
        for _ in rig.speak(engine).chunks:
            pass
        rig.work.reset(None)
        speech = rig.speak(engine)
        heard = np.concatenate([chunk.pcm for chunk in speech.chunks])
        assert np.array_equal(heard, expected)
        assert speech.report.trimmed_frames == 2
        assert sum(speech.report.decoded_frames) == FRAMES  # decoded once, also what is trimmed
    engine.close()
