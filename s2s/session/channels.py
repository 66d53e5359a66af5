"""The channels between a session's stages, and how much may wait in each.

A full channel is the backpressure: its producer waits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from s2s.core.audio import BLOCK_SAMPLES
from s2s.core.channel import Channel
from s2s.core.clock import Clock
from s2s.core.handler import AnyStage, Handler, Stage
from s2s.core.messages import LlmInput, SenderInput, SttInput, TtsMessage
from s2s.transport.output import SoundOutput
from s2s.tts.base import Synthesizer
from s2s.tts.handler import TtsSettings
from s2s.tts.speech_time import head_start_s
from s2s.turns.handler import TurnInput

MIC_WINDOWS = 64
"""Two seconds of microphone: what the end-of-turn model takes is far less."""
STT_WAITING = 16
LLM_WAITING = 8
TTS_WAITING = 16
SENDER_WAITING = 8
"""Blocks of the answer on their way, at least; the playback buffer holds what is to be played."""


@dataclass(frozen=True, slots=True)
class Channels:
    """From the microphone to the loudspeaker, in order."""

    microphone: Channel[TurnInput]
    speech: Channel[SttInput]
    transcripts: Channel[LlmInput]
    answer: Channel[TtsMessage]
    sound: Channel[SenderInput]

    @classmethod
    def open(cls, clock: Clock, sound_blocks: int) -> Channels:
        """Empty channels; `sound_blocks` may wait for playback."""
        return cls(
            Channel(MIC_WINDOWS, clock=clock, name="mic"),
            Channel(STT_WAITING, clock=clock, name="speech"),
            Channel(LLM_WAITING, clock=clock, name="transcripts"),
            Channel(TTS_WAITING, clock=clock, name="answer"),
            Channel(sound_blocks, clock=clock, name="sound"),
        )

    def join(
        self,
        turns: Handler[TurnInput, SttInput],
        stt: Handler[SttInput, LlmInput],
        llm: Handler[LlmInput, TtsMessage],
        tts: Handler[TtsMessage, SenderInput],
        sender: Handler[SenderInput, SenderInput],
        clock: Clock,
    ) -> tuple[AnyStage, ...]:
        """The handlers as stages, each between two of these channels; not yet started."""
        return (
            Stage(turns, self.microphone, self.speech, clock),
            Stage(stt, self.speech, self.transcripts, clock),
            Stage(llm, self.transcripts, self.answer, clock),
            Stage(tts, self.answer, self.sound, clock),
            Stage(sender, self.sound, None, clock),
        )


def sound_waiting(synthesizer: Synthesizer, settings: TtsSettings, playback: SoundOutput) -> int:
    """Blocks between synthesis and playback: what the voice makes ahead, and what a slow one must
    have made before it begins, less what the playback buffer holds."""
    slow_s = head_start_s(settings.max_coalesced_s, settings.real_time_factor)
    ahead_s = max(synthesizer.capabilities.ahead_s, slow_s)
    samples = ahead_s * playback.rate_hz - playback.capacity_samples
    return max(SENDER_WAITING, math.ceil(samples / BLOCK_SAMPLES))
