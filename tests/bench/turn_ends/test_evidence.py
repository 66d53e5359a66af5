"""What the witnesses say at a pause, and that it is kept as it was heard."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from s2s.bench.turn_audio import Turn, write_turns
from s2s.bench.turn_ends import evidence
from s2s.bench.turn_ends.evidence import WINDOW_MS, HeardPause, gather, read


def pause(turn: str = "t", **sound: float) -> HeardPause:
    heard = {int(ms.removeprefix("ms")): odds for ms, odds in sound.items()}
    return HeardPause(turn, "end", 1000, 2024, None, 1000, heard, "It is late.", 1.5)


def test_the_sound_is_that_of_the_next_place_where_it_was_judged() -> None:
    heard = pause(ms32=1.0, ms320=2.0)
    assert heard.sound_after(WINDOW_MS) == 1.0
    assert heard.sound_after(100) == 2.0
    assert heard.sound_after(400) is None


class Ears:
    """Hears one pause in every turn."""

    def __init__(self, *_: object, **__: object) -> None:
        self.took_ms: dict[str, list[float]] = {"sound": [1.0], "words": [2.0], "model": [3.0]}

    def hear(self, turn: Turn, *_: object) -> list[HeardPause]:
        heard.append(turn.name)
        return [pause(turn.name, ms32=0.5)]

    def close(self) -> None: ...


heard: list[str] = []


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    heard.clear()
    monkeypatch.setattr(evidence, "Witnesses", Ears)
    silence = np.zeros(1600, np.float32)
    write_turns([Turn(name, "x", silence, 0, (), 800) for name in ("a", "b")], tmp_path)
    return tmp_path


def test_each_turn_is_heard_once_and_kept(folder: Path) -> None:
    assert gather(folder)
    assert sorted(heard) == ["a", "b"]
    assert gather(folder)
    assert sorted(heard) == ["a", "b"]
    assert [each.turn for each in read(folder)] == ["a", "b"]
    assert read(folder)[0].sound == {32: 0.5}


def test_it_stops_in_time_and_goes_on_later(folder: Path) -> None:
    assert not gather(folder, seconds=-1.0)
    while not gather(folder):
        pass
    assert sorted(heard) == ["a", "b"]
    assert len(read(folder)) == 2
