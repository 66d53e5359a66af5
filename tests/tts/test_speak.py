"""One way to speak a text, for the conversation and for the command `say`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from s2s.tts.base import AudioChunk, Capabilities
from s2s.tts.speak import instructed, language_for, speak
from s2s.tts.text import Lexicon
from tests.support.voices import SaysInstructions


class Voice:
    """Writes down what it is asked for; a sample a character."""

    capabilities = Capabilities(16_000, True, ("en", "de"), voices=("anna",))

    def __init__(self) -> None:
        self.asked: list[tuple[str, str | None, str | None]] = []

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        self.asked.append((text, voice, language))
        for end in range(1, len(text) + 1):
            if stop():
                return
            yield AudioChunk(np.ones(1, np.float32), end)

    def warm(self) -> None: ...

    def close(self) -> None: ...


def test_the_voice_gets_words_in_its_language() -> None:
    voice = Voice()
    synthesis = speak("**It costs** 5 €.", voice, "en", voice="anna")
    chunks = list(synthesis.chunks)
    assert voice.asked == [("It costs five euros.", "anna", "en")]
    assert synthesis.spoken.heard(chunks[-1].spoken_chars or 0) == "**It costs** 5 €."


def test_respellings_of_the_user_are_spoken() -> None:
    voice = Voice()
    list(speak("Nguyen called.", voice, "en", lexicon=Lexicon({"nguyen": "win"})).chunks)
    assert voice.asked[0][0] == "win called."


@pytest.mark.parametrize("text", ["", " ", "**", "<think>all of it"])
def test_a_text_without_words_asks_nothing_of_the_voice(text: str) -> None:
    voice = Voice()
    synthesis = speak(text, voice, "en")
    assert list(synthesis.chunks) == []
    assert (voice.asked, synthesis.spoken.text) == ([], "")


def test_it_ends_when_told_to() -> None:
    heard = speak("one two", Voice(), "en", stop=iter([False, False, True]).__next__)
    assert len(list(heard.chunks)) == 2


@pytest.mark.parametrize(
    ("text", "supported", "wanted", "spoken"),
    [
        ("Hello.", ("en",), None, "en"),
        ("Hello.", ("en",), "de", "en"),
        ("Hello.", (), "de", "de"),
        ("Hello.", (), None, None),
        ("42", ("en", "de"), None, "en"),
        ("42", ("en", "de"), "de", "de"),
        ("Das ist nicht die Antwort.", ("en", "de"), None, "de"),
        ("Das ist nicht die Antwort.", ("en", "fr"), None, "en"),
        ("你好", ("en", "zh"), None, "zh"),
        ("你好", ("en", "zh"), "en", "en"),
    ],
)
def test_the_language_of_a_text_that_stands_alone(
    text: str, supported: tuple[str, ...], wanted: str | None, spoken: str | None
) -> None:
    assert language_for(text, supported, wanted) == spoken


class Actor(SaysInstructions, Voice):
    """Heeds how to speak, if it is a good one."""


def test_a_voice_speaks_as_it_is_told_in_words() -> None:
    actor = Actor()
    told = instructed(actor, "softly")
    assert told.capabilities == actor.capabilities
    list(speak("5 €", told, "en", voice="anna").chunks)
    assert actor.asked == [("softly: five euros", "anna", "en")]
    told.warm()
    told.close()


def test_who_is_told_nothing_or_heeds_nothing_speaks_as_ever() -> None:
    actor, deaf, voice = Actor(), Actor(), Voice()
    deaf.takes_instructions = False
    assert instructed(actor, "") is actor
    assert instructed(deaf, "softly") is deaf
    assert instructed(voice, "softly") is voice
