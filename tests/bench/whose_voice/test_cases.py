"""What is said in each conversation: the same cases every time, and who is to be answered."""

from __future__ import annotations

import numpy as np

from s2s.bench.whose_voice.cases import ENROL_S, cases, cases_over_reply, shuffled, split
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


def test_any_part_of_the_shuffled_cases_has_every_kind() -> None:
    made = list(cases(voices(), ["anna", "otto"], [hum(20.0, 440.0)], 4))
    mixed = shuffled(made)
    assert sorted(map(id, mixed)) == sorted(map(id, made))
    kinds = {case.kind for case in made}
    assert all({case.kind for case in mixed[part::2]} == kinds for part in range(2))
