"""The satellite's loudspeaker: what Home Assistant sends, at any rate, in order."""

from __future__ import annotations

import logging
from collections.abc import Callable
from itertools import count

import numpy as np
from wyoming.event import Event

from s2s.core.audio import Block
from s2s.core.clock import Clock
from s2s.core.messages import ResponseId
from s2s.transport.output import SoundOutput
from s2s.transport.remote.loudspeaker import WIRE_HZ, RemoteSpeech
from s2s.transport.wyoming.framing import WireFault
from s2s.transport.wyoming.pcm import PcmStream

log = logging.getLogger(__name__)

RING_HZ = (880.0, 1175.0)
"""The two tones of a timer that has ended."""
RINGS = 3
TONE_S = 0.25


class SatelliteSound:
    """See `AnswerSound`. For one thread.

    Args:
        playback: the loudspeaker's buffer; its reports are read by `look`.
        played: called when sound was played to its end.
    """

    def __init__(self, playback: SoundOutput, clock: Clock, played: Callable[[], None]) -> None:
        self._playback = playback
        self._played = played
        self._speech = RemoteSpeech(playback, clock)
        self._numbers = count(1)
        self._coming: ResponseId | None = None
        """The sound that Home Assistant is sending; None: none, or one that nobody hears."""
        self._stream = PcmStream(WIRE_HZ)
        self._any = False
        """Something of it has come."""
        self._told: set[ResponseId] = set()
        """Sounds whose end Home Assistant waits for."""

    @property
    def sounding(self) -> bool:
        return self._speech.sounding

    def begin(self) -> None:
        self._coming = self._new()
        self._told.add(self._coming)
        self._stream = PcmStream(WIRE_HZ)
        self._any = False

    def add(self, event: Event) -> None:
        if self._coming is None:
            return
        try:
            block = self._stream.push(event)
        except WireFault as fault:
            log.warning("wyoming: the answer cannot be played: %s", fault)
            self.cut()
            return
        self._say(self._coming, block)

    def end(self) -> None:
        coming, self._coming = self._coming, None
        if coming is None:
            return
        self._say(coming, self._stream.flush())
        if self._any:
            self._speech.end(coming)
        else:
            self._told.discard(coming)
            self._played()

    def cut(self) -> None:
        self._coming = None
        self._told.clear()
        self._speech.cut()

    def ring(self) -> None:
        ringing = self._new()
        self._speech.add(ringing, rung(), "")
        self._speech.end(ringing)

    def look(self) -> None:
        """Tell what was played to its end since."""
        for report in self._playback.reports():
            if report.what == "finished" and report.response in self._told:
                self._told.discard(report.response)
                self._played()

    def close(self) -> None:
        """Nothing more is played, and its thread has ended."""
        self._speech.close()

    def _new(self) -> ResponseId:
        number = next(self._numbers)
        return ResponseId(f"sound_{number}", 0, 0, f"sound_{number}")

    def _say(self, response: ResponseId, block: Block) -> None:
        if len(block):
            self._any = True
            self._speech.add(response, block, "")


def rung() -> Block:
    """The sound of a timer that has ended, float32 [samples] at 24 kHz."""
    at_s = np.arange(int(TONE_S * WIRE_HZ)) / WIRE_HZ
    fade = np.minimum(1.0, np.minimum(at_s, TONE_S - at_s) / 0.02)
    tones = [0.2 * fade * np.sin(2 * np.pi * hz * at_s) for hz in RING_HZ]
    pause = np.zeros(int(TONE_S * WIRE_HZ))
    return np.concatenate([*tones, pause] * RINGS).astype(np.float32)
