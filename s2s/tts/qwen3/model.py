"""A model ready to speak, from its name: found, converted once, opened, with its voices.

For use as a library:

    from pathlib import Path
    from s2s.tts.qwen3 import Request, open_model

    model = open_model("0.6b-customvoice", Path("~/qwen3"))
    for chunk in model.speak(Request("Hello.", speaker="aiden")).chunks:
        ...  # chunk.pcm: float32 [samples] at model.sample_rate_hz

Nothing is measured here; where "auto" leaves a choice, what was measured before decides, or the
order of `BACKENDS`. To measure: `calibrate.measure`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock

from s2s.system.largepages import use_large_pages
from s2s.tts.qwen3.backend import DevicePlacement, Quants
from s2s.tts.qwen3.backends import (
    AUTO,
    DEFAULT_QUANT,
    Candidates,
    by_itself,
    candidates,
    device_placement,
)
from s2s.tts.qwen3.checkpoint.codec_spec import CodecSpec, check_pair, read_codec_spec
from s2s.tts.qwen3.checkpoint.content_hash import voice_content_hash
from s2s.tts.qwen3.checkpoint.conversion import Progress, silent
from s2s.tts.qwen3.checkpoint.spec import Generation, Kind, Spec
from s2s.tts.qwen3.codec.decoder import CheckpointDecoder, CodecState
from s2s.tts.qwen3.codec.open import OpenedCodec, opened_here
from s2s.tts.qwen3.codec.silence import silent_codes
from s2s.tts.qwen3.engine.chunk_schedule import ScheduleConfig
from s2s.tts.qwen3.engine.engine import Engine, FrameStream, Speech, StartTrim
from s2s.tts.qwen3.engine.report import Report
from s2s.tts.qwen3.engine.stop_rules import Guards
from s2s.tts.qwen3.folders import GRAPHS_FOLDER, VOICES_FOLDER
from s2s.tts.qwen3.interfaces import PredictorState, Stale, State, never
from s2s.tts.qwen3.language import LoadedLanguage
from s2s.tts.qwen3.opening import Opening
from s2s.tts.qwen3.text.prompt import PromptBuilder, Reference, Request
from s2s.tts.qwen3.text.tokenizer import Tokenizer
from s2s.tts.qwen3.voices.enrol import warm_start
from s2s.tts.qwen3.voices.store import list_voices, load_voice

_FRAMES_AHEAD = 10  # less than a second: what waits unplayed counts besides

Qwen3Engine = Engine[State, PredictorState, CodecState]


@dataclass(frozen=True, slots=True)
class DevicePlacements:
    """Where each part is computed.

    talker, predictor: see `backends.device_placement`; codec: see `backends.codec_placement`.
    "auto" is the fastest backend there is, by measurement. draft_tokens: how many are verified in
    each forward pass of the predictor (see ``sampling_speculative``).
    """

    talker: str = AUTO
    predictor: str = AUTO
    codec: str = AUTO
    draft_tokens: int = 0


@dataclass(frozen=True, slots=True)
class ModelParts:
    """What computes at present. An utterance keeps those that it began with."""

    language: LoadedLanguage
    decoder: CheckpointDecoder
    codec: str
    """Where it decodes, as in `backends.codec_placement`."""
    engine: Qwen3Engine
    sample_rate_hz: int


@dataclass(frozen=True, slots=True)
class Choice:
    """What was left to measurement when a model was opened."""

    cores: Candidates
    """Empty where none was left."""
    talker: bool
    predictor: bool
    codec: bool
    refused: str = ""
    """Why the codec is not on a graphics card that there is; else ""."""


class Qwen3Model:
    """One loaded model. Calls may come from several threads."""

    def __init__(self, opening: Opening, parts: ModelParts, choice: Choice) -> None:
        self.opening = opening
        self.choice = choice
        self._lock = Lock()
        self._parts = parts
        self._used_threads: int | None = None

    @property
    def parts(self) -> ModelParts:
        """What computes at present."""
        with self._lock:
            return self._parts

    @property
    def folder(self) -> Path:
        """The model in converted form."""
        return self.parts.language.folder

    @property
    def home(self) -> Path:
        """Where all that belongs to it lies."""
        return self.opening.home

    @property
    def language(self) -> LoadedLanguage:
        """Talker and predictor."""
        return self.parts.language

    @property
    def spec(self) -> Spec:
        """What the checkpoint is."""
        return self.language.language.spec

    @property
    def sample_rate_hz(self) -> int:
        """Of its sound."""
        return self.parts.sample_rate_hz

    @property
    def threads(self) -> int:
        """The most that the language model may use."""
        return self.opening.language_threads

    @property
    def overlapped(self) -> bool:
        """Codes are made while others are decoded."""
        return self.opening.overlapped

    def speak(
        self,
        request: Request,
        *,
        seed: int = 0,
        schedule: ScheduleConfig | None = None,
        generation: Generation | None = None,
        stale: Stale = never,
    ) -> Speech:
        """An utterance; see `Engine.speak`. Raises PromptError for what it cannot speak."""
        return self.parts.engine.speak(
            request, seed=seed, schedule=schedule, generation=generation, stale=stale
        )

    def frames(
        self,
        request: Request,
        *,
        seed: int = 0,
        attempt: int = 0,
        generation: Generation | None = None,
        stale: Stale = never,
    ) -> FrameStream:
        """The codes of an utterance, for a decoder elsewhere; see `Engine.frames`. Raises
        PromptError for what it cannot speak."""
        return self.parts.engine.frames(
            request, seed=seed, attempt=attempt, generation=generation, stale=stale
        )

    def speak_frames(
        self,
        request: Request,
        frames: int,
        schedule: ScheduleConfig,
        *,
        seed: int = 0,
        stale: Stale = never,
    ) -> Report:
        """An utterance of that many frames, computed and not heard: how long everything took."""
        exactly = replace(
            self.spec.generation, min_new_tokens=frames + 1, max_new_tokens=frames + 1
        )
        speech = self.speak(request, seed=seed, schedule=schedule, generation=exactly, stale=stale)
        for _ in speech.chunks:
            pass
        return speech.report

    @property
    def quant(self) -> str:
        """What the talker is quantised to."""
        return self.language.quants.talker

    @property
    def placement(self) -> str:
        """What computes talker and predictor."""
        talker, predictor = str(self.language.talker), str(self.language.predictor)
        return talker if talker == predictor else f"{talker}, {predictor}"

    @property
    def remarks(self) -> tuple[str, ...]:
        """Each part that is computed elsewhere than it was asked for, and why."""
        parts = self.parts
        said = [remark for core in parts.language.cores.values() for remark in core.remarks]
        return tuple(filter(None, [*said, parts.decoder.remark, self.choice.refused]))

    @property
    def calibration_key(self) -> str:
        """Of its measurements: another core, codec or number of threads is measured apart."""
        return f"{self.folder.name} {self.placement} {self.parts.codec} {self.threads}"

    def move(
        self, *, talker: str | None = None, predictor: str | None = None, codec: str | None = None
    ) -> None:
        """From the next utterance on, compute a part elsewhere; the others are not opened again,
        and an utterance that runs ends as it began.

        Raises Qwen3Error for what cannot be had here; all stays as it is then.
        """
        with self._lock:
            parts = self._parts
            language, decoder, where = parts.language, parts.decoder, parts.codec
            if talker is not None or predictor is not None:
                language = language.moved(
                    None if talker is None else device_placement(talker),
                    None if predictor is None else device_placement(predictor),
                )
                if self._used_threads is not None:
                    language.use_threads(self._used_threads)
            if codec is not None and codec != where:
                decoder, where = self.opening.decoder(language.folder, codec), codec
            self._parts = _assembled(self.opening, language, decoder, where)
        parts.engine.close()

    def use_threads(self, threads: int) -> bool:
        """So many threads of the language model from the next utterance on; False when they are
        fixed."""
        self._used_threads = threads
        return self.language.use_threads(threads)

    def use_draft_tokens(self, draft_tokens: int) -> None:
        """So many draft tokens in each predictor pass from the next utterance on."""
        self.language.use_draft_tokens(draft_tokens)

    def accept_at_rate(self, rate: float) -> None:
        """For benchmarks of random weights, whose draft tokens are accepted as no trained model's
        are: from now on each is accepted with this probability. The codes mean nothing."""
        self.language.drafting.accept_at_rate(rate)

    def reference(self, name: str) -> Reference:
        """An enrolled voice, ready to be spoken with. Raises VoiceError when there is none, or it
        was made for another model."""
        parts = self.parts
        voice = load_voice(name, self.home / VOICES_FOLDER, voice_content_hash(self.folder))
        if voice.codes is not None:
            parts.engine.keep_warm_start(voice.codes, warm_start(parts.decoder, voice))
        return voice.reference

    @property
    def voices(self) -> tuple[str, ...]:
        """Names that can be spoken with: trained speakers, or the voices enrolled for it."""
        if self.spec.kind is not Kind.BASE:
            return tuple(sorted(self.spec.speakers))
        mine, found = voice_content_hash(self.folder), list_voices(self.home / VOICES_FOLDER)
        return tuple(entry.name for entry in found if entry.content_hash == mine)

    def close(self) -> None:
        """Free what waits for the next utterance. Idempotent."""
        self.parts.engine.close()


def open_model(
    source: str | Path,
    home: Path,
    *,
    quant: str = DEFAULT_QUANT,
    predictor_quant: str | None = None,
    placement: DevicePlacements | None = None,
    threads: int = 1,
    start_trim: StartTrim | None = None,
    progress: Progress = silent,
) -> Qwen3Model:
    """Find, convert and load a model; all but the first time within seconds.

    source: a folder, a published name such as "0.6b-base", or a hub id. home: where converted
    models, graphs and voices are kept. progress: told how far a conversion is.
    Raises Qwen3Error, whose message says what to do; OSError when a file cannot be read or written.
    """
    placement = placement or DevicePlacements()
    opening = Opening(
        source, home.expanduser(), Quants(quant, predictor_quant), threads, start_trim, progress
    )
    choice, places = _places(placement, opening)
    language = opening.language(places, placement.draft_tokens)
    codec = _codec(placement.codec, opening, language.folder)
    parts = _assembled(opening, language, codec.decoder, codec.placement)
    use_large_pages()
    return Qwen3Model(opening, parts, replace(choice, refused=codec.refused))


def _assembled(
    opening: Opening, language: LoadedLanguage, decoder: CheckpointDecoder, codec: str
) -> ModelParts:
    spec, codec_spec = language.language.spec, _codec_spec(language)
    tokenizer = Tokenizer.load(language.folder, spec.text_vocabulary)
    silent = silent_codes(
        language.folder / "speech_tokenizer",
        codec_spec,
        opening.home / GRAPHS_FOLDER,
        opening.threads,
    )
    engine = Engine(
        language.language,
        decoder,
        PromptBuilder(spec, tokenizer, language.language.embeddings),
        samples_per_frame=decoder.samples_per_frame,
        sample_rate_hz=codec_spec.sample_rate_hz,
        guards=Guards(silent_codes=silent),
        start_trim=opening.start_trim,
        frames_ahead=_FRAMES_AHEAD if opening.overlapped else 0,
    )
    return ModelParts(language, decoder, codec, engine, codec_spec.sample_rate_hz)


def _codec_spec(language: LoadedLanguage) -> CodecSpec:
    folder = language.folder / "speech_tokenizer"
    codec = read_codec_spec(folder)
    check_pair(language.language.spec, codec, folder / "config.json")
    return codec


def _places(
    placement: DevicePlacements, opening: Opening
) -> tuple[Choice, tuple[DevicePlacement, DevicePlacement]]:
    """What measurement may change, and where talker and predictor are computed until then."""
    wanted = (placement.talker, placement.predictor)
    left = [text == AUTO for text in wanted]
    found = candidates(opening.quants) if any(left) else Candidates(())
    names = list(found.places)
    best = (_kept(opening, names) or names[0]) if names else ""
    first, second = (device_placement(best if text == AUTO else by_itself(text)) for text in wanted)
    return Choice(found, left[0], left[1], placement.codec == AUTO), (first, second)


def _kept(opening: Opening, names: list[str]) -> str | None:
    """The fastest of these cores, as measured before; None when one of them was not."""
    measured = opening.cache.backends(opening.language_key)
    if not set(names) <= set(measured):
        return None
    return min(names, key=lambda name: measured[name])


def _codec(wanted: str, opening: Opening, folder: Path) -> OpenedCodec:
    """What decodes codes: as it is named, as it was measured, or the first there is."""
    if wanted != AUTO:
        return OpenedCodec(opening.decoder(folder, wanted), wanted)
    measured = opening.cache.backends(opening.codec_key)
    return opened_here(measured, lambda name: opening.decoder(folder, name))
