"""A model ready to speak, from its name: found, converted once, opened, with its voices.

For use as a library:

    model = Qwen3Model.open("0.6b-customvoice", Path("~/qwen3"))
    for chunk in model.engine.speak(Request("Hello.", speaker="ryan")).chunks: ...
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s2s.system.largepages import use_large_pages
from s2s.tts.qwen3.backends import (
    AUTO,
    KERNEL_FOLDER,
    Opened,
    Place,
    Quants,
    available,
    open_language,
)
from s2s.tts.qwen3.calibrate import probe
from s2s.tts.qwen3.calibrate.cache import FILE, SpeedBook, fastest_backend
from s2s.tts.qwen3.checkpoint.codec_spec import CodecSpec
from s2s.tts.qwen3.checkpoint.fingerprint import codec_fingerprint, voice_fingerprint
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import Kind, Spec, read_json, read_spec
from s2s.tts.qwen3.codec.decoder import CheckpointDecoder, CodecState
from s2s.tts.qwen3.codec.open import NATIVE, open_decoder
from s2s.tts.qwen3.convert import DEFAULT_QUANT, convert
from s2s.tts.qwen3.engine.engine import Engine, StartTrim
from s2s.tts.qwen3.engine.stop_rules import Guards
from s2s.tts.qwen3.errors import KernelError
from s2s.tts.qwen3.interfaces import PredictorState, State
from s2s.tts.qwen3.native.library import find_compiler
from s2s.tts.qwen3.onnx.codec import CPU
from s2s.tts.qwen3.text.prompt import PromptBuilder, Reference
from s2s.tts.qwen3.text.tokenizer import Tokenizer
from s2s.tts.qwen3.voices.codec_encoder import OnnxCodecEncoder
from s2s.tts.qwen3.voices.enrol import CONVERTED_FOLDER, GRAPHS_FOLDER, prime
from s2s.tts.qwen3.voices.store import list_voices, load_voice

VOICES_FOLDER = "voices"
_SILENCE_S = 2.0
_FRAMES_AHEAD = 10  # less than a second: what waits unplayed counts besides
_THREADS_FOR_BOTH = 4  # with fewer, language model and codec are faster taking turns on all
_ROOM_TONE = 1e-4  # -80 dBFS
_SILENCE_FILE = "silence-{}.json"

Qwen3Engine = Engine[State, PredictorState, CodecState]


@dataclass(frozen=True, slots=True)
class Placement:
    """Where each port is computed.

    talker, predictor: see ``backends.Place``; "auto" is the fastest backend there is, by
    measurement. codec: "auto" likewise, "native" or "cpu" (ONNX Runtime), or an accelerator of ONNX
    Runtime: "cuda", "coreml", ... draft_tokens: how many codes are drafted for each predictor pass
    (see ``sampling_speculative``).
    """

    talker: str = AUTO
    predictor: str = AUTO
    codec: str = AUTO
    draft_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Qwen3Model:
    """One opened model. ``folder`` holds it in converted form."""

    folder: Path
    voices_folder: Path
    spec: Spec
    engine: Qwen3Engine
    decoder: CheckpointDecoder
    sample_rate_hz: int
    opened: Opened
    threads: int
    """The most that the language model may use."""
    together: bool
    """Codes are made while others are decoded."""

    @classmethod
    def open(
        cls,
        source: str | Path,
        home: Path,
        *,
        quant: str = DEFAULT_QUANT,
        predictor_quant: str | None = None,
        placement: Placement | None = None,
        threads: int = 1,
        start_trim: StartTrim | None = None,
    ) -> Qwen3Model:
        """Find, convert and open a model; all but the first time within seconds.

        source: a folder, a published name such as "0.6b-base", or a hub id. home: where converted
        models, graphs and voices are kept.
        Raises Qwen3Error, whose message says what to do; OSError when a file cannot be read or
        written.
        """
        quants, placement = Quants(quant, predictor_quant), placement or Placement()
        both = threads >= _THREADS_FOR_BOTH
        language_threads = threads - threads // 2 if both else threads
        places = _places(placement, source, home, quants, threads)
        opened = open_language(
            source,
            home,
            quants,
            places,
            threads=language_threads,
            draft_tokens=placement.draft_tokens,
        )
        folder, spec, graphs = opened.folder, read_spec(opened.folder), home / GRAPHS_FOLDER
        codec_folder = folder / "speech_tokenizer"
        codec = CodecSpec.from_config(read_json(codec_folder / "config.json"))
        codec_threads = threads // 2 if both else threads
        decoder = open_decoder(
            codec_folder,
            graphs,
            threads=codec_threads,
            device=_codec_device(placement.codec, codec_folder, home, codec_threads),
            kernels=home / KERNEL_FOLDER,
        )
        engine = Engine(
            opened.language,
            decoder,
            PromptBuilder(spec, Tokenizer.load(folder), opened.language.embeddings),
            samples_per_frame=decoder.samples_per_frame,
            sample_rate_hz=codec.sample_rate_hz,
            guards=Guards(silent_codes=silent_codes(codec_folder, codec, graphs, threads)),
            start_trim=start_trim,
            frames_ahead=_FRAMES_AHEAD if both else 0,
        )
        use_large_pages()
        return cls(
            folder=folder,
            voices_folder=home / VOICES_FOLDER,
            spec=spec,
            engine=engine,
            decoder=decoder,
            sample_rate_hz=codec.sample_rate_hz,
            opened=opened,
            threads=language_threads,
            together=both,
        )

    @property
    def quant(self) -> str:
        """What the talker is quantised to."""
        return self.opened.quants.talker

    @property
    def places(self) -> str:
        """What computes talker and predictor."""
        talker, predictor = str(self.opened.talker), str(self.opened.predictor)
        return talker if talker == predictor else f"{talker}, {predictor}"

    def use_threads(self, threads: int) -> bool:
        """So many threads of the language model from the next utterance on; False when they are
        fixed."""
        if self.opened.use_threads is None:
            return False
        self.opened.use_threads(threads)
        return True

    def use_draft_tokens(self, draft_tokens: int) -> None:
        """So many draft tokens in each predictor pass from the next utterance on."""
        self.opened.use_draft_tokens(draft_tokens)

    def reference(self, name: str) -> Reference:
        """An enrolled voice, ready to be spoken with. Raises VoiceError when there is none, or it
        was made for another model."""
        voice = load_voice(name, self.voices_folder, voice_fingerprint(self.folder))
        if voice.codes is not None:
            self.engine.keep_warm_start(voice.codes, prime(self.decoder, voice))
        return voice.reference

    @property
    def voices(self) -> tuple[str, ...]:
        """Names that can be spoken with: trained speakers, or the voices enrolled for it."""
        if self.spec.kind is not Kind.BASE:
            return tuple(sorted(self.spec.speakers))
        mine = voice_fingerprint(self.folder)
        return tuple(e.name for e in list_voices(self.voices_folder) if e.fingerprint == mine)


def _places(
    placement: Placement,
    source: str | Path,
    home: Path,
    quants: Quants,
    threads: int,
) -> tuple[Place, Place]:
    """Of talker and predictor; the backends are measured if need be."""
    wanted = (placement.talker, placement.predictor)
    if AUTO not in wanted:
        return Place.parse(wanted[0]), Place.parse(wanted[1])
    candidates = available(quants)
    first = quants.of(candidates[0])
    folder = convert(
        source,
        first.talker,
        predictor_quant=first.predictor,
        converted=home / CONVERTED_FOLDER,
        threads=threads,
    )
    key = f"{read_spec(folder).size} {quants.talker} {quants.predictor} {threads}"
    best = fastest_backend(
        candidates,
        key,
        SpeedBook(home / FILE),
        lambda name: probe.frame_ms(name, folder, quants, home, threads),
    )
    parsed = [Place(best) if text == AUTO else Place.parse(text) for text in wanted]
    return parsed[0], parsed[1]


def _codec_device(wanted: str, codec_folder: Path, home: Path, threads: int) -> str:
    """What decodes codes; measured if need be."""
    if wanted != AUTO:
        return wanted
    try:
        find_compiler()
    except KernelError:
        return CPU  # and not remembered: there may be a compiler next time
    graphs, kernels = home / GRAPHS_FOLDER, home / KERNEL_FOLDER

    def frame_ms(device: str) -> float:
        decoder = open_decoder(
            codec_folder, graphs, threads=threads, device=device, kernels=kernels
        )
        return probe.decoded_ms(decoder)

    return fastest_backend((NATIVE, CPU), f"codec {threads}", SpeedBook(home / FILE), frame_ms)


def silent_codes(codec_folder: Path, spec: CodecSpec, cache: Path, threads: int) -> frozenset[int]:
    """The first codes that stand for silence: what digital silence and faint noise encode to.

    Computed once a tokenizer and kept in ``cache``: the encoder is large.
    """
    key = codec_fingerprint(codec_folder)
    path = cache / _SILENCE_FILE.format(key)
    try:
        return frozenset(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        pass
    encoder = OnnxCodecEncoder.open(
        spec.encoder, Checkpoint(codec_folder), cache, key, threads=threads
    )
    zeros = np.zeros(int(_SILENCE_S * spec.encoder.sample_rate_hz), np.float32)
    noise = np.random.Generator(np.random.PCG64(0)).standard_normal(zeros.size, np.float32)
    faint = noise * np.float32(_ROOM_TONE)
    found = np.unique([encoder.encode(zeros)[:, 0], encoder.encode(faint)[:, 0]]).tolist()
    cache.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found), encoding="utf-8")
    return frozenset(found)
