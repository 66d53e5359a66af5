"""What is sent of the microphone: all of it, silence in its place, or nothing.

A server that finds the turns needs the stream to go on, also where nothing in it is meant for it.
"""

from __future__ import annotations

import numpy as np

from s2s.core.audio import PIPELINE_HZ, Block, Resampler, rms_db
from s2s.core.messages import AudioIn
from s2s.transport.remote.loudspeaker import WIRE_HZ
from s2s.transport.remote.wishes import RemoteWishes
from s2s.turns.over_echo import OverEcho

VOICE_DB = -40.0
"""Louder may be the person's voice; only the figure of the latency depends on it."""
VOICE_OVER_ROOM_DB = 10.0
ROOM_RISE_DB = 0.02
"""A window: the room may get louder by 0.6 dB a second."""


class RemoteMicrophone:
    """Windows of the microphone on their way to a server. For the thread that hears; `muted` and
    `talking` may be set from any."""

    def __init__(self, wishes: RemoteWishes) -> None:
        self.muted = wishes.muted
        self.talking = False
        """The talk key is down."""
        self.voice_at_s = 0.0
        """When something as loud as a voice was captured last."""
        self._push_to_talk = wishes.push_to_talk
        self._over_echo = OverEcho(wishes.echo_bar_db)
        self._resampler = Resampler(PIPELINE_HZ, WIRE_HZ)
        self._room_db = VOICE_DB - VOICE_OVER_ROOM_DB

    @property
    def open(self) -> bool:
        """What is said is sent."""
        return not self.muted and (self.talking or not self._push_to_talk)

    def sent(self, window: AudioIn, *, own_voice: bool) -> Block | None:
        """float32 [samples] at 24 kHz for the server; None: nothing.

        Args:
            own_voice: something plays, and the microphone cannot be relied on not to hear it.
        """
        if self._push_to_talk and not self.talking:
            return None
        share = self._over_echo.probability(1.0, window.over_echo_db)
        block = window.block
        if not self.open or own_voice or share == 0.0:
            block = np.zeros_like(block)
        else:
            self._listen(window)
        return self._resampler.push(block)

    def _listen(self, window: AudioIn) -> None:
        level_db = rms_db(window.block)
        self._room_db = min(level_db, self._room_db + ROOM_RISE_DB)
        if level_db > max(VOICE_DB, self._room_db + VOICE_OVER_ROOM_DB):
            self.voice_at_s = window.captured_at_s
