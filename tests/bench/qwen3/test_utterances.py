"""Utterances that are measured: as long as asked, or an error; and how late a stop comes."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from s2s.bench.qwen3 import utterances
from s2s.bench.qwen3.utterances import Bench, Times, acceptance_rate, exactly, request
from s2s.tts.qwen3 import Generation, Kind, Report


class Model:
    """Speaks as many frames as it has, a tenth of a second each, until it is stale."""

    def __init__(self, kind: Kind = Kind.CUSTOM_VOICE, most: int = 1000) -> None:
        self.spec = SimpleNamespace(
            kind=kind, speakers={"vivian": 1, "aiden": 2}, talker=SimpleNamespace(hidden=8)
        )
        self.now_s = 0.0
        self.most = most

    def speak_frames(
        self, _: object, frames: int, __: object, *, seed: int, stale: Callable[[], bool]
    ) -> Report:
        report = Report()
        while report.frames < min(frames, self.most) and not stale():
            self.now_s += 0.1
            report.frames += 1
            report.chunk_frames.append(1)
            report.chunk_at_s.append(self.now_s)
        self.now_s += 0.03
        return report


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    made = Model()
    monkeypatch.setattr(utterances, "perf_counter", lambda: made.now_s)
    return made


def test_an_utterance_is_as_long_as_asked_and_has_its_arrivals(model: Model) -> None:
    found = Bench(model).utterance(5, 0)  # type: ignore[arg-type]
    assert found.arrivals.audio_s == pytest.approx(0.4)
    assert found.arrivals.first_audio_s == pytest.approx(0.1)


def test_one_that_ends_early_is_an_error(model: Model) -> None:
    model.most = 3
    with pytest.raises(RuntimeError, match="3 of 5 frames"):
        Bench(model).utterance(5, 0)  # type: ignore[arg-type]


def test_a_stop_is_timed_to_the_end_of_all_work(model: Model) -> None:
    assert Bench(model).abort_ms(0.25, 0) == pytest.approx(1000 * (0.33 - 0.25))  # type: ignore
    assert Bench(model).abort_ms(9.0, 0, frames=5) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(("kind", "speaker"), [(Kind.CUSTOM_VOICE, "aiden"), (Kind.BASE, None)])
def test_any_kind_of_model_can_be_asked(kind: Kind, speaker: str | None) -> None:
    asked = request(Model(kind).spec)  # type: ignore[arg-type]
    assert asked.speaker == speaker
    assert (asked.reference is not None) == (kind is Kind.BASE)
    assert request(Model(Kind.VOICE_DESIGN).spec).instruction  # type: ignore[arg-type]


@pytest.mark.parametrize(("codes", "draft_tokens"), [(1.0, 2), (2.47, 2), (3.0, 2), (1.5, 7)])
def test_an_acceptance_rate_gives_as_many_codes_a_pass(codes: float, draft_tokens: int) -> None:
    rate = acceptance_rate(codes, draft_tokens)
    assert sum(rate**power for power in range(draft_tokens + 1)) == pytest.approx(codes)


def test_settings_leave_no_other_length_and_times_are_in_ms() -> None:
    found = exactly(Generation(), 7)
    assert found.min_new_tokens == found.max_new_tokens == 8
    assert Times.of([0.01, 0.02, 0.03]) == Times(20.0, 29.0)
