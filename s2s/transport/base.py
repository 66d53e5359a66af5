"""What the outside world looks like to a session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from s2s.core.messages import AudioIn
from s2s.transport.output import SoundOutput


class Transport(Protocol):
    """A microphone and a loudspeaker of some kind."""

    @property
    def playback(self) -> SoundOutput:
        """Where the answer goes."""
        ...

    @property
    def half_duplex(self) -> bool:
        """The person is not heard while something plays: the microphone hears the loudspeaker."""
        ...

    @property
    def can_take_back(self) -> bool:
        """What plays can be silenced at once as if it had never begun: the loudspeaker is ours. Not
        over a wire, where the client plays, shows and remembers what it was sent."""
        ...

    def own_voice_heard(self) -> None:
        """A transcript was the assistant's own words."""
        ...

    def run(self, heard: Callable[[AudioIn], None], tick: Callable[[], bool]) -> None:
        """Deliver microphone windows until the conversation ends.

        Args:
            heard: takes one window of 512 samples at 16 kHz; may wait.
            tick: called after each window, on the same thread: deals with playback's reports.
                True when the person is silent, nothing is being answered and nothing plays.

        Raises:
            DeviceError: the device is gone and the configuration says not to wait for it.
        """
        ...

    def stop(self) -> None:
        """End `run` soon. Safe from any thread and from a signal handler; idempotent."""
        ...


class DeviceError(RuntimeError):
    """A device that is missing, busy or lost. The message says which, and what to do."""
