"""What a machine can do: found by trying, kept for this machine, and never trusted for another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from s2s.tts.qwen3.calibrate import cache as module
from s2s.tts.qwen3.calibrate.cache import CalibrationCache, Speed
from s2s.tts.qwen3.calibrate.conditions import MeasuringConditions


def test_it_is_remembered_for_this_machine_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, speed = tmp_path / "home" / "speed.json", Speed(2, 0, 38.0, 25.0, 22.0)
    kept = CalibrationCache(path)
    assert kept.speed("0.6b") is None
    kept.keep_speed("0.6b", speed)
    kept.keep_backends("q4", {"native": 30.5})
    again = CalibrationCache(path)
    assert again.speed("0.6b") == speed
    assert again.speed("1.7b") is None
    assert again.backends("q4") == {"native": 30.5}
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    monkeypatch.setattr(module, "cpu_name", lambda: "another")
    assert CalibrationCache(path).speed("0.6b") is None
    assert CalibrationCache(path).backends("q4") == {}


@pytest.mark.parametrize("content", ["", "[]", "{", '{"machine": 1}'])
def test_a_damaged_file_is_as_good_as_none(content: str, tmp_path: Path) -> None:
    path = tmp_path / "speed.json"
    path.write_text(content)
    kept = CalibrationCache(path)
    assert kept.speed("0.6b") is None
    kept.keep_speed("0.6b", Speed(1, 0, 1.0, 1.0, 1.0))
    assert kept.speed("0.6b") is not None


def test_fields_of_another_version_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "speed.json"
    kept = CalibrationCache(path)
    kept.keep_speed("0.6b", Speed(1, 0, 1.0, 1.0, 1.0))
    content = json.loads(path.read_text())
    content["models"]["0.6b"]["colour"] = "red"
    path.write_text(json.dumps(content))
    assert kept.speed("0.6b") is None


def test_a_file_that_cannot_be_written_is_only_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "home").write_text("a file")
    CalibrationCache(tmp_path / "home" / "speed.json").keep_speed(
        "0.6b", Speed(1, 0, 1.0, 1.0, 1.0)
    )
    assert "cannot be written" in caplog.text


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("threads", 0), ("threads", "2"), ("threads", True), ("threads", 10**9),
        ("draft_tokens", -1), ("draft_tokens", 1.5), ("codes_ms", float("nan")),
        ("codes_ms", -1.0), ("codes_ms", float("inf")), ("decode_ms", None), ("call_ms", []),
        ("overlapped", 1), ("rtf", -0.5), ("rtf", "fast"), ("conditions", None),
        ("conditions", {}), ("conditions", {"measured": "", "others_cores": 0.9, "alone": True,
                                            "utterances": 0}),
    ],
)  # fmt: skip
def test_a_number_that_was_never_measured_does_not_count(
    field: str, value: object, tmp_path: Path
) -> None:
    path = tmp_path / "speed.json"
    kept = CalibrationCache(path)
    kept.keep_speed("0.6b", Speed(1, 0, 1.0, 1.0, 1.0))
    content = json.loads(path.read_text())
    content["models"]["0.6b"][field] = value
    path.write_text(json.dumps(content))
    assert kept.speed("0.6b") is None


def test_when_and_how_it_was_measured_is_kept_with_it(tmp_path: Path) -> None:
    kept = CalibrationCache(tmp_path / "speed.json")
    how = MeasuringConditions("2026-11-30 12:05 UTC", 0.05, True, 7)
    kept.keep_speed("0.6b", Speed(2, 0, 20.0, 1.0, 9.0, rtf=0.42).under(how))
    found = kept.speed("0.6b")
    assert found is not None
    assert found.conditions == how
    assert found.real_time == 0.42
    assert str(how) == (
        "measured 2026-11-30 12:05 UTC, nothing else computed, corrected by 7 utterances"
    )


def test_what_a_core_turned_out_to_need_corrects_what_was_measured(tmp_path: Path) -> None:
    kept = CalibrationCache(tmp_path / "speed.json")
    kept.keep_backends("q4", {"native": 20.0, "ggml": 24.0, "onnx": float("inf")})
    kept.correct_backend("q4", "native", 1.3)
    kept.correct_backend("q4", "onnx", 0.5)
    kept.correct_backend("q4", "another", 0.5)
    assert kept.backends("q4") == {"native": 26.0, "ggml": 24.0, "onnx": float("inf")}


def test_only_times_of_backends_count(tmp_path: Path) -> None:
    path = tmp_path / "speed.json"
    kept = CalibrationCache(path)
    kept.keep_backends("q4", {"native": 30.5, "onnx": float("inf")})
    content = json.loads(path.read_text())
    content["backends"]["q4"] |= {"ggml": "fast", "a": float("nan"), "b": -1, "c": None, "d": []}
    path.write_text(json.dumps(content))
    assert kept.backends("q4") == {"native": 30.5, "onnx": float("inf")}
    path.write_text("[" * 100_000)
    assert kept.backends("q4") == {}
