"""Brings speech to a level without clipping. Knows nothing about models or streams.

Both steps look at one sample at a time, so that any split into chunks gives the same samples and
nothing pumps.
"""

from __future__ import annotations

import numpy as np

from s2s.core.audio import Block

KNEE = 0.8
"""Below this the limiter changes nothing."""


def amplify(samples: Block, gain_db: float) -> Block:
    """Amplify float32 [samples] by a fixed gain; what would pass 0.8 bends smoothly below 1."""
    louder = samples * np.float32(10.0 ** (gain_db / 20.0))
    size = np.abs(louder)
    if size.max(initial=0.0) <= KNEE:
        return louder
    room = 1.0 - KNEE
    # tanh rounds to 1 far out; a hair of room keeps full scale out of reach.
    bent = KNEE + room * 0.999 * np.tanh((size - KNEE) / room)
    return np.where(size > KNEE, np.copysign(bent, louder), louder).astype(np.float32)
