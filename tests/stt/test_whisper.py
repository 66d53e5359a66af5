"""Whisper on any runtime: its windows, and what of its text was spoken."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from s2s.core.audio import PIPELINE_HZ, Block
from s2s.stt.base import TimedWord, Transcription
from s2s.stt.whisper import HeardWindow, SpokenRules, WindowedWhisper, is_spoken


@pytest.mark.parametrize(
    ("text", "silent", "log_prob", "compression", "spoken"),
    [
        (" Hello", 0.1, -0.2, 1.0, True),
        (" you", 0.8, -1.3, 1.0, False),
        (" sure in noise", 0.8, -0.2, 1.0, True),
        (" unsure", 0.1, -1.3, 1.0, True),
        (" la la la la la", 0.1, -0.2, 2.5, False),
        (" . ♪", 0.1, -0.2, 1.0, False),
    ],
)
def test_silence_and_loops_are_not(
    text: str, silent: float, log_prob: float, compression: float, spoken: bool
) -> None:
    segment = SimpleNamespace(
        text=text, no_speech_prob=silent, avg_logprob=log_prob, compression_ratio=compression
    )
    assert is_spoken(segment, SpokenRules()) is spoken


class Runtime(WindowedWhisper[str]):
    """Hears the same words in every window."""

    def __init__(self, model: str) -> None:
        super().__init__("runtime", model, SpokenRules())
        self.told: list[str | None] = []

    def _is_multilingual(self, model: str) -> bool:
        return model == "many"

    def _window(
        self, model: str, audio: Block, language: str | None, *, words: bool
    ) -> HeardWindow:
        self.told.append(language)
        timed = (TimedWord("words", 0.5, 1.0),) if words else ()
        languages = {"de": 0.9} if language is None else {}
        return HeardWindow("words", language or "de", languages, timed)

    def with_words(self, audio: Block) -> Transcription:
        return self._transcribed(audio, None, lambda: False, words=True)


LONG = np.random.default_rng(0).normal(0, 0.1, 40 * PIPELINE_HZ).astype(np.float32)


def test_the_language_is_heard_in_the_first_window_and_kept() -> None:
    runtime = Runtime("many")
    heard = runtime.transcribe(LONG)
    assert (heard.text, heard.language) == ("words words", "de")
    assert heard.languages == {"de": 0.9}
    assert runtime.told == [None, "de"]


def test_words_are_timed_from_the_start_of_all_windows() -> None:
    runtime = Runtime("many")
    first, second = runtime.with_words(LONG).words
    assert first == TimedWord("words", 0.5, 1.0)
    assert 15.0 < second.start_s < 30.5
    assert second.end_s == second.start_s + 0.5
    assert runtime.transcribe(LONG).words == ()


def test_an_english_model_is_told_english_and_none_hears_once_closed() -> None:
    runtime = Runtime("one")
    assert runtime.transcribe(LONG, language="fr").language == "en"
    runtime.close()
    with pytest.raises(RuntimeError, match=r"runtime: used after close"):
        runtime.transcribe(LONG)
