"""What becomes of Qwen3-TTS' sound on its way to a loudspeaker: pace, level, and a report at the
end of each utterance. The same wherever its codes are made.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from s2s.core.audio import Block
from s2s.tts.base import AudioChunk
from s2s.tts.level import amplify
from s2s.tts.qwen3 import Qwen3Error
from s2s.tts.tempo import Tempo

if TYPE_CHECKING:
    from s2s.tts.qwen3 import Speech
    from s2s.tts.qwen3_config import Qwen3Config

log = logging.getLogger(__name__)

WARM_TEXT = (
    "Hello, this is a test of how long a sentence like this one takes to say, on this machine."
)
"""Spoken unheard, to see how fast that goes."""


def sounded(
    speech: Speech,
    rate_hz: int,
    config: Qwen3Config,
    stop: Callable[[], bool],
    look: Callable[[], None],
) -> Iterator[AudioChunk]:
    """The chunks of an utterance, which is closed behind them, or when the iterator is. look:
    called for each. What came before a Qwen3Error is given before it is raised."""
    tempo = Tempo(rate_hz, config.speed)

    def heard(samples: Block) -> AudioChunk:
        return AudioChunk(amplify(samples, config.volume_db) if config.volume_db else samples)

    failure: Qwen3Error | None = None
    try:
        for chunk in speech.chunks:
            look()
            yield heard(tempo.push(chunk.pcm))
    except Qwen3Error as error:
        failure = error
    finally:
        speech.close()
    rest = tempo.flush()
    if rest.size and not stop():
        yield heard(rest)
    if failure is not None:
        raise failure


def reported(speech: Speech) -> AudioChunk:
    """The last, empty chunk of an utterance, which says how it went."""
    segment = speech.report.segment
    log.debug("qwen3: %s: %s", segment.stop_reason, segment.measures)
    return AudioChunk(np.zeros(0, np.float32), report=segment)
