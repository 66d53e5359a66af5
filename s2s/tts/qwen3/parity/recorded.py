"""A run of another program, read from a file, against this one: codes and sound.

The file is a NumPy archive (.npz) of one utterance, without pickles:

    text                str, what was said
    codes               int [frames, groups], without the end of speech
    pcm                 float32 or int16 [samples] in mono, at ``rate_hz`` (24000): optional
    language, speaker, instruction      str, as they were asked for: optional
    speaker_vector      float32 [H], of a clone; with reference_codes (int [n, groups]) and
                        reference_text where it was cloned in context
    streaming           bool, text alongside the sound: optional, else the official default
    made_by             str, for the report: optional

With the official package it is made so, the talker's codes being what ``generate`` of the inner
model returns (qwen-tts 0.1.1):

    codes, _ = model.model.generate(..., do_sample=False, subtalker_dosample=False)
    wavs, rate = model.model.speech_tokenizer.decode([{"audio_codes": codes[0]}])
    numpy.savez("run.npz", text=text, codes=codes[0].cpu(), pcm=wavs[0], speaker="Aiden")

Of vLLM-Omni the codec tokens of stage 0 are the codes, and the final audio is the sound.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from s2s.system.whole_file import write_whole
from s2s.tts.qwen3.checkpoint.spec import Spec
from s2s.tts.qwen3.codec.decoder import CheckpointDecoder
from s2s.tts.qwen3.engine.language_model import LanguageModel
from s2s.tts.qwen3.errors import RecordingError
from s2s.tts.qwen3.interfaces import Floats, Ids, PredictorState, State
from s2s.tts.qwen3.model import Qwen3Model
from s2s.tts.qwen3.sampling import FirstCodes, Sampling, SeededDraws
from s2s.tts.qwen3.text.prompt import PromptBuilder, Reference, Request
from s2s.tts.qwen3.text.tokenizer import Tokenizer

_GREEDY = Sampling(greedy=True)
_LIKELY = 5
_MOST_FRAMES = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class RecordedRun:
    """One utterance of another program. codes: int64 [frames, G]; pcm: float32 [samples]."""

    request: Request
    codes: Ids
    pcm: Floats | None = None
    made_by: str = "another program"


@dataclass(frozen=True, slots=True)
class RecordedComparison:
    """What this program makes of it, fed with the recorded codes frame by frame.

    first: how often its likeliest first code is the recorded one; likely: how often that is among
    its five likeliest; log_probability: of the recorded first codes, mean, in nats. codes: of the
    predictor's greedy codes, the share that are the recorded ones. same_frames: frames from the
    start in which every code is the recorded one. ends: it would end where the recording does.
    snr_db, largest: of the sound of the same codes; None without sound.
    """

    frames: int
    first: float
    likely: float
    log_probability: float
    codes: float
    same_frames: int
    ends: bool
    snr_db: float | None = None
    largest: float | None = None


@dataclass(slots=True)
class _Tally:
    """Sums over the frames so far."""

    first: int = 0
    likely: int = 0
    log_probability: float = 0.0
    codes: float = 0.0
    same_frames: int = 0
    parted: bool = False
    rows: list[Ids] = field(default_factory=list)

    def add(self, recorded: Ids, logits: Floats, own: Ids) -> None:
        """A frame: int64 [G] as recorded, float32 [V] processed logits, int64 [G] of its own."""
        self.first += int(own[0] == recorded[0])
        self.likely += int((logits > logits[recorded[0]]).sum() < _LIKELY)
        top = logits.max()
        total = np.log(np.exp(logits - top).sum())
        self.log_probability += float(logits[recorded[0]] - top - total)
        self.codes += float((own[1:] == recorded[1:]).mean())
        self.parted = self.parted or not (own == recorded).all()
        self.same_frames += int(not self.parted)


def read_recorded(path: Path, spec: Spec) -> RecordedRun:
    """The run in a file. Raises RecordingError for one that cannot be used, which says why."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            found = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise RecordingError(f"{path} is no NumPy archive of a run: {error}") from error
    codes = _codes(path, found, "codes", spec)
    if codes is None or "text" not in found:
        raise RecordingError(f"{path} lacks text or codes; it has {', '.join(found) or 'nothing'}")
    reference = None
    if "speaker_vector" in found:
        vector = np.asarray(found["speaker_vector"], np.float32).ravel()
        with_it = _codes(path, found, "reference_codes", spec)
        reference = Reference(vector, with_it, _text(found, "reference_text") or "")
    request = Request(
        _text(found, "text") or "",
        language=_text(found, "language"),
        speaker=_text(found, "speaker"),
        instruction=_text(found, "instruction"),
        reference=reference,
        streaming=bool(found["streaming"]) if "streaming" in found else None,
    )
    return RecordedRun(request, codes, _sound(found), _text(found, "made_by") or "another program")


def write_recorded(path: Path, run: RecordedRun) -> None:
    """Write a run as `read_recorded` reads it, whole or not at all. Raises OSError."""
    request, reference = run.request, run.request.reference
    told: dict[str, str | bool | Floats | Ids | None] = {
        "text": request.text if isinstance(request.text, str) else "",
        "made_by": run.made_by,
        "codes": run.codes,
        "pcm": run.pcm,
        "language": request.language,
        "speaker": request.speaker,
        "instruction": request.instruction,
        "streaming": request.streaming,
        "speaker_vector": None if reference is None else reference.speaker,
        "reference_codes": None if reference is None else reference.codes,
        "reference_text": None if reference is None else reference.text,
    }
    found = {name: np.asarray(value) for name, value in told.items() if value is not None}
    data = BytesIO()
    np.savez(data, allow_pickle=False, **found)
    write_whole(path, data.getvalue())


def compare_recorded(model: Qwen3Model, run: RecordedRun) -> RecordedComparison:
    """Hold a recorded run against a model. Raises PromptError when it cannot speak the request."""
    parts = model.parts
    language = parts.language.language
    tally, ends = _compare_codes(language, parts.language.folder, run)
    snr_db, largest = _compare_sound(parts.decoder, run)
    frames = len(run.codes)
    return RecordedComparison(
        frames,
        tally.first / frames,
        tally.likely / frames,
        tally.log_probability / frames,
        tally.codes / frames,
        tally.same_frames,
        ends,
        snr_db,
        largest,
    )


def _compare_codes(
    language: LanguageModel[State, PredictorState], folder: Path, run: RecordedRun
) -> tuple[_Tally, bool]:
    spec, generation = language.spec, language.spec.generation
    tokenizer = Tokenizer.load(folder, spec.text_vocabulary)
    prompt = PromptBuilder(spec, tokenizer, language.embeddings).build(run.request)
    first = FirstCodes(
        codes=spec.codes,
        eos=spec.ids.eos,
        sampling=_GREEDY,
        repetition_penalty=generation.repetition_penalty,
        min_new_tokens=generation.min_new_tokens,
    )
    talker = language.talker.new_state(len(prompt.embeddings) + len(run.codes))
    predictor = language.predictor.new_state()
    tally, draws = _Tally(), SeededDraws(0)
    try:
        out = language.talker.prefill(talker, prompt.embeddings)
        for frame, recorded in enumerate(run.codes):
            logits = first.processed(out.logits)
            rest = language.predictor.frame(predictor, out.hidden, int(recorded[0]), _GREEDY, draws)
            tally.add(recorded, logits, np.concatenate([[int(np.argmax(logits))], rest]))
            first.follow(int(recorded[0]))
            vector = language.embeddings.frames(recorded[None])[0] + prompt.text_vector(frame)
            out = language.talker.step(talker, vector)
        return tally, int(np.argmax(first.processed(out.logits))) == spec.ids.eos
    finally:
        talker.close()
        predictor.close()


def _compare_sound(
    decoder: CheckpointDecoder, run: RecordedRun
) -> tuple[float | None, float | None]:
    """Signal-to-noise ratio and largest difference of the sound of the same codes."""
    if run.pcm is None:
        return None, None
    state = decoder.new_state()
    reference = run.request.reference
    if reference is not None and reference.codes is not None:
        decoder.decode(state, reference.codes)
    own = decoder.decode(state, run.codes)
    state.close()
    length = min(len(own), len(run.pcm))
    wanted, noise = run.pcm[:length].astype(np.float64), own[:length] - run.pcm[:length]
    power = max(float(np.mean(np.square(noise, dtype=np.float64))), 1e-30)
    snr_db = 10 * np.log10(max(float(np.mean(wanted**2)), 1e-30) / power)
    return float(snr_db), float(np.abs(noise).max(initial=0.0))


def _codes(path: Path, found: dict[str, np.ndarray], name: str, spec: Spec) -> Ids | None:
    if name not in found:
        return None
    codes = found[name]
    if codes.ndim == 2 and codes.shape[1] != spec.groups and codes.shape[0] == spec.groups:
        codes = codes.T  # vLLM-Omni has them codebook by codebook
    fits = codes.ndim == 2 and codes.shape[1] == spec.groups and 0 < len(codes) <= _MOST_FRAMES
    if not fits or codes.dtype.kind not in "iu":
        raise RecordingError(
            f"{path}: {name} is {codes.dtype} {list(codes.shape)}, wanted whole numbers "
            f"[frames, {spec.groups}]"
        )
    low, high = int(codes.min()), int(codes.max())
    if low < 0 or high >= spec.codes:
        raise RecordingError(
            f"{path}: {name} holds {low} to {high}, this model knows 0 to {spec.codes - 1}; leave "
            "the end of speech out"
        )
    return codes.astype(np.int64)


def _text(found: dict[str, np.ndarray], name: str) -> str | None:
    return str(found[name]) if name in found and str(found[name]) else None


def _sound(found: dict[str, np.ndarray]) -> Floats | None:
    if "pcm" not in found:
        return None
    pcm = found["pcm"].ravel()
    if pcm.dtype.kind in "iu":
        return pcm.astype(np.float32) / np.float32(np.iinfo(pcm.dtype).max)
    return pcm.astype(np.float32)
