"""What a voice gives whose codes are decoded elsewhere: the contract between who makes them and who
sends them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from s2s.core.arrays import Ids
from s2s.tts.base import WrittenText


@dataclass(frozen=True, slots=True)
class CodecFormat:
    """What a decoder must be to make sound of these codes."""

    codebooks: int
    codebook_size: int
    frame_rate_hz: float
    sample_rate_hz: int
    decoder: str
    """Content hash of the decoder's weights and config."""


@dataclass(frozen=True, slots=True)
class SpeechWish:
    """What is to be said, and how."""

    text: str | WrittenText
    """All of it, or one that is still being written: then it is spoken along."""
    voice: str | None = None
    language: str | None = None
    """ISO 639-1, or a name of the model's list."""
    instructions: str = ""
    seed: int | None = None
    attempt: int = 0
    """Which sampling run of the same seed."""
    max_new_tokens: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SpeechFrame:
    """80 ms of speech: int64 [codebooks]."""

    codes: Ids
    text_late: bool = False
    """The text that the next one needs has yet to be written."""


@dataclass(frozen=True, slots=True)
class SpeechEnd:
    """The end of an answer: exactly one, after its frames."""

    reason: str
    """In one word: "end" where the model was done, else what ended it."""
    frames: int
    """So many are speech; what came after them says nothing."""


class CodecSource(Protocol):
    """A voice that gives codes. Calls may come from several threads."""

    @property
    def codec_format(self) -> CodecFormat: ...

    @property
    def model(self) -> str:
        """Its name, for people."""
        ...

    @property
    def voices(self) -> tuple[str, ...]: ...

    @property
    def languages(self) -> tuple[str, ...]:
        """ISO 639-1."""
        ...

    @property
    def threads(self) -> int:
        """That compute the codes."""
        ...

    def reference_codes(self, voice: str | None) -> Ids | None:
        """int64 [frames, codebooks] that a decoder must have heard before this voice speaks; None
        for a voice that needs none. Raises TtsError for a voice that there is not."""
        ...

    def takes_words(self, voice: str | None) -> bool:
        """With this voice, a text is spoken along while it is written; else it has to be there
        whole. Raises TtsError for a voice that there is not."""
        ...

    def codec_frames(
        self, wish: SpeechWish, stop: Callable[[], bool]
    ) -> Generator[SpeechFrame | SpeechEnd, None, None]:
        """The frames of a text as they are made, and their end. `stop` is asked before each piece
        of work; who stops it closes a text that is still being written as well. Raises TtsError."""
        ...


def prefix_hash(codes: Ids) -> str:
    """16 hexadecimal digits for the codes of a reference prefix."""
    data = np.ascontiguousarray(codes, "<i2").tobytes()
    return hashlib.sha256(data).hexdigest()[:16]
