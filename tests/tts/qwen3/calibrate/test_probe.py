"""What a frame costs here: measured in turn, and what is hopeless is not tried again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from s2s.tts.qwen3.calibrate import probe
from s2s.tts.qwen3.calibrate.probe import decoded_ms, in_turn, language_ms


def test_each_is_measured_in_turn_after_a_round_that_does_not_count() -> None:
    asked: list[str] = []

    def measure(name: str, values: list[float]) -> Callable[[], float]:
        left = iter(values)
        return lambda: (asked.append(name), next(left))[1]

    found = in_turn({"a": measure("a", [9.0, 1.0, 2.0]), "b": measure("b", [8.0, 3.0, 4.0])}, 2)
    assert found == {"a": (1.0, 2.0), "b": (3.0, 4.0)}
    assert asked == ["a", "b"] * 3


def test_what_takes_more_than_twice_as_long_is_asked_once() -> None:
    asked = 0

    def slow() -> float:
        nonlocal asked
        asked += 1
        return 5.0

    found = in_turn({"quick": lambda: 2.0, "slow": slow, "twice": lambda: 4.0}, 3)
    assert found == {"quick": (2.0,) * 3, "slow": (5.0,), "twice": (4.0,) * 3}
    assert asked == 1
    assert in_turn({}, 3) == {}


class State:
    def __init__(self, closed: list[str], name: str) -> None:
        self._closed, self._name = closed, name

    def close(self) -> None:
        self._closed.append(self._name)


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(probe, "perf_counter", made)
    return made


def test_a_frame_is_one_of_the_predictor_and_a_step_of_the_talker(clock: Clock) -> None:
    from types import SimpleNamespace

    closed: list[str] = []
    costs = iter([0.5, 0.02, 0.03, 0.02, 0.02, 0.9, 0.02])

    def frame(*_: object) -> None:
        clock.now_s += next(costs)

    def step(*_: object) -> None:
        clock.now_s += 0.01

    talker = SimpleNamespace(
        new_state=lambda _: State(closed, "talker"),
        prefill=lambda *_: SimpleNamespace(hidden=None),
        step=step,
    )
    predictor = SimpleNamespace(new_state=lambda: State(closed, "predictor"), frame=frame)
    spec = SimpleNamespace(talker=SimpleNamespace(hidden=8))
    language = SimpleNamespace(spec=spec, talker=talker, predictor=predictor)
    assert language_ms(language, 7) == pytest.approx(30.0)  # type: ignore[arg-type]
    assert sorted(closed) == ["predictor", "talker"]


def test_states_are_freed_when_a_measurement_fails(clock: Clock) -> None:
    from types import SimpleNamespace

    closed: list[str] = []

    def broken(*_: object) -> None:
        raise RuntimeError("no memory")

    decoder = SimpleNamespace(
        codebook_size=4,
        code_groups=2,
        new_state=lambda: State(closed, "codec"),
        decode=broken,
    )
    with pytest.raises(RuntimeError, match="no memory"):
        decoded_ms(decoder)  # type: ignore[arg-type]
    assert closed == ["codec"]


def test_a_frame_of_sound_is_its_share_of_a_call(clock: Clock) -> None:
    from types import SimpleNamespace

    shapes: list[tuple[int, ...]] = []

    def decode(_: object, codes: object) -> None:
        shapes.append(codes.shape)  # type: ignore[attr-defined]
        clock.now_s += 0.04

    decoder = SimpleNamespace(
        codebook_size=4, code_groups=2, new_state=lambda: State([], "codec"), decode=decode
    )
    assert decoded_ms(decoder) == pytest.approx(1000 * 0.04 / shapes[0][0])  # type: ignore[arg-type]
    assert {shape[1] for shape in shapes} == {2}
