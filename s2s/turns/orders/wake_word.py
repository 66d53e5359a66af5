"""Wake words with microWakeWord's models, through the package pymicro-wakeword.

The package is an extra and brings the models okay_nabu, hey_jarvis, hey_mycroft and alexa
(Apache-2.0) and a library that runs them; it is imported when a wake word is wanted. Why it is this
one: docs/decisions/wake-word.md. Knows nothing about turns.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from s2s.core.audio import PIPELINE_HZ, Block, to_int16

if TYPE_CHECKING:
    from pymicro_wakeword import MicroWakeWord

LATE_MS = 160
"""How long a wake word has been over when it is recognised."""
ONCE_S = 1.0
"""What is recognised again within this time is the same word."""


class WakeWordError(RuntimeError):
    """The wake word cannot be listened for. The message says what to install or to write."""


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
                return MicroWakeStream(MicroWakeWord.from_config(Path(self._name)))
            return MicroWakeStream(MicroWakeWord.from_builtin(model))
        except (OSError, KeyError, ValueError, RuntimeError) as error:
            raise WakeWordError(f"wake word '{self._name}' cannot be loaded: {error}") from error


class MicroWakeStream:
    """Listens in one stream. Not thread-safe."""

    def __init__(self, word: MicroWakeWord) -> None:
        from pymicro_wakeword import MicroWakeWordFeatures

        self._word = word
        self._features = MicroWakeWordFeatures()
        self._deaf_until = 0
        self._sample = 0

    @property
    def phrase(self) -> str:
        return self._word.wake_word

    def heard(self, block: Block) -> int | None:
        """See `WakeStream.heard`; windows of any size."""
        self._sample += len(block)
        said = False
        for features in self._features.process_streaming(to_int16(block).tobytes()):
            said = bool(self._word.process_streaming(features)) or said
        if not said or self._sample < self._deaf_until:
            return None
        self._deaf_until = self._sample + int(ONCE_S * PIPELINE_HZ)
        return LATE_MS * PIPELINE_HZ // 1000
