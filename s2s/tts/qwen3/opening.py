"""What a model is opened from, and how its parts are: knows no engine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from s2s.tts.qwen3.backend import DevicePlacement, Quants
from s2s.tts.qwen3.calibrate.cache import CalibrationCache
from s2s.tts.qwen3.checkpoint.conversion import Progress, silent
from s2s.tts.qwen3.codec.decoder import CheckpointDecoder
from s2s.tts.qwen3.codec.open import open_decoder
from s2s.tts.qwen3.engine.edges import StartTrim
from s2s.tts.qwen3.folders import CALIBRATION_FILE, GRAPHS_FOLDER, KERNEL_FOLDER
from s2s.tts.qwen3.language import LoadedLanguage, load_language

_THREADS_FOR_BOTH = 4  # with fewer, language model and codec are faster taking turns on all
"""docs/decisions/qwen3-talker-and-codec-take-turns.md"""


@dataclass(frozen=True, slots=True)
class Opening:
    """What a model is opened from, as far as all of its parts need it."""

    source: str | Path
    home: Path
    quants: Quants
    threads: int
    """The most that compute at once, in both parts together."""
    start_trim: StartTrim | None = None
    progress: Progress = silent

    @property
    def overlapped(self) -> bool:
        """Codes are made while others are decoded."""
        return self.threads >= _THREADS_FOR_BOTH

    @property
    def language_threads(self) -> int:
        """The most that the language model may use."""
        return self.threads - self.threads // 2 if self.overlapped else self.threads

    @property
    def codec_threads(self) -> int:
        """Threads of the decoder."""
        return self.threads // 2 if self.overlapped else self.threads

    @property
    def cache(self) -> CalibrationCache:
        """What was measured on this machine."""
        return CalibrationCache(self.home / CALIBRATION_FILE)

    @property
    def language_key(self) -> str:
        """Of the measurements of cores."""
        quants = self.quants
        return f"{self.source} {quants.talker} {quants.predictor} {self.language_threads}"

    @property
    def codec_key(self) -> str:
        """Of the measurements of codecs."""
        return f"codec {self.codec_threads}"

    def language(
        self, placement: tuple[DevicePlacement, DevicePlacement], draft_tokens: int = 0
    ) -> LoadedLanguage:
        """Talker and predictor. Raises Qwen3Error."""
        return load_language(
            self.source,
            self.home,
            self.quants,
            placement,
            threads=self.language_threads,
            draft_tokens=draft_tokens,
            progress=self.progress,
        )

    def decoder(self, folder: Path, placement: str) -> CheckpointDecoder:
        """The codec of a checkpoint folder. Raises Qwen3Error."""
        return open_decoder(
            folder / "speech_tokenizer",
            self.home / GRAPHS_FOLDER,
            threads=self.codec_threads,
            placement=placement,
            kernels=self.home / KERNEL_FOLDER,
        )
