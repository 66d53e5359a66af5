"""A loaded model is measured once, kept if nothing else computed, corrected by what follows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from s2s.system.llama_cpp import installed
from s2s.tts.qwen3.calibrate import measure as module
from s2s.tts.qwen3.calibrate.conditions import LoadWatch, MeasuringConditions
from s2s.tts.qwen3.calibrate.measure import calibrate_model, keep_observed
from s2s.tts.qwen3.calibrate.observed import WORTH_KEEPING, Observed
from s2s.tts.qwen3.engine.costs import Spent
from s2s.tts.qwen3.model import DevicePlacements, Qwen3Model, open_model
from s2s.tts.qwen3.text.prompt import Request

REQUEST = Request("Hello there.", speaker="ryan")
ONNX = DevicePlacements(talker="onnx", predictor="onnx", codec="onnx")
BUSY = MeasuringConditions("Monday", others_cores=0.9)


@pytest.fixture
def model(tiny_qwen3: Callable[[str], Path], tmp_path: Path) -> Qwen3Model:
    return open_model(
        tiny_qwen3("0.6b-customvoice"), tmp_path / "home", quant="int8", placement=ONNX
    )


class Others:
    """A machine on which other programs use so many cores."""

    def __init__(self, cores: float = 0.0) -> None:
        self.cores = cores
        self.begun = 0
        self.now_s = 0.0

    def watch(self) -> LoadWatch:
        def now() -> float:
            self.now_s += 1.0
            return self.now_s

        return LoadWatch(lambda: True, read=lambda: (self.now_s * self.cores, 0.0), now=now)


def test_a_good_measurement_is_kept_and_not_made_again(model: Qwen3Model) -> None:
    first = calibrate_model(model, REQUEST, None, Others().watch())
    assert first.kept
    assert [trial.what for trial in first.trials] == [f"draft tokens {n}" for n in range(4)]
    again = calibrate_model(model, REQUEST, None, Others().watch())
    assert again.trials == ()
    assert again.speed == first.speed
    assert again.speed.conditions.good
    assert model.language.drafting.draft_tokens == first.speed.draft_tokens
    afresh = calibrate_model(model, REQUEST, None, Others().watch(), afresh=True)
    assert afresh.trials


def test_a_bad_measurement_is_made_once_more_and_not_kept(model: Qwen3Model) -> None:
    found = calibrate_model(model, REQUEST, 0, Others(0.8).watch())
    assert not found.kept
    assert found.speed.conditions.others_cores == pytest.approx(0.8, abs=0.1)
    assert found.speed.real_time > 0
    assert model.opening.cache.speeds() == {}
    assert calibrate_model(model, REQUEST, 0, Others().watch()).kept


def test_a_moment_of_others_only_costs_a_second_try(
    model: Qwen3Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = Others(0.8)
    tune = module.tune

    def then_they_end(*arguments: object, **options: object) -> object:
        found = tune(*arguments, **options)  # pyright: ignore[reportArgumentType]
        others.begun += 1
        if others.begun == 2:
            others.cores = 0.0
            others.now_s = 0.0
        return found

    monkeypatch.setattr(module, "tune", then_they_end)
    assert calibrate_model(model, REQUEST, 0, others.watch()).kept
    assert others.begun == 2


def test_a_machine_that_was_busy_all_along_is_not_tried_out(model: Qwen3Model) -> None:
    found = calibrate_model(model, REQUEST, None, Others(0.9).watch(), before=BUSY)
    assert not found.kept
    assert found.trials == ()
    assert (found.speed.threads, found.speed.draft_tokens) == (1, 0)


def test_what_utterances_showed_is_planned_by_in_the_next_session(model: Qwen3Model) -> None:
    first = calibrate_model(model, REQUEST, 0, Others().watch())
    observed = Observed(first.speed)
    twice = 2 * first.speed.codes_ms
    spent = Spent((twice,) * 40, ((8, first.speed.costs.decoded_ms(8)),) * 5)
    keep_observed(model, first.key, observed)
    assert calibrate_model(model, REQUEST, 0, Others().watch()).speed == first.speed
    for _ in range(2 * WORTH_KEEPING):
        observed.add(spent, MeasuringConditions("Tuesday"))
    keep_observed(model, first.key, observed)
    found = calibrate_model(model, REQUEST, 0, Others().watch()).speed
    assert found.codes_ms == pytest.approx(twice, rel=0.1)
    assert found.conditions.utterances == 2 * WORTH_KEEPING


@pytest.mark.ggml
@pytest.mark.skipif(not installed(), reason="no llama.cpp library: pip install xllamacpp")
def test_the_fastest_core_and_codec_are_found_on_the_real_weights(
    tiny_qwen3: Callable[[str], Path],
    kernel_cache: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever really is: the times are made up, the weights and the moving are not."""
    del kernel_cache  # there is a compiler
    language_ms = {"native": 9.0, "ggml": 5.0}
    order = iter(range(1000))

    def made_up(found: dict[str, float]) -> Callable[..., dict[str, tuple[float, ...]]]:
        def in_turn(measures: dict[str, Callable[[], float]], rounds: int) -> object:
            assert all(measure() > 0 for measure in measures.values())
            next(order)
            known = language_ms if set(measures) == set(language_ms) else found
            return {name: (known[name],) * rounds for name in measures}

        return in_turn  # pyright: ignore[reportReturnType]

    monkeypatch.setattr(module.probe, "in_turn", made_up({"native": 3.0, "onnx": 2.0}))
    folder, home = tiny_qwen3("0.6b-customvoice"), tmp_path / "home"
    model = open_model(folder, home, quant="q8_0")
    assert (model.placement, model.parts.codec) == ("native", "native")
    found = calibrate_model(model, REQUEST, 0, Others().watch())
    assert found.kept
    assert (model.placement, model.parts.codec) == ("ggml", "onnx")
    assert [trial.what for trial in found.trials][:2] == ["core native", "core ggml"]
    again = open_model(folder, home, quant="q8_0")
    assert (again.placement, again.parts.codec) == ("ggml", "onnx")
    assert calibrate_model(again, REQUEST, 0, Others().watch()).trials == ()
    observed = Observed(replace(found.speed, codes_ms=1.0))
    for _ in range(40):
        observed.add(Spent((4.0,) * 40, ((8, 9.0),) * 5), MeasuringConditions("Tuesday"))
    keep_observed(again, found.key, observed)  # four times as slow as measured
    assert open_model(folder, home, quant="q8_0").placement == "native"
