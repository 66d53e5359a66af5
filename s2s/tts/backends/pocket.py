"""Pocket TTS (kyutai; code MIT, weights CC BY 4.0) as a backend: streamed by 80 ms.

The package needs torch, which has an extra of its own. One utterance at a time: its model keeps
state while it generates. https://github.com/kyutai-labs/pocket-tts
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
# The package need not be installed.
from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from s2s.core.setting import setting
from s2s.models.resources import Resources
from s2s.tts.backends.by_language import ByLanguage
from s2s.tts.base import AudioChunk, Capabilities, TtsError
from s2s.tts.level import amplify
from s2s.tts.pieces import pieces
from s2s.tts.tempo import check_speed, paced

RATE_HZ = 24_000
_MAX_CHARS = 300
MODELS: dict[str, tuple[str, str]] = {
    "en": ("english", "alba"),
    "fr": ("french", "estelle"),
    "de": ("german", "juergen"),
    "pt": ("portuguese", "rafael"),
    "it": ("italian", "giovanni"),
    "es": ("spanish", "lola"),
    "nl": ("dutch", "daan"),
}
"""ISO 639-1 -> (the package's name of its model, who speaks by default)."""
VOICES = (
    "alba", "marius", "javert", "jean", "fantine", "cosette", "eponine", "azelma", "anna", "vera",
    "charles", "paul", "george", "mary", "jane", "michael", "eve", "bill_boerst", "peter_yearsley",
    "stuart_bell", "caro_davy", "giovanni", "lola", "juergen", "rafael", "daan", "estelle",
)  # fmt: skip
"""Voices that are published ready for each model."""


@dataclass(frozen=True, slots=True)
class PocketConfig:
    """Options of Pocket TTS."""

    language: str = setting(
        "en", "ISO 639-1 code that is spoken first: en, fr, de, pt, it, es, nl."
    )
    languages: tuple[str, ...] = setting(
        (), "Others that may be spoken; they are loaded while the first one already speaks."
    )
    load_heard: bool = setting(
        True,
        "Another of the seven is loaded once it was heard in two turns, or an answer is written in "
        "it, while the voice before it goes on.",
    )
    voice: str | None = setting(
        None,
        "A published voice (alba, jean, ...) or a recording to clone; None is the language's.",
    )
    model: str | None = setting(
        None, "The package's YAML of a model of your own, in the place of the language's."
    )
    temperature: float | None = setting(None, "Variation; None is as the model says.")
    quantize: bool = setting(False, "Eight-bit weights: less memory, quicker on most processors.")
    seed: int | None = setting(
        None, "The same text then gives the same sound, up to rounding; None varies, as people do."
    )
    speed: float = setting(1.0, "1 is the voice's own pace, 2 twice as fast; 0.5 to 2.")
    volume_db: float = setting(0.0, "Louder above 0, in dB; loud places are bent, not cut off.")

    def __post_init__(self) -> None:
        check_speed(self.speed)


class _Model(Protocol):
    """What is used of the package's `TTSModel`."""

    def get_state_for_audio_prompt(self, audio_conditioning: str | Path) -> object: ...

    def generate_audio_stream(
        self, model_state: object, text_to_generate: str, *, stop: threading.Event
    ) -> Iterator[object]:
        """Tensors float32 [samples]."""
        ...


class _Loaded:
    """A model with the voices that were prepared for it. One utterance at a time."""

    def __init__(self, model: _Model) -> None:
        self.model = model
        self.lock = threading.Lock()
        self._states: dict[str, object] = {}

    def state(self, voice: str) -> object:
        """What the model knows of a voice before it speaks. Raises what the package raises."""
        if voice not in self._states:
            known = voice in VOICES or "://" in voice
            source = voice if known else Path(voice).expanduser()
            self._states[voice] = self.model.get_state_for_audio_prompt(source)
        return self._states[voice]


class Pocket:
    """Speaks with Pocket TTS. Calls may come from several threads; they take turns."""

    def __init__(self, config: PocketConfig, resources: Resources) -> None:
        """Load the model of the first language and its voice.

        Raises:
            TtsError: the package is missing, or a model or voice cannot be had.
        """
        del resources  # the package computes in one thread, and decodes in another
        self._config = config
        codes = (config.language, *config.languages)
        if config.model is None and (lacking := [code for code in codes if code not in MODELS]):
            raise TtsError(f"pocket speaks {', '.join(MODELS)}, not {', '.join(lacking)}.")
        self._models = ByLanguage(codes, self._load)

    @property
    def capabilities(self) -> Capabilities:
        own = self._config.voice
        published = VOICES if self._config.model is None else ()
        return Capabilities(
            sample_rate_hz=RATE_HZ,
            streaming=True,
            languages=self._models.codes,
            voices=tuple(dict.fromkeys((*([own] if own else []), *published))),
            cloning=True,
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
        each chunk of 80 ms; the frame that is being made then is the last."""
        code = language or self._config.language
        loaded = self._models.get(code)
        if voice is not None and voice not in self.capabilities.voices:
            known = ", ".join(self.capabilities.voices)
            raise TtsError(f"pocket has no voice {voice!r}. It has: {known}.")
        who = voice or self._voice(code)
        for piece, end in pieces(text, _MAX_CHARS):
            if any(letter.isalnum() for letter in piece):
                sound = self._speak(loaded, piece, who, stop)
                yield from paced(sound, RATE_HZ, self._config.speed)
            if stop():
                return
            yield AudioChunk(np.zeros(0, np.float32), spoken_chars=end)

    def offers(self, language: str) -> bool:
        """See `s2s.tts.base.LanguageLoader`."""
        config = self._config
        more = config.load_heard and config.model is None and language in MODELS
        return more or language in self._models.codes

    def prepare(self, language: str) -> bool:
        """See `s2s.tts.base.LanguageLoader`."""
        return self._models.prepare(language)

    def warm(self) -> None:
        """Speak a short sentence, unheard."""
        for _ in self.synthesize("Hello."):
            pass

    def close(self) -> None:
        """Free the models. Idempotent."""
        self._models.close()

    def _speak(
        self, loaded: _Loaded, piece: str, voice: str, stop: Callable[[], bool]
    ) -> Iterator[AudioChunk]:
        import torch

        ended = threading.Event()
        with loaded.lock:
            try:
                if self._config.seed is not None:
                    torch.manual_seed(self._config.seed)
                state = loaded.state(voice)
                chunks = loaded.model.generate_audio_stream(state, piece, stop=ended)
                try:
                    for chunk in chunks:
                        if stop():
                            return
                        samples = np.asarray(chunk, np.float32).reshape(-1)
                        yield AudioChunk(amplify(samples, self._config.volume_db))
                finally:
                    ended.set()
                    for _ in chunks:  # its threads end before the next utterance begins
                        pass
            except (OSError, ValueError, RuntimeError) as error:
                raise TtsError(f"pocket could not speak {piece[:60]!r}: {error}") from error

    def _voice(self, code: str) -> str:
        if self._config.voice is not None:
            return self._config.voice
        if self._config.model is not None:
            raise TtsError("pocket: a model of your own needs a recording to speak like: tts.voice")
        return MODELS[code][1]

    def _load(self, code: str) -> _Loaded:
        try:
            from pocket_tts import TTSModel
        except ImportError as error:
            raise TtsError("Pocket TTS is not installed: pip install 's2s[pocket]'") from error
        config = self._config
        named = {"language": MODELS[code][0]} if config.model is None else {"config": config.model}
        try:
            loaded = _Loaded(
                TTSModel.load_model(temp=config.temperature, quantize=config.quantize, **named)
            )
            loaded.state(self._voice(code))
        except (OSError, ValueError, RuntimeError) as error:
            raise TtsError(f"pocket: the model of {code!r} cannot be loaded: {error}") from error
        return loaded
