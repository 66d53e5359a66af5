"""What is compared before a provider speaks: it agrees with itself, and sees what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.tts.qwen3.backend import as_predictor, as_talker
from s2s.tts.qwen3.checkpoint.codec_spec import read_codec_spec
from s2s.tts.qwen3.checkpoint.spec import Spec, read_spec
from s2s.tts.qwen3.checkpoint.tables import CodeVectors, open_tables
from s2s.tts.qwen3.codec.decoder import CodecState
from s2s.tts.qwen3.codec.open import open_decoder
from s2s.tts.qwen3.fixed.admission import Agreement
from s2s.tts.qwen3.fixed.codec import FixedCodecDecoder
from s2s.tts.qwen3.fixed.language import (
    FixedCache,
    FixedPredictor,
    FixedTalker,
    open_predictor,
    open_talker,
)
from s2s.tts.qwen3.fixed.providers import RuntimeProvider
from s2s.tts.qwen3.fixed.trial import LanguageTrial, codec_error, snr_db
from s2s.tts.qwen3.fixed.weights import FIXED_F32
from s2s.tts.qwen3.interfaces import Floats, Ids, Stale, TalkerOutput
from s2s.tts.qwen3.sampling import Draws, Sampling

HERE = RuntimeProvider("cpu")
FRAMES = 8


@pytest.fixture(scope="module")
def folder(converted_qwen3: Callable[[str, str], Path]) -> Path:
    return converted_qwen3("0.6b-base", FIXED_F32)


@pytest.fixture(scope="module")
def spec(folder: Path) -> Spec:
    return read_spec(folder)


@pytest.fixture(scope="module")
def trial(folder: Path, spec: Spec) -> LanguageTrial:
    return LanguageTrial(folder, spec, 1, frames=FRAMES)


class Forgetful(FixedTalker):
    """Loses its first position, as a cache that is one slot too short does."""

    def step(self, state: FixedCache, embedding: Floats) -> TalkerOutput:
        for name, cache in state.caches.items():
            cache[:, :, 0 if name.startswith("key") else slice(None)] *= 0
        return super().step(state, embedding)


def test_the_same_graphs_agree_wholly(trial: LanguageTrial, folder: Path, spec: Spec) -> None:
    talker, _ = open_talker(folder, spec, HERE, 1)
    predictor, _ = open_predictor(folder, spec, HERE, 1)
    assert trial.talker(as_talker(talker)) == Agreement(FRAMES, FRAMES)
    assert trial.predictor(as_predictor(predictor)) == Agreement(FRAMES * 15, FRAMES * 15)
    spoken = trial.spoken()
    assert spoken.codes.shape == (FRAMES, 16)
    assert trial.spoken() is spoken, "spoken once"


def test_what_forgets_does_not(trial: LanguageTrial, folder: Path, spec: Spec) -> None:
    _, part = open_talker(folder, spec, HERE, 1)
    assert trial.talker(as_talker(Forgetful(part.graphs, spec))).same < FRAMES


class Reversed(FixedPredictor):
    """Reads the talker's vector from its end."""

    def frame(
        self, state: FixedCache, hidden: Floats, code0: int, sampling: Sampling, draws: Draws
    ) -> Ids:
        return super().frame(state, hidden[::-1], code0, sampling, draws)


def test_a_predictor_that_is_fed_another_vector_does_not(
    trial: LanguageTrial, folder: Path, spec: Spec
) -> None:
    _, part = open_predictor(folder, spec, HERE, 1)
    vectors = CodeVectors(open_tables(folder), spec)
    assert trial.predictor(as_predictor(Reversed(part.graphs, spec, vectors))).same < FRAMES * 15


class Hissing(FixedCodecDecoder):
    """Adds noise of a known power."""

    def _run(self, state: CodecState, codes: Ids, stale: Stale) -> Floats:
        pcm = super()._run(state, codes, stale)
        noise = np.random.default_rng(1).standard_normal(len(pcm))
        level = np.sqrt(np.mean(np.square(pcm))) * 10 ** (-30 / 20)
        return (pcm + level * noise).astype(np.float32)


def test_a_codec_is_as_far_off_as_its_noise(
    tiny_qwen3: Callable[[str], Path], tmp_path: Path
) -> None:
    source = tiny_qwen3("0.6b-base") / "speech_tokenizer"
    clean = open_decoder(source, tmp_path, placement="fixed")
    assert isinstance(clean, FixedCodecDecoder)
    (graphs,) = tmp_path.iterdir()
    spec = read_codec_spec(source).decoder
    hissing = Hissing(spec, graphs, HERE)
    groups, codes = spec.code_groups, spec.codebook_size
    assert codec_error(clean, clean, groups, codes).snr_db > 1000
    found = codec_error(hissing, clean, groups, codes)
    assert found.snr_db == pytest.approx(30, abs=0.2)


def test_silence_and_what_is_no_number_are_as_bad_as_can_be() -> None:
    sound = np.array([1, -1], np.float32)
    assert snr_db(sound, np.array([1, np.nan], np.float32)) == -np.inf
    assert snr_db(0 * sound, sound) == -np.inf
    assert snr_db(sound, 0 * sound) == 0
