"""`doctor --measure`: what was tried, what is used, and how it was measured."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from s2s.app.doctor.measure import measure, show
from s2s.config.schema import Config, TtsConfig
from s2s.models.store import Store
from s2s.system.llama_cpp import installed
from s2s.tts.qwen3 import Measurement, MeasuringConditions, SettingTrial, Speed
from s2s.tts.qwen3_adapter import Qwen3Config

SPEED = Speed(2, 0, 20.04, 2.0, 9.0, rtf=0.42)


def test_the_table_says_what_was_tried_and_how(capsys: pytest.CaptureFixture[str]) -> None:
    trials = (SettingTrial("core native", (20.04, 22.0)), SettingTrial("core ggml", (31.0, 30.0)))
    quiet = SPEED.under(MeasuringConditions("2026-11-30 12:05 UTC"))
    show(Measurement(quiet, "key", trials))
    said = capsys.readouterr().out
    assert [line.split() for line in said.splitlines()[1:3]] == [
        ["core", "native", "20.0", "20.0", "22.0"],
        ["core", "ggml", "30.0", "31.0", "30.0"],
    ]
    assert "used: 2 threads, 0 draft tokens: 20.0 ms for the codes of a frame" in said
    assert "real-time factor 0.42" in said
    assert "measured 2026-11-30 12:05 UTC, nothing else computed" in said
    assert "not kept" not in said


def test_a_bad_measurement_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    busy = SPEED.under(MeasuringConditions("2026-11-30 12:05 UTC", others_cores=1.2))
    show(Measurement(busy, "key", kept=False))
    said = capsys.readouterr().out
    assert "other programs used 1.2 cores" in said
    assert "not kept: end what else computes, and measure again" in said


@pytest.mark.ggml
@pytest.mark.skipif(not installed(), reason="no llama.cpp library: pip install xllamacpp")
def test_a_model_is_measured_afresh_each_time(
    tiny_qwen3: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = Qwen3Config(model=str(tiny_qwen3("0.6b-customvoice")), threads=1, core="ggml")
    config = Config(tts=TtsConfig(backend="qwen3", options=options))
    for _ in range(2):
        assert measure(config, Store(tmp_path)) in (0, 1)
        said = capsys.readouterr().out
        assert "q4_k_m (ggml)" in said
        assert "draft tokens 3" in said
        assert "real-time factor" in said
