"""Levels of speech, and scenes that are the same ones every time."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.bench.open_speakers.material import Saying, Sayings, active_db, leveled, scenes

LEVELS_DB = (-20.0, -10.0)


def speech(seconds: float, level: float = 0.1) -> np.ndarray:
    """Half of it silent."""
    t = np.arange(int(seconds * 16_000)) / 16_000
    return (level * np.sin(2 * np.pi * 200 * t) * (t < seconds / 2)).astype(np.float32)


def test_the_level_is_that_of_the_louder_half() -> None:
    assert active_db(speech(2.0)) == pytest.approx(20 * np.log10(0.1 / np.sqrt(2)), abs=0.3)
    assert active_db(leveled(speech(2.0), -26.0)) == pytest.approx(-26.0, abs=0.01)


def sayings() -> Sayings:
    def said(speaker: str, count: int) -> list[Saying]:
        return [Saying(f"Sentence {n}.", speaker, speech(3.0)) for n in range(count)]

    return Sayings(
        said("allison", 9),
        said("librivox", 9),
        said("allison", 1),
        said("hibari-slow", 3),
        [tuple(said("hibari", 3)) for _ in range(2)],
    )


def test_scenes_are_the_same_every_time_and_of_their_kinds() -> None:
    kinds = [("nobody", 3), ("person", 4), ("synthetic stop", 2)]
    one, other = (list(scenes(kinds, sayings(), LEVELS_DB)) for _ in range(2))  # type: ignore
    assert [(s.kind, s.number, s.assistant, s.echo_db, s.path) for s in one] == [
        (s.kind, s.number, s.assistant, s.echo_db, s.path) for s in other
    ]
    assert [s.kind for s in one] == ["nobody"] * 3 + ["person"] * 4 + ["synthetic stop"] * 2
    for scene in one:
        assert LEVELS_DB[0] <= scene.echo_db <= LEVELS_DB[1]
        assert (scene.over is None) == (scene.kind == "nobody")
        assert scene.over is None or scene.over.speaker != scene.assistant
