"""What is fastest on a machine is found by trying."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from s2s.tts.qwen3.calibrate.cache import CalibrationCache
from s2s.tts.qwen3.calibrate.tune import fastest_backend, tune
from s2s.tts.qwen3.engine.chunk_schedule import (
    Costs,
    ScheduleConfig,
)
from s2s.tts.qwen3.engine.report import Report
from tests.tts.qwen3.schedules import chunk_sizes


@dataclass(slots=True)
class Machine:
    """A model whose frame takes what the table says for (threads, draft tokens)."""

    codes_ms: dict[tuple[int, int], float]
    fixed: bool = False
    threads: int = 1
    draft_tokens: int = 0
    used: list[int] = field(default_factory=list)

    def use_threads(self, threads: int) -> bool:
        if self.fixed:
            return False
        self.threads = threads
        return True

    def use_draft_tokens(self, draft_tokens: int) -> None:
        self.draft_tokens = draft_tokens

    def speak(self, frames: int, schedule: ScheduleConfig) -> Report:
        self.used.append(frames)
        codes_s = self.codes_ms[self.threads, self.draft_tokens] / 1000
        sizes = chunk_sizes(schedule, frames, Costs(1))
        return Report(
            talker_s=[codes_s / 4] * frames,
            predictor_s=[codes_s * 3 / 4] * frames,
            decoded_frames=sizes,
            codec_s=[(25 + 20 * size) / 1000 for size in sizes],
        )


def test_the_fastest_settings_are_found_and_stay() -> None:
    table = {(t, g): 60 / t - 5 * (g == 2) for t in (1, 2, 4) for g in range(4)}
    machine = Machine(table)
    found = tune(machine, machine.speak, threads=4, draft_tokens=None)
    assert (found.threads, found.draft_tokens) == (4, 2)
    assert (machine.threads, machine.draft_tokens) == (4, 2)
    assert (found.codes_ms, found.call_ms, found.decode_ms) == pytest.approx((10, 25, 20))
    assert found.real_time == pytest.approx((10 + (25 + 160) / 8) / 80)


def test_fewer_threads_or_draft_tokens_win_only_when_clearly_faster() -> None:
    machine = Machine({(2, 0): 50.0, (1, 0): 49.5, (2, 1): 49.0, (2, 2): 60.0, (2, 3): 70.0})
    found = tune(machine, machine.speak, threads=2, draft_tokens=None)
    assert (found.threads, found.draft_tokens) == (2, 0)
    busy = Machine({(2, 0): 50.0, (1, 0): 40.0})
    assert tune(busy, busy.speak, threads=2, draft_tokens=0).threads == 1


def test_what_is_fixed_is_not_tried() -> None:
    machine = Machine({(1, 3): 50.0}, fixed=True)
    found = tune(machine, machine.speak, threads=2, draft_tokens=3, overlapped=True)
    assert (found.threads, found.draft_tokens, found.overlapped) == (2, 3, True)
    assert max(machine.used) <= 9


def test_each_backend_is_measured_once(tmp_path: Path) -> None:
    kept, asked = CalibrationCache(tmp_path / "speed.json"), []

    def frame_ms(name: str) -> float:
        asked.append(name)
        if name == "ggml":
            raise RuntimeError("no such library")
        return {"native": 40.0, "onnx": 30.0}[name]

    names = ["native", "onnx", "ggml"]
    assert fastest_backend(names, "q4", kept, frame_ms) == "onnx"
    assert fastest_backend(names, "q4", kept, frame_ms) == "onnx"
    assert fastest_backend(["native", "ggml"], "q4", kept, frame_ms) == "native"
    assert asked == names
    assert fastest_backend(["ggml"], "q8", kept, frame_ms) == "ggml"
    assert asked == names
