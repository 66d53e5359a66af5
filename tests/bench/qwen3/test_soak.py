"""Speech without a pause: for as long as asked, parts moved in their minute, and closed."""

from __future__ import annotations

import itertools
from pathlib import Path
from types import SimpleNamespace

import pytest

from s2s.bench.qwen3 import soak as module
from s2s.bench.qwen3.settings import BenchSetting
from s2s.bench.qwen3.soak import Move, show_soak, soak


def test_a_move_is_written_as_minute_part_and_place() -> None:
    assert Move.of("5:codec=onnx") == Move(5.0, "codec", "onnx")
    for wrong in ("codec=onnx", "5:voice=onnx", "5:codec", "5"):
        with pytest.raises(ValueError, match=r"write MINUTE:PART=PLACEMENT|could not convert"):
            Move.of(wrong)


@pytest.fixture
def moved(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Utterances of half a minute each; what is moved and closed."""
    done: list[object] = []
    clock = itertools.count(0.0, 10.0)  # looked at three times an utterance
    model = SimpleNamespace(move=lambda **how: done.append(how), close=lambda: done.append("end"))
    run = SimpleNamespace(arrivals=SimpleNamespace(real_time_factor=0.5))
    bench = SimpleNamespace(utterance=lambda frames, seed: run)
    monkeypatch.setattr(module, "open_setting", lambda _: model)
    monkeypatch.setattr(module, "warm", lambda *_: bench)
    monkeypatch.setattr(module, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(module, "temperature_c", lambda: None)
    return done


def test_it_goes_on_for_as_long_as_asked(
    moved: list[object], capsys: pytest.CaptureFixture[str]
) -> None:
    setting = BenchSetting(Path(), Path(), "q8_0", None, "auto", 1, frames=25)
    found = soak(setting, 2.0, (Move(1.0, "codec", "onnx"),))
    assert found.minutes[-1] >= 2.0 > found.minutes[-2]
    assert len(found.rtf) == len(found.resident_mb) == len(found.minutes)
    assert found.audio_s == len(found.minutes) * 2.0
    assert found.temperature_c == []
    assert moved == [{"codec": "onnx"}, "end"]
    ((minute, what, took_ms),) = found.moved
    assert (minute >= 1.0, what, took_ms) == (True, "codec to onnx", 10_000.0)
    show_soak(found)
    told = capsys.readouterr().out
    assert "RTF 0.5 to 0.5" in told
    assert "temperature not told" in told
