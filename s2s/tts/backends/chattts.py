"""ChatTTS (2noise; code AGPL-3.0-or-later, weights CC BY-NC 4.0) as a backend: English and Chinese.

A speaker is drawn by a seed: the same number is the same person. The package has no wheel and needs
torch. One utterance at a time: it keeps state while it generates, in chunks of about half a second.
https://github.com/2noise/ChatTTS
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
# The package need not be installed.
from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from s2s.core.setting import setting
from s2s.models.resources import Resources
from s2s.models.store import StoreError
from s2s.tts.base import AudioChunk, Capabilities, TtsError
from s2s.tts.level import amplify
from s2s.tts.pieces import pieces
from s2s.tts.speech_time import estimate_seconds
from s2s.tts.tempo import check_speed, paced

log = logging.getLogger(__name__)

RATE_HZ = 24_000
LANGUAGES = ("en", "zh")
_MAX_CHARS = 200
"""Of a piece: the model was trained on utterances of up to half a minute."""
_MOST_SEED = 2**31 - 1
_TOKENS_A_SECOND = RATE_HZ / 512
_MOST_TOKENS = 2048
"""The package's own bound."""


@dataclass(frozen=True, slots=True)
class ChatTtsConfig:
    """Options of ChatTTS."""

    model: str = setting(
        "hf://2Noise/ChatTTS", "A folder in the layout of 2Noise/ChatTTS, or hf://owner/repo."
    )
    voice: str | None = setting(
        None, "The seed of a speaker: a number. None draws one at the start, which the log tells."
    )
    voices: tuple[str, ...] = setting(
        ("1", "2", "3", "4", "5", "6", "7", "8"), "Seeds of others that a caller may choose."
    )
    language: str = setting("en", "What is spoken first: en or zh.")
    speed: float = setting(1.0, "1 is the voice's own pace, 2 twice as fast; 0.5 to 2.")
    speed_mark: int = setting(5, "How the model is told to speak: from 0, slowly, to 9.")
    temperature: float = setting(0.3, "Variation.")
    top_p: float = setting(0.7, "Sampling: share of the probability that is drawn from.")
    top_k: int = setting(20, "Sampling: how many tokens are drawn from.")
    refine: bool = setting(
        False,
        "Let the model first put pauses and laughter into the text, and change it: more natural, "
        "and later.",
    )
    seed: int | None = setting(
        None, "The same text then gives the same sound, up to rounding; None varies, as people do."
    )
    device: str = setting("auto", "Where it runs: auto, cpu, cuda, mps.")
    volume_db: float = setting(0.0, "Louder above 0, in dB; loud places are bent, not cut off.")

    def __post_init__(self) -> None:
        for voice in (*self.voices, *([self.voice] if self.voice is not None else ())):
            if not voice.isascii() or not voice.isdigit() or int(voice) > _MOST_SEED:
                raise ValueError(
                    f"a voice of ChatTTS is the seed of a speaker, from 0 to {_MOST_SEED}, "
                    f"got {voice!r}"
                )
        if self.language not in LANGUAGES:
            raise ValueError(f"language must be en or zh, got {self.language!r}")
        if not 0 <= self.speed_mark <= 9:
            raise ValueError(f"speed_mark must be from 0 to 9, got {self.speed_mark}")
        check_speed(self.speed)


class _Chat(Protocol):
    """What is used of the package's `Chat`."""

    def load(self, source: str, *, custom_path: str, device: object, compile: bool) -> bool: ...
    def sample_random_speaker(self) -> str: ...
    def interrupt(self) -> None: ...
    def infer(
        self,
        text: list[str],
        *,
        stream: bool,
        lang: str,
        skip_refine_text: bool,
        params_refine_text: object,
        params_infer_code: object,
    ) -> Generator[object, None, None]: ...


class ChatTts:
    """Speaks with ChatTTS. Calls may come from several threads; they take turns."""

    def __init__(self, config: ChatTtsConfig, resources: Resources) -> None:
        """Load the model and draw the speaker.

        Raises:
            TtsError: the package is missing, or the model cannot be had.
        """
        self._config = config
        self._threads = resources.threads
        self._lock = threading.Lock()
        self._speakers: dict[str, str] = {}
        self._voice = config.voice or str(random.SystemRandom().randint(0, _MOST_SEED))
        if config.voice is None:
            log.info("chattts speaks with voice %s; --tts.voice %s keeps it", *[self._voice] * 2)
        try:
            folder = str(resources.store.path(config.model))
        except StoreError as error:
            raise TtsError(f"chattts: {error}") from error
        self._chat: _Chat | None = _load(folder, config, resources.threads)

    @property
    def capabilities(self) -> Capabilities:
        own = self._config.language
        return Capabilities(
            sample_rate_hz=RATE_HZ,
            streaming=True,
            languages=(own, *(code for code in LANGUAGES if code != own)),
            voices=tuple(dict.fromkeys((self._voice, *self._config.voices))),
            threads=self._threads,
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
        each chunk of about half a second; that which is being made then is the last."""
        voices = self.capabilities.voices
        if voice is not None and voice not in voices:
            raise TtsError(
                f"chattts has no voice {voice!r}. It has: {', '.join(voices)}. Add others, seeds "
                "of speakers, to tts.voices."
            )
        who, code = voice or self._voice, language or self._config.language
        if code not in LANGUAGES:
            raise TtsError(f"chattts speaks {', '.join(LANGUAGES)}, not {code}.")
        for piece, end in pieces(text, _MAX_CHARS):
            if any(letter.isalnum() for letter in piece):
                sound = self._speak(piece, who, code, stop)
                yield from paced(sound, RATE_HZ, self._config.speed)
            if stop():
                return
            yield AudioChunk(np.zeros(0, np.float32), spoken_chars=end)

    def warm(self) -> None:
        """Speak a short sentence, unheard."""
        for _ in self.synthesize("Hello."):
            pass

    def close(self) -> None:
        """Free the model. Idempotent."""
        with self._lock:
            self._chat = None

    def _speak(
        self, piece: str, voice: str, language: str, stop: Callable[[], bool]
    ) -> Iterator[AudioChunk]:
        with self._lock:
            chat = self._chat
            if chat is None:
                raise TtsError("chattts was used after it was closed.")
            try:
                sounds = self._sounds(chat, piece, voice, language)
                try:
                    while not stop() and (sound := next(sounds, None)) is not None:
                        samples = np.asarray(sound, np.float32).reshape(-1)
                        if len(samples):
                            yield AudioChunk(amplify(samples, self._config.volume_db))
                finally:
                    chat.interrupt()
                    sounds.close()
            except (OSError, ValueError, RuntimeError, NameError, AssertionError) as error:
                raise TtsError(f"chattts could not speak {piece[:60]!r}: {error}") from error

    def _sounds(
        self, chat: _Chat, piece: str, voice: str, language: str
    ) -> Generator[object, None, None]:
        """Arrays float32 [1, samples]. The lock is held."""
        from ChatTTS import Chat

        config = self._config
        if voice not in self._speakers:
            self._speakers[voice] = _speaker(chat, int(voice))
        return chat.infer(
            [piece],
            stream=True,
            lang=language,
            skip_refine_text=not config.refine,
            params_refine_text=Chat.RefineTextParams(show_tqdm=False, manual_seed=config.seed),
            params_infer_code=Chat.InferCodeParams(
                prompt=f"[speed_{config.speed_mark}]",
                spk_emb=self._speakers[voice],
                temperature=config.temperature,
                top_P=config.top_p,
                top_K=config.top_k,
                max_new_token=_most_tokens(piece),
                show_tqdm=False,
                manual_seed=config.seed,
            ),
        )


def _most_tokens(piece: str) -> int:
    """Of sound: a model that does not find the end is ended after three times what it should
    need."""
    return min(_MOST_TOKENS, int(_TOKENS_A_SECOND * (2 + 3 * estimate_seconds(piece))))


def _speaker(chat: _Chat, seed: int) -> str:
    """The speaker of a seed, as the package writes it; other draws of torch stay as they are."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return chat.sample_random_speaker()


def _load(folder: str, config: ChatTtsConfig, threads: int) -> _Chat:
    try:
        import torch
        from ChatTTS import Chat
    except ImportError as error:
        raise TtsError(f"ChatTTS is not installed ({error}): pip install 's2s[chattts]'") from error
    torch.set_num_threads(threads)
    device = None if config.device == "auto" else torch.device(config.device)
    chat: _Chat = Chat(logging.getLogger(f"{__name__}.package"))
    try:
        loaded = chat.load("custom", custom_path=folder, device=device, compile=False)
    except (OSError, ValueError, RuntimeError, AssertionError) as error:
        raise TtsError(f"chattts: {folder} cannot be loaded: {error}") from error
    if not loaded:
        raise TtsError(
            f"chattts: {folder} is not the model that the package expects; its log says which "
            "file. Fetch hf://2Noise/ChatTTS again, or install the version of the package for it."
        )
    return chat
