"""A voice inside of another one keeps all that it can: whatever is optional passes through."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import pytest

from s2s.core.clock import ManualClock
from s2s.records.call_notes import CallNotes
from s2s.records.noted_voice import noted_voice
from s2s.tts import base
from s2s.tts.base import AudioChunk, Capabilities, Synthesizer, WrittenText
from s2s.tts.spare_voice import with_spare
from s2s.tts.voices_by_language import VoicesByLanguage


class Able:
    """A voice that can all there is."""

    description = "a voice"
    real_time_factor = 0.25
    measured_how = ""
    takes_instructions = True
    capabilities = Capabilities(24_000, streaming=True, languages=("en",))

    def synthesize(self, text: str, **_: object) -> Iterator[AudioChunk]:
        yield from ()

    def synthesize_instructed(
        self, text: str, instructions: str, **_: object
    ) -> Iterator[AudioChunk]:
        yield from ()

    def synthesize_written(self, text: WrittenText, **_: object) -> Iterator[AudioChunk]:
        yield from ()

    def takes_words(self, voice: str | None = None, language: str | None = None) -> bool:
        return True

    def pace(self, language: str | None = None) -> float:
        return 0.75

    def offers(self, language: str) -> bool:
        return language in {"en", "de"}

    def prepare(self, language: str) -> bool:
        return language == "en"

    def warm(self) -> None: ...

    def close(self) -> None: ...


def _nowhere(note: Mapping[str, object]) -> None: ...


WRAPPERS: dict[str, Callable[[Any], Synthesizer]] = {
    "noted": lambda voice: noted_voice(voice, 0.5, CallNotes(ManualClock(), 0.0, _nowhere)),
    "spare": lambda voice: with_spare(voice, voice),
    "by language": lambda voice: VoicesByLanguage(voice, {}),
}
NOT = {
    ("noted", "InstructedSynthesizer"): "a session gives its voice no instructions",
    ("noted", "Measured"): "it is measured before a session takes it",
    ("by language", "Measured"): "its voices are measured one by one",
    ("spare", "FedSynthesizer"): "what was half spoken can't be spoken again by the spare one",
}
"""What does not pass through, and why."""


def can_be_asked(kind: type) -> bool:
    """It is a protocol that an object can be asked for."""
    try:
        isinstance(None, kind)
    except TypeError:
        return False
    return Protocol in kind.__mro__


OPTIONAL = {
    name: kind for name, kind in inspect.getmembers(base, inspect.isclass) if can_be_asked(kind)
}


def test_all_that_is_optional_is_asked() -> None:
    assert {"FedSynthesizer", "LanguageLoader", "PacedSynthesizer"} <= OPTIONAL.keys()
    assert all(isinstance(Able(), kind) for kind in OPTIONAL.values())


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("ability", OPTIONAL)
def test_it_passes_through(wrapper: str, ability: str) -> None:
    passes = isinstance(WRAPPERS[wrapper](Able()), OPTIONAL[ability])
    assert passes is ((wrapper, ability) not in NOT)


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_what_it_says_is_the_inner_voices(wrapper: str) -> None:
    voice: Any = WRAPPERS[wrapper](Able())
    assert [voice.offers(code) for code in ("en", "de", "fr")] == [True, True, False]
    assert [voice.prepare(code) for code in ("en", "de")] == [True, False]
    assert voice.pace("en") == 0.75
