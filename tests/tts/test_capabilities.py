"""What a backend says of itself is what it does, for every text-to-speech backend there is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from s2s.config import registry
from s2s.config.registry import StageBackend
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.tts.backends.hibari import HibariConfig, HibariTts
from s2s.tts.backends.kokoro.backend import Kokoro, KokoroConfig
from s2s.tts.backends.mms.backend import Mms, MmsConfig
from s2s.tts.backends.openai import OpenAiSpeech, OpenAiSpeechConfig
from s2s.tts.backends.piper import Piper, PiperConfig
from s2s.tts.base import Synthesizer, TtsError
from s2s.tts.qwen3_adapter import Qwen3, Qwen3Config
from tests.support.kokoro import kokoro_folder
from tests.support.mms import mms_voice
from tests.support.server import ScriptedServer
from tests.support.vits import voice_folder

FIRST = "one two three four five."
TEXT = f"{FIRST} six seven eight nine ten."

Make = Callable[[], Synthesizer]


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Resources:
    """What a backend is given that brings its own files; what it makes of them stays."""
    return Resources(Store(tmp_path_factory.mktemp("store"), manifest={}), threads=1)


@pytest.fixture
def makers(
    tmp_path: Path,
    resources: Resources,
    empty: Resources,
    tiny_qwen3: Callable[[str], Path],
    server: ScriptedServer,
) -> dict[str, Make]:
    """How each backend of the registry is made, on a small model."""
    server.script = lambda request: server.send(request, [b"\1\0" * 4800] * 4, kind="x/pcm")
    qwen3 = Qwen3Config(model=str(tiny_qwen3("1.7b-customvoice")), seed=3, threads=1, core="onnx")
    speech = OpenAiSpeechConfig(base_url=server.base_url, voices=("echo",))
    return {
        "hibari": lambda: HibariTts(HibariConfig(), resources),
        "kokoro": lambda: Kokoro(KokoroConfig(str(kokoro_folder(tmp_path))), empty),
        "mms": lambda: Mms(MmsConfig(model=str(mms_voice(tmp_path / "eng")), seed=1), empty),
        "piper": lambda: Piper(PiperConfig(str(voice_folder(tmp_path, "plain")), seed=1), empty),
        "qwen3": lambda: Qwen3(qwen3, empty),
        "openai": lambda: OpenAiSpeech(speech, empty),
    }


OTHERS = {"chattts", "mlx-audio", "pocket"}
"""Asked the same by tests/voices, where their packages are."""


@pytest.fixture(
    params=[backend.name for backend in registry.backends("tts") if backend.name not in OTHERS]
)
def synthesizer(request: pytest.FixtureRequest, makers: dict[str, Make]) -> Iterator[Synthesizer]:
    """Each backend in turn; one that is not named above fails here."""
    backend: StageBackend = registry.find("tts", request.param)
    lacking = set(registry.missing(backend)) - {"piper"}  # its phonemes are letters here
    if lacking:
        pytest.skip(f"not installed: {', '.join(lacking)}")
    with closing(makers[request.param]()) as made:
        yield made


def test_sound_comes_before_the_end_if_it_says_so(synthesizer: Synthesizer) -> None:
    sizes = [len(chunk.samples) for chunk in synthesizer.synthesize(TEXT)]
    sounding = [size for size in sizes if size]
    assert sounding
    if synthesizer.capabilities.streaming:
        assert sounding[0] < sum(sounding)


def test_words_are_timed_if_it_says_so(synthesizer: Synthesizer) -> None:
    spoken = [chunk.spoken_chars for chunk in synthesizer.synthesize(TEXT)]
    known = [count for count in spoken if count is not None]
    assert known == sorted(known)
    assert all(0 <= count <= len(TEXT) for count in known)
    if synthesizer.capabilities.word_timing:
        assert None not in spoken
        assert [count for count in known if count < len(FIRST)]
        assert known[-1] == len(TEXT)


def test_its_voices_speak_and_no_other_does(synthesizer: Synthesizer) -> None:
    fetched = isinstance(synthesizer, HibariTts)  # but for one that comes with the package
    for voice in ("heart",) if fetched else synthesizer.capabilities.voices[:2]:
        assert voice in synthesizer.capabilities.voices
        assert _sound(synthesizer, voice=voice).size
    if synthesizer.capabilities.voices:
        with pytest.raises(TtsError, match="nobody-of-that-name"):
            _sound(synthesizer, voice="nobody-of-that-name")


def test_it_speaks_its_languages(synthesizer: Synthesizer) -> None:
    languages = synthesizer.capabilities.languages
    assert languages
    assert all(len(code) == 2 and code.islower() for code in languages)
    for language in languages:
        assert _sound(synthesizer, language=language).size


def _sound(
    synthesizer: Synthesizer, voice: str | None = None, language: str | None = None
) -> np.ndarray:
    chunks = synthesizer.synthesize("one two.", voice=voice, language=language)
    return np.concatenate([np.zeros(0, np.float32), *(chunk.samples for chunk in chunks)])
