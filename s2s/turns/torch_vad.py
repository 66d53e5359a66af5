"""How likely a window of audio holds speech: Silero VAD by its own package, `silero-vad`, on torch.

For those who have it; the ONNX file of `vad.py` is the same network and needs no torch.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
# The package has no types, and need not be installed.
from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block
from s2s.turns.vad import INAUDIBLE

NAME = "torch"
"""What `models.vad` is called for this one."""


class TorchVadError(RuntimeError):
    """The package is not there. The message says what to do."""


class _Probability(Protocol):
    def item(self) -> float: ...


class _Network(Protocol):
    """The package's network, and the state of one stream."""

    def reset_states(self) -> None: ...
    def __call__(self, window: object, rate_hz: int) -> _Probability: ...


class TorchSileroVad:
    """Silero VAD as its package loads it. Each stream has a copy of the network, of 2 MB: the
    package keeps the stream's state in it."""

    def __init__(self) -> None:
        """Look for the package.

        Raises:
            TorchVadError: it is not installed.
        """
        try:
            from silero_vad import load_silero_vad
        except ImportError as error:
            raise TorchVadError(
                f"models.vad {NAME} needs the package silero-vad ({error}). Install it: "
                "pip install silero-vad; or leave models.vad out, which needs no torch."
            ) from error
        self._load: Callable[[], _Network] = load_silero_vad

    def open(self) -> TorchSileroStream:
        """A new stream: each listens to its own sound."""
        return TorchSileroStream(self._load())


class TorchSileroStream:
    """Speech probability of the consecutive windows of one stream. Not thread-safe."""

    def __init__(self, model: _Network) -> None:
        self._model = model
        self.reset()

    def reset(self) -> None:
        """Forget the stream so far."""
        self._model.reset_states()

    def probability(self, block: Block) -> float:
        """Probability in [0, 1] that the next window `block`, float32 [512] at 16 kHz, is speech.

        Raises:
            ValueError: `block` has another length.
        """
        import torch

        if block.shape != (BLOCK_SAMPLES,):
            raise ValueError(
                f"Silero VAD hears windows of {BLOCK_SAMPLES} samples, got shape {block.shape}"
            )
        if np.abs(block).max() < INAUDIBLE:
            return 0.0
        with torch.no_grad():
            return self._model(torch.from_numpy(block), PIPELINE_HZ).item()
