"""Text that is fed while it is spoken: the same speech, however and whenever the text comes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.tts.qwen3.checkpoint.safetensors import open_checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.engine import decode_loop as frames_module
from s2s.tts.qwen3.engine import engine as engine_module
from s2s.tts.qwen3.engine import sounding as sounding_module
from s2s.tts.qwen3.engine.chunk_schedule import ScheduleConfig
from s2s.tts.qwen3.engine.engine import UNTOUCHED, Engine, Report
from s2s.tts.qwen3.engine.language_model import LanguageModel
from s2s.tts.qwen3.engine.stop_rules import UNGUARDED, Guards, StopReason
from s2s.tts.qwen3.errors import PromptError
from s2s.tts.qwen3.interfaces import Floats, Ids, Stale, never
from s2s.tts.qwen3.reference import Cache, ReferenceEmbeddings, ReferencePredictor, ReferenceTalker
from s2s.tts.qwen3.sampling import Sampling
from s2s.tts.qwen3.text.prompt import PromptBuilder, Reference, Request
from s2s.tts.qwen3.text.stream import TextFeed
from s2s.tts.qwen3.text.tokenizer import Tokenizer
from tests.support.patience import PATIENCE_S

DATA = Path(__file__).parents[3] / "data" / "qwen3"
TEXT = "It doesn't 3: 你好，😀 end."
SCHEDULE = ScheduleConfig(initial_codec_chunk_frames=2, codec_chunk_frames=2)
TWICE = replace(UNGUARDED, frames_per_token=2, spare_frames=0, least_frames=1)
THREAD = "qwen3-frames"

Tiny = Callable[[str], Path]


@dataclass
class Nothing:
    """A decoder's state."""

    def close(self) -> None: ...


class Mute:
    """Decodes to a constant: codes are what is compared here."""

    def new_state(self) -> Nothing:
        return Nothing()

    def decode(self, state: Nothing, codes: Ids, stale: Stale = never) -> Floats:
        return np.full(codes.shape[0], 0.5, np.float32)

    def fork(self, state: Nothing) -> Nothing:
        return state


@dataclass
class Bench:
    """A prompt builder, and engines on one tiny model."""

    prompts: PromptBuilder
    model: LanguageModel[Cache, Cache]

    def engine(
        self, guards: Guards = TWICE, frames_ahead: int = 0
    ) -> Engine[Cache, Cache, Nothing]:
        return Engine(
            self.model,
            Mute(),
            self.prompts,
            samples_per_frame=1,
            sample_rate_hz=24_000,
            guards=guards,
            start_trim=UNTOUCHED,
            frames_ahead=frames_ahead,
        )


@pytest.fixture(scope="module")
def bench(tiny_qwen3: Tiny) -> Bench:
    folder = tiny_qwen3("0.6b-customvoice")
    spec = read_spec(folder)
    spec = replace(spec, generation=replace(spec.generation, min_new_tokens=10_000))
    weights = open_checkpoint(folder, spec)
    embeddings = ReferenceEmbeddings(spec, weights)
    prompts = PromptBuilder(spec, Tokenizer.load(folder), embeddings)
    talker, predictor = ReferenceTalker(spec, weights), ReferencePredictor(spec, weights)
    return Bench(prompts, LanguageModel(spec, embeddings, talker, predictor))


def request_of(text: str | TextFeed) -> Request:
    return Request(text, language="English", speaker="ryan", streaming=True)


class Late(TextFeed):
    """Brings each piece only when it is waited for; then says so."""

    def __init__(self, pieces: Sequence[str], asked: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self.pieces = list(pieces)
        self.asked = asked
        self.waits = 0

    def read(self, stale: Stale) -> str | None:
        self.waits += 1
        self.asked()
        if self.pieces:
            self.push(self.pieces.pop(0))
        else:
            self.end()
        return super().read(stale)


def cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def spoken(engine: Engine[Cache, Cache, Nothing], text: str | TextFeed) -> tuple[Ids, Report]:
    """Codes int64 [frames, 16] of an utterance, and its report."""
    speech = engine.speak(request_of(text), seed=3, schedule=SCHEDULE)
    chunks = [chunk.codes for chunk in speech.chunks]
    return np.concatenate(chunks), speech.report


# --- the feed itself -----------------------------------------------------------------------------


def never() -> bool:
    return False


def test_a_feed_gives_what_was_written_then_its_end() -> None:
    feed = TextFeed()
    feed.push("One ")
    feed.push("")
    feed.push("two.")
    assert feed.read(never) == "One two."
    feed.push(" Three.")
    feed.end()
    assert feed.read(never) == " Three."
    assert feed.read(never) == feed.read(never) == ""
    with pytest.raises(ValueError, match=r"'more' comes too late"):
        feed.push("more")


def test_a_closed_feed_gives_nothing_and_takes_nothing() -> None:
    feed = TextFeed()
    feed.push("One.")
    feed.close()
    feed.push("Two.")
    assert feed.read(never) is None


def test_a_reader_waits_for_text_and_is_woken_by_it() -> None:
    feed, read, waiting = TextFeed(), [], threading.Event()

    def stale() -> bool:
        waiting.set()
        return False

    thread = threading.Thread(target=lambda: read.append(feed.read(stale)))
    thread.start()
    assert waiting.wait(PATIENCE_S)
    feed.push("Hi.")
    thread.join(PATIENCE_S)
    assert read == ["Hi."]


# --- the prompt ----------------------------------------------------------------------------------


def test_text_vectors_are_those_of_the_whole_text_in_any_pieces(bench: Bench) -> None:
    @settings(max_examples=40, deadline=None, database=None)
    @given(st.text(min_size=1, max_size=20), st.integers(1, 7))
    def same(text: str, size: int) -> None:
        try:
            whole = bench.prompts.build(request_of(text))
        except PromptError:
            return
        feed = Late(cut(text, size))
        prompt = bench.prompts.begin(request_of(feed), feed, never)
        assert prompt is not None
        assert prompt.coming is not None
        # The reference projects them together or one by one, which rounds differently.
        np.testing.assert_allclose(prompt.embeddings, whole.embeddings, atol=1e-5)
        assert prompt.prefix == whole.prefix
        for frame in range(len(whole.trailing) + 2):
            vector = prompt.coming.vector(frame + 1, never)
            assert vector is not None
            np.testing.assert_allclose(vector, whole.text_vector(frame), atol=1e-5)
            assert prompt.text_left(frame) == whole.text_left(frame)
        assert prompt.coming.tokens == whole.text_tokens

    same()


def test_text_that_is_still_being_written_cannot_stand_before_the_sound(tiny_qwen3: Tiny) -> None:
    folder = tiny_qwen3("0.6b-base")
    spec = read_spec(folder)
    weights = open_checkpoint(folder, spec)
    prompts = PromptBuilder(spec, Tokenizer.load(folder), ReferenceEmbeddings(spec, weights))
    feed, speaker = TextFeed(), np.ones(spec.talker.hidden, np.float32)
    in_context = Reference(speaker, np.zeros((5, 16), np.int64), "Guten Tag.")
    for request, message in (
        (Request(feed, reference=in_context), "in context needs all"),
        (Request(feed, reference=Reference(speaker), streaming=False), "give it whole"),
    ):
        with pytest.raises(PromptError, match=message):
            prompts.begin(request, feed, never)
    with pytest.raises(PromptError, match="begin with it"):
        prompts.build(Request(feed, reference=Reference(speaker)))


# --- the engine ----------------------------------------------------------------------------------


@pytest.mark.parametrize("frames_ahead", [0, 3])
@pytest.mark.parametrize("size", [1, 3, 10, 100])
def test_fed_in_any_pieces_is_given_at_once(bench: Bench, size: int, frames_ahead: int) -> None:
    engine = bench.engine(frames_ahead=frames_ahead)
    expected, whole = spoken(engine, TEXT)
    feed = Late(cut(TEXT, size))
    codes, report = spoken(engine, feed)
    assert codes.tolist() == expected.tolist()
    assert (report.stop_reason, report.frames) == (whole.stop_reason, whole.frames)
    assert report.text_tokens == whole.text_tokens
    assert report.frames == 2 * report.text_tokens  # it is the text that limits it
    assert feed.waits == len(cut(TEXT, size)) + 1
    assert feed.read(never) is None  # closed


OFFICIAL = [
    ("0.6b-base", "x-vector-streaming", {"language": "English"}),
    ("0.6b-customvoice", "streaming", {"language": "french", "speaker": "serena"}),
    ("1.7b-base", "x-vector-streaming", {"language": "English"}),
    ("1.7b-customvoice", "streaming", {"language": "french", "speaker": "serena"}),
]
OFFICIAL_TEXT = "Hello there, how are you today? 你好，今天天气怎么样？"


@pytest.mark.parametrize(("kind", "case", "asked"), OFFICIAL)
def test_fed_word_by_word_it_gives_the_official_codes(
    kind: str, case: str, asked: dict[str, str], tiny_qwen3: Tiny
) -> None:
    """52 frames of 16 codes, which qwen-tts 0.1.1 made with non_streaming_mode=False of the same
    text given whole."""
    known = dict(np.load(DATA / f"{kind}.npz"))
    wanted = known[f"{case}/codes"]
    folder = tiny_qwen3(kind)
    spec = read_spec(folder)
    weights = open_checkpoint(folder, spec)
    embeddings = ReferenceEmbeddings(spec, weights)
    model = LanguageModel(
        spec, embeddings, ReferenceTalker(spec, weights), ReferencePredictor(spec, weights)
    )
    prompts = PromptBuilder(spec, Tokenizer.load(folder), embeddings)
    engine = Bench(prompts, model).engine(UNGUARDED)
    reference = Reference(known["reference/speaker"]) if "base" in kind else None
    feed = Late(OFFICIAL_TEXT.replace(" ", " \0").replace("，", "，\0").split("\0"))
    request = Request(feed, reference=reference, streaming=True, **asked)
    greedy = Sampling(greedy=True)
    settings_ = replace(
        spec.generation,
        talker=greedy,
        predictor=greedy,
        min_new_tokens=10_000,
        max_new_tokens=len(wanted) + 1,
    )
    speech = engine.speak(request, generation=settings_, schedule=SCHEDULE)
    codes = np.concatenate([chunk.codes for chunk in speech.chunks])
    assert codes.tolist() == wanted.tolist()
    assert feed.waits == len(OFFICIAL_TEXT.split()) + 2  # its pieces and its end


def test_a_writer_in_another_thread_may_take_its_time(bench: Bench) -> None:
    engine, feed = bench.engine(), TextFeed()
    expected, _ = spoken(engine, TEXT)

    def write() -> None:
        for piece in cut(TEXT, 2):
            feed.push(piece)
        feed.end()

    writer = threading.Thread(target=write)
    speech = engine.speak(request_of(feed), seed=3, schedule=SCHEDULE)
    writer.start()
    codes = [chunk.codes for chunk in speech.chunks]
    writer.join()
    assert np.concatenate(codes).tolist() == expected.tolist()


def test_sound_of_what_was_written_comes_before_the_rest_is(bench: Bench) -> None:
    feed, made = TextFeed(), []
    feed.push("One two three four five")
    speech = bench.engine().speak(request_of(feed), schedule=SCHEDULE)
    for chunk in speech.chunks:
        made.append(len(chunk.codes))
        if len(made) == 2:
            feed.push(" six.")
            feed.end()
    assert sum(made) == speech.report.frames > 4


@pytest.mark.parametrize("frames_ahead", [0, 3])
def test_no_sound_is_held_back_while_text_is_waited_for(bench: Bench, frames_ahead: int) -> None:
    """Whatever the schedule would wait for."""
    late = ScheduleConfig(initial_codec_chunk_frames=100, codec_chunk_frames=100)
    settled = bench.prompts.build(request_of("One two three")).text_tokens
    feed, engine = TextFeed(), bench.engine(frames_ahead=frames_ahead)
    feed.push("One two three four")
    speech = engine.speak(request_of(feed), schedule=late)
    made = 0
    while made < settled:  # the last word may yet go on
        made += len(next(speech.chunks).codes)
    assert made == settled
    feed.push(" five.")
    feed.end()
    assert made + sum(len(chunk.codes) for chunk in speech.chunks) == speech.report.frames


def test_silence_after_the_text_ends_fed_speech_at_the_same_frame(bench: Bench) -> None:
    everything = frozenset(range(64))
    engine = bench.engine(replace(TWICE, silent_codes=everything, silent_frames=4))
    _, whole = spoken(engine, TEXT)
    _, report = spoken(engine, Late(cut(TEXT, 4)))
    assert whole.stop_reason is report.stop_reason is StopReason.SILENCE
    assert report.frames == whole.frames > whole.text_tokens


@dataclass
class Time:
    """A clock that only waiting for text moves."""

    now_s: float = 0.0
    waits_s: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now_s

    def pass_by(self) -> None:
        self.now_s += 10.0


def test_standing_still_is_no_work(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    time = Time()
    for module in (engine_module, frames_module, sounding_module):
        monkeypatch.setattr(module, "perf_counter", time)
    feed = Late(cut(TEXT, 3), asked=time.pass_by)
    _, report = spoken(bench.engine(), feed)
    assert report.stall_s == 10.0 * feed.waits
    assert report.work_s == 0.0


def test_a_feed_without_a_token_is_an_error(bench: Bench) -> None:
    feed = TextFeed()
    feed.end()
    with pytest.raises(PromptError, match="empty"):
        next(bench.engine().speak(request_of(feed)).chunks)


@pytest.mark.parametrize("frames_ahead", [0, 3])
@pytest.mark.parametrize("written", ["", "One two three four five six"])
def test_who_stops_it_wakes_it_by_closing_the_feed(
    bench: Bench, written: str, frames_ahead: int
) -> None:
    """Also before the first word."""
    engine, stopped, done = bench.engine(frames_ahead=frames_ahead), threading.Event(), []
    expected, _ = spoken(engine, TEXT)
    waits = threading.Semaphore(0)
    feed = Waiting(waits)
    feed.push(written)
    speech = engine.speak(request_of(feed), stale=stopped.is_set, schedule=SCHEDULE)
    reader = threading.Thread(target=lambda: done.extend(speech.chunks))
    reader.start()
    for _ in range(2 if written else 1):
        assert waits.acquire(timeout=PATIENCE_S)
    stopped.set()
    feed.close()
    reader.join(PATIENCE_S)
    assert not reader.is_alive()
    assert speech.report.stop_reason is StopReason.STOPPED
    assert THREAD not in [thread.name for thread in threading.enumerate()]
    assert spoken(engine, TEXT)[0].tolist() == expected.tolist()


class Waiting(TextFeed):
    """Says when it is asked for text."""

    def __init__(self, asked: threading.Semaphore) -> None:
        super().__init__()
        self.asked = asked

    def read(self, stale: Stale) -> str | None:
        self.asked.release()
        return super().read(stale)


def test_closing_the_speech_ends_a_thread_that_waits_for_text(bench: Bench) -> None:
    waits = threading.Semaphore(0)
    feed = Waiting(waits)
    feed.push("One two three four five six")
    speech = bench.engine(frames_ahead=100).speak(request_of(feed), schedule=SCHEDULE)
    next(speech.chunks)
    for _ in range(2):
        assert waits.acquire(timeout=PATIENCE_S)
    speech.close()
    assert THREAD not in [thread.name for thread in threading.enumerate()]
    assert feed.read(never) is None


def test_a_text_that_breaks_off_is_spoken_no_further(bench: Bench) -> None:
    asked = iter([lambda: None, lambda: feed.close()])
    feed = Late(["One two three four", "five"], asked=lambda: next(asked)())
    codes, report = spoken(bench.engine(), feed)
    assert report.stop_reason is StopReason.STOPPED
    assert 0 < len(codes) <= report.text_tokens
