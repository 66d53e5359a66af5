"""What a machine can do: found by trying, kept for this machine, and never trusted for another."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from s2s.tts.qwen3.calibrate import cache as module
from s2s.tts.qwen3.calibrate.cache import Speed, SpeedBook, fastest_backend, tune
from s2s.tts.qwen3.engine.chunk_schedule import Costs, ScheduleConfig, chunk_sizes
from s2s.tts.qwen3.engine.report import Report


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
    found = tune(machine, machine.speak, threads=2, draft_tokens=3, together=True)
    assert (found.threads, found.draft_tokens, found.together) == (2, 3, True)
    assert max(machine.used) <= 9


def test_it_is_remembered_for_this_machine_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, speed = tmp_path / "home" / "speed.json", Speed(2, 0, 38.0, 25.0, 22.0)
    book = SpeedBook(path)
    assert book.speed("0.6b") is None
    book.keep_speed("0.6b", speed)
    book.keep_backends("q4", {"native": 30.5})
    again = SpeedBook(path)
    assert again.speed("0.6b") == speed
    assert again.speed("1.7b") is None
    assert again.backends("q4") == {"native": 30.5}
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    monkeypatch.setattr(module, "cpu_name", lambda: "another")
    assert SpeedBook(path).speed("0.6b") is None
    assert SpeedBook(path).backends("q4") == {}


@pytest.mark.parametrize("content", ["", "[]", "{", '{"machine": 1}'])
def test_a_damaged_file_is_as_good_as_none(content: str, tmp_path: Path) -> None:
    path = tmp_path / "speed.json"
    path.write_text(content)
    book = SpeedBook(path)
    assert book.speed("0.6b") is None
    book.keep_speed("0.6b", Speed(1, 0, 1.0, 1.0, 1.0))
    assert book.speed("0.6b") is not None


def test_fields_of_another_version_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "speed.json"
    book = SpeedBook(path)
    book.keep_speed("0.6b", Speed(1, 0, 1.0, 1.0, 1.0))
    content = json.loads(path.read_text())
    content["models"]["0.6b"]["colour"] = "red"
    path.write_text(json.dumps(content))
    assert book.speed("0.6b") is None


def test_a_file_that_cannot_be_written_is_only_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "home").write_text("a file")
    SpeedBook(tmp_path / "home" / "speed.json").keep_speed("0.6b", Speed(1, 0, 1.0, 1.0, 1.0))
    assert "cannot be written" in caplog.text


def test_each_backend_is_measured_once(tmp_path: Path) -> None:
    book, asked = SpeedBook(tmp_path / "speed.json"), []

    def frame_ms(name: str) -> float:
        asked.append(name)
        if name == "ggml":
            raise RuntimeError("no such library")
        return {"native": 40.0, "onnx": 30.0}[name]

    names = ["native", "onnx", "ggml"]
    assert fastest_backend(names, "q4", book, frame_ms) == "onnx"
    assert fastest_backend(names, "q4", book, frame_ms) == "onnx"
    assert fastest_backend(["native", "ggml"], "q4", book, frame_ms) == "native"
    assert asked == names
    assert fastest_backend(["ggml"], "q8", book, frame_ms) == "ggml"
    assert asked == names
