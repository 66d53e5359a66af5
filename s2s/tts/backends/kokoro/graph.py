"""Kokoro's network on onnxruntime: phonemes and a style in, 24 kHz sound out.

Two exports are read: thewh1teagle's (`tokens`, `audio`) and onnx-community's (`input_ids`,
`waveform`). One call makes a whole piece: its decoder normalises over all of it, so it cannot be
run over parts (docs/decisions/kokoro-clauses.md). Deterministic; calls may overlap.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from s2s.core.arrays import Floats, Ids
from s2s.core.audio import Block
from s2s.core.untyped import is_object
from s2s.system.onnx import onnx_session
from s2s.tts.base import TtsError

SAMPLE_RATE_HZ = 24_000
MAX_TOKENS = 510
"""Positions of the text encoder less the two pads; about 27 s of speech."""
STYLE = 256
"""Numbers of a style."""


def read_vocabulary(path: Path) -> dict[str, int]:
    """Symbol -> number, out of a `vocab.json`, `config.json` or `tokenizer.json`.

    Raises:
        TtsError: none in it.
    """
    try:
        told: object = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TtsError(f"kokoro: {path} cannot be read: {error}") from error
    if is_object(told) and is_object(told.get("model")):
        told = told["model"]
    table = told.get("vocab") if is_object(told) else None
    if not is_object(table) or not all(isinstance(number, int) for number in table.values()):
        raise TtsError(f"kokoro: {path}: no table `vocab` of symbols and numbers in it.")
    return {symbol: number for symbol, number in table.items() if isinstance(number, int)}


class KokoroGraph:
    """A loaded network. Any thread."""

    def __init__(self, path: Path, vocabulary: Mapping[str, int], threads: int) -> None:
        """
        Args:
            path: the .onnx file.
            vocabulary: symbol -> number.
            threads: that it computes in.

        Raises:
            TtsError: not a Kokoro graph.
        """
        self._vocabulary = dict(vocabulary)
        try:
            # Without an arena: its peak would grow with the longest piece ever said and stay.
            self._session = onnx_session(path, threads=threads, arena=False)
        except Exception as error:  # onnxruntime names none of its own
            raise TtsError(f"kokoro: {path} cannot be loaded: {error}") from error
        inputs = {value.name: value.type for value in self._session.get_inputs()}
        ids = [name for name in ("tokens", "input_ids") if name in inputs]
        if not ids or "style" not in inputs or "speed" not in inputs:
            raise TtsError(
                f"kokoro: {path} takes {', '.join(inputs)}; a Kokoro-82M graph takes tokens (or "
                "input_ids), style and speed."
            )
        self._ids = ids[0]
        self._whole_speed = "int" in inputs["speed"]

    def numbers(self, phonemes: str) -> list[int]:
        """The numbers of phonemes; symbols that the model does not know are left out."""
        known = self._vocabulary
        return [known[symbol] for symbol in phonemes if symbol in known]

    def speak(self, numbers: list[int], style: Floats, speed: float) -> Block:
        """The sound of one piece, float32 [samples], with the model's silence around it.

        Args:
            numbers: of 1 to `MAX_TOKENS` symbols.
            style: float32 [1, 256], the voice's for this number of symbols.
            speed: 2 is twice as fast.

        Raises:
            TtsError: the network refused it.
        """
        tokens: Ids = np.array([[0, *numbers, 0]], np.int64)
        rate = np.array([speed], np.int32 if self._whole_speed else np.float32)
        try:
            found = self._session.run(None, {self._ids: tokens, "style": style, "speed": rate})[0]
        except Exception as error:  # onnxruntime names none of its own
            raise TtsError(f"kokoro could not speak {len(numbers)} symbols: {error}") from error
        return np.asarray(found, np.float32).reshape(-1)
