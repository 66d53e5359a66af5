"""mlx-audio (MIT) as a backend: Kokoro, Pocket TTS, Qwen3-TTS, CSM and others on a Mac's graphics.

Each model has the licence of its page. Sound comes clause by clause, and by `streaming_interval_s`
from models that stream. One utterance at a time, all of it in one thread
(docs/decisions/mlx-thread.md). https://github.com/Blaizzy/mlx-audio
"""

# pyright: reportMissingImports=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# The package is for Apple's processors, and has no types.
from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from s2s.core.audio import Block
from s2s.core.clock import SystemClock
from s2s.core.setting import setting
from s2s.models.resources import Resources
from s2s.models.store import Store, StoreError
from s2s.system.mlx_thread import mlx_thread
from s2s.tts.backends.kokoro.languages import CODES, speech_of
from s2s.tts.base import AudioChunk, Capabilities, TtsError
from s2s.tts.level import amplify
from s2s.tts.pieces import pieces
from s2s.tts.running_cost import PieceLength, RunningCost

_MAX_CHARS = 240


@dataclass(frozen=True, slots=True)
class MlxAudioConfig:
    """Options of mlx-audio."""

    model: str = setting(
        "mlx-community/Kokoro-82M-bf16", "A model of the hub for mlx-audio, or a folder with one."
    )
    voice: str | None = setting(
        None, "One of the model's (af_heart for Kokoro); None is the model's own."
    )
    voices: tuple[str, ...] = setting((), "Others that a caller may choose.")
    reference: str | None = setting(None, "A recording to speak like, for models that clone.")
    reference_text: str | None = setting(None, "Every word that is said in it.")
    languages: tuple[str, ...] = setting(("en",), "ISO 639-1 codes that it speaks, its own first.")
    speed: float = setting(1.0, "1 is the voice's own pace; for models that know a pace.")
    streaming_interval_s: float = setting(
        0.32, "Sound of a chunk, from models that stream; shorter starts sooner and costs more."
    )
    volume_db: float = setting(0.0, "Louder above 0, in dB; loud places are bent, not cut off.")


class _Result(Protocol):
    """What is used of the package's `GenerationResult`."""

    audio: object


class _Model(Protocol):
    """What is used of the package's models."""

    @property
    def sample_rate(self) -> int: ...

    def generate(self, text: str, **options: object) -> Iterable[_Result]: ...


class MlxAudio:
    """Speaks with a model of mlx-audio. Calls may come from several threads; they take turns."""

    def __init__(self, config: MlxAudioConfig, resources: Resources) -> None:
        """Load the model.

        Raises:
            TtsError: the package is missing, or the model cannot be had.
        """
        self._config = config
        self._lock = threading.Lock()
        self._cost = RunningCost(call_s=0.1, char_s=0.01)
        loaded = mlx_thread().call(lambda: _load(config, resources.store))
        self._model: _Model | None = loaded
        self._rate_hz = int(loaded.sample_rate)

    @property
    def capabilities(self) -> Capabilities:
        config = self._config
        named = [config.voice] if config.voice else []
        return Capabilities(
            sample_rate_hz=self._rate_hz,
            streaming=True,
            languages=config.languages,
            voices=tuple(dict.fromkeys((*named, *config.voices))),
            cloning=config.reference is not None,
        )

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        """Yield the sound as it is made; see `s2s.tts.base.Synthesizer`. `stop` is asked before
        each chunk that the model gives."""
        known = self.capabilities.voices
        if voice is not None and voice not in known:
            named = ", ".join(known) or "none by name"
            raise TtsError(
                f"mlx-audio has no voice {voice!r}; there are {named}. Add it to tts.voices."
            )
        options = self._options(voice or self._config.voice, language)
        length = PieceLength(self._cost, SystemClock().now)
        for piece, end in pieces(text, _MAX_CHARS, wish=length.wish):
            made = 0
            if any(letter.isalnum() for letter in piece):
                for chunk in self._speak(piece, options, stop):
                    made += len(chunk.samples)
                    yield chunk
            if stop():
                return
            if made:
                length.made(len(piece), made / self._rate_hz)
            yield AudioChunk(np.zeros(0, np.float32), spoken_chars=end)

    def warm(self) -> None:
        """Speak two short sentences, unheard."""
        for _ in self.synthesize("Hello. This tells how quick I am."):
            pass

    def close(self) -> None:
        """Free the model. Idempotent."""
        with self._lock:
            self._model = None

    def _speak(
        self, piece: str, options: dict[str, object], stop: Callable[[], bool]
    ) -> Iterator[AudioChunk]:
        with self._lock:
            if self._model is None:
                raise TtsError("mlx-audio was used after it was closed.")
            sounds = _sounds(self._model, piece, options)
            try:
                while (samples := mlx_thread().call(lambda: next(sounds, None))) is not None:
                    if stop():
                        return
                    if len(samples):
                        yield AudioChunk(amplify(samples, self._config.volume_db))
            except (ImportError, OSError, ValueError, RuntimeError, TypeError) as error:
                raise TtsError(f"mlx-audio could not speak {piece[:60]!r}: {error}") from error
            finally:
                mlx_thread().call(sounds.close)

    def _options(self, voice: str | None, language: str | None) -> dict[str, object]:
        config = self._config
        code = language or config.languages[0]
        kokoro = "kokoro" in config.model.lower() and code in CODES
        options: dict[str, object] = {
            "voice": voice,
            "lang_code": speech_of(code, voice or "").letter if kokoro else code,
            "speed": config.speed,
            "stream": True,
            "streaming_interval": config.streaming_interval_s,
            "verbose": False,
            "ref_audio": config.reference,
            "ref_text": config.reference_text,
        }
        return {name: value for name, value in options.items() if value is not None}


def _load(config: MlxAudioConfig, store: Store) -> _Model:
    try:
        from mlx_audio.tts.utils import load_model
    except ImportError as error:
        raise TtsError("mlx-audio is not installed: pip install 's2s[mlx-audio]'") from error
    try:
        path = Path(config.model).expanduser()
        if not path.exists():
            path = store.path(f"hf://{config.model.removeprefix('hf://')}")
        return load_model(path)
    except (StoreError, OSError, ValueError, RuntimeError) as error:
        raise TtsError(f"mlx-audio: {config.model} cannot be loaded: {error}") from error


def _sounds(model: _Model, text: str, options: dict[str, object]) -> Generator[Block, None, None]:
    """What the model says, chunk by chunk: float32 [samples], nothing left to compute. All calls
    come from one thread."""
    import mlx.core as mx

    for result in model.generate(text, **options):
        yield np.array(mx.array(result.audio).astype(mx.float32)).reshape(-1)
