"""What the programs of this folder ask of a backend, and how they tell it."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np

from s2s.core.audio import Block
from s2s.tts.base import Synthesizer, TtsError

TEXT = "One two three four five. Six seven eight nine ten."
RESULTS: dict[str, str] = {}


def check(name: str, holds: object) -> None:
    """Note whether something holds."""
    RESULTS[name] = "ok" if holds else f"no: {holds!r}"


def sound(speaker: Synthesizer, text: str = TEXT, **options: str) -> Block:
    """All of the sound of a text."""
    chunks = speaker.synthesize(text, **options)  # type: ignore[arg-type]
    return np.concatenate([np.zeros(0, np.float32), *(chunk.samples for chunk in chunks)])


def check_as_others(voice: Synthesizer) -> None:
    """What tests/tts/test_capabilities.py asks."""
    able = voice.capabilities
    chunks = list(voice.synthesize(TEXT))
    sizes = [len(chunk.samples) for chunk in chunks if len(chunk.samples)]
    check("it sounds", sizes)
    check("numbers", all(np.isfinite(chunk.samples).all() for chunk in chunks))
    check("streams", not able.streaming or sizes[0] < sum(sizes))
    known = [chunk.spoken_chars for chunk in chunks if chunk.spoken_chars is not None]
    check("tells how far it is", known == sorted(known) and known[-1] == len(TEXT))
    check(
        "languages", able.languages and all(sound(voice, language=c).size for c in able.languages)
    )
    check("nothing to say", not sound(voice, "...").size)
    check("no other voice", fails(lambda: sound(voice, voice="nobody-of-that-name"), "nobody"))
    asked: list[int] = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) > 2

    stopped = sum(len(chunk.samples) for chunk in voice.synthesize(TEXT * 4, stop=stop))
    check("stops", stopped < 2 * sum(sizes))
    begun = voice.synthesize(TEXT)
    next(iter(begun))
    begun.close()  # type: ignore[attr-defined]
    check("speaks after it was left", sound(voice).size)


def fails(call: Callable[[], object], message: str) -> bool:
    """The call raises a TtsError with this in its message."""
    try:
        call()
    except TtsError as error:
        return message in str(error)
    return False


def tell() -> None:
    """Print what came of all checks."""
    print(json.dumps(RESULTS))
