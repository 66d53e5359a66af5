"""Who is answered: which cases there are, and the sums of what came of them."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.bench.whose_voice import conversations
from s2s.bench.whose_voice.conversations import (
    ENROL_S,
    CaseResult,
    TimedVoice,
    cases,
    cases_over_reply,
    report,
    split,
    wilson,
)
from s2s.bench.whose_voice.material import SpokenLine
from s2s.core.audio import PIPELINE_HZ


def hum(seconds: float, hz: float) -> np.ndarray:
    t = np.arange(int(seconds * PIPELINE_HZ)) / PIPELINE_HZ
    return (0.2 * np.sin(2 * np.pi * hz * t)).astype(np.float32)


def voices(count: int = 8) -> dict[str, list[SpokenLine]]:
    return {
        name: [SpokenLine(name, f"{name}/{n}", hum(2.0 + n / 10, hz)) for n in range(count)]
        for name, hz in (("anna", 180.0), ("otto", 110.0))
    }


def test_a_voice_is_enrolled_from_ten_seconds_and_tried_with_the_rest() -> None:
    said = voices()["anna"]
    used, rest = split(said)
    assert [*used, *rest] == said
    assert sum(len(each.audio) for each in used) >= ENROL_S * PIPELINE_HZ
    assert sum(len(each.audio) for each in used[:-1]) < ENROL_S * PIPELINE_HZ


def test_cases_are_the_same_every_time_and_say_who_is_wanted() -> None:
    tunes = [hum(20.0, 440.0)]
    one, other = (list(cases(voices(), ["anna"], tunes, 2)) for _ in range(2))
    assert [(c.kind, c.other, c.snr_db) for c in one] == [
        (c.kind, c.other, c.snr_db) for c in other
    ]
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a.audio, b.audio)
    wanted = {case.kind: case.wanted for case in one}
    assert wanted == {"own": True, "other": False, "babble": False, "music": False, "after": True}
    after = next(case for case in one if case.kind == "after")
    assert 0 < after.first_part_s < len(after.audio) / PIPELINE_HZ


def test_noises_over_a_reply_are_never_wanted() -> None:
    over = list(cases_over_reply(voices(), ["anna"], 1))
    assert all(case.over_reply for case in over)
    assert not any(case.wanted for case in over if case.kind == "noise-over")
    assert sum(case.kind == "noise-over" for case in over) == 100


def result(kind: str, *, right: bool, counted: bool = True, snr_db: int = 5) -> CaseResult:
    return CaseResult(kind, "anna", "otto", snr_db, True, right, "", 100.0, counted, 2.0)


def test_the_report_counts_what_was_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [result("own", right=True), result("own", right=False), result("other", right=True)]
    found = report([*rows, result("own", right=False, counted=False)])
    told = capsys.readouterr().out
    assert found["cost_ms_median"] == 2.0
    sums = {name: value for name, value in found.items() if isinstance(value, dict)}
    assert any(value["wrong"] == 1 and value["of"] == 2 for value in sums.values())
    assert all(value["of"] <= 2 for name, value in sums.items() if "own" in name)
    assert "wrong" in told


def test_an_interval_holds_the_rate() -> None:
    for wrong, count in ((0, 10), (3, 10), (10, 10)):
        low, high = wilson(wrong, count)
        assert 0 <= low <= wrong / count <= high <= 1


def test_looks_at_a_voice_are_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([1.0, 1.5])
    monkeypatch.setattr(conversations.time, "process_time", lambda: next(times))

    class Known:
        def likeness(self, audio: np.ndarray) -> float:
            return 0.75

    voice = TimedVoice(Known())  # type: ignore[arg-type]
    assert voice.likeness(hum(1.0, 100.0)) == 0.75
    assert voice.costs_s == [0.5]
