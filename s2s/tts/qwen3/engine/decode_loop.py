"""The one loop that makes frames of codes, the same for every backend.

Talker and predictor take turns; between them lie sampling, the feedback of codes and text, and
the question whether the utterance was cancelled. Knows nothing of sound. Why frames and the stop
are items of one stream: docs/decisions/qwen3-utterance-stream.md.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from itertools import count
from time import perf_counter

import numpy as np

from s2s.tts.qwen3.checkpoint.spec import Generation, Spec
from s2s.tts.qwen3.engine.language_model import LanguageModel, P, T
from s2s.tts.qwen3.engine.stop_rules import UNGUARDED, Guards, StopReason, Watch
from s2s.tts.qwen3.errors import PromptError, SoundError
from s2s.tts.qwen3.interfaces import Floats, Ids, Stale, Talker, TalkerOutput
from s2s.tts.qwen3.sampling import Draws, FirstCodes, SeededDraws
from s2s.tts.qwen3.text.prompt import Prompt

PREFILL_POSITIONS = 64
"""Prompt positions between two questions whether to stop."""

FED_FRAMES = 750
"""The most frames of a text whose length is not known when it begins: a minute."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """80 ms of speech in codes."""

    index: int
    """Frames of the same sampling run before it."""
    codes: Ids
    """int64 [G]."""
    took_s: float = 0.0
    """What making it took: the talker's step before it, and the code predictor."""
    text_late: bool = False
    """The text that the next frame needs has yet to be written: told of frames that are decoded
    elsewhere, where nobody can ask the prompt."""


@dataclass(frozen=True, slots=True)
class Stop:
    """The end of a sampling run: exactly one, after all of its frames."""

    reason: StopReason
    frames: int
    """So many of the run's frames are speech; what came after them says nothing."""


FrameItem = Frame | Stop
"""What the decode loop gives: frames, and one end."""


def takes_back(item: FrameItem, unread: FrameItem) -> bool:
    """A stop takes back the frames that say nothing, as far as they are unread."""
    return isinstance(item, Stop) and isinstance(unread, Frame) and unread.index >= item.frames


@dataclass(frozen=True, slots=True)
class SamplingRun:
    """How one run from prompt to end is sampled: settings, random numbers, guards."""

    generation: Generation
    talker_draws: Draws
    predictor_draws: Draws
    guards: Guards = UNGUARDED

    @classmethod
    def seeded(
        cls, generation: Generation, seed: int, guards: Guards = UNGUARDED, attempt: int = 0
    ) -> SamplingRun:
        """All random numbers from one seed; other ones for every attempt."""
        talker, predictor = SeededDraws(seed, 2 * attempt), SeededDraws(seed, 2 * attempt + 1)
        return cls(generation, talker, predictor, guards)


@dataclass(slots=True)
class FrameReport:
    """What making the frames took: for measuring, nothing is decided by it. Times are wall time in
    seconds."""

    stop_reason: StopReason | None = None
    """Why the speech stopped; None while it goes on, or when it was closed before its end."""
    frames: int = 0
    trailing_frames: int = 0
    """Frames at the end that a guard found to say nothing."""
    prefilled_positions: int = 0
    talker_steps: int = 0
    prefill_s: float = 0.0
    stall_s: float = 0.0
    """Time in which it stood still because the next token of the text had not come."""
    talker_s: list[float] = field(default_factory=list)
    predictor_s: list[float] = field(default_factory=list)
    forward_passes: int = 0
    """Forward passes of the code predictor."""


def frame_limit(prompt: Prompt, spec: Spec, run: SamplingRun) -> int:
    """The most frames an utterance may have: by its text, as far as it is known, the settings and
    the positions the model was trained for. Raises PromptError when not even one has room."""
    generation = run.generation.max_new_tokens - 1
    room = spec.talker.max_positions - len(prompt.embeddings)
    coming = prompt.coming
    if coming is None:
        wanted = run.guards.limit(prompt.text_tokens)
    else:
        wanted = run.guards.limit(coming.tokens) if coming.ended else FED_FRAMES
        room = min(room, FED_FRAMES)
    limit = min(generation, room) if wanted is None else min(generation, room, wanted)
    if limit < 1:
        raise PromptError(f"a prompt of {len(prompt.embeddings)} positions leaves no room to speak")
    return limit


@dataclass(frozen=True, slots=True, eq=False)
class Prefilled:
    """How far a prompt was fed."""

    positions: int
    """Positions of the prompt that now stand in the talker's state."""
    out: TalkerOutput | None
    """After the last position of all; None when it was cancelled on the way."""


def prefill(
    talker: Talker[T], state: T, prompt: Prompt, done: int, stale: Stale, report: FrameReport
) -> Prefilled:
    """Feed a prompt from position ``done`` on; ``stale`` is asked before every piece of it.

    The prompt is always cut at the end of its prefix, whether that is fed or was kept from an
    earlier utterance: the same pieces give the same rounding, so the same seed the same speech.
    """
    began, out = perf_counter(), None
    ends = [*range(PREFILL_POSITIONS, prompt.prefix, PREFILL_POSITIONS), prompt.prefix]
    ends += [*range(prompt.prefix + PREFILL_POSITIONS, len(prompt.embeddings), PREFILL_POSITIONS)]
    ends.append(len(prompt.embeddings))
    for end in ends:
        if end <= done:
            continue
        if stale():
            return Prefilled(done, None)
        out = talker.prefill(state, prompt.embeddings[done:end])
        report.prefilled_positions += end - done
        done = end
    report.prefill_s = perf_counter() - began
    return Prefilled(done, out)


def next_text(prompt: Prompt, frame: int, stale: Stale, report: FrameReport) -> Floats | None:
    """float32 [H]: what is added to the codes of a frame. Stands still until a text that is still
    being written has come that far; None when it never will."""
    if prompt.coming is None:
        return prompt.text_vector(frame)
    began = perf_counter()
    text = prompt.coming.vector(frame + 1, stale)
    report.stall_s += perf_counter() - began
    return text


def frames(
    model: LanguageModel[T, P],
    states: tuple[T, P],
    out: TalkerOutput,
    prompt: Prompt,
    run: SamplingRun,
    stale: Stale,
    report: FrameReport,
) -> Generator[FrameItem, None, None]:
    """Frames of codes until the end, then the stop that says why.

    ``out`` is what the prefill gave. ``stale`` is asked before every talker step and before every
    frame; between the two, a text that is still being written is waited for. A frame that made a
    guard find that it says nothing is not given out. Official loop: qwen-tts 0.1.1,
    ``Qwen3TTSTalkerForConditionalGeneration.forward``.
    """
    spec, generation = model.spec, run.generation
    watch = Watch(run.guards)
    first = FirstCodes(
        codes=spec.codes,
        eos=spec.ids.eos,
        sampling=generation.talker,
        repetition_penalty=generation.repetition_penalty,
        min_new_tokens=generation.min_new_tokens,
    )
    step_s = 0.0
    for index in count():
        if stale():
            yield Stop(StopReason.STOPPED, index)
            return
        _check_finite(out, index)
        code0 = first.choose(out.logits, run.talker_draws)
        if code0 == spec.ids.eos:
            yield Stop(StopReason.END, index)
            return
        began, passes = perf_counter(), states[1].forward_passes
        rest = model.predictor.frame(
            states[1], out.hidden, code0, generation.predictor, run.predictor_draws
        )
        took_s = perf_counter() - began
        report.predictor_s.append(took_s)
        report.forward_passes += states[1].forward_passes - passes
        report.frames += 1
        codes = np.concatenate([[code0], rest])
        limit = frame_limit(prompt, spec, run)
        reason = watch.after(code0, prompt.text_left(index), limit=limit)
        trailing = 0 if reason is None else watch.trailing_frames(reason)
        report.trailing_frames = trailing
        if not trailing:
            yield Frame(index, codes, step_s + took_s)
        if reason is not None:
            yield Stop(reason, index + 1 - trailing)
            return
        text = next_text(prompt, index, stale, report)
        if text is None or stale():
            yield Stop(StopReason.STOPPED, index + 1)
            return
        began = perf_counter()
        out = model.talker.step(states[0], model.embeddings.frames(codes[None])[0] + text)
        step_s = perf_counter() - began
        report.talker_steps += 1
        report.talker_s.append(step_s)


def _check_finite(out: TalkerOutput, frame: int) -> None:
    """Raise SoundError when the talker says what is no number. A logit may be minus infinity,
    which stands for what cannot be chosen."""
    if not np.isfinite(out.hidden).all() or not out.logits.max(initial=-np.inf) < np.inf:
        raise SoundError(
            f"the talker computed what is no number (frame {frame}): its weights are damaged; "
            "convert the official checkpoint again"
        )
