"""How likely a window of audio holds speech: Silero VAD through onnxruntime.

Knows nothing about turns: it gives one number a window, a block of the pipeline (512 samples, 32 ms
at 16 kHz, are what Silero VAD 5 and 6 hear at once).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block
from s2s.system.onnx import onnx_session

if TYPE_CHECKING:
    import onnxruntime

CONTEXT_SAMPLES = 64
"""Samples of the previous window that the model wants in front of each one."""

INAUDIBLE = 10 ** (-60 / 20)
"""A window whose peak is below -60 dB is no speech; the model is not asked, to save power:
docs/decisions/silence-is-not-shown-to-the-vad.md."""

_STATE_SHAPE = (2, 1, 128)


class SileroVad:
    """Silero VAD 5 or 6. Its weights serve any number of streams, from any thread."""

    def __init__(
        self, model: str | Path | onnxruntime.InferenceSession, *, threads: int = 1
    ) -> None:
        """Load `model`.

        Args:
            model: path of a Silero VAD .onnx file (version 5 or 6), or a session to share.
            threads: threads of a new session; one is fastest, a window takes 0.2 ms.
        """
        if isinstance(model, (str, Path)):
            model = onnx_session(model, threads=threads)
        self._session = model

    def open(self) -> SileroStream:
        """A new stream: each listens to its own sound, whatever the others hear."""
        return SileroStream(self._session)


class SileroStream:
    """Speech probability of the consecutive windows of one stream. Not thread-safe."""

    def __init__(self, session: onnxruntime.InferenceSession) -> None:
        """Listen from the beginning; `session` holds the weights and is shared."""
        self._session = session
        self._rate = np.array(PIPELINE_HZ, dtype=np.int64)
        self.reset()

    def reset(self) -> None:
        """Forget the stream so far."""
        self._state = np.zeros(_STATE_SHAPE, dtype=np.float32)
        self._heard = np.zeros((1, CONTEXT_SAMPLES + BLOCK_SAMPLES), dtype=np.float32)

    def probability(self, block: Block) -> float:
        """Probability in [0, 1] that the next window `block`, float32 [512] at 16 kHz, is speech.

        Raises:
            ValueError: `block` has another length.
        """
        if block.shape != (BLOCK_SAMPLES,):
            raise ValueError(
                f"Silero VAD hears windows of {BLOCK_SAMPLES} samples, got shape {block.shape}"
            )
        self._heard[0, :CONTEXT_SAMPLES] = self._heard[0, -CONTEXT_SAMPLES:]
        self._heard[0, CONTEXT_SAMPLES:] = block
        if np.abs(block).max() < INAUDIBLE:
            return 0.0
        output, self._state = self._session.run(
            None, {"input": self._heard, "state": self._state, "sr": self._rate}
        )
        return float(np.asarray(output).item())
