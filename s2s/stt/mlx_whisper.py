"""Whisper of any size (OpenAI, MIT) on MLX: Apple's processors and graphics, 99 languages, greedy.

The same rules as on CTranslate2 decide what was spoken (`whisper.py`). All runs in one thread
(docs/decisions/mlx-thread.md). MLX also has wheels for Linux's processors, where it is slow: that
is for tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from s2s.core.audio import Block
from s2s.core.setting import setting
from s2s.models.resources import Resources
from s2s.stt.base import SttError
from s2s.stt.taught_words import hint
from s2s.stt.whisper import (
    WINDOW_SAMPLES,
    HeardWindow,
    SpokenRules,
    WindowedWhisper,
    is_spoken,
)
from s2s.system.mlx_thread import mlx_thread

if TYPE_CHECKING:
    from mlx.core import Dtype
    from mlx_whisper.whisper import Whisper


@dataclass(frozen=True, slots=True)
class MlxWhisperConfig(SpokenRules):
    """Options of Whisper on MLX."""

    model: str = setting(
        "hf://mlx-community/whisper-large-v3-turbo",
        "A folder with config.json and weights in MLX's layout, or hf://owner/repo of one.",
    )
    half: bool = setting(True, "Compute in half precision.")


class MlxWhisper(WindowedWhisper["Whisper"]):
    """Whisper on MLX; see `WindowedWhisper`."""

    def __init__(self, config: MlxWhisperConfig, resources: Resources) -> None:
        """Load the model.

        Raises:
            SttError: the folder holds no Whisper model of MLX.
            StoreError: the model cannot be had.
        """
        folder = str(resources.store.path(config.model))
        model = mlx_thread().call(lambda: _load(folder, config))
        super().__init__("mlx-whisper", model, config)
        self._config = config
        self._words = hint(resources.words)

    def _is_multilingual(self, model: Whisper) -> bool:
        return model.is_multilingual

    def _window(
        self, model: Whisper, audio: Block, language: str | None, *, words: bool
    ) -> HeardWindow:
        del words  # the package aligns them in its own loop alone, which decodes otherwise
        return mlx_thread().call(lambda: self._hear(model, audio, language))

    def _hear(self, model: Whisper, audio: Block, language: str | None) -> HeardWindow:
        from mlx_whisper.audio import N_FRAMES, log_mel_spectrogram, pad_or_trim
        from mlx_whisper.decoding import DecodingOptions, decode

        mel = log_mel_spectrogram(audio, n_mels=model.dims.n_mels, padding=WINDOW_SAMPLES)
        options = DecodingOptions(
            language=language,
            prompt=self._words,
            without_timestamps=True,
            fp16=self._config.half,
        )
        window = pad_or_trim(mel, N_FRAMES, axis=-2).astype(_number_format(self._config))
        heard = decode(model, window, options)
        text = heard.text.strip() if is_spoken(heard, self._config) else ""
        return HeardWindow(text, heard.language, dict(heard.language_probs or {}))


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
