"""The engine on a tiny model: same sound however it is cut, and an end whenever it is asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from s2s.tts.qwen3.checkpoint.safetensors import open_checkpoint
from s2s.tts.qwen3.checkpoint.spec import Generation, read_spec
from s2s.tts.qwen3.engine import decode_loop, sounding
from s2s.tts.qwen3.engine import engine as engine_module
from s2s.tts.qwen3.engine.chunk_schedule import ScheduleConfig
from s2s.tts.qwen3.engine.engine import UNTOUCHED, Engine, Speech, StartTrim
from s2s.tts.qwen3.engine.language_model import LanguageModel
from s2s.tts.qwen3.engine.stop_rules import UNGUARDED, Guards, StopReason
from s2s.tts.qwen3.errors import PromptError
from s2s.tts.qwen3.interfaces import Floats, Ids, Stale, TalkerOutput, never
from s2s.tts.qwen3.reference import Cache, ReferenceEmbeddings, ReferencePredictor, ReferenceTalker
from s2s.tts.qwen3.sampling import Sampling
from s2s.tts.qwen3.text.prompt import PromptBuilder, Reference, Request
from s2s.tts.qwen3.text.tokenizer import Tokenizer
from tests.support.patience import PATIENCE_S

SAMPLES = 12  # a frame of the counting decoder
TEXT = Request("Hi.", language="English", speaker="ryan")
FRAMES = 8


class CountingTalker(ReferenceTalker):
    """Counts its work and its open states."""

    steps = 0
    open_states = 0

    def new_state(self, max_positions: int) -> Cache:
        self.open_states += 1
        return CountedCache(super().new_state(max_positions), self)

    def prefill(self, state: Cache, embeddings: Floats) -> TalkerOutput:
        self.steps += 1
        return super().prefill(state, embeddings)


class CountedCache(Cache):
    def __init__(self, cache: Cache, owner: CountingTalker) -> None:
        super().__init__(cache.keys, cache.values)
        self.owner = owner

    def close(self) -> None:
        self.owner.open_states -= 1


@dataclass
class Heard:
    """A decoder state: everything decoded so far."""

    codes: list[list[int]] = field(default_factory=list)
    closed: bool = False

    def close(self) -> None:
        assert not self.closed
        self.closed = True


class CountingDecoder:
    """Sound that depends on every code since the start, so that any slip is heard."""

    def __init__(self) -> None:
        self.states: list[Heard] = []
        self.frames = 0
        self.fail_after: int | None = None

    def new_state(self) -> Heard:
        self.states.append(Heard())
        return self.states[-1]

    def decode(self, state: Heard, codes: Ids, stale: Stale = never) -> Floats:
        if self.fail_after is not None and self.frames >= self.fail_after:
            raise RuntimeError("the decoder broke")
        assert not state.closed
        assert codes.dtype == np.int64
        self.frames += len(codes)
        sound = []
        for frame in codes.tolist():
            state.codes.append(frame)
            seed = np.array(state.codes).sum() * 31 + len(state.codes)
            sound.append(np.random.Generator(np.random.PCG64(int(seed))).random(SAMPLES) - 0.5)
        return np.concatenate(sound).astype(np.float32)

    def fork(self, state: Heard) -> Heard:
        self.states.append(Heard(list(state.codes)))
        return self.states[-1]


@dataclass
class Bench:
    """An engine and what it is made of."""

    engine: Engine[Cache, Cache, Heard]
    talker: CountingTalker
    decoder: CountingDecoder
    make: Callable[..., Engine[Cache, Cache, Heard]]


@pytest.fixture
def bench(tiny_qwen3: Callable[[str], Path]) -> Bench:
    return bench_of(tiny_qwen3("0.6b-customvoice"))


def bench_of(folder: Path) -> Bench:
    spec = read_spec(folder)
    # Greedy enough to be quick to compare, and never ending by itself.
    spec = replace(spec, generation=replace(spec.generation, min_new_tokens=10_000))
    weights = open_checkpoint(folder, spec)
    embeddings = ReferenceEmbeddings(spec, weights)
    talker, decoder = CountingTalker(spec, weights), CountingDecoder()
    model: LanguageModel[Cache, Cache] = LanguageModel(
        spec, embeddings, talker, ReferencePredictor(spec, weights)
    )
    prompts = PromptBuilder(spec, Tokenizer.load(folder), embeddings)

    def make(
        guards: Guards, start_trim: StartTrim = UNTOUCHED, frames_ahead: int = 0
    ) -> Engine[Cache, Cache, Heard]:
        return Engine(
            model,
            decoder,
            prompts,
            samples_per_frame=SAMPLES,
            sample_rate_hz=24_000,
            guards=guards,
            start_trim=start_trim,
            frames_ahead=frames_ahead,
        )

    cap = replace(UNGUARDED, frames_per_token=1, spare_frames=0, least_frames=FRAMES)
    return Bench(make(cap), talker, decoder, make)


def sound_of(speech: Speech) -> Floats:
    return np.concatenate([chunk.pcm for chunk in speech.chunks])


def test_sound_is_the_same_however_it_is_cut(bench: Bench) -> None:
    flat = ScheduleConfig(initial_codec_chunk_frames=1, codec_chunk_frames=1)
    ramp = ScheduleConfig(codec_chunk_ramp=(2, 3, 5, 7))
    whole = sound_of(bench.engine.speak(TEXT, schedule=flat))
    assert whole.size == FRAMES * SAMPLES
    speech = bench.engine.speak(TEXT, schedule=ramp)
    assert sound_of(speech).tolist() == whole.tolist()
    assert speech.report.chunk_frames == [2, 3, 3]
    assert speech.report.stop_reason is StopReason.LIMIT


@pytest.mark.parametrize(
    ("config", "sizes"),
    [
        (ScheduleConfig(), [1, 7]),
        (ScheduleConfig(initial_codec_chunk_frames=2, codec_chunk_frames=4), [2, 4, 2]),
        (ScheduleConfig(initial_codec_chunk_frames=9, codec_chunk_frames=3), [3, 3, 2]),
        (ScheduleConfig(initial_codec_chunk_frames=0, codec_chunk_frames=25), [2, 6]),
        (ScheduleConfig(codec_chunk_ramp=(1, 2), codec_chunk_frames=4), [1, 2, 4, 1]),
        (ScheduleConfig(1, 5, codec_chunk_ramp=(3, 4)), [3, 4, 1]),
    ],
)
def test_chunks_follow_the_servers_schedule(
    bench: Bench, config: ScheduleConfig, sizes: list[int]
) -> None:
    speech = bench.engine.speak(TEXT, schedule=config)
    assert [len(chunk.codes) for chunk in speech.chunks] == sizes == speech.report.chunk_frames


@pytest.mark.parametrize(
    ("frame_s", "sizes"),
    [(0.011, [2, 4, 25, 9]), (0.04, [2, 4, 6, 12, 16]), (0.2, [2, 4, 17, 17])],
)
def test_adaptive_chunks_follow_the_servers_formula(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, frame_s: float, sizes: list[int]
) -> None:
    """On a clock that only the talker's steps move: ``frame_s`` each."""
    now_s = 0.0
    step = bench.talker.step

    def slow_step(state: Cache, embedding: Floats) -> TalkerOutput:
        nonlocal now_s
        now_s += frame_s
        return step(state, embedding)

    monkeypatch.setattr(bench.talker, "step", slow_step)
    for module in (decode_loop, engine_module, sounding):
        monkeypatch.setattr(module, "perf_counter", lambda: now_s)
    adaptive = ScheduleConfig(codec_chunk_adaptive=True)
    cap = replace(UNGUARDED, frames_per_token=1, spare_frames=0, least_frames=40)
    chunks = bench.make(cap).speak(TEXT, schedule=adaptive).chunks
    assert [len(chunk.codes) for chunk in chunks] == sizes


def test_chunks_carry_their_codes(bench: Bench) -> None:
    chunks = list(bench.engine.speak(TEXT).chunks)
    codes = np.concatenate([chunk.codes for chunk in chunks])
    assert codes.shape == (FRAMES, 16)
    again = bench.decoder.decode(bench.decoder.new_state(), codes)
    assert again.tolist() == np.concatenate([chunk.pcm for chunk in chunks]).tolist()


def test_the_same_seed_speaks_the_same_and_another_does_not(bench: Bench) -> None:
    first = sound_of(bench.engine.speak(TEXT, seed=5))
    assert sound_of(bench.engine.speak(TEXT, seed=5)).tolist() == first.tolist()
    assert sound_of(bench.engine.speak(TEXT, seed=6)).tolist() != first.tolist()


def test_the_prefix_of_a_voice_is_computed_once(bench: Bench) -> None:
    first, second = bench.engine.speak(TEXT), bench.engine.speak(replace(TEXT, text="Now."))
    fresh = sound_of(bench_of_same(bench).speak(replace(TEXT, text="Now.")))
    sound_of(first)
    assert sound_of(second).tolist() == fresh.tolist()
    assert first.report.prefilled_positions == first.report.prompt_positions
    assert second.report.prefilled_positions == second.report.prompt_positions - 9
    assert bench.talker.open_states == 2


def bench_of_same(bench: Bench) -> Engine[Cache, Cache, Heard]:
    """Another engine on the same model, without anything kept from before."""
    return bench.make(replace(UNGUARDED, frames_per_token=1, spare_frames=0, least_frames=FRAMES))


@dataclass
class Impatience:
    """Cancels from question ``patience`` on; notes the work at that."""

    bench: Bench
    patience: int = 1_000_000
    asked: int = 0
    work: tuple[int, int] = (0, 0)

    def __call__(self) -> bool:
        if self.asked == self.patience:
            self.work = self.bench.talker.steps, self.bench.decoder.frames
        self.asked += 1
        return self.asked > self.patience


@pytest.mark.parametrize("frames", [1, 4])
def test_a_stop_at_any_question_stops_all_work_and_leaves_a_clean_engine(
    bench: Bench, frames: int
) -> None:
    config = ScheduleConfig(initial_codec_chunk_frames=frames, codec_chunk_frames=frames)
    sound_of(bench.engine.speak(TEXT))  # later utterances have the prompt's prefix already
    patient = Impatience(bench)
    whole = sound_of(bench.engine.speak(TEXT, schedule=config, stale=patient))
    assert patient.asked > 2 * FRAMES
    for patience in range(patient.asked):
        stale = Impatience(bench, patience)
        speech = bench.engine.speak(TEXT, schedule=config, stale=stale)
        heard = [sample for chunk in speech.chunks for sample in chunk.pcm.tolist()]
        assert (bench.talker.steps, bench.decoder.frames) == stale.work
        assert speech.report.stop_reason is StopReason.STOPPED
        assert heard == whole[: len(heard)].tolist()
        assert all(state.closed for state in bench.decoder.states)
        assert bench.talker.open_states == 1
    assert sound_of(bench.engine.speak(TEXT, schedule=config)).tolist() == whole.tolist()


def test_nothing_is_computed_ahead_of_the_reader(bench: Bench) -> None:
    config = ScheduleConfig(initial_codec_chunk_frames=2, codec_chunk_frames=2)
    chunks = bench.engine.speak(TEXT, schedule=config).chunks
    assert bench.talker.steps == 0
    next(chunks)
    steps = bench.talker.steps
    assert bench.decoder.frames == 2
    next(chunks)
    assert bench.talker.steps == steps + 2


def test_working_ahead_gives_the_same_sound_and_stops_at_its_limit(bench: Bench) -> None:
    guards = replace(UNGUARDED, frames_per_token=1, spare_frames=0, least_frames=FRAMES)
    whole = sound_of(bench.engine.speak(TEXT))
    engine = bench.make(guards, frames_ahead=3)
    assert sound_of(engine.speak(TEXT)).tolist() == whole.tolist()
    steps = bench.talker.steps
    speech = engine.speak(TEXT, schedule=ScheduleConfig(codec_chunk_ramp=(1, 1)))
    next(speech.chunks)
    speech.close()
    assert bench.talker.steps <= steps + 2 + 1 + 3 + 1
    assert "qwen3-frames" not in [thread.name for thread in threading.enumerate()]
    assert all(state.closed for state in bench.decoder.states)
    assert sound_of(engine.speak(TEXT)).tolist() == whole.tolist()


def test_closing_the_speech_early_frees_its_states(bench: Bench) -> None:
    speech = bench.engine.speak(TEXT)
    next(speech.chunks)
    speech.close()
    assert all(state.closed for state in bench.decoder.states)
    bench.engine.close()
    assert bench.talker.open_states == 0


def test_a_failing_decoder_frees_the_states_and_is_not_hidden(bench: Bench) -> None:
    bench.decoder.fail_after = 1
    with pytest.raises(RuntimeError, match="broke"):
        sound_of(bench.engine.speak(TEXT))
    assert all(state.closed for state in bench.decoder.states)
    bench.decoder.fail_after = None
    assert sound_of(bench.engine.speak(TEXT)).size == FRAMES * SAMPLES


def test_a_cloned_voice_goes_on_from_its_recording(tiny_qwen3: Callable[[str], Path]) -> None:
    bench = bench_of(tiny_qwen3("1.7b-base"))
    codes = np.random.Generator(np.random.PCG64(1)).integers(0, 64, (13, 16))
    speaker = np.linspace(-1, 1, 512, dtype=np.float32)
    request = Request("Hello.", reference=Reference(speaker, codes, "Guten Tag."))
    chunks = list(bench.engine.speak(request).chunks)
    made = np.concatenate([chunk.codes for chunk in chunks])
    whole = bench.decoder.decode(bench.decoder.new_state(), np.concatenate([codes, made]))
    assert np.concatenate([c.pcm for c in chunks]).tolist() == whole[13 * SAMPLES :].tolist()
    before = bench.decoder.frames
    sound_of(bench.engine.speak(request))
    assert bench.decoder.frames == before + FRAMES  # the recording was not decoded again
    bench.engine.close()


def test_leading_silence_is_trimmed_and_the_start_fades_in(bench: Bench) -> None:
    guards = replace(UNGUARDED, frames_per_token=1, spare_frames=0, least_frames=FRAMES)
    plain = sound_of(bench.make(guards).speak(TEXT))
    loud_floor = StartTrim(silent_frames=3, silence_dbfs=0.0, fade_in_ms=0.25)
    speech = bench.make(guards, loud_floor).speak(TEXT)
    sound = sound_of(speech)
    assert speech.report.trimmed_frames == 3
    expected = plain[3 * SAMPLES :].copy()
    expected[:6] *= np.arange(6, dtype=np.float32) / 6
    assert sound.tolist() == expected.tolist()


def test_a_guard_ends_it_and_what_it_found_is_not_heard(bench: Bench) -> None:
    everything = frozenset(range(64))
    guards = replace(
        UNGUARDED,
        frames_per_token=1,
        spare_frames=0,
        least_frames=20,
        silent_codes=everything,
        silent_frames=12,
    )
    speech = bench.make(guards).speak(TEXT, schedule=ScheduleConfig(codec_chunk_ramp=(100, 100)))
    assert list(speech.chunks) == []
    assert speech.report.stop_reason is StopReason.SILENCE
    assert speech.report.frames == 12


def test_an_unheard_repetition_loop_is_left_by_another_run(bench: Bench) -> None:
    """One code twice in a row counts as a loop here; a seed is found whose first run only
    has one."""
    guards = replace(UNGUARDED, frames_per_token=1, spare_frames=0, least_frames=FRAMES)
    whole_at_once = ScheduleConfig(codec_chunk_ramp=(100, 100))
    engine = bench.make(replace(guards, same_frames=2))
    for seed in range(200):
        speech = engine.speak(TEXT, seed=seed, schedule=whole_at_once)
        chunks = list(speech.chunks)
        if speech.report.retries == 1 and speech.report.stop_reason is StopReason.LIMIT:
            break
    else:
        raise AssertionError("no seed was tried twice")
    codes = np.concatenate([chunk.codes for chunk in chunks])
    assert speech.report.frames == len(codes) == FRAMES
    assert (np.diff(codes[:, 0]) != 0).all()
    assert speech.report.talker_steps > FRAMES - 1  # the first run counts as work
    assert speech.report.prefilled_positions < speech.report.prompt_positions  # prompt kept
    again = engine.speak(TEXT, seed=seed, schedule=whole_at_once)
    assert sound_of(again).tolist() == np.concatenate([c.pcm for c in chunks]).tolist()
    first = bench.make(guards).speak(TEXT, seed=seed, schedule=whole_at_once)
    codes = np.concatenate([chunk.codes for chunk in first.chunks])
    loop = int(np.flatnonzero(np.diff(codes[:, 0]) == 0)[0])
    assert loop > 0
    # Once something was heard, it only ends, before more of what says nothing.
    flat = ScheduleConfig(initial_codec_chunk_frames=1, codec_chunk_frames=1)
    heard = engine.speak(TEXT, seed=seed, schedule=flat)
    kept = np.concatenate([chunk.codes for chunk in heard.chunks])
    assert heard.report.stop_reason is StopReason.REPETITION
    assert heard.report.retries == 0
    assert kept.tolist() == codes[: loop + 1].tolist()


def test_endless_repetition_loops_end(bench: Bench) -> None:
    guards = replace(UNGUARDED, repeats=1)  # any four frames are a loop
    late = ScheduleConfig(codec_chunk_ramp=(100, 100))
    speech = bench.make(guards).speak(TEXT, schedule=late)
    chunks = list(speech.chunks)
    assert speech.report.stop_reason is StopReason.REPETITION
    assert speech.report.retries == 2
    assert [len(chunk.codes) for chunk in chunks] == [4]
    greedy = Sampling(greedy=True)
    generation = replace(Generation(), talker=greedy, predictor=greedy, min_new_tokens=10_000)
    speech = bench.make(guards).speak(TEXT, schedule=late, generation=generation)
    assert sum(len(chunk.codes) for chunk in speech.chunks) == 4
    assert speech.report.retries == 0  # it would only say the same again


def test_a_language_model_far_ahead_does_not_end_in_one_large_chunk(bench: Bench) -> None:
    guards = replace(UNGUARDED, frames_per_token=1, spare_frames=0, least_frames=FRAMES)
    flat = ScheduleConfig(initial_codec_chunk_frames=2, codec_chunk_frames=2)
    speech = bench.make(guards, frames_ahead=100).speak(TEXT, schedule=flat)
    for _ in speech.chunks:
        for thread in threading.enumerate():
            if thread.name == "qwen3-frames":
                thread.join(PATIENCE_S)
    assert speech.report.chunk_frames == [2, 2, 2, 2]


def test_an_empty_text_is_an_error(bench: Bench) -> None:
    with pytest.raises(PromptError, match="empty"):
        bench.engine.speak(replace(TEXT, text=""))


@pytest.mark.parametrize("text", ["...", "😀", "\n\n", "x" * 10_000])
def test_odd_texts_are_spoken(bench: Bench, text: str) -> None:
    speech = bench.engine.speak(replace(TEXT, text=text, streaming=True))
    assert next(iter(speech.chunks)).pcm.size == SAMPLES
