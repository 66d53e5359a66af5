"""The stream of the decode loop: frames in order, then one stop, and nothing after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from s2s.tts.qwen3.checkpoint.safetensors import open_checkpoint
from s2s.tts.qwen3.checkpoint.spec import Generation, read_spec
from s2s.tts.qwen3.engine.decode_loop import (
    Frame,
    FrameReport,
    SamplingRun,
    Stop,
    frame_limit,
    frames,
    prefill,
)
from s2s.tts.qwen3.engine.language_model import LanguageModel
from s2s.tts.qwen3.engine.stop_rules import UNGUARDED, Guards, StopReason
from s2s.tts.qwen3.errors import SoundError
from s2s.tts.qwen3.interfaces import Stale, never
from s2s.tts.qwen3.reference import Cache, ReferenceEmbeddings, ReferencePredictor, ReferenceTalker
from s2s.tts.qwen3.text.prompt import Prompt, PromptBuilder, Request
from s2s.tts.qwen3.text.tokenizer import Tokenizer

ENDLESS = Generation(min_new_tokens=10_000)
SIX = replace(UNGUARDED, frames_per_token=1, spare_frames=0, least_frames=6)
EVERY_CODE = frozenset(range(2048))


class Rig:
    """The loop on one tiny model and one prompt."""

    def __init__(self, folder: Path) -> None:
        spec = read_spec(folder)
        weights = open_checkpoint(folder, spec)
        embeddings = ReferenceEmbeddings(spec, weights)
        self.model: LanguageModel[Cache, Cache] = LanguageModel(
            spec, embeddings, ReferenceTalker(spec, weights), ReferencePredictor(spec, weights)
        )
        builder = PromptBuilder(spec, Tokenizer.load(folder), embeddings)
        self.prompt: Prompt = builder.build(Request("Hi.", language="English", speaker="ryan"))
        self.report = FrameReport()

    def items(self, guards: Guards, stale: Stale = never) -> list[Frame | Stop]:
        talker, predictor = self.model.talker, self.model.predictor
        self.report = FrameReport()
        states = talker.new_state(600), predictor.new_state()
        fed = prefill(talker, states[0], self.prompt, 0, never, self.report)
        assert fed.positions == len(self.prompt.embeddings)
        assert fed.out is not None
        run = SamplingRun.seeded(ENDLESS, 3, guards)
        return list(frames(self.model, states, fed.out, self.prompt, run, stale, self.report))


@pytest.fixture(scope="module")
def rig(tiny_qwen3: Callable[[str], Path]) -> Rig:
    return Rig(tiny_qwen3("0.6b-customvoice"))


def frames_of(items: list[Frame | Stop]) -> list[Frame]:
    """The frames before the stop, counted from nought."""
    *made, stop = items
    assert isinstance(stop, Stop)
    found = [item for item in made if isinstance(item, Frame)]
    assert [frame.index for frame in found] == list(range(len(made)))
    return found


def test_frames_are_counted_and_the_stop_says_how_many_are_speech(rig: Rig) -> None:
    items = rig.items(SIX)
    assert items[-1] == Stop(StopReason.LIMIT, 6)
    assert all(frame.codes.shape == (16,) for frame in frames_of(items))
    assert len(items) == 7
    assert rig.report.frames == 6
    assert rig.report.forward_passes == 6 * 15


def test_frames_that_say_nothing_are_not_counted_and_the_last_is_not_given_out(rig: Rig) -> None:
    """All codes count as silence here: four of them in a row end it, from half of the limit on."""
    silent = replace(SIX, least_frames=20, silent_codes=EVERY_CODE, silent_frames=4)
    items = rig.items(silent)
    assert items[-1] == Stop(StopReason.SILENCE, 0)
    assert len(frames_of(items)) == 9
    assert (rig.report.frames, rig.report.trailing_frames) == (10, 10)


@pytest.mark.parametrize("questions", range(6))
def test_cancelled_at_any_question_it_stops_and_counts_what_was_made(
    rig: Rig, questions: int
) -> None:
    whole = frames_of(rig.items(SIX))
    asked: list[bool] = []

    def stale() -> bool:
        asked.append(len(asked) >= questions)
        return asked[-1]

    items = rig.items(SIX, stale)
    made = frames_of(items)
    assert items[-1] == Stop(StopReason.STOPPED, len(made))
    assert len(made) == (questions + 1) // 2
    assert len(asked) == questions + 1  # and it is not asked again
    for frame, expected in zip(made, whole, strict=False):
        assert np.array_equal(frame.codes, expected.codes)


def test_the_report_steers_nothing(rig: Rig) -> None:
    """A report that somebody writes into meanwhile changes no frame."""
    expected = [frame.codes.tolist() for frame in frames_of(rig.items(SIX))]

    def meddling() -> bool:
        rig.report.frames = 100
        rig.report.trailing_frames = 3
        rig.report.stop_reason = StopReason.END
        return False

    items = rig.items(SIX, meddling)
    assert [frame.codes.tolist() for frame in frames_of(items)] == expected
    assert items[-1] == Stop(StopReason.LIMIT, 6)


def test_the_smallest_limit_counts(rig: Rig) -> None:
    spec, tokens = rig.model.spec, rig.prompt.text_tokens
    assert frame_limit(rig.prompt, spec, SamplingRun.seeded(ENDLESS, 0, SIX)) == 6
    budget = replace(ENDLESS, max_new_tokens=5)
    assert frame_limit(rig.prompt, spec, SamplingRun.seeded(budget, 0, SIX)) == 4  # and the end
    capped = SamplingRun.seeded(ENDLESS, 0, Guards())
    assert frame_limit(rig.prompt, spec, capped) == max(50, 25 + 8 * tokens)
    none = replace(ENDLESS, max_new_tokens=1)
    with pytest.raises(ValueError, match="no room to speak"):
        frame_limit(rig.prompt, spec, SamplingRun.seeded(none, 0, SIX))


@pytest.mark.parametrize("part", ["hidden", "logits"])
def test_a_talker_that_says_no_number_ends_the_answer(part: str, rig: Rig) -> None:
    states = rig.model.talker.new_state(600), rig.model.predictor.new_state()
    fed = prefill(rig.model.talker, states[0], rig.prompt, 0, never, rig.report)
    assert fed.out is not None
    out = replace(fed.out, **{part: np.full_like(getattr(fed.out, part), np.nan)})
    run = SamplingRun.seeded(ENDLESS, 3, UNGUARDED)
    with pytest.raises(SoundError, match="no number"):
        next(frames(rig.model, states, out, rig.prompt, run, never, rig.report))
