"""Piper voices as a text-to-speech backend: thousands of voices, some 50 languages, streamed.

A thin adapter around `s2s.tts.vits`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from s2s.core.setting import setting
from s2s.models.resources import Resources
from s2s.models.store import StoreError
from s2s.tts.backends.vits_chunks import usual_cost, vits_chunks
from s2s.tts.base import AudioChunk, Capabilities, TtsError
from s2s.tts.level import amplify
from s2s.tts.tempo import FASTEST, SLOWEST

if TYPE_CHECKING:
    from s2s.tts.vits import Manner, VitsVoice


@dataclass(frozen=True, slots=True)
class PiperConfig:
    """Options of a Piper voice."""

    model: str = setting(
        "piper-joe",
        "A model of the store, a voice's .onnx file (its .json beside it), or a folder with one.",
    )
    speaker: str | None = setting(
        None, "Name or number of the speaker, for voices that have several."
    )
    speed: float = setting(1.0, "1 is the voice's own pace, 2 twice as fast; 0.5 to 2.")
    volume_db: float = setting(0.0, "Louder above 0, in dB; loud places are bent, not cut off.")
    noise_scale: float | None = setting(None, "Variation of the sound; None is as the voice says.")
    length_scale: float | None = setting(None, "Slower above 1; None is as the voice says.")
    noise_w: float | None = setting(None, "Variation of the rhythm; None is as the voice says.")
    sentence_silence_ms: int | None = setting(None, "Between sentences; None is as the voice says.")
    seed: int | None = setting(
        None, "The same text then always gives the same samples; None varies, as people do."
    )
    threads: int | None = setting(
        None, "None measures what is fastest, up to the threads this backend was given."
    )

    def __post_init__(self) -> None:
        if not SLOWEST <= self.speed <= FASTEST:
            raise ValueError(f"speed must be from {SLOWEST} to {FASTEST}, got {self.speed}")


class Piper:
    """Speaks with one Piper voice. Calls may come from several threads."""

    def __init__(self, config: PiperConfig, resources: Resources) -> None:
        """Load the voice; the first time it is also cut and checked, which takes seconds.

        Raises:
            TtsError: the voice can't be had or used.
        """
        self._config = config
        self._lock = threading.Lock()
        self._cost = usual_cost()
        self._voice: VitsVoice | None = _load(config, resources)

    @property
    def capabilities(self) -> Capabilities:
        voice = self._loaded()
        known = voice.config
        return Capabilities(
            sample_rate_hz=voice.sample_rate_hz,
            streaming=voice.streams,
            languages=(known.language,),
            voices=tuple(known.speakers),
            word_timing=voice.streams,
        )

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        """Yield the sound of `text`; see `s2s.tts.base.Synthesizer`. The voice has one language."""
        del language
        from s2s.tts.vits import VitsError

        loaded, manner = self._loaded(), self._manner(voice)
        try:
            for chunk in vits_chunks(loaded, text, manner, stop, self._cost):
                yield self._louder(chunk)
        except VitsError as error:
            raise TtsError(f"piper: {error}") from error

    def _louder(self, chunk: AudioChunk) -> AudioChunk:
        gain_db = self._config.volume_db
        return replace(chunk, samples=amplify(chunk.samples, gain_db)) if gain_db else chunk

    def warm(self) -> None:
        """Speak a short sentence, unheard."""
        for _ in self.synthesize("Hello."):
            pass

    def close(self) -> None:
        """Free the voice. Idempotent."""
        with self._lock:
            self._voice = None

    def _loaded(self) -> VitsVoice:
        with self._lock:
            if self._voice is None:
                raise TtsError("piper was used after it was closed.")
            return self._voice

    def _manner(self, speaker: str | None) -> Manner:
        from s2s.tts.vits import Manner

        config = self._config
        scales = self._loaded().config.scales
        silence_ms = config.sentence_silence_ms
        return Manner(
            speaker=speaker or config.speaker,
            scales=replace(
                scales,
                noise=_or(config.noise_scale, scales.noise),
                length=_or(config.length_scale, scales.length) / config.speed,
                noise_w=_or(config.noise_w, scales.noise_w),
            ),
            seed=config.seed,
            sentence_silence_s=None if silence_ms is None else silence_ms / 1000.0,
        )


def _or(chosen: float | None, default: float) -> float:
    return default if chosen is None else chosen


def _load(config: PiperConfig, resources: Resources) -> VitsVoice:
    from s2s.tts.vits import VitsError, load_voice

    threads = config.threads or (1 if resources.threads == 1 else None)
    try:
        path = resources.store.path(config.model)
        return load_voice(path, threads=threads, cache=resources.store.root / "split")
    except (StoreError, VitsError) as error:
        raise TtsError(f"piper: {error}") from error
