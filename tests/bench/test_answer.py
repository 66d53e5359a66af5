"""What is written down while an answer is made, and the stretch of it that is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from s2s.bench.answer import Diary, DiaryNotes, Look, draw
from s2s.core.markup import Call
from s2s.core.work import Work
from s2s.llm.base import PLAIN, ChatMessage, ChatOptions, Urgency
from s2s.records.noted_voice import NotedVoice
from s2s.records.watched import NotedChat
from s2s.tts.base import AudioChunk, Capabilities, FedSynthesizer, WrittenText


class Chat:
    reads_ahead = True

    def stream(
        self,
        messages: object,
        *,
        stop: Callable[[], bool] = lambda: False,
        work: Urgency = lambda: Work.FIRST_SOUND,
        options: ChatOptions = PLAIN,
    ) -> Iterator[str | Call]:
        yield from ["Whales", " live", " in the", Call("lamp", "{}"), " sea", "."]

    def warm(self, messages: object, *, options: ChatOptions = PLAIN) -> None: ...

    def count_tokens(self, text: str) -> int:
        return len(text)

    def close(self) -> None: ...


class Voice:
    capabilities = Capabilities(100, True, ("en",))

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        yield AudioChunk(np.zeros(150, np.float32))
        yield AudioChunk(np.zeros(50, np.float32))

    def warm(self) -> None: ...

    def close(self) -> None: ...


class WordVoice(Voice):
    def takes_words(self, voice: str | None = None, language: str | None = None) -> bool:
        return True

    def synthesize_written(
        self,
        text: WrittenText,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        yield AudioChunk(np.zeros(100, np.float32))


class NoText:
    quiet = False

    def read(self, stale: Callable[[], bool]) -> str | None:
        return ""

    def close(self) -> None: ...


def test_words_and_sound_are_counted_as_they_come() -> None:
    diary = Diary()
    said = list(NotedChat(Chat(), DiaryNotes(diary)).stream([ChatMessage("user", "Where?")]))
    assert len(said) == 6
    assert diary.words == 4
    for _ in NotedVoice(Voice(), 0.0, DiaryNotes(diary)).synthesize("x"):
        assert diary.made_s > 0
    assert diary.made_s == 2.0
    voice = NotedVoice(WordVoice(), 0.0, DiaryNotes(diary))
    assert isinstance(voice, FedSynthesizer)
    assert voice.takes_words()
    assert len(list(voice.synthesize_written(NoText()))) == 1
    assert diary.made_s == 3.0


def test_a_voice_that_takes_whole_texts_stays_one() -> None:
    voice = NotedVoice(Voice(), 0.0, DiaryNotes(Diary()))
    assert not voice.takes_words()
    with pytest.raises(TypeError, match="Voice does not take text"):
        voice.synthesize_written(NoText())


def test_the_longest_stretch_is_one_answer(tmp_path: Path) -> None:
    waits = [0.0, 1.0, 0.0, 0.0, 2.0, 1.0, 0.5, 0.0]
    looks = [Look(at, 3, 4.0, wait, 1.0) for at, wait in enumerate(waits)]
    assert [look.at_s for look in Diary(looks=looks).heard_of()] == [4, 5, 6]
    with pytest.raises(ValueError, match="no answer"):
        draw(tmp_path / "x.png", [], "")
