"""Wake words with microWakeWord's models, through the package pymicro-wakeword.

The package is an extra and brings the models okay_nabu, hey_jarvis, hey_mycroft and alexa
(Apache-2.0) and a library that runs them; it is imported when a wake word is wanted. Why it is this
one: docs/decisions/wake-word.md. Knows nothing about turns.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownParameterType=false
# The package pymicro-wakeword has no types, and need not be installed.
from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from s2s.core.audio import PIPELINE_HZ, Block, empty, to_int16

if TYPE_CHECKING:
    from pymicro_wakeword import MicroWakeWord

WAIT_WINDOWS = 2
"""A word is told so long after it was recognised: some are recognised before they are over."""
LOOK_BACK_MS = 256
"""The word ended within so long before it is told: at the end of the last pause in there, or
without one at `UNBROKEN_MS` (docs/decisions/wake-word.md)."""
UNBROKEN_MS = 192
PAUSE_DB = 20.0
"""A pause is so much below the loudest that is looked at."""
PAUSE_MS = 60
_MS = PIPELINE_HZ // 1000
_FRAME = 30 * _MS
_HOP = 10 * _MS
ONCE_S = 1.0
"""Until it was not recognised for so long it is the same word."""


class WakeWordError(RuntimeError):
    """The wake word cannot be listened for. The message says what to install or to write."""


def builtin_names() -> tuple[str, ...]:
    """The wake words that the package brings; none where it is not installed."""
    try:
        from pymicro_wakeword import Model
    except ImportError:
        return ()
    return tuple(sorted(str(model.value) for model in Model))


class MicroWakeModel:
    """One of the package's models, or one of one's own."""

    def __init__(self, name: str) -> None:
        """
        Args:
            name: of a model in the package, such as okay_nabu, or path of a microWakeWord .json.

        Raises:
            WakeWordError: the package is not installed, or there is no such model.
        """
        try:
            from pymicro_wakeword import Model
        except ImportError as error:
            raise WakeWordError(
                f"no wake word '{name}': install the extra with pip install 's2s[wake-word]'"
            ) from error
        self._name = name
        self._builtin = {model.value: model for model in Model}
        if name not in self._builtin and not Path(name).is_file():
            raise WakeWordError(
                f"no wake word '{name}': there are {', '.join(sorted(self._builtin))}, and files "
                "of microWakeWord (.json beside its .tflite)"
            )
        self.open()  # what is broken is an error here, not in a conversation

    def open(self) -> MicroWakeStream:
        """A new stream."""
        from pymicro_wakeword import MicroWakeWord

        model = self._builtin.get(self._name)
        try:
            if model is None:
                word = MicroWakeWord.from_config(Path(self._name))
            else:
                word = MicroWakeWord.from_builtin(model)
        except (OSError, KeyError, ValueError, RuntimeError) as error:
            raise WakeWordError(f"wake word '{self._name}' cannot be loaded: {error}") from error
        return MicroWakeStream(word)


class MicroWakeStream:
    """Listens in one stream. Not thread-safe."""

    def __init__(self, word: MicroWakeWord) -> None:
        from pymicro_wakeword import MicroWakeWordFeatures

        self._word = word
        self._recent = empty()
        """The end of what was heard."""
        self._windows_left: int | None = None
        """After so many more windows the word is told; None while there is none."""
        self._features = MicroWakeWordFeatures()
        self._deaf_until = 0
        self._sample = 0

    @property
    def phrase(self) -> str:
        return self._word.wake_word

    def heard(self, block: Block) -> int | None:
        """See `WakeStream.heard`; windows of 32 ms."""
        self._sample += len(block)
        self._recent = np.concatenate([self._recent, block])[-LOOK_BACK_MS * _MS :]
        if self._recognised(block):
            if self._sample >= self._deaf_until and self._windows_left is None:
                self._windows_left = WAIT_WINDOWS
            self._deaf_until = self._sample + int(ONCE_S * PIPELINE_HZ)
        if self._windows_left is None:
            return None
        self._windows_left -= 1
        if self._windows_left >= 0:
            return None
        self._windows_left = None
        return over_for(self._recent)

    def _recognised(self, block: Block) -> bool:
        found = False
        for features in self._features.process_streaming(to_int16(block).tobytes()):
            found = bool(self._word.process_streaming(features)) or found
        return found


def over_for(heard: Block) -> int:
    """For how many samples the word has been over of which `heard` is the end, float32 [samples at
    16 kHz]. A shorter pause than `PAUSE_MS` that is over is within a word: the closure of a "t"."""
    count = max(0, (len(heard) - _FRAME) // _HOP + 1)
    power = np.array([np.square(heard[n * _HOP : n * _HOP + _FRAME]).mean() for n in range(count)])
    quiet = power <= power.max(initial=0.0) * 10 ** (-PAUSE_DB / 10)
    if count and quiet[-1]:
        return _FRAME // 2
    frames = (PAUSE_MS * _MS - _FRAME) // _HOP + 1
    long = [n for n in range(frames, count + 1) if quiet[n - frames : n].all()]
    if not long:
        return min(UNBROKEN_MS * _MS, len(heard))
    return len(heard) - (long[-1] - 1) * _HOP - _FRAME // 2
