"""Moonshine speech-to-text (Useful Sensors, MIT), English, run by onnxruntime. Embedded default.

An encoder turns 16 kHz samples into 24 ms frames, a decoder with a key-value cache writes tokens.
Both come as int8 `.ort` files of the `moonshine-voice` project. Cost grows with the length of the
audio, not in steps of 30 s, which is what makes it quick on a short utterance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from s2s.core.audio import PIPELINE_HZ, Block
from s2s.core.setting import setting
from s2s.stt.base import Transcription
from s2s.stt.repetition import repeated_tail
from s2s.stt.silence import is_silent, sound
from s2s.stt.windows import quiet_windows
from s2s.system.runtime import Resources, onnx_session

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

_START, _END = 1, 2
_LAYERS, _HEADS, _HEAD_DIM = 6, 8, 36
_IN_DOUBT_LOGITS = 0.5
"""The int8 decoder scales a whole pass at once, so logits shift a little with a token's company:
behind tokens that were evaluated in one pass, the lead of the best token by at most 0.49 (169
tokens measured). A smaller lead is decided afresh."""
_SURE_WORD, _SURE_WORDS = -0.12, -0.8
"""Least mean log probability of one token, and of several, that count as speech."""

_Logits = npt.NDArray[np.float32]
_Tensor = npt.NDArray[np.float32]


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


class Moonshine:
    """Writes down English speech. Stateless between calls; may be called from several threads."""

    def __init__(self, config: MoonshineConfig, resources: Resources) -> None:
        """Load the model.

        Raises:
            FileNotFoundError: a model file is not there.
            ValueError: an option makes no sense, or the tokenizer file is broken.
        """
        if config.window_s < 1.0 or config.tokens_per_s <= 0.0:
            raise ValueError(
                f"moonshine: window_s must be at least 1 and tokens_per_s positive, "
                f"got {config.window_s} and {config.tokens_per_s}"
            )
        self._config = config
        encoder, decoder, tokenizer = _files(config, resources)
        self._pieces = read_pieces(tokenizer.read_bytes())
        self._model: _Model | None = _Model(
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
        windows = quiet_windows(audio, int(self._config.window_s * PIPELINE_HZ))
        for index, window in enumerate(windows):
            if stop():
                break
            draft = drafts[index] if index < len(drafts) else []
            spoken.append(self._window(self._model, audio[window], draft, stop))
        texts = (detokenize(tokens, self._pieces) for tokens in spoken)
        text = unquoted(" ".join(filter(None, texts)))
        return Transcription(text, "en", _join(spoken))

    def warm(self) -> None:
        """Run encoder and decoder once on a second of quiet noise."""
        noise = np.random.default_rng(0).normal(0.0, 0.02, PIPELINE_HZ).astype(np.float32)
        self.transcribe(noise)

    def close(self) -> None:
        """Free the model. Idempotent."""
        self._model = None

    def _window(
        self, model: _Model, audio: Block, draft: list[int], stop: Callable[[], bool]
    ) -> list[int]:
        """Tokens spoken in one window, without start and end token."""
        if is_silent(audio, self._config.silence_db):
            return []
        limit = max(2, int(len(audio) / PIPELINE_HZ * self._config.tokens_per_s))
        words = decode(model, audio, limit, draft[: limit - 1], stop)
        return words.tokens if is_speech(words, self._pieces) else []


_QUOTES = ('"', "'", "\u201c", "\u2018")
"""What a quotation begins with."""


class _Model:
    """Encoder and decoder with the decoder's cache made explicit."""

    def __init__(self, encoder: InferenceSession, decoder: InferenceSession) -> None:
        self._encoder = encoder
        self._decoder = decoder
        kinds = [
            f"{layer}.{side}.{part}"
            for layer in range(_LAYERS)
            for side in ("decoder", "encoder")
            for part in ("key", "value")
        ]
        self._past_names = [f"past_key_values.{kind}" for kind in kinds]
        self._output_names = ["logits", *(f"present.{kind}" for kind in kinds)]
        self._grows = [".decoder." in name for name in self._past_names]

    def encode(self, audio: Block) -> _Tensor:
        """float32 [samples] to hidden states float32 [1, frames, 288]."""
        inputs = {"input_values": audio[None], "attention_mask": _ones(len(audio))}
        return np.asarray(self._encoder.run(None, inputs)[0])

    def begin(self, hidden: _Tensor, samples: int, tokens: Sequence[int]) -> tuple[_Logits, _State]:
        """Decode `tokens` in one pass: logits float32 [tokens, vocabulary], and the state after."""
        empty = np.zeros((1, _HEADS, 0, _HEAD_DIM), dtype=np.float32)
        state = _State(hidden, samples, [empty] * len(self._past_names))
        logits, present = self._run(state, tokens, cached=False)
        state.past = present
        return logits, state

    def step(self, state: _State, token: int) -> _Logits:
        """Append one token to the cache; logits float32 [vocabulary] of what follows it."""
        logits, present = self._run(state, [token], cached=True)
        # The decoder returns empty encoder keys on cached steps: the first ones stay.
        state.past = [
            new if grows else old
            for new, old, grows in zip(present, state.past, self._grows, strict=True)
        ]
        return logits[0]

    def cut(self, state: _State, tokens: int) -> None:
        """Keep the first `tokens` tokens in the cache."""
        state.past = [
            np.ascontiguousarray(tensor[:, :, :tokens]) if grows else tensor
            for tensor, grows in zip(state.past, self._grows, strict=True)
        ]

    def _run(
        self, state: _State, tokens: Sequence[int], *, cached: bool
    ) -> tuple[_Logits, list[_Tensor]]:
        inputs: dict[str, npt.NDArray[np.generic]] = {}
        inputs.update(zip(self._past_names, state.past, strict=True))
        inputs["input_ids"] = np.array([tokens], dtype=np.int64)
        inputs["encoder_hidden_states"] = state.hidden
        # The decoder strides this mask by 384 itself: it has the length of the audio.
        inputs["encoder_attention_mask"] = _ones(state.samples)
        inputs["use_cache_branch"] = np.array([cached])
        logits, *present = self._decoder.run(self._output_names, inputs)
        return np.asarray(logits)[0], [np.asarray(tensor) for tensor in present]


@dataclass(slots=True)
class _State:
    """What the decoder remembers of one window."""

    hidden: _Tensor
    samples: int
    past: list[_Tensor]


@dataclass(slots=True)
class Words:
    """What the decoder wrote, and how sure it was."""

    tokens: list[int] = field(default_factory=list)
    log_probs: list[float] = field(default_factory=list)
    """Natural logarithm of each token's probability, the end token's included."""

    def add(self, token: int, logits: _Logits) -> bool:
        """Append `token`, chosen from `logits` [vocabulary]; False when nothing follows it."""
        top = float(logits.max())
        self.log_probs.append(
            float(logits[token]) - top - float(np.log(np.exp(logits - top).sum()))
        )
        if token == _END:
            return False
        self.tokens.append(token)
        drop = repeated_tail(self.tokens)
        if drop:
            del self.tokens[-drop:]
        return not drop

    @property
    def mean_log_prob(self) -> float:
        return sum(self.log_probs) / len(self.log_probs) if self.log_probs else 0.0


def decode(
    model: _Model, audio: Block, limit: int, draft: Sequence[int], stop: Callable[[], bool]
) -> Words:
    """Write down one window greedily, starting from as much of `draft` as the model confirms.

    Args:
        model: the model.
        audio: float32 [samples], at least 0.1 s.
        limit: most tokens to write.
        draft: tokens that may be the beginning of the result, fewer than `limit`.
        stop: asked before each pass; when true, what is written so far is the result.
    """
    hidden = model.encode(audio)
    if stop():
        return Words()
    if draft:
        words = _decode(model, hidden, len(audio), limit, draft, stop)
        if words is not None:
            return words
    words = _decode(model, hidden, len(audio), limit, (), stop)
    assert words is not None
    return words


def _decode(
    model: _Model,
    hidden: _Tensor,
    samples: int,
    limit: int,
    draft: Sequence[int],
    stop: Callable[[], bool],
) -> Words | None:
    """As `decode`; None when, with a draft, a choice was too close to be sure of it."""
    words = Words()
    logits, state = model.begin(hidden, samples, [_START, *draft])
    kept = confirmed(logits, draft)
    if kept < len(draft):
        model.cut(state, kept + 1)
    for token, row in zip(draft[:kept], logits, strict=False):
        if not words.add(token, row):
            return words
    row = logits[kept]
    while True:
        token = int(row.argmax())
        if draft and lead(row, token) < _IN_DOUBT_LOGITS:
            return None
        if not words.add(token, row) or len(words.tokens) >= limit or stop():
            return words
        row = model.step(state, token)


def is_speech(words: Words, pieces: Sequence[bytes]) -> bool:
    """Whether `words` were spoken: on noise the model writes "You" or babbles, unsure of both.

    Mean log probabilities measured: white and pink noise of -50 to -20 dB and 0.3 to 3 s, 160 of
    them, gives one token without a full stop (137, -0.20 and below) or several (23, -1.08 and
    below); speech, cut short or with noise at 10 dB too, several tokens at -0.52 and above.
    """
    sure = _SURE_WORD if len(words.tokens) <= 1 else _SURE_WORDS
    text = detokenize(words.tokens, pieces)
    return words.mean_log_prob >= sure and any(character.isalnum() for character in text)


def confirmed(logits: _Logits, draft: Sequence[int]) -> int:
    """How many tokens of `draft`, from its beginning, the model would have written itself.

    Args:
        logits: float32 [at least the draft's tokens, vocabulary]; row i predicts `draft[i]`.
        draft: the tokens in question.
    """
    for index, token in enumerate(draft):
        if int(logits[index].argmax()) != token:
            return index
    return len(draft)


def lead(row: _Logits, token: int) -> float:
    """By how much `token` leads every other in `row` float32 [vocabulary]; negative behind."""
    rival = max(row[:token].max(initial=-np.inf), row[token + 1 :].max(initial=-np.inf))
    return float(row[token] - rival)


def read_pieces(data: bytes) -> list[bytes]:
    """Read tokenizer.bin: pieces in order of their ids, each after its length.

    A length below 128 is one byte; else it is `byte - 128 + 128 * next byte`.

    Raises:
        ValueError: the file ends inside a piece.
    """
    pieces: list[bytes] = []
    position = 0
    while position < len(data):
        length = data[position]
        position += 1
        if length >= 128 and position < len(data):
            length += 128 * data[position] - 128
            position += 1
        if position + length > len(data):
            raise ValueError(
                f"moonshine: the tokenizer file ends inside piece {len(pieces)}. Fetch it again."
            )
        pieces.append(data[position : position + length])
        position += length
    return pieces


def detokenize(tokens: Sequence[int], pieces: Sequence[bytes]) -> str:
    """The text of `tokens`. Unknown ids and control pieces (`<s>`, `<<ST_1>>`) say nothing."""
    out = bytearray()
    for token in tokens:
        piece = pieces[token] if 0 <= token < len(pieces) else b""
        if piece.startswith(b"<0x") and piece.endswith(b">"):
            out.append(int(piece[3:-1], 16))
        elif not (piece.startswith(b"<") and piece.endswith(b">") and len(piece) > 2):
            out += piece
    return out.decode("utf-8", errors="ignore").replace("▁", " ").strip()


def _files(config: MoonshineConfig, resources: Resources) -> tuple[Path, Path, Path]:
    """Encoder, decoder and tokenizer file.

    Raises:
        FileNotFoundError: names the file that is missing.
    """
    folder = resources.store.path(config.model)
    encoder = folder / "encoder_model.ort"
    decoder = folder / "decoder_model_merged.ort"
    tokenizer = folder / "tokenizer.bin"
    for path in (encoder, decoder, tokenizer):
        if not path.is_file():
            raise FileNotFoundError(
                f"moonshine: {path} is not there. Set model to the folder with the model, "
                "or leave it out to use the embedded one."
            )
    return encoder, decoder, tokenizer


def _ones(samples: int) -> npt.NDArray[np.int64]:
    return np.ones((1, samples), dtype=np.int64)


def _join(windows: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Tokens of all windows, each followed by the end token except the last."""
    joined: list[int] = []
    for index, tokens in enumerate(windows):
        joined += [_END, *tokens] if index else tokens
    return tuple(joined)


def _split(tokens: Sequence[int]) -> list[list[int]]:
    """Inverse of `_join`."""
    windows: list[list[int]] = [[]]
    for token in tokens:
        if token == _END:
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
