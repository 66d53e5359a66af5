"""How many threads and what pieces suit this machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from s2s.tts.vits import pace as pace_module
from s2s.tts.vits.engine import OneShotEngine, VitsEngine, load_engine
from s2s.tts.vits.pace import LARGEST_STEP, measure_pace
from tests.support.vits import voice_folder

IDS = {"_": [0], "^": [1], "$": [2], **{chr(97 + i): [3 + i] for i in range(26)}}


Load = Callable[..., VitsEngine]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Loads a small voice with a config of its own."""

    def loaded(name: str, **fields: object) -> VitsEngine:
        fields = {"phoneme_id_map": IDS, **fields}
        engine = load_engine(voice_folder(tmp_path, name, **fields), threads=1)
        assert isinstance(engine, VitsEngine | OneShotEngine)
        return engine  # type: ignore[return-value]

    return loaded


def test_the_pace_is_measured(load: Load) -> None:
    split = load("plain").split
    pace = measure_pace(split, 22050)
    assert pace.schedule[0] == 8
    assert pace.threads >= 1
    assert measure_pace(split, 22050, threads=2).threads == 2


class Stopwatch:
    """Time that passes as the test says: so many seconds at every second look."""

    def __init__(self, took: Callable[[], float]) -> None:
        self._took = took
        self._now_s = 0.0
        self._begun = False

    def __call__(self) -> float:
        if self._begun:
            self._now_s += self._took()
        self._begun = not self._begun
        return self._now_s


@pytest.mark.parametrize(
    ("gain", "threads"),
    [(1.0, 1), (0.85, 1), (0.7, 2), (0.4, 2)],
    ids=["none", "hardly", "some", "much"],
)
def test_a_core_is_taken_only_where_it_is_worth_it(
    load: Load, gain: float, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    split = load("plain").split
    sessions: list[int] = []
    real = pace_module.onnx_session

    def session(model: object, *, threads: int) -> object:
        sessions.append(threads)
        return real(model, threads=threads)  # type: ignore[arg-type]

    monkeypatch.setattr(pace_module, "onnx_session", session)
    monkeypatch.setattr(pace_module, "cores", lambda: 2)
    watch = Stopwatch(lambda: 0.001 * (gain if sessions[-1] == 2 else 1.0))
    monkeypatch.setattr(pace_module.time, "perf_counter", watch)
    assert measure_pace(split, 22050).threads == threads
    assert sessions == [1, 2]


def test_a_machine_that_is_too_slow_gets_pieces_that_waste_the_least(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    split = load("plain").split
    monkeypatch.setattr(pace_module.time, "perf_counter", Stopwatch(lambda: 1.0))
    schedule = measure_pace(split, 22050, threads=1).schedule
    assert schedule[-1] == LARGEST_STEP
    assert list(schedule) == sorted(schedule)
