"""What is fastest on a machine is found by trying."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from s2s.tts.qwen3.calibrate.tune import (
    ROUNDS,
    USUAL_FRAMES,
    SettingTrial,
    fastest,
    interleaved,
    quick,
    tune,
)
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
    tuned = tune(machine, machine.speak, threads=4, draft_tokens=None)
    found = tuned.speed
    assert (found.threads, found.draft_tokens) == (4, 2)
    assert (machine.threads, machine.draft_tokens) == (4, 2)
    assert (found.codes_ms, found.call_ms, found.decode_ms) == pytest.approx((10, 25, 20))
    assert found.real_time == pytest.approx((10 + (25 + 160) / 8) / 80, abs=1e-3)
    assert [trial.what for trial in tuned.trials] == [
        *(f"threads {count}" for count in (4, 2, 1)),
        *(f"draft tokens {count}" for count in (0, 1, 2, 3)),
    ]
    assert tuned.trials[0] == SettingTrial("threads 4", (15.0,) * ROUNDS)


def test_fewer_threads_or_draft_tokens_win_only_when_clearly_faster() -> None:
    machine = Machine({(2, 0): 50.0, (1, 0): 49.5, (2, 1): 49.0, (2, 2): 60.0, (2, 3): 70.0})
    found = tune(machine, machine.speak, threads=2, draft_tokens=None).speed
    assert (found.threads, found.draft_tokens) == (2, 0)
    busy = Machine({(2, 0): 50.0, (1, 0): 40.0})
    assert tune(busy, busy.speak, threads=2, draft_tokens=0).speed.threads == 1


def test_what_is_fixed_is_not_tried() -> None:
    machine = Machine({(1, 3): 50.0}, fixed=True)
    found = tune(machine, machine.speak, threads=2, draft_tokens=3, overlapped=True).speed
    assert (found.threads, found.draft_tokens, found.overlapped) == (2, 3, True)
    assert set(machine.used) <= {8, 9, USUAL_FRAMES}


def test_settings_are_tried_in_turn() -> None:
    used: list[str] = []
    found = interleaved(["a", "b"], used.append, lambda: float(len(used)), rounds=3)
    assert used == ["a", "b"] * 3
    assert found == {"a": (1.0, 3.0, 5.0), "b": (2.0, 4.0, 6.0)}


def test_a_moment_in_which_the_machine_was_slow_decides_nothing() -> None:
    assert fastest({"a": (10.0, 90.0, 10.5), "b": (11.0, 11.0, 11.0)}) == "a"
    assert fastest({"a": (10.0, 10.0), "b": (9.8, 9.9)}) == "a"  # not clearly faster
    assert fastest({"a": (10.0, 10.0), "b": (12.0, 9.0), "c": (8.9, 8.9)}) == "b"


def test_each_number_of_threads_is_tried_once() -> None:
    machine = Machine({(2, 0): 50.0, (1, 0): 80.0})
    trials = tune(machine, machine.speak, threads=2, draft_tokens=0).trials
    assert [(trial.what, len(trial.frame_ms)) for trial in trials] == [
        ("threads 2", ROUNDS),
        ("threads 1", ROUNDS),
    ]


def test_a_busy_machine_is_not_tried_out() -> None:
    machine = Machine({(2, 0): 50.0})
    machine.threads = 2
    found = quick(machine.speak, 2, 0, overlapped=False)
    assert (found.threads, found.codes_ms) == (2, pytest.approx(50))
    assert machine.used == [9, 9, 9]


def test_the_factor_is_that_of_a_whole_utterance() -> None:
    def speak(frames: int, schedule: ScheduleConfig) -> Report:
        report = Machine({(1, 0): 20.0}).speak(frames, schedule)
        report.frames = frames
        report.chunk_at_s = [0.3, 0.3 + 0.03 * frames]  # 0.3 s of prompt
        return report

    found = tune(Machine({(1, 0): 20.0}), speak, threads=1, draft_tokens=0).speed
    assert found.real_time == pytest.approx((0.3 + 0.03 * 60) / (0.08 * 60), abs=1e-3)
