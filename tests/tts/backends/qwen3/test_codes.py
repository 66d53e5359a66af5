"""The codes of a voice that is loaded, for a decoder elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.tts.backends.qwen3.codes import Qwen3Codes
from s2s.tts.base import TtsError
from s2s.tts.codec_stream.source import SpeechEnd, SpeechFrame, SpeechWish
from s2s.tts.qwen3_adapter import Qwen3, Qwen3Config

WISH = SpeechWish("Hi.", "ryan", "English", seed=3)


@pytest.fixture(scope="module")
def codes(
    tiny_qwen3: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Qwen3Codes]:
    config = Qwen3Config(
        model=str(tiny_qwen3("0.6b-customvoice")), quant="int4", core="onnx", codec="onnx",
        voice="vivian", threads=1,
    )  # fmt: skip
    resources = Resources(Store(tmp_path_factory.mktemp("home")), threads=1)
    with closing(Qwen3(config, resources)) as voice:
        yield Qwen3Codes(voice)


def said(codes: Qwen3Codes, wish: SpeechWish) -> tuple[list[list[int]], SpeechEnd]:
    *frames, end = codes.codec_frames(wish, lambda: False)
    assert isinstance(end, SpeechEnd)
    return [each.codes.tolist() for each in frames if isinstance(each, SpeechFrame)], end


def test_it_says_what_its_codes_are_for(codes: Qwen3Codes) -> None:
    form = codes.codec_format
    assert (form.codebooks, form.frame_rate_hz, form.sample_rate_hz) == (16, 12.5, 24_000)
    assert len(form.decoder) == 16
    assert codes.model.startswith("qwen3-tts-0")
    assert codes.model.endswith("int4")
    assert "vivian" in codes.voices
    assert "de" in codes.languages
    assert codes.reference_codes(None) is None


def test_the_same_wish_gives_the_same_frames_and_ends_once(codes: Qwen3Codes) -> None:
    first, end = said(codes, WISH)
    assert end.frames == len(first)
    assert np.array(first).min() >= 0
    assert said(codes, WISH) == (first, end)
    for other in (
        SpeechWish("Hi.", "vivian", "English", seed=3),
        SpeechWish("Hi.", "ryan", "fr", seed=3),
        SpeechWish("Hi.", "ryan", "English", seed=4),
        SpeechWish("Hi.", "ryan", "English", seed=3, attempt=1),
    ):
        assert said(codes, other)[0] != first
    assert said(codes, SpeechWish("Hi.", None, "en", seed=3)) == said(
        codes, SpeechWish("Hi.", "vivian", "English", seed=3)
    )


def test_a_budget_of_the_device_is_kept(codes: Qwen3Codes) -> None:
    frames, end = said(codes, SpeechWish("Hi there.", "ryan", "Auto", seed=1, max_new_tokens=4))
    assert len(frames) <= 3
    assert end.reason in ("limit", "end")


def test_a_stop_ends_it(codes: Qwen3Codes) -> None:
    heard: list[object] = []
    heard.extend(codes.codec_frames(WISH, lambda: len(heard) >= 2))
    assert heard[-1] == SpeechEnd("stopped", len(heard) - 1)
    assert len(heard) <= 4


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        (SpeechWish("Hi.", "nobody"), "unknown speaker 'nobody'; known: aiden"),
        (SpeechWish("Hi.", "ryan", "Tlh"), "no language 'Tlh'; known: en, zh"),
        (SpeechWish("", "ryan"), "the text is empty"),
    ],
)
def test_what_cannot_be_spoken_is_an_error(codes: Qwen3Codes, wish: SpeechWish, words: str) -> None:
    with pytest.raises(TtsError, match=words):
        list(codes.codec_frames(wish, lambda: False))
    if wish.voice == "nobody":
        with pytest.raises(TtsError, match=words):
            codes.reference_codes(wish.voice)
