"""Whisper of any size (OpenAI, MIT) on CTranslate2: 99 languages, greedy, int8 on the processor.

Whisper always hears 30 s at once, so its time hardly depends on the length of what was said.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# faster-whisper leaves arguments open.
from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from s2s.core.audio import PIPELINE_HZ, Block
from s2s.core.setting import setting
from s2s.models.fetch import offline
from s2s.models.resources import Resources
from s2s.stt.base import SttError, TimedWord, Transcription
from s2s.stt.taught_words import hint
from s2s.stt.whisper import HeardWindow, SpokenRules, WindowedWhisper, is_spoken
from s2s.stt.word_times import fitted

if TYPE_CHECKING:
    from faster_whisper import WhisperModel
    from faster_whisper.transcribe import Segment

log = logging.getLogger(__name__)

_CPU, _CUDA = "cpu", "cuda"


@dataclass(frozen=True, slots=True)
class FasterWhisperConfig(SpokenRules):
    """Options of the Whisper transcriber."""

    model: str = setting(
        "base",
        "A size (tiny.en, base, small, large-v3-turbo), a name in the model list, a folder, "
        "or the hub name of a CTranslate2 model (owner/name).",
    )
    device: Literal["auto", "cpu", "cuda"] = setting(
        "auto", "Where it runs; auto takes a GPU where there is one."
    )
    compute_type: str = setting(
        "int8", "Number format of CTranslate2: int8, int8_float16, float16, float32."
    )
    beam_size: int = setting(
        1, "Hypotheses followed at once: 5 makes fewer errors and takes a quarter longer."
    )


class FasterWhisper(WindowedWhisper["WhisperModel"]):
    """Whisper on CTranslate2; see `WindowedWhisper`."""

    def __init__(self, config: FasterWhisperConfig, resources: Resources) -> None:
        """Load the model.

        Raises:
            SttError: no such model, or options that do not go together.
            StoreError: the model's files cannot be had.
        """
        model, self.where = _load(config, resources)
        """The graphics card that computes it, or why none does; "" without one."""
        super().__init__("faster-whisper", model, config)
        self._config = config
        self._words = hint(resources.words)

    def transcribe_words(
        self,
        audio: Block,
        *,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        """See `s2s.stt.base.WordTimingTranscriber`: Whisper's attention, aligned with the sound."""
        return self._transcribed(audio, language, stop, words=True)

    def _is_multilingual(self, model: WhisperModel) -> bool:
        return bool(model.model.is_multilingual)

    def _window(
        self, model: WhisperModel, audio: Block, language: str | None, *, words: bool
    ) -> HeardWindow:
        segments, info = model.transcribe(
            audio,
            language=language,
            hotwords=self._words,
            beam_size=self._config.beam_size,
            best_of=1,
            temperature=0.0,
            without_timestamps=True,
            word_timestamps=words,
            condition_on_previous_text=False,
            vad_filter=False,
            # What follows decides what is dropped; here it would only be tried again hotter.
            compression_ratio_threshold=None,
            log_prob_threshold=None,
            no_speech_threshold=None,
        )
        # One segment is all of a window; asked for word times the package would go on behind its
        # last word, and hear what follows that, silence, once more.
        heard = list(islice(segments, 1 if words else None))
        text = join_spoken(heard, self._config)
        timed = fitted(text, spoken_words(heard, self._config)) if words else ()
        return HeardWindow(text, info.language, dict(info.all_language_probs or ()), timed)


def join_spoken(segments: Iterable[Segment], rules: SpokenRules) -> str:
    """The text of the segments that were spoken."""
    return " ".join(each.text.strip() for each in segments if is_spoken(each, rules))


def spoken_words(segments: Iterable[Segment], rules: SpokenRules) -> list[TimedWord]:
    """The words of the segments that were spoken, where they were asked for."""
    spoken = (each for each in segments if is_spoken(each, rules))
    return [
        TimedWord(word.word, float(word.start), float(word.end))
        for each in spoken
        for word in each.words or ()
    ]


def _load(config: FasterWhisperConfig, resources: Resources) -> tuple[WhisperModel, str]:
    """The model, and what is to be said of a graphics card."""
    name = _named(config, resources)
    try:
        return on_card(
            config.device, partial(_opened, name, config, resources), cards=_cuda_cards()
        )
    except (RuntimeError, OSError, ValueError) as error:
        raise SttError(
            f"faster-whisper: {name} cannot be loaded ({error}). Choose a folder with a "
            "CTranslate2 Whisper model, or a size such as base, which is fetched once."
        ) from error


def on_card(
    device: str, opened: Callable[[str], WhisperModel], *, cards: int
) -> tuple[WhisperModel, str]:
    """What ``opened`` opens on a device; of "auto" on a graphics card where there is one and it
    hears a second of silence, else on the processor. And what is to be said of it."""
    if device != "auto":
        return opened(device), "" if device == _CPU else f"faster-whisper on {device}"
    if not cards:
        return opened(_CPU), ""
    try:
        model = opened(_CUDA)
        _heard_silence(model)  # libraries that are missing are missed only now
    except (RuntimeError, OSError, ValueError) as error:
        log.warning("faster-whisper is computed on the processor: %s", error)
        return opened(_CPU), f"faster-whisper on the processor (cuda: {error})"
    return model, f"faster-whisper on {_CUDA}"


def _heard_silence(model: WhisperModel) -> None:
    silence = np.zeros(PIPELINE_HZ, np.float32)
    segments, _ = model.transcribe(silence, language="en", beam_size=1, temperature=0.0)
    for _ in segments:
        pass


def _cuda_cards() -> int:
    import ctranslate2

    return ctranslate2.get_cuda_device_count()


def _opened(
    name: str, config: FasterWhisperConfig, resources: Resources, device: str
) -> WhisperModel:
    from faster_whisper import WhisperModel

    return WhisperModel(
        name,
        device=device,
        compute_type=config.compute_type,
        cpu_threads=resources.threads,
        num_workers=1,
        local_files_only=offline(),
    )


def _named(config: FasterWhisperConfig, resources: Resources) -> str:
    """A size, a hub name, or the path of a folder."""
    from faster_whisper.utils import available_models

    name = config.model
    listed = [model.name for model in resources.store.models]
    if f"whisper-{name}" in listed:
        name = f"whisper-{name}"
    on_hub = name in available_models() or (name.count("/") == 1 and not Path(name).exists())
    return str(resources.store.path(name)) if name in listed or not on_hub else name
