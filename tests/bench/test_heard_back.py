"""Prompts spoken, heard back and compared, with a voice and an ear that are made up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from s2s.bench.heard_back import PROMPTS, hear_back, read_prompts, similarity
from s2s.core.audio import Block, read_wav
from s2s.stt.base import Transcription
from s2s.tts.base import AudioChunk, Capabilities

RATE_HZ = 24_000


class Voice:
    """Says each text as a constant whose height is the number of its words."""

    capabilities = Capabilities(RATE_HZ, streaming=True, languages=("en",))

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        count = len(text.split())
        if count:
            yield AudioChunk(np.full(RATE_HZ, count / 100, np.float32))

    def warm(self) -> None: ...

    def close(self) -> None: ...


class Ear:
    """Hears words by the height; every text of three words is misheard."""

    def transcribe(
        self,
        audio: Block,
        *,
        language: str | None = None,
        earlier: Transcription | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        count = round(100 * float(np.median(audio)))
        return Transcription("one two tree" if count == 3 else "one two")

    def warm(self) -> None: ...

    def close(self) -> None: ...


def embed(samples: Block, rate_hz: int) -> Block:
    assert rate_hz == RATE_HZ
    return np.array([1.0, 100 * float(samples[0]) - 2], np.float32)


def test_what_was_heard_and_how_alike_it_is(tmp_path: Path) -> None:
    like = np.array([1.0, 0.0], np.float32)
    found = hear_back(
        ["one two", "One, two.", "one two three"], Voice(), Ear(), language="en",
        embed=embed, like=like, keep=tmp_path,
    )  # fmt: skip
    assert [(each.wrong, each.words) for each in found] == [(0, 2), (0, 2), (1, 3)]
    assert [each.like for each in found] == [1.0, 1.0, pytest.approx(0.7071)]
    assert found[0].steady == pytest.approx((1 + 0.7071) / 2, abs=1e-4)
    assert found[0].audio_s == 1.0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["001.wav", "002.wav", "003.wav"]
    assert len(read_wav(tmp_path / "001.wav", RATE_HZ)[0]) == RATE_HZ


def test_without_an_encoder_only_the_words_are_compared() -> None:
    (found,) = hear_back(["one two"], Voice(), Ear(), language=None)
    assert (found.like, found.steady, found.wrong) == (None, None, 0)


def test_a_text_without_sound_is_all_wrong() -> None:
    (found,) = hear_back(["..."], Voice(), Ear(), language="en")
    assert (found.heard, found.audio_s, found.rtf) == ("", 0.0, 0.0)


def test_prompts_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text("\ufeff# mine\n\n one two \nthree\n", encoding="utf-8")
    assert read_prompts(path) == ["one two", "three"]
    path.write_text("# nothing\n")
    with pytest.raises(ValueError, match=r"list\.txt holds no prompt"):
        read_prompts(path)
    assert len(PROMPTS) == 12


def test_similarity_is_the_cosine() -> None:
    one = np.array([3.0, 4.0], np.float32)
    assert similarity(one, one) == 1.0
    assert similarity(one, -one) == -1.0
    assert similarity(one, np.zeros(2, np.float32)) == 0.0
