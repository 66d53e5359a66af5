"""Codes to sound on ExecuTorch: the `CodecDecoder` port, in float32.

States go by the names of ``codec.tensors``: what this exports any other decoder restores. The
program is exported on first use and kept beside the graphs of the other codecs, or ahead of time by
`models export`.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s2s.system.intact import damaged, seal
from s2s.tts.qwen3.checkpoint.codec_spec import CodecDecoderSpec
from s2s.tts.qwen3.codec.decoder import CheckpointDecoder, CodecState
from s2s.tts.qwen3.codec.tensors import INPUT_TAPS, STATE_PREFIX, Tensors
from s2s.tts.qwen3.codec.weights import PreTransformerWeights
from s2s.tts.qwen3.executorch.codec_graph import (
    MOST_FRAMES,
    TRANSFORMER,
    WAVE,
    codec_methods,
    wave_state,
)
from s2s.tts.qwen3.executorch.delegates import XNNPACK, delegate_named
from s2s.tts.qwen3.executorch.parts import MASKED, lowered
from s2s.tts.qwen3.executorch.program import Program
from s2s.tts.qwen3.executorch.weights import new_record, require_exporter, save
from s2s.tts.qwen3.interfaces import Floats, Ids, Stale, Stopped

log = logging.getLogger(__name__)

CODEC_FILE = "codec.pte"
CODEC_PROGRAM_VERSION = 1
"""Raised when the program changes: older exports are then made again."""


@dataclass(frozen=True, slots=True)
class TokenizerSource:
    """A speech tokenizer, and the hash of its content."""

    spec: CodecDecoderSpec
    tensors: Tensors
    content_hash: str


def exported_codec(source: TokenizerSource, cache: Path, delegate: str = XNNPACK) -> Path:
    """The program of a codec in ``cache``, exported on first use, and again when it is damaged.

    Its folder appears in one step, complete. Raises BackendError where it would have to be exported
    and that cannot be done here, CodecError for a tensor of another shape.
    """
    name = f"codec_decoder-{source.content_hash}-{delegate}-v{CODEC_PROGRAM_VERSION}"
    folder = cache / name
    path = folder / CODEC_FILE
    if folder.is_dir():
        bad = damaged(folder)
        if bad is None:
            return path
        log.warning("%s is damaged: it is exported again", folder / bad)
    delegate_named(delegate)
    require_exporter()
    cache.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=cache))
    try:
        program = lowered(codec_methods(source.spec, source.tensors), delegate)
        record = new_record(source.content_hash, "f32", delegate, CODEC_PROGRAM_VERSION)
        save(program, unfinished / CODEC_FILE, record)
        seal(unfinished)
        if folder.is_dir() and damaged(folder) is not None:
            shutil.rmtree(folder)
        if not folder.is_dir():
            unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return path


class ExecutorchCodecDecoder(CheckpointDecoder):
    """The codec decoder of a checkpoint. Weights are shared by all states; a call may come from
    any thread, a state from one at a time."""

    def __init__(
        self, spec: CodecDecoderSpec, tensors: Tensors, path: Path, delegate: str = XNNPACK
    ) -> None:
        """Load the program at ``path``; code vectors are read from the tensors. Raises
        ExecutorchError, BackendError, and CodecError for a tensor of another shape."""
        super().__init__(spec)
        self._program = Program(path, delegate)
        self._program.load(TRANSFORMER, WAVE)
        self._codebooks = PreTransformerWeights(tensors, spec).codebooks().astype(np.float32)
        self._offsets = np.arange(spec.code_groups) * spec.codebook_size
        self._wave_state = list(wave_state(spec))
        half = spec.head_dim // 2
        inverse = spec.rope_theta ** -(np.arange(half, dtype=np.float32) / np.float32(half))
        self._inverse = np.tile(inverse.astype(np.float32), 2)

    def _longest_run(self) -> int:
        return MOST_FRAMES

    def _run(self, state: CodecState, codes: Ids, stale: Stale) -> Floats:
        """One call of the first method, and of the other as many as there are frames."""
        if stale():
            raise Stopped
        arrays = dict(state.arrays)
        rows = self._transformer(arrays, codes, state.position)
        sound: list[Floats] = []
        for row in rows:
            if stale():
                raise Stopped
            inputs = [row[None], *(arrays[name] for name in self._wave_state)]
            samples, *after = self._program.run(WAVE, inputs)
            arrays.update(zip(self._wave_state, after, strict=True))
            sound.append(samples.reshape(-1))
        state.arrays = arrays
        state.position += len(codes)
        return np.concatenate(sound)

    def _transformer(self, arrays: dict[str, Floats], codes: Ids, position: int) -> Floats:
        """codes: int64 [n, groups]; returns float32 [n, hidden]; its share of ``arrays`` moves
        on."""
        spec, count = self._spec, len(codes)
        found = self._codebooks[codes + self._offsets]
        vectors = np.concatenate([found[:, 0], found[:, 1:].sum(1)], 1)
        padded = np.concatenate([arrays[f"{STATE_PREFIX}input"], vectors])
        arrays[f"{STATE_PREFIX}input"] = padded[len(padded) - INPUT_TAPS + 1 :]
        taps = np.concatenate([padded[tap : tap + count] for tap in range(INPUT_TAPS)], 1)
        angles = np.arange(position, position + count, dtype=np.float32)[:, None, None]
        angles = angles * self._inverse
        inputs = [taps, np.cos(angles), np.sin(angles), *self._masks(position, count)]
        room = spec.window_frames - 1
        kept = min(position, room)
        names = [f"{STATE_PREFIX}{part}_{at}" for at in range(spec.layers) for part in _PARTS]
        for at, name in enumerate(names):
            whole = np.zeros((spec.heads, room, spec.head_dim), np.float32)
            whole[:, room - kept :] = arrays[name]
            inputs.append(whole if at % 2 else np.ascontiguousarray(whole.swapaxes(1, 2)))
        rows, *made = self._program.run(TRANSFORMER, inputs)
        for name, new in zip(names, made, strict=True):
            joined = np.concatenate([arrays[name], new], 1)
            arrays[name] = np.ascontiguousarray(joined[:, max(0, joined.shape[1] - room) :])
        return rows

    def _masks(self, position: int, count: int) -> tuple[Floats, Floats]:
        """Of the window's frames and of the new ones, each [n, frames]: a frame sees itself and
        what came before, as far as the window reaches."""
        room = self._spec.window_frames - 1
        ages = np.arange(count)[:, None] - np.arange(-room, count)
        seen = (ages >= 0) & (ages <= room)
        seen[:, : room - min(position, room)] = False
        mask = np.where(seen, np.float32(0), np.float32(MASKED))
        return np.ascontiguousarray(mask[:, :room]), np.ascontiguousarray(mask[:, room:])


_PARTS = ("key", "value")
