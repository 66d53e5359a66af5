"""What a part on a provider is compared on: given codes for the codec, the greedy frames of one
sentence for talker and predictor, all as the same graphs give them on the processor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from s2s.tts.qwen3.backend import CodecJob
from s2s.tts.qwen3.checkpoint.spec import Spec
from s2s.tts.qwen3.checkpoint.tables import TableEmbeddings, open_tables
from s2s.tts.qwen3.codec.decoder import CheckpointDecoder
from s2s.tts.qwen3.fixed.admission import TRIAL_FRAMES, Agreement, Fidelity
from s2s.tts.qwen3.fixed.codec import FixedCodecDecoder
from s2s.tts.qwen3.fixed.codec_graph import FRAMES
from s2s.tts.qwen3.fixed.language import (
    FixedPredictor,
    FixedTalker,
    open_predictor,
    open_talker,
)
from s2s.tts.qwen3.fixed.providers import CPU, Provider, RuntimeProvider
from s2s.tts.qwen3.interfaces import CodePredictor, Floats, Ids, PredictorState, State, Talker
from s2s.tts.qwen3.sampling import FirstCodes, Sampling, SeededDraws
from s2s.tts.qwen3.text.example import request_of
from s2s.tts.qwen3.text.prompt import Prompt, PromptBuilder
from s2s.tts.qwen3.text.tokenizer import Tokenizer

_GREEDY = Sampling(greedy=True)
_PROCESSOR = RuntimeProvider(CPU)


@dataclass(frozen=True, slots=True)
class SpokenFrames:
    """Frames that the processor spoke. codes: int64 [frames, G]; ``fed``: float32 [frames, H], the
    talker's inputs after the prompt; ``hidden``: float32 [frames, H], what each frame was made
    from."""

    prompt: Floats
    codes: Ids
    fed: Floats
    hidden: Floats


@dataclass(slots=True)
class LanguageTrial:
    """One sentence's greedy frames, spoken by the processor when they are first needed."""

    folder: Path
    spec: Spec
    threads: int
    frames: int = TRIAL_FRAMES
    _spoken: list[SpokenFrames] = field(default_factory=list[SpokenFrames])

    def talker(self, talker: Talker[State]) -> Agreement:
        """How many of the first codes are its own choice, fed with the processor's frames."""
        spoken = self.spoken()
        state = talker.new_state(len(spoken.prompt) + len(spoken.fed))
        first, same = self._first(), 0
        try:
            out = talker.prefill(state, spoken.prompt)
            for codes, vector in zip(spoken.codes, spoken.fed, strict=True):
                same += int(np.argmax(first.processed(out.logits)) == codes[0])
                first.follow(int(codes[0]))
                out = talker.step(state, vector)
        finally:
            state.close()
        return Agreement(same, len(spoken.codes))

    def predictor(self, predictor: CodePredictor[PredictorState]) -> Agreement:
        """How many of the other codes it gives, from the processor's hidden vectors."""
        spoken, state, same = self.spoken(), predictor.new_state(), 0
        draws = SeededDraws(0)
        try:
            for codes, hidden in zip(spoken.codes, spoken.hidden, strict=True):
                rest = predictor.frame(state, hidden, int(codes[0]), _GREEDY, draws)
                same += int(np.count_nonzero(rest == codes[1:]))
        finally:
            state.close()
        return Agreement(same, spoken.codes[:, 1:].size)

    def spoken(self) -> SpokenFrames:
        """The frames. Raises OnnxError, GGUFError or SpecError for files that cannot be used."""
        if not self._spoken:
            self._spoken.append(self._speak())
        return self._spoken[0]

    def _first(self) -> FirstCodes:
        return first_codes(self.spec, _GREEDY, self.frames)

    def _speak(self) -> SpokenFrames:
        folder, spec = self.folder, self.spec
        embeddings = TableEmbeddings(open_tables(folder), spec)
        prompt = PromptBuilder(spec, Tokenizer.load(folder), embeddings).build(request_of(spec))
        talker, _ = open_talker(folder, spec, _PROCESSOR, self.threads)
        predictor, _ = open_predictor(folder, spec, _PROCESSOR, self.threads)
        return speak(talker, predictor, prompt, embeddings, self._first(), self.frames)


def first_codes(spec: Spec, sampling: Sampling, frames: int) -> FirstCodes:
    """What chooses the first codes of so many frames, none of which is the end of speech."""
    return FirstCodes(
        codes=spec.codes,
        eos=spec.ids.eos,
        sampling=sampling,
        repetition_penalty=spec.generation.repetition_penalty,
        min_new_tokens=frames + 1,
    )


def speak(
    talker: FixedTalker,
    predictor: FixedPredictor,
    prompt: Prompt,
    embeddings: TableEmbeddings,
    first: FirstCodes,
    frames: int,
) -> SpokenFrames:
    """Frames of a prompt; ``first`` chooses, and its sampling holds for the predictor too."""
    state = talker.new_state(len(prompt.embeddings) + frames)
    kept, draws = predictor.new_state(), SeededDraws(0)
    codes, fed, hidden = list[Ids](), list[Floats](), list[Floats]()
    out = talker.prefill(state, prompt.embeddings)
    for frame in range(frames):
        hidden.append(out.hidden.copy())
        code0 = first.choose(out.logits, draws)
        rest = predictor.frame(kept, out.hidden, code0, first.sampling, draws)
        codes.append(np.concatenate([np.array([code0]), rest]))
        fed.append(embeddings.frames(codes[-1][None])[0] + prompt.text_vector(frame))
        out = talker.step(state, fed[-1])
    return SpokenFrames(prompt.embeddings, np.stack(codes), np.stack(fed), np.stack(hidden))


def admitted_codec(job: CodecJob, provider: Provider) -> FixedCodecDecoder:
    """A codec on a provider, once that one has been compared with the processor. Raises CodecError,
    OnnxError."""
    decoder, spec = FixedCodecDecoder.of(job, provider), job.spec

    def measured() -> Fidelity:
        processor = FixedCodecDecoder.of(job, _PROCESSOR)
        return codec_error(decoder, processor, spec.code_groups, spec.codebook_size)

    decoder.graphs.admit(measured)
    return decoder


def codec_error(
    candidate: CheckpointDecoder,
    processor: CheckpointDecoder,
    groups: int,
    codes: int,
    runs: Sequence[int] = tuple(reversed(FRAMES)),
) -> Fidelity:
    """Samples for given codes, in one call for each graph that there is.

    groups, codes: of a frame, and of a group. runs: how many frames each call decodes.
    """
    given = np.random.Generator(np.random.PCG64(0)).integers(0, codes, (sum(runs), groups))
    wanted, found = (_decoded(decoder, given, runs) for decoder in (processor, candidate))
    return Fidelity(snr_db(wanted, found))


def _decoded(decoder: CheckpointDecoder, codes: Ids, runs: Sequence[int]) -> Floats:
    state, start, parts = decoder.new_state(), 0, list[Floats]()
    for frames in runs:
        parts.append(decoder.decode(state, codes[start : start + frames]))
        start += frames
    return np.concatenate(parts)


def snr_db(wanted: Floats, found: Floats) -> float:
    """Power of the samples over that of the error, in dB; minus infinity where one is no number."""
    error = float(np.mean(np.square(wanted.astype(np.float64) - found)))
    power = float(np.mean(np.square(wanted.astype(np.float64))))
    if not np.isfinite(error) or power == 0:
        return -np.inf
    return float(10 * np.log10(power / max(error, np.finfo(np.float64).tiny)))
