"""Qwen3-TTS as a backend: a tiny model from its folder to the blocks the sender gets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.core.audio import read_wav
from s2s.core.cancel import CancelScope
from s2s.core.channel import Channel
from s2s.core.clock import ManualClock
from s2s.core.messages import AudioOut, AudioResponseDone, EndOfResponse, ResponseId, TtsInput
from s2s.core.metrics import Metrics
from s2s.core.speculation import SpeculativeTurns
from s2s.core.state import SessionState
from s2s.core.work import Unlimited, Work
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.system.llama_cpp import installed
from s2s.tts import qwen3
from s2s.tts.base import TtsError
from s2s.tts.handler import TtsHandler, TtsSettings
from s2s.tts.qwen3 import VOICE_RATE_HZ, ScheduleConfig, enrol_voice
from s2s.tts.qwen3_adapter import Qwen3, Qwen3Config
from s2s.tts.speech_time import token_budget

pytestmark = [
    pytest.mark.ggml,
    pytest.mark.skipif(not installed(), reason="no llama.cpp library: pip install xllamacpp"),
]


DATA = Path(__file__).parents[1] / "data"


RESPONSE = ResponseId("t", 0, 0, "r")


FRAME = 1920


@pytest.fixture(scope="module")
def resources(tmp_path_factory: pytest.TempPathFactory) -> Resources:
    return Resources(Store(tmp_path_factory.mktemp("home")), threads=1)


@pytest.fixture(scope="module")
def speaker(tiny_qwen3: Callable[[str], Path], resources: Resources) -> Qwen3:
    config = Qwen3Config(model=str(tiny_qwen3("1.7b-customvoice")), seed=3, threads=1, core="ggml")
    return Qwen3(config, resources)


def sound_of(
    synthesizer: Qwen3, text: str, voice: str | None = None, language: str | None = None
) -> np.ndarray:
    spoken = synthesizer.synthesize(text, voice=voice, language=language)
    chunks = [chunk.samples for chunk in spoken]
    return np.concatenate(chunks) if chunks else np.zeros(0, np.float32)


def test_capabilities_are_the_models_own(speaker: Qwen3) -> None:
    capabilities = speaker.capabilities
    assert capabilities.sample_rate_hz == 24_000
    assert capabilities.streaming
    assert "vivian" in capabilities.voices
    assert capabilities.languages[0] == "en"
    assert len(capabilities.languages) == 10


def test_the_same_seed_gives_the_same_samples_and_a_voice_its_own(speaker: Qwen3) -> None:
    first = sound_of(speaker, "Hi.")
    assert first.size > 0
    assert first.size % FRAME == 0
    assert first.dtype == np.float32
    assert np.abs(first).max() <= 1
    assert sound_of(speaker, "Hi.").tolist() == first.tolist()
    assert sound_of(speaker, "Hi.", voice="Dylan").tolist() != first.tolist()
    assert sound_of(speaker, "Hi.", language="fr").tolist() != first.tolist()


def test_it_speaks_as_it_is_told_where_the_model_takes_it(speaker: Qwen3) -> None:
    def told(instructions: str) -> list[float]:
        spoken = speaker.synthesize_instructed("Hi.", instructions)
        return np.concatenate([each.samples for each in spoken]).tolist()

    assert speaker.takes_instructions
    plain = sound_of(speaker, "Hi.").tolist()
    assert told("Whispered, and very slowly.") != plain
    assert told("") == plain


@pytest.mark.parametrize("text", ["", "...", "\n !? ", "😀"])
def test_what_cannot_be_heard_gives_nothing(speaker: Qwen3, text: str) -> None:
    assert list(speaker.synthesize(text)) == []


def test_an_unknown_voice_is_an_error_that_names_the_known(speaker: Qwen3) -> None:
    with pytest.raises(TtsError, match=r"'nobody'; known: aiden, .*vivian"):
        next(speaker.synthesize("Hi.", voice="nobody"))


def test_a_stop_ends_it(speaker: Qwen3) -> None:
    heard = 0

    def stop() -> bool:
        return heard > 0

    for chunk in speaker.synthesize("A long sentence that would take its time.", stop=stop):
        heard += chunk.samples.size
    assert 0 < heard <= 6 * FRAME


def test_warming_chooses_a_schedule(speaker: Qwen3) -> None:
    assert speaker.schedule == ScheduleConfig()
    speaker.warm()
    assert speaker.schedule.edge_costs is not None


def test_chunks_are_cut_as_chosen_also_once_warm(
    tiny_qwen3: Callable[[str], Path], resources: Resources, caplog: pytest.LogCaptureFixture
) -> None:
    config = Qwen3Config(
        model=str(tiny_qwen3("1.7b-customvoice")),
        voice="ryan",  # whose utterance is long enough
        seed=3,
        threads=1,
        core="ggml",
        codec_chunk_frames=1,
        codec_chunk_ramp=(1, 3),
        codec_left_context_frames=72,
    )
    speaker = Qwen3(config, resources)
    assert "codec_left_context_frames 72 has no effect" in caplog.text
    speaker.warm()
    *chunks, last = speaker.synthesize("A long sentence that would take its time.")
    assert last.report is not None
    sizes = [chunk.samples.size // FRAME for chunk in chunks]
    sizes[0] += int(last.report.measures["trimmed_frames"])
    assert len(sizes) > 3
    assert sizes == [1, 3, *[1] * (len(sizes) - 2)]
    speaker.close()


def test_a_text_that_its_budget_cuts_is_warned_of(
    tiny_qwen3: Callable[[str], Path], resources: Resources, caplog: pytest.LogCaptureFixture
) -> None:
    folder = str(tiny_qwen3("1.7b-customvoice"))
    config = Qwen3Config(model=folder, seed=3, threads=1, core="ggml", max_new_tokens=4)
    speaker = Qwen3(config, resources)
    *_, last = speaker.synthesize("A long sentence that would take its time.")
    assert last.report is not None
    assert last.report.is_cut
    assert last.report.measures["frames"] == 3  # and the end of speech
    assert "41 characters may take up to 360 codec tokens" in caplog.text
    assert "cut at 4" in caplog.text
    speaker.close()


def test_a_texts_budget_is_no_warning(speaker: Qwen3, caplog: pytest.LogCaptureFixture) -> None:
    assert speaker.generation("Hi.").max_new_tokens == token_budget("Hi.", chunk_frames=25).tokens
    text = "A word " * 40
    expected = token_budget(text, chunk_frames=25).tokens
    assert speaker.generation(text).max_new_tokens == expected > 360
    assert caplog.text == ""


def test_instructions_are_ignored_by_the_small_model_with_a_notice(
    tiny_qwen3: Callable[[str], Path], resources: Resources, caplog: pytest.LogCaptureFixture
) -> None:
    folder = str(tiny_qwen3("0.6b-customvoice"))
    plain = Qwen3(Qwen3Config(model=folder, seed=1, threads=1), resources)
    told = Qwen3(Qwen3Config(model=folder, seed=1, threads=1, instruct="Sadly."), resources)
    assert "ignores instructions" in caplog.text
    assert sound_of(plain, "Hi.").tolist() == sound_of(told, "Hi.").tolist()
    plain.close()
    told.close()
    with pytest.raises(TtsError, match="closed"):
        next(plain.synthesize("Hi."))


def test_a_cloning_model_needs_a_voice_and_speaks_with_an_enrolled_one(
    tiny_qwen3: Callable[[str], Path], resources: Resources
) -> None:
    folder = tiny_qwen3("0.6b-base")
    with pytest.raises(TtsError, match=r"voices add NAME"):
        Qwen3(Qwen3Config(model=str(folder), threads=1), resources)
    store = resources.store
    pcm, _ = read_wav(DATA / "librivox_0880.wav", VOICE_RATE_HZ)
    for name, text in (("timbre", ""), ("words", "he was not an ill disposed young man")):
        enrol_voice(name, pcm, text, model=str(folder), home=store.root)
    cloned = Qwen3(Qwen3Config(model=str(folder), voice="words", seed=1, threads=1), resources)
    assert cloned.capabilities.cloning
    assert set(cloned.capabilities.voices) == {"timbre", "words"}
    first = sound_of(cloned, "Hi.")
    assert first.size > 0
    assert sound_of(cloned, "Hi.", voice="timbre").tolist() != first.tolist()
    assert sound_of(cloned, "Hi.").tolist() == first.tolist()
    assert not cloned.takes_words()  # the official layout has all of the text at once
    assert cloned.takes_words("timbre")
    cloned.close()
    assert (store.root / "qwen3-converted").is_dir()


class Pieces:
    """A text in pieces, each when it is asked for."""

    quiet = False

    def __init__(self, text: str, size: int) -> None:
        self.left = [text[at : at + size] for at in range(0, len(text), size)]
        self.closed = False

    def read(self, stale: Callable[[], bool]) -> str | None:
        return None if stale() else self.left.pop(0) if self.left else ""

    def close(self) -> None:
        self.closed = True


def test_text_fed_as_it_is_written_sounds_as_the_same_text_given_whole(
    speaker: Qwen3, tiny_qwen3: Callable[[str], Path], resources: Resources
) -> None:
    assert not speaker.takes_words()  # as the authors do it
    config = Qwen3Config(
        model=str(tiny_qwen3("1.7b-customvoice")),
        seed=3,
        threads=1,
        core="ggml",
        streaming_text=True,
    )
    fed = Qwen3(config, resources)
    assert fed.takes_words()
    text = "Hi there, all of you."
    pieces = Pieces(text, 5)
    chunks = list(fed.synthesize_written(pieces, language="en"))
    made = np.concatenate([chunk.samples for chunk in chunks])
    assert made.tolist() == sound_of(fed, text, language="en").tolist()
    assert chunks[-1].report is not None
    assert pieces.closed
    for text, stop in (("", False), ("Hi.", True)):
        pieces = Pieces(text, 5)
        assert list(fed.synthesize_written(pieces, stop=lambda stop=stop: stop)) == []
        assert pieces.closed
    fed.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "/no/such/folder"}, "no such folder"),
        ({"model": "0.6b"}, r"0\.6B-CustomVoice"),
        ({"quant": "q3"}, "known: f32"),
    ],
)
def test_what_cannot_be_opened_says_so_in_one_line(
    options: dict[str, str], message: str, tiny_qwen3: Callable[[str], Path], resources: Resources
) -> None:
    config = Qwen3Config(**{"model": str(tiny_qwen3("0.6b-customvoice")), **options})  # pyright: ignore[reportArgumentType]
    with pytest.raises(TtsError, match=message) as raised:
        Qwen3(config, resources)
    assert "\n" not in str(raised.value)


class NothingIsOpened:
    """In place of what opens a model."""

    def __call__(self, *arguments: object, **options: object) -> None:
        raise AssertionError("a model was opened")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "0.6b-base"}, r"0\.6b-base clones voices .*enrolled: none yet.*voices add NAME"),
        ({"model": "Qwen/Qwen3-TTS-12Hz-1.7B-Base", "voice": "me"}, "no enrolled voice 'me'"),
        ({"model": "0.6b", "voice": "nobody"}, "unknown voice 'nobody'; known: aiden, dylan"),
        ({"model": "1.7b-customvoice", "voice": "me"}, "unknown voice 'me'.*--record"),
    ],
)
def test_a_voice_there_is_not_is_said_before_anything_is_loaded(
    options: dict[str, str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(qwen3, "open_model", NothingIsOpened(), raising=False)
    config = Qwen3Config(**options)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TtsError, match=message):
        Qwen3(config, Resources(Store(tmp_path)))


def test_a_base_model_in_a_folder_is_known_before_it_is_converted(
    tiny_qwen3: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(qwen3, "open_model", NothingIsOpened(), raising=False)
    config = Qwen3Config(model=str(tiny_qwen3("0.6b-base")))
    with pytest.raises(TtsError, match="voices add NAME"):
        Qwen3(config, Resources(Store(tmp_path)))


def test_aiden_speaks_unless_another_is_asked(speaker: Qwen3) -> None:
    usual = sound_of(speaker, "Hi.")
    assert sound_of(speaker, "Hi.", voice="aiden").tolist() == usual.tolist()
    assert sound_of(speaker, "Hi.", voice="ryan").tolist() != usual.tolist()


def test_pace_and_volume_are_settings(
    tiny_qwen3: Callable[[str], Path], resources: Resources, speaker: Qwen3
) -> None:
    folder = str(tiny_qwen3("1.7b-customvoice"))
    config = Qwen3Config(model=folder, seed=3, threads=1, core="ggml", speed=1.25, volume_db=-6.0)
    quick = Qwen3(config, resources)
    plain, found = sound_of(speaker, "Hi."), sound_of(quick, "Hi.")
    assert len(found) == pytest.approx(len(plain) / 1.25, abs=2)
    assert np.sqrt(np.mean(found**2)) == pytest.approx(0.5 * np.sqrt(np.mean(plain**2)), rel=0.15)
    quick.close()


def test_a_part_is_computed_elsewhere_from_the_next_utterance_on(
    tiny_qwen3: Callable[[str], Path], resources: Resources
) -> None:
    folder = str(tiny_qwen3("1.7b-customvoice"))
    config = Qwen3Config(model=folder, quant="q8_0", seed=3, threads=1, core="ggml", codec="onnx")
    moving = Qwen3(config, resources)
    before = sound_of(moving, "Hi.")
    running = moving.synthesize("A long sentence that would take its time.")
    first = next(running)
    moving.move(talker="ggml", predictor="ggml", codec="onnx")  # to where it is: nothing changes
    assert sound_of(moving, "Hi.").tolist() == before.tolist()
    rest = [chunk.samples for chunk in running]  # what ran goes on as it began
    assert first.samples.size
    assert rest
    with pytest.raises(TtsError, match="unknown backend 'abacus'"):
        moving.move(talker="abacus")
    assert sound_of(moving, "Hi.").tolist() == before.tolist()
    moving.close()


def test_the_start_line_says_when_and_how_it_was_measured(
    tiny_qwen3: Callable[[str], Path], tmp_path: Path
) -> None:
    config = Qwen3Config(
        model=str(tiny_qwen3("1.7b-customvoice")), threads=1, core="ggml", codec="onnx", seed=3
    )
    made = Qwen3(config, Resources(Store(tmp_path)))
    assert (made.real_time_factor, made.measured_how) == (0.0, "")
    assert made.pace() == 0.0
    made.warm()
    assert made.real_time_factor > 0
    assert "measured 20" in made.measured_how
    made.close()


class Crowded(Unlimited):
    """Other programs leave one core."""

    def threads(self, work: Work, most: int) -> int:
        return 1


def test_its_pace_is_what_others_leave_of_the_cores(
    tiny_qwen3: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = str(tiny_qwen3("1.7b-customvoice"))
    config = Qwen3Config(model=folder, threads=2, core="ggml", codec="onnx", seed=3)
    alone = Qwen3(config, Resources(Store(tmp_path), compute=Unlimited()))
    beside = Qwen3(config, Resources(Store(tmp_path), compute=Crowded()))
    for made in (alone, beside):
        made.warm()
    assert alone.pace() == pytest.approx(alone.real_time_factor)
    assert beside.pace() == pytest.approx(2 * beside.real_time_factor)
    for made in (alone, beside):
        made.close()


class Stage:
    """The TTS stage with this backend."""

    def __init__(self, synthesizer: Qwen3) -> None:
        clock = ManualClock()
        self.scope, turns = CancelScope(clock), SpeculativeTurns(clock)
        inbox: Channel = Channel(32, clock=clock)
        self.metrics = Metrics()
        state = SessionState(self.scope, turns, clock, self.metrics, lambda event: None)
        self.handler = TtsHandler(synthesizer, inbox, state, TtsSettings(16_000))
        turns.observe(RESPONSE.turn, grace_until_s=0.0)


def test_through_the_stage_sound_leaves_in_blocks_and_ends_once(speaker: Qwen3) -> None:
    stage = Stage(speaker)
    out = list(stage.handler.process(TtsInput("Hi.", RESPONSE, "en", 0.0)))
    out += stage.handler.process(EndOfResponse(RESPONSE))
    blocks = [message.block for message in out if isinstance(message, AudioOut)]
    assert {block.size for block in blocks} == {512}
    seconds = sum(block.size for block in blocks) / 16_000
    whole = sound_of(speaker, "Hi.", language="en").size / 24_000
    assert seconds == pytest.approx(whole, abs=0.5)
    assert out[-1] == AudioResponseDone(RESPONSE)
    timeline = stage.metrics.finish(RESPONSE.turn)
    assert timeline is not None
    (segment,) = timeline.segments
    assert segment["stop_reason"] in ("end", "limit")
    assert segment["frames"] == round(whole / 0.08) + float(segment["trimmed_frames"])
    assert 5 <= float(segment["forward_passes_a_frame"]) <= 15
    assert float(segment["rtf"]) > 0


def test_through_the_stage_a_barge_in_stops_within_a_chunk(speaker: Qwen3) -> None:
    stage = Stage(speaker)
    blocks = 0
    for message in stage.handler.process(
        TtsInput("A long sentence that would take its time, and more.", RESPONSE, "en", 0.0)
    ):
        blocks += isinstance(message, AudioOut)
        if blocks == 3:
            stage.scope.cancel()
    assert blocks * 512 / 16_000 <= 3 * 512 / 16_000 + 4 * 0.08
