"""Moonshine speech-to-text (Useful Sensors, MIT), English, run by onnxruntime. Embedded default.

An encoder turns 16 kHz samples into 24 ms frames, a decoder with a key-value cache writes tokens.
Both come as int8 `.ort` files of the `moonshine-voice` project. Cost grows with the length of the
audio, not in steps of 30 s, which is what makes it quick on a short utterance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s2s.core.audio import PIPELINE_HZ, Block
from s2s.core.setting import setting
from s2s.models.resources import Resources
from s2s.stt.base import SttError, Transcription
from s2s.stt.moonshine_model import END, Hypothesis, MoonshineModel, decode, log_prob
from s2s.stt.moonshine_tokens import Speller, detokenize, read_pieces
from s2s.stt.silence import is_silent, sound
from s2s.stt.taught_words import TaughtWords
from s2s.stt.windows import quiet_windows
from s2s.system.onnx import onnx_session

_SURE_WORD, _SURE_WORDS = -0.12, -0.8
"""Least mean log probability of one token, and of several, that count as speech."""
TAUGHT_LOG_PROB = 8.0
"""By how much less likely the decoder may find a text with a taught word than without:
docs/decisions/taught-words.md."""


@dataclass(frozen=True, slots=True)
class MoonshineConfig:
    """Options of the Moonshine transcriber."""

    model: str = setting(
        "moonshine-tiny-en",
        "Name in the model list, or a folder with encoder_model.ort, decoder_model_merged.ort"
        " and tokenizer.bin.",
    )
    window_s: float = setting(
        30.0, "Longer audio is cut at quiet points into pieces of at most this length."
    )
    tokens_per_s: float = setting(
        6.5, "Limit of what a piece may say; ends a decoder that babbles."
    )
    silence_db: float = setting(
        -55.0,
        "Audio whose loudest 30 ms stay below this level, in dB of full scale, holds no words.",
    )

    def __post_init__(self) -> None:
        if self.window_s < 1.0 or self.tokens_per_s <= 0.0:
            raise ValueError(
                f"moonshine: window_s must be at least 1 and tokens_per_s positive, "
                f"got {self.window_s} and {self.tokens_per_s}"
            )


class Moonshine:
    """Writes down English speech. Stateless between calls; may be called from several threads."""

    def __init__(self, config: MoonshineConfig, resources: Resources) -> None:
        """Load the model.

        Raises:
            SttError: a model file is not there, or the tokenizer file is broken.
            ValueError: `stt.words` has one without letters.
        """
        self._config = config
        self._taught = TaughtWords(resources.words)
        encoder, decoder, tokenizer = _files(config, resources)
        self._pieces = read_pieces(tokenizer.read_bytes())
        self._speller = Speller(self._pieces)
        self._model: MoonshineModel | None = MoonshineModel(
            onnx_session(encoder, threads=resources.threads),
            onnx_session(decoder, threads=resources.threads),
        )

    def transcribe(
        self,
        audio: Block,
        *,
        language: str | None = None,
        earlier: Transcription | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        """Transcribe one utterance; see `s2s.stt.base.Transcriber`.

        `earlier` is checked in one decoder pass and decoding goes on behind the part that holds; a
        window where a choice is too close to call is decoded afresh.
        """
        if self._model is None:
            raise RuntimeError("moonshine: used after close()")
        audio = sound(audio)
        drafts = _split(earlier.tokens) if earlier is not None else []
        spoken: list[list[int]] = []
        texts: list[str] = []
        log_probs: list[float] = []
        windows = quiet_windows(audio, int(self._config.window_s * PIPELINE_HZ))
        for index, window in enumerate(windows):
            if stop():
                break
            draft = drafts[index] if index < len(drafts) else []
            words = self._window(self._model, audio[window], draft, stop)
            spoken.append(words.tokens)
            log_probs += words.log_probs
            text = detokenize(words.tokens, self._pieces)
            texts.append(self._with_taught_words(self._model, audio[window], text))
        text = unquoted(" ".join(filter(None, texts)))
        confidence = sum(log_probs) / len(log_probs) if log_probs else None
        return Transcription(text, "en", _join(spoken), confidence)

    def warm(self) -> None:
        """Run encoder and decoder once on a second of quiet noise."""
        noise = np.random.default_rng(0).normal(0.0, 0.02, PIPELINE_HZ).astype(np.float32)
        self.transcribe(noise)

    def close(self) -> None:
        """Free the model. Idempotent."""
        self._model = None

    def _window(
        self, model: MoonshineModel, audio: Block, draft: list[int], stop: Callable[[], bool]
    ) -> Hypothesis:
        """What was spoken in one window."""
        if is_silent(audio, self._config.silence_db):
            return Hypothesis()
        limit = max(2, int(len(audio) / PIPELINE_HZ * self._config.tokens_per_s))
        words = decode(model, audio, limit, draft[: limit - 1], stop)
        return words if is_speech(words, self._pieces) else Hypothesis()

    def _with_taught_words(self, model: MoonshineModel, audio: Block, text: str) -> str:
        """`text` of one window with taught words where they sound like what stands there, and the
        decoder finds them about as likely."""
        known: dict[str, float] = {}

        def likelihood(words: str) -> float:
            if words not in known:
                known[words] = log_prob(model, audio, self._speller.tokens(words))
            return known[words]

        return self._taught.corrected(
            text, lambda before, after: likelihood(after) >= likelihood(before) - TAUGHT_LOG_PROB
        )


_QUOTES = ('"', "'", "\u201c", "\u2018")
"""What a quotation begins with."""


def is_speech(words: Hypothesis, pieces: Sequence[bytes]) -> bool:
    """Whether `words` were spoken: on noise the model writes "You" or babbles, unsure of both.

    Mean log probabilities measured: white and pink noise of -50 to -20 dB and 0.3 to 3 s, 160 of
    them, gives one token without a full stop (137, -0.20 and below) or several (23, -1.08 and
    below); speech, cut short or with noise at 10 dB too, several tokens at -0.52 and above.
    """
    sure = _SURE_WORD if len(words.tokens) <= 1 else _SURE_WORDS
    text = detokenize(words.tokens, pieces)
    return words.mean_log_prob >= sure and any(character.isalnum() for character in text)


def _files(config: MoonshineConfig, resources: Resources) -> tuple[Path, Path, Path]:
    """Encoder, decoder and tokenizer file.

    Raises:
        SttError: names the file that is missing.
    """
    folder = resources.store.path(config.model)
    encoder = folder / "encoder_model.ort"
    decoder = folder / "decoder_model_merged.ort"
    tokenizer = folder / "tokenizer.bin"
    for path in (encoder, decoder, tokenizer):
        if not path.is_file():
            raise SttError(
                f"moonshine: {path} is not there. Set model to the folder with the model, "
                "or leave it out to use the embedded one."
            )
    return encoder, decoder, tokenizer


def _join(windows: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Tokens of all windows, each followed by the end token except the last."""
    joined: list[int] = []
    for index, tokens in enumerate(windows):
        joined += [END, *tokens] if index else tokens
    return tuple(joined)


def _split(tokens: Sequence[int]) -> list[list[int]]:
    """Inverse of `_join`."""
    windows: list[list[int]] = [[]]
    for token in tokens:
        if token == END:
            windows.append([])
        else:
            windows[-1].append(token)
    return windows


def unquoted(text: str) -> str:
    """`text` without quotation marks around it: the model, trained on subtitles and books, now and
    then takes what it hears for a quotation."""
    if not text.startswith(_QUOTES):
        return text
    return text.lstrip("".join(_QUOTES)).rstrip("".join(_QUOTES))
