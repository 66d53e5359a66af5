"""How likely a window of audio holds speech: Silero VAD through onnxruntime.

Knows nothing about turns: it gives one number a window.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from s2s.core.audio import PIPELINE_HZ, Block
from s2s.system.onnx import onnx_session

if TYPE_CHECKING:
    import onnxruntime

WINDOW_SAMPLES = 512
"""Samples the model hears at once, 32 ms at 16 kHz (Silero VAD 5 and 6)."""

CONTEXT_SAMPLES = 64
"""Samples of the previous window that the model wants in front of each one."""

INAUDIBLE = 10 ** (-60 / 20)
"""A window whose peak is below -60 dB is no speech; the model is not asked, to save power."""

_STATE_SHAPE = (2, 1, 128)


class SileroVad:
    """Speech probability of consecutive windows of one stream.

    The weights are shared when the same session is given to several; the recurrent state is this
    object's own, so one stream has one `SileroVad`. Not thread-safe.
    """

    def __init__(
        self, model: str | Path | onnxruntime.InferenceSession, *, threads: int = 1
    ) -> None:
        """Listen with `model`.

        Args:
            model: path of a Silero VAD .onnx file (version 5 or 6), or a session to share.
            threads: threads of a new session; one is fastest, a window takes 0.2 ms.
        """
        if isinstance(model, (str, Path)):
            model = onnx_session(model, threads=threads)
        self.session = model
        self._rate = np.array(PIPELINE_HZ, dtype=np.int64)
        self.reset()

    def reset(self) -> None:
        """Forget the stream so far."""
        self._state = np.zeros(_STATE_SHAPE, dtype=np.float32)
        self._heard = np.zeros((1, CONTEXT_SAMPLES + WINDOW_SAMPLES), dtype=np.float32)

    def probability(self, block: Block) -> float:
        """Probability in [0, 1] that the next window `block`, float32 [512] at 16 kHz, is speech.

        Raises:
            ValueError: `block` has another length.
        """
        if block.shape != (WINDOW_SAMPLES,):
            raise ValueError(
                f"Silero VAD hears windows of {WINDOW_SAMPLES} samples, got shape {block.shape}"
            )
        self._heard[0, :CONTEXT_SAMPLES] = self._heard[0, -CONTEXT_SAMPLES:]
        self._heard[0, CONTEXT_SAMPLES:] = block
        if np.abs(block).max() < INAUDIBLE:
            return 0.0
        output, self._state = self.session.run(
            None, {"input": self._heard, "state": self._state, "sr": self._rate}
        )
        return float(np.asarray(output).item())
