"""What the turns stage is given: a voice detector, an end-of-turn model, and the floor.

Protocols alone. Models are loaded once and shared by all sessions; a session opens its own stream.
"""

from __future__ import annotations

from typing import Protocol

from s2s.core.audio import Block
from s2s.core.messages import TurnId


class Vad(Protocol):
    """Voice activity in one stream of sound, whose state it keeps. Not thread-safe."""

    def probability(self, block: Block) -> float:
        """Probability in [0, 1] that the next window, float32 [512] at 16 kHz, is speech."""
        ...

    def reset(self) -> None:
        """Forget the stream so far."""
        ...


class VadModel(Protocol):
    """A voice detector's weights. Safe from any thread: it keeps no stream."""

    def open(self) -> Vad:
        """A new stream with a state of its own."""
        ...


class WakeStream(Protocol):
    """Listens for a wake word in one stream of sound, whose state it keeps. Not thread-safe."""

    @property
    def phrase(self) -> str:
        """The wake word, as people write it."""
        ...

    def heard(self, block: Block) -> int | None:
        """Hear the next window, float32 [512] at 16 kHz.

        Returns:
            When the wake word was just recognised, for how many samples it has been over.
        """
        ...


class WakeModel(Protocol):
    """A wake word's weights. Safe from any thread: it keeps no stream."""

    def open(self) -> WakeStream:
        """A new stream with a state of its own."""
        ...


class TurnEnd(Protocol):
    """Whether a turn is complete, from its sound. Safe from any thread: it keeps no state."""

    def probability(self, audio: Block) -> float:
        """Probability in [0, 1] that the turn `audio`, float32 [samples] at 16 kHz, is complete."""
        ...


class OwnVoice(Protocol):
    """The voice of the person who is listened to. Safe from any thread: it keeps no state."""

    def likeness(self, audio: Block) -> float:
        """How like that voice the speech `audio`, float32 [samples] at 16 kHz, is: cosine in
        [-1, 1]; 0 for too little of it."""
        ...


class Floor(Protocol):
    """Who may speak: the turns stage asks whether the assistant does, and takes the floor."""

    @property
    def playing(self) -> bool:
        """The assistant's answer is being played, or is paused."""
        ...

    @property
    def asks(self) -> bool:
        """What the assistant said last is a question."""
        ...

    @property
    def half_duplex(self) -> bool:
        """Nothing can be heard while the answer plays."""
        ...

    @property
    def can_take_back(self) -> bool:
        """An answer that began can be silenced at once as if it had not."""
        ...

    def is_own_voice(self, text: str) -> bool:
        """Whether `text`, heard by the microphone, is what the assistant says itself."""
        ...

    def other_words(self, text: str) -> str:
        """`text`, heard by the microphone, without what the assistant was just saying itself."""
        ...

    def own_voice_heard(self) -> None:
        """The assistant was taken for a person: what it said itself was written down."""
        ...

    def duck(self) -> None:
        """Turn the answer down."""
        ...

    def restore(self) -> None:
        """Turn it up again; go on at the very sample if it was paused."""
        ...

    def pause(self) -> None:
        """Be silent, keep everything."""
        ...

    def interrupt(self) -> None:
        """Be silent at once and for good: all work on the answer is stale."""
        ...

    def forget(self, turn: TurnId) -> None:
        """What was said in `turn` was not meant for the conversation: its history is without it.

        All work on it must be stale by now.
        """
        ...

    def take_back(self) -> None:
        """The person goes on: answers to revisions of turns that are superseded never were."""
        ...
