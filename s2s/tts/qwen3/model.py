"""A model ready to speak, from its name: found, converted once, opened, with its voices.

For use as a library:

    from pathlib import Path
    from s2s.tts.qwen3 import Request, open_model

    model = open_model("0.6b-customvoice", Path("~/qwen3"))
    for chunk in model.speak(Request("Hello.", speaker="ryan")).chunks:
        ...  # chunk.pcm: float32 [samples] at model.sample_rate_hz
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from s2s.system.largepages import use_large_pages
from s2s.tts.qwen3.backend import DevicePlacement, Quants
from s2s.tts.qwen3.backends import (
    AUTO,
    BACKENDS,
    DEFAULT_QUANT,
    available,
    backend_named,
    device_placement,
    quant_on,
)
from s2s.tts.qwen3.calibrate import probe
from s2s.tts.qwen3.calibrate.cache import CalibrationCache, Speed
from s2s.tts.qwen3.calibrate.tune import fastest_backend, tune
from s2s.tts.qwen3.checkpoint.codec_spec import check_pair, read_codec_spec
from s2s.tts.qwen3.checkpoint.content_hash import voice_content_hash
from s2s.tts.qwen3.checkpoint.conversion import ConversionJob
from s2s.tts.qwen3.checkpoint.spec import Generation, Kind, Spec, read_spec
from s2s.tts.qwen3.codec.decoder import CheckpointDecoder, CodecState
from s2s.tts.qwen3.codec.open import open_decoder
from s2s.tts.qwen3.codec.silence import silent_codes
from s2s.tts.qwen3.engine.chunk_schedule import ScheduleConfig
from s2s.tts.qwen3.engine.engine import Engine, Speech, StartTrim
from s2s.tts.qwen3.engine.report import Report
from s2s.tts.qwen3.engine.stop_rules import Guards
from s2s.tts.qwen3.folders import (
    CALIBRATION_FILE,
    CONVERTED_FOLDER,
    GRAPHS_FOLDER,
    KERNEL_FOLDER,
    VOICES_FOLDER,
)
from s2s.tts.qwen3.interfaces import PredictorState, Stale, State, never
from s2s.tts.qwen3.language import LoadedLanguage, load_language
from s2s.tts.qwen3.text.prompt import PromptBuilder, Reference, Request
from s2s.tts.qwen3.text.tokenizer import Tokenizer
from s2s.tts.qwen3.voices.enrol import warm_start
from s2s.tts.qwen3.voices.store import list_voices, load_voice

_FRAMES_AHEAD = 10  # less than a second: what waits unplayed counts besides
_THREADS_FOR_BOTH = 4  # with fewer, language model and codec are faster taking turns on all
_WARM_FRAMES = 9

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
class Qwen3Model:
    """One loaded model. ``folder`` holds it in converted form, ``home`` all that belongs to it."""

    folder: Path
    home: Path
    spec: Spec
    engine: Qwen3Engine
    decoder: CheckpointDecoder
    sample_rate_hz: int
    language: LoadedLanguage
    threads: int
    """The most that the language model may use."""
    overlapped: bool
    """Codes are made while others are decoded."""

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
        return self.engine.speak(
            request, seed=seed, schedule=schedule, generation=generation, stale=stale
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
        speech = self.engine.speak(
            request, seed=seed, schedule=schedule, generation=exactly, stale=stale
        )
        for _ in speech.chunks:
            pass
        return speech.report

    def calibrate(self, request: Request, draft_tokens: int | None) -> Speed:
        """Speak, unheard, and use the threads and draft tokens with which that is fastest.

        The first time on this machine that takes a few seconds, later a fraction of one.
        draft_tokens: None tries; a number stays. request: of some seconds.
        """

        def speak(frames: int, schedule: ScheduleConfig) -> Report:
            return self.speak_frames(request, frames, schedule)

        cache = CalibrationCache(self.home / CALIBRATION_FILE)
        key = f"{self.folder.name} {self.placement} {self.threads} {draft_tokens}"
        speed = cache.speed(key)
        if speed is None:
            speed = tune(self, speak, self.threads, draft_tokens, overlapped=self.overlapped)
            cache.keep_speed(key, speed)
        else:
            self.use_threads(speed.threads)
            self.use_draft_tokens(speed.draft_tokens)
            speak(_WARM_FRAMES, ScheduleConfig(codec_chunk_ramp=(1, _WARM_FRAMES - 1)))
        return speed

    @property
    def quant(self) -> str:
        """What the talker is quantised to."""
        return self.language.quants.talker

    @property
    def placement(self) -> str:
        """What computes talker and predictor."""
        talker, predictor = str(self.language.talker), str(self.language.predictor)
        return talker if talker == predictor else f"{talker}, {predictor}"

    def use_threads(self, threads: int) -> bool:
        """So many threads of the language model from the next utterance on; False when they are
        fixed."""
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
        voice = load_voice(name, self.home / VOICES_FOLDER, voice_content_hash(self.folder))
        if voice.codes is not None:
            self.engine.keep_warm_start(voice.codes, warm_start(self.decoder, voice))
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
        self.engine.close()


def open_model(
    source: str | Path,
    home: Path,
    *,
    quant: str = DEFAULT_QUANT,
    predictor_quant: str | None = None,
    placement: DevicePlacements | None = None,
    threads: int = 1,
    start_trim: StartTrim | None = None,
) -> Qwen3Model:
    """Find, convert and load a model; all but the first time within seconds.

    source: a folder, a published name such as "0.6b-base", or a hub id. home: where converted
    models, graphs and voices are kept.
    Raises Qwen3Error, whose message says what to do; OSError when a file cannot be read or written.
    """
    home = home.expanduser()
    quants, placement = Quants(quant, predictor_quant), placement or DevicePlacements()
    overlapped = threads >= _THREADS_FOR_BOTH
    language = load_language(
        source,
        home,
        quants,
        _language_placements(placement, source, home, quants, threads),
        threads=threads - threads // 2 if overlapped else threads,
        draft_tokens=placement.draft_tokens,
    )
    folder, spec = language.folder, language.language.spec
    codec_folder = folder / "speech_tokenizer"
    codec = read_codec_spec(codec_folder)
    check_pair(spec, codec, codec_folder / "config.json")
    codec_threads = threads // 2 if overlapped else threads
    decoder = open_decoder(
        codec_folder,
        home / GRAPHS_FOLDER,
        threads=codec_threads,
        placement=_codec_placement(placement.codec, codec_folder, home, codec_threads),
        kernels=home / KERNEL_FOLDER,
    )
    silent = silent_codes(codec_folder, codec, home / GRAPHS_FOLDER, threads)
    engine = Engine(
        language.language,
        decoder,
        PromptBuilder(
            spec, Tokenizer.load(folder, spec.text_vocabulary), language.language.embeddings
        ),
        samples_per_frame=decoder.samples_per_frame,
        sample_rate_hz=codec.sample_rate_hz,
        guards=Guards(silent_codes=silent),
        start_trim=start_trim,
        frames_ahead=_FRAMES_AHEAD if overlapped else 0,
    )
    use_large_pages()
    return Qwen3Model(
        folder=folder,
        home=home,
        spec=spec,
        engine=engine,
        decoder=decoder,
        sample_rate_hz=codec.sample_rate_hz,
        language=language,
        threads=threads - threads // 2 if overlapped else threads,
        overlapped=overlapped,
    )


def _language_placements(
    placement: DevicePlacements, source: str | Path, home: Path, quants: Quants, threads: int
) -> tuple[DevicePlacement, DevicePlacement]:
    """Of talker and predictor; the backends are measured if need be."""
    wanted = (placement.talker, placement.predictor)
    if AUTO not in wanted:
        return device_placement(wanted[0]), device_placement(wanted[1])
    candidates = available(quants)
    job = ConversionJob(source, home / CONVERTED_FOLDER, threads)
    folder = candidates[0].convert(quant_on(candidates[0], quants), job)
    best = fastest_backend(
        [backend.name for backend in candidates],
        f"{read_spec(folder).size} {quants.talker} {quants.predictor} {threads}",
        CalibrationCache(home / CALIBRATION_FILE),
        lambda name: probe.frame_ms(backend_named(name), folder, quants, home, threads),
    )
    first, second = (device_placement(best if text == AUTO else text) for text in wanted)
    return first, second


def _codec_placement(wanted: str, codec_folder: Path, home: Path, threads: int) -> str:
    """What decodes codes; measured if need be, and not kept where there is but one: there
    may be a compiler next time."""
    if wanted != AUTO:
        return wanted
    able = [b.name for b in BACKENDS if b.codec is not None and b.codec.missing() is None]

    def frame_ms(name: str) -> float:
        decoder = open_decoder(
            codec_folder,
            home / GRAPHS_FOLDER,
            threads=threads,
            placement=name,
            kernels=home / KERNEL_FOLDER,
        )
        return probe.decoded_ms(decoder)

    cache = CalibrationCache(home / CALIBRATION_FILE)
    return fastest_backend(able, f"codec {threads}", cache, frame_ms)
