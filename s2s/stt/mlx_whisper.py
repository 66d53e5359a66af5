"""Whisper of any size (OpenAI, MIT) on MLX: Apple's processors and graphics, 99 languages, greedy.

The same rules as on CTranslate2 decide what was spoken (`whisper.py`). MLX also has wheels for
Linux's processors, where it is slow: that is for tests.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from s2s.core.audio import PIPELINE_HZ, Block
from s2s.core.setting import setting
from s2s.models.resources import Resources
from s2s.stt.base import SttError, Transcription
from s2s.stt.silence import is_silent, sound
from s2s.stt.taught_words import hint
from s2s.stt.whisper import SpokenRules, is_spoken
from s2s.stt.windows import quiet_windows

if TYPE_CHECKING:
    from mlx.core import Dtype
    from mlx_whisper.decoding import DecodingResult
    from mlx_whisper.whisper import Whisper

_WINDOW_SAMPLES = 30 * PIPELINE_HZ


@dataclass(frozen=True, slots=True)
class MlxWhisperConfig(SpokenRules):
    """Options of Whisper on MLX."""

    model: str = setting(
        "hf://mlx-community/whisper-large-v3-turbo",
        "A folder with config.json and weights in MLX's layout, or hf://owner/repo of one.",
    )
    half: bool = setting(True, "Compute in half precision.")


class MlxWhisper:
    """Writes down speech. Stateless between calls; calls from several threads take turns."""

    def __init__(self, config: MlxWhisperConfig, resources: Resources) -> None:
        """Load the model.

        Raises:
            SttError: the folder holds no Whisper model of MLX.
            StoreError: the model cannot be had.
        """
        self._config = config
        self._words = hint(resources.words)
        self._lock = threading.Lock()
        self._model: Whisper | None = _load(str(resources.store.path(config.model)), config)

    def transcribe(
        self,
        audio: Block,
        *,
        language: str | None = None,
        earlier: Transcription | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        """Transcribe one utterance; see `s2s.stt.base.Transcriber`.

        `earlier` is of no use to Whisper. `stop` is asked before each window of up to 30 s.
        """
        del earlier
        audio = sound(audio)
        texts: list[str] = []
        languages: dict[str, float] = {}
        with self._lock:
            model = self._model
            if model is None:
                raise RuntimeError("mlx-whisper: used after close()")
            if not model.is_multilingual:
                language = "en"
            for window in quiet_windows(audio, _WINDOW_SAMPLES):
                if stop():
                    break
                if is_silent(audio[window], self._config.silence_db):
                    continue
                heard = self._window(model, audio[window], language)
                if is_spoken(heard, self._config):
                    languages = languages or dict(heard.language_probs or {})
                    language = heard.language
                    texts.append(heard.text.strip())
        return Transcription(" ".join(texts), language, languages=languages)

    def warm(self) -> None:
        """Run the model once on a second of quiet noise."""
        noise = np.random.default_rng(0).normal(0.0, 0.02, PIPELINE_HZ).astype(np.float32)
        self.transcribe(noise)

    def close(self) -> None:
        """Free the model. Idempotent."""
        with self._lock:
            self._model = None

    def _window(self, model: Whisper, audio: Block, language: str | None) -> DecodingResult:
        """What is said in at most 30 s, and how probable each language is, where none is told."""
        from mlx_whisper.audio import N_FRAMES, log_mel_spectrogram, pad_or_trim
        from mlx_whisper.decoding import DecodingOptions, decode

        mel = log_mel_spectrogram(audio, n_mels=model.dims.n_mels, padding=_WINDOW_SAMPLES)
        options = DecodingOptions(
            language=language,
            prompt=self._words,
            without_timestamps=True,
            fp16=self._config.half,
        )
        window = pad_or_trim(mel, N_FRAMES, axis=-2).astype(_number_format(self._config))
        return decode(model, window, options)


def _number_format(config: MlxWhisperConfig) -> Dtype:
    import mlx.core as mx

    return mx.float16 if config.half else mx.float32


def _load(folder: str, config: MlxWhisperConfig) -> Whisper:
    from mlx_whisper.load_models import load_model

    try:
        return load_model(folder, dtype=_number_format(config))
    except (OSError, TypeError, ValueError, RuntimeError) as error:
        raise SttError(
            f"mlx-whisper: {folder} cannot be loaded ({error}). Choose a folder with a Whisper "
            "model of MLX, such as hf://mlx-community/whisper-large-v3-turbo."
        ) from error
