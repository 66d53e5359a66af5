"""Chunks of a VITS voice: at words where it streams, at clauses where it cannot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from s2s.core.clock import ManualClock
from s2s.tts.backends.vits_chunks import usual_cost, vits_chunks
from s2s.tts.vits import Manner, load_voice
from tests.support.vits import voice_folder


def test_a_voice_that_streams_tells_every_word(tmp_path: Path) -> None:
    voice = load_voice(voice_folder(tmp_path, "plain"), threads=1)
    text = "one two, three."
    chunks = list(vits_chunks(voice, text, Manner(seed=1), lambda: False, usual_cost()))
    spoken = [chunk.spoken_chars or 0 for chunk in chunks]
    assert spoken == sorted(spoken)
    assert {3, 8, 15} <= set(spoken)
    direct = np.concatenate([sound.samples for sound in voice.speak(text, Manner(seed=1))])
    assert np.array_equal(np.concatenate([chunk.samples for chunk in chunks]), direct)


def test_it_stops_between_pieces(tmp_path: Path) -> None:
    voice = load_voice(voice_folder(tmp_path, "foreign"), threads=1)
    spoken: list[int | None] = []
    chunks = vits_chunks(voice, "a. b. c.", Manner(), lambda: len(spoken) == 2, usual_cost())
    for chunk in chunks:
        spoken.append(chunk.spoken_chars)  # noqa: PERF401 - asked for while it grows
    assert spoken == [2, 5]


def test_a_voice_that_cannot_stream_tells_what_is_spoken_piece_by_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("s2s.tts.backends.vits_chunks.SystemClock", ManualClock)  # stands still
    voice = load_voice(voice_folder(tmp_path, "foreign", inference={"sentence_silence": 0.1}))
    text = "one two three, four five six seven eight nine ten eleven twelve thirteen. fourteen."
    chunks = list(vits_chunks(voice, text, Manner(), lambda: False, usual_cost()))
    assert [text[: chunk.spoken_chars] for chunk in chunks] == [
        "one two three,",
        "one two three, four five six seven eight nine ten eleven twelve thirteen.",
        text,
    ]
    pause = round(0.1 * voice.sample_rate_hz)
    silent = [bool((chunk.samples[:pause] == 0).all()) for chunk in chunks]
    assert silent == [False, False, True], "a pause after a sentence, none after a clause"
