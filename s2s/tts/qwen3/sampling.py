"""Turning logits into codes, exactly as the official package does.

Knows nothing about models. The order is that of Hugging Face's generation loop (4.57) with the
arguments that qwen-tts 0.1.1 passes: repetition penalty over the set of first codes so far, end
of speech held back for the first frames, suppressed ids, then temperature, top-k, top-p and one
draw.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt


class Draws(Protocol):
    """Where random numbers come from; every one that sampling uses is asked for here."""

    def exponential(self, n: int) -> npt.NDArray[np.float32]:
        """float32 [n], independent, exponentially distributed with mean one."""
        ...

    def uniform(self) -> float:
        """One number from [0, 1)."""
        ...


@dataclass(frozen=True, slots=True)
class Sampling:
    """How one code is chosen; the defaults are the official ones for talker and predictor alike."""

    greedy: bool = False
    temperature: float = 0.9
    top_k: int = 50
    top_p: float = 1.0
