"""From a recording to an enrolled voice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.tts.qwen3.codec.open import open_decoder
from s2s.tts.qwen3.errors import VoiceError
from s2s.tts.qwen3.voices.enrol import Enrolment
from s2s.tts.qwen3.voices.store import (
    Voice,
)
from tests.support.recordings import WORDS_0880

Tiny = Callable[[str], Path]


def test_half_a_second_of_silence_follows_the_reference(voice: Voice, pcm: np.ndarray) -> None:
    assert voice.codes is not None
    assert len(voice.codes) == -(-(len(pcm) + 12_000) // 1920)


def test_models_that_do_not_clone_are_refused(tiny_qwen3: Tiny, cache: Path) -> None:
    with pytest.raises(VoiceError, match="custom_voice model without a speaker encoder"):
        Enrolment.open(tiny_qwen3("0.6b-customvoice"), cache)


@pytest.mark.parametrize(
    ("pcm", "message"),
    [
        (np.zeros(24_000, np.float32), "silent"),
        (np.full(24_000, np.nan, np.float32), "finite"),
        (np.zeros(100, np.float32), "0.004 s"),
        (np.full(500, 0.1, np.float32), "mel frames"),
    ],
)
def test_recordings_no_voice_can_be_made_of(
    enrolment: Enrolment, pcm: np.ndarray, message: str
) -> None:
    with pytest.raises(VoiceError, match=message):
        enrolment.enrol("nobody", pcm, WORDS_0880)


def test_warnings_are_given_with_the_voice(enrolment: Enrolment, pcm: np.ndarray) -> None:
    _, warnings = enrolment.enrol("short", pcm[:36_000], WORDS_0880)
    assert len(warnings) == 1
    assert "only 1.5 s" in warnings[0]


def test_the_decoder_alone_opens_for_every_kind(tiny_qwen3: Tiny, cache: Path) -> None:
    decoder = open_decoder(tiny_qwen3("1.7b-voicedesign") / "speech_tokenizer", cache)
    assert decoder.decode(decoder.new_state(), np.zeros((1, 16), np.int64)).shape == (1920,)
