"""What every core is held against: greedy codes of the numpy reference, in float32.

An utterance of it is a `RecordedRun`, as another program's is: made once, kept in a file, and
compared by `compare_recorded` without the reference in memory.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np

from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.engine.decode_loop import Frame, FrameReport, SamplingRun, frames, prefill
from s2s.tts.qwen3.errors import PromptError
from s2s.tts.qwen3.interfaces import never
from s2s.tts.qwen3.parity.compare import reference
from s2s.tts.qwen3.parity.recorded import RecordedRun
from s2s.tts.qwen3.reference import no_trace
from s2s.tts.qwen3.sampling import Sampling
from s2s.tts.qwen3.text.prompt import PromptBuilder, Request
from s2s.tts.qwen3.text.tokenizer import Tokenizer

_GREEDY = Sampling(greedy=True)
MADE_BY = "the numpy reference, float32"


def exact_run(folder: Path, request: Request, most_frames: int) -> RecordedRun:
    """The likeliest code of each group, frame by frame: ``most_frames``, fewer where it ends.

    folder: a checkpoint in the official layout. Raises SpecError, CheckpointError, PromptError,
    also where not a single frame is spoken.
    """
    spec = read_spec(folder)
    model = reference(folder, spec, no_trace)
    tokenizer = Tokenizer.load(folder, spec.text_vocabulary)
    prompt = PromptBuilder(spec, tokenizer, model.embeddings).build(request)
    greedy = replace(
        spec.generation, talker=_GREEDY, predictor=_GREEDY, max_new_tokens=most_frames + 1
    )
    report = FrameReport()
    with (
        closing(model.talker.new_state(len(prompt.embeddings) + most_frames)) as talker,
        closing(model.predictor.new_state()) as predictor,
    ):
        out = prefill(model.talker, talker, prompt, 0, never, report).out
        if out is None:
            raise PromptError("the prompt is empty: nothing can follow it")
        run = SamplingRun.seeded(greedy, 0)
        items = frames(model, (talker, predictor), out, prompt, run, never, report)
        codes = [item.codes for item in items if isinstance(item, Frame)]
    if not codes:
        raise PromptError("the exact core ends at once: it has nothing to be held against")
    return RecordedRun(request, np.stack(codes), made_by=MADE_BY)
