"""hibari text-to-speech (Apache-2.0): English, 8 MB a voice, a sentence in 20 to 50 ms on one core.

The package brings its model and its own grapheme-to-phoneme conversion. A sentence is synthesised
in one call, about a hundred times faster than it is spoken.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# The package hibari has no types.
from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from s2s.core.audio import Block
from s2s.core.setting import setting
from s2s.models.fetch import offline
from s2s.models.resources import Resources
from s2s.system.onnx import onnx_session
from s2s.tts.base import AudioChunk, Capabilities, TtsError
from s2s.tts.level import amplify
from s2s.tts.pieces import pieces
from s2s.tts.trim import trimmed

if TYPE_CHECKING:
    from hibari import Hibari as Voice

_MAX_CHARS = 240
"""Text of one call: under the 400 phonemes the model was made for."""
_GAIN_DB = 5.0
"""From -25.0 dB, the mean active level of 20 sentences of the voice heart, to -20 dB."""


@dataclass(frozen=True, slots=True)
class HibariConfig:
    """Options of the hibari voice."""

    voice: str = setting(
        "heart",
        "heart comes with the package; others (emma, fenrir, fable, kore) are fetched at "
        "first use.",
    )
    model_path: str | None = setting(None, "Another model file of the same kind for this voice.")
    speed: float = setting(1.0, "1 is the voice's own pace, 2 twice as fast.")
    volume_db: float = setting(0.0, "Louder above 0, in dB; loud places are bent, not cut off.")
    seed: int = setting(0, "Of the breath noise. The same text always gives the same samples.")


class HibariTts:
    """Speaks English. Calls may come from several threads."""

    def __init__(self, config: HibariConfig, resources: Resources) -> None:
        """Load the configured voice.

        Raises:
            TtsError: unknown voice, or its model cannot be had.
            ValueError: a speed outside 0.5 to 2.
        """
        if not 0.5 <= config.speed <= 2.0:
            raise ValueError(f"hibari: speed must be from 0.5 to 2, got {config.speed}")
        self._config = config
        self._threads = resources.threads
        self._lock = threading.Lock()
        self._voices: dict[str, Voice] = {}
        self._closed = False
        self._voice(config.voice)

    @property
    def capabilities(self) -> Capabilities:
        from hibari import SAMPLE_RATE
        from hibari.voices import VOICES

        return Capabilities(
            sample_rate_hz=SAMPLE_RATE,
            streaming=True,
            languages=("en",),
            voices=tuple(VOICES),
        )

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        """Yield one chunk a sentence; see `s2s.tts.base.Synthesizer`.

        A sentence starts with at most 40 ms of silence and ends with at most 200. Text without
        anything to say yields nothing.
        """
        speaker = self._voice(voice or self._config.voice)
        for piece, end in pieces(text, _MAX_CHARS):
            if stop():
                return
            samples = self._speak(speaker, piece)
            if len(samples):
                yield AudioChunk(samples, spoken_chars=end)

    def warm(self) -> None:
        """Speak a short sentence, unheard: loads the lexicon and runs the model once."""
        for _ in self.synthesize("Hello, how are you?"):
            pass

    def close(self) -> None:
        """Free the voices. Idempotent."""
        with self._lock:
            self._closed = True
            self._voices.clear()

    def _speak(self, speaker: Voice, piece: str) -> Block:
        """Sound of one piece, float32 [samples]; none when nothing in it can be said."""
        noise = np.random.default_rng(self._config.seed)
        try:
            parts = [
                speaker.from_ids(speaker.ids(phonemes), self._config.speed, noise)
                for phonemes in speaker.phonemize(piece)
                if any(phoneme.isalpha() for phoneme in phonemes)
            ]
        except Exception as error:  # the package names no errors of its own
            raise TtsError(f"hibari could not speak {piece[:60]!r}: {error}") from error
        if not parts:
            return np.zeros(0, dtype=np.float32)
        gain_db = _GAIN_DB + self._config.volume_db
        return trimmed(amplify(np.concatenate(parts), gain_db), speaker.sample_rate)

    def _voice(self, name: str) -> Voice:
        """The voice `name`, loaded once.

        Raises:
            TtsError: unknown, or not to be had.
        """
        with self._lock:
            if self._closed:
                raise TtsError("hibari was used after it was closed.")
            if name not in self._voices:
                path = self._config.model_path if name == self._config.voice else None
                self._voices[name] = _load(name, path, self._threads)
            return self._voices[name]


def _load(name: str, path: str | None, threads: int) -> Voice:
    try:
        from hibari import Hibari as Voice
        from hibari.voices import VOICES, voice_path
    except ImportError as error:
        raise TtsError("hibari is not installed. Run: pip install 's2s[embedded]'") from error

    if name not in VOICES:
        raise TtsError(f"hibari has no voice {name!r}. It has: {', '.join(VOICES)}.")
    if path is not None and not Path(path).is_file():
        raise TtsError(f"hibari: {path}: no such model file.")
    try:
        voice = Voice(name, model=path or voice_path(name, download_missing=not offline()))
        if threads > 1:
            # The package's own session lets its threads spin; with one thread there are none.
            voice.sess = onnx_session(voice.model_path, threads=threads)
    except FileNotFoundError as error:
        raise TtsError(
            f"hibari: the voice {name!r} is not on this machine and HF_HUB_OFFLINE forbids "
            "fetching it. Use the voice heart, which comes with the package."
        ) from error
    except Exception as error:  # the package and onnxruntime name none of their own
        raise TtsError(f"hibari: the voice {name!r} cannot be loaded: {error}") from error
    return voice
