"""The benchmark of conversations in real time: its arguments, its sums, its pictures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from s2s.bench import pipeline
from s2s.bench.recording import Answer, SpokenSpan
from s2s.core.messages import TurnId
from s2s.core.metrics import Metrics
from s2s.models.store import Store
from s2s.tts.base import AudioChunk, Capabilities


def answer(latency_ms: float | None, *, cut_off: bool = False) -> Answer:
    return Answer(SpokenSpan(0, 16_000, "hello"), latency_ms, cut_off)


FOUND = [answer(400.0), answer(600.0), answer(None), answer(9000.0, cut_off=True)]


def test_percentiles_are_of_answers_that_came_in_their_turn() -> None:
    found = pipeline.figures(FOUND)
    assert (found["turns"], found["answered"], found["cut_off"]) == (4, 2, 1)
    assert (found["latency_p50_ms"], found["latency_max_ms"]) == (500.0, 600.0)


def test_the_voices_share_is_from_the_first_words_to_the_first_sound() -> None:
    metrics = Metrics()
    for number, took_s in enumerate((0.1, 0.2, 0.3)):
        turn = TurnId(str(number), 0)
        metrics.mark(turn, "speech_stopped", 1.0)
        metrics.mark(turn, "first_sentence", 2.0)
        metrics.mark(turn, "first_audio", 2.0 + took_s)
        metrics.finish(turn)
    found = pipeline.first_sound(metrics.finished())
    assert found["first_sound_p50_ms"] == pytest.approx(200.0)
    assert found["first_sound_p90_ms"] == pytest.approx(280.0)


def test_each_turn_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    pipeline.show(FOUND, {"turns": 4}, {"transcript": {"p50": 80.0, "p90": 90.0}})
    told = capsys.readouterr().out
    assert told.count("hello") == 4
    assert "no answer" in told
    assert told.count("cut off") == 1
    assert "80.0" in told


def test_the_latency_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    pipeline.draw(tmp_path / "x.png", FOUND)
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_ends_of_speech_were_labelled_within_the_recordings() -> None:
    from s2s.core.audio import read_wav

    for name, end_s in pipeline.RECORDINGS_S.items():
        audio, rate_hz = read_wav(pipeline.DATA / f"{name}.wav")
        assert 0 < end_s < len(audio) / rate_hz, name


@pytest.mark.models
def test_the_person_is_recordings_then_spoken_questions_then_the_same_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = ("What do bees do in winter?", "Can you give me some advice?")
    monkeypatch.setattr(pipeline, "QUESTIONS", asked)
    said, ends = pipeline.person(Store(), 9)
    recorded = [*pipeline.RECORDINGS_S]
    assert [line.name for line in said] == [*recorded, *asked, *recorded[:2]]
    assert all(0 < ends[line.name] <= len(line.audio) for line in said)


def test_nothing_is_spoken_that_no_turn_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    spoken: list[str] = []

    class Counting:
        capabilities = Capabilities(16_000, True, ("en",))

        def synthesize(self, text: str) -> Iterator[AudioChunk]:
            spoken.append(text)
            yield AudioChunk(np.full(1600, 0.25, dtype=np.float32))

        def close(self) -> None: ...

    monkeypatch.setattr(pipeline.registry, "create_synthesizer", lambda *_: Counting())
    for turns, needed in ((1, 0), (5, 0), (7, 2), (22, 17), (50, 17)):
        spoken.clear()
        assert len(pipeline.person(Store(), turns)[0]) == turns
        assert spoken == [*pipeline.QUESTIONS[:needed]]


def test_settings_are_pairs() -> None:
    options = pipeline.parse(["--turns", "3", "--set", "tts.backend=piper"])
    assert (options.turns, options.set) == (3, ["tts.backend=piper"])
    assert (options.idle_seconds, pipeline.parse(["--idle-seconds", "0"]).idle_seconds) == (
        5.0,
        0.0,
    )
    for refused in (["--turns", "many"], ["--turns", "0"], ["--idle-seconds", "-1"]):
        with pytest.raises(SystemExit):
            pipeline.parse(refused)
