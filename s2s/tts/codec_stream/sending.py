"""The end that makes the codes: an answer as messages, and how far it may be ahead.

`FrameSender` gives what to send and knows no socket; `Credit` lets the thread that computes wait
until the other end has taken enough.
"""

from __future__ import annotations

import threading

import numpy as np

from s2s.core.arrays import Ids
from s2s.tts.codec_stream.framing import HEADERS, MOST_FRAMES, Flag, FrameMessage, pack
from s2s.tts.codec_stream.messages import (
    DECODER,
    VERSION,
    CodecDone,
    CodecStart,
    Prefix,
    SessionDone,
    SpeechConfig,
)
from s2s.tts.codec_stream.source import CodecFormat, SpeechEnd, prefix_hash

AT_ONCE, IN_PAIRS = 4, 12
"""Frames of an answer, of which none waits for another: its first sound is waited for; and those
up to which no more than two go together."""

Sent = str | bytes


class Credit:
    """Frames that may be sent, counted from the beginning of an answer. From any thread."""

    def __init__(self, frames: int | None) -> None:
        """None: all."""
        self._changed = threading.Condition()
        self._frames = frames
        self._closed = False

    @property
    def frames(self) -> int | None:
        """How many may be sent; None: all."""
        with self._changed:
            return self._frames

    def grant(self, frames: int) -> None:
        """So many in all; never fewer than before."""
        with self._changed:
            if self._frames is not None:
                self._frames = max(frames, self._frames)
                self._changed.notify_all()

    def close(self) -> None:
        """The answer is not wanted any more: who waits goes on. Idempotent."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def wait(self, sent: int) -> bool:
        """Wait until another frame may follow ``sent``; False once it is closed."""
        with self._changed:
            while not self._closed and self._frames is not None and sent >= self._frames:
                self._changed.wait()
            return not self._closed


class FrameSender:
    """One answer. For one thread at a time.

    Args:
        codec: what the codes are for.
        config: as the client sent it; without `codec_stream` it speaks version 1.
        index: answers of this socket before it.
    """

    def __init__(self, codec: CodecFormat, config: SpeechConfig, index: int) -> None:
        wishes = config.codec_stream
        self.version = 1 if wishes is None else min(wishes.version, VERSION)
        self._codec = codec
        self._wishes = wishes
        self._index = index
        self._epoch = None if wishes is None or self.version < 2 else wishes.epoch
        self._waiting: list[Ids] = []
        self._messages = 0
        self.frames = 0
        """Sent, and waiting to be."""

    @property
    def epoch(self) -> int | None:
        """Of the answer; None in version 1."""
        return self._epoch

    def begin(
        self,
        model: str,
        prefix: Ids | None,
        voices: tuple[str, ...] = (),
        languages: tuple[str, ...] = (),
        *,
        feeds: bool = False,
    ) -> list[Sent]:
        """The start, and the reference prefix that the voice needs, unless the client has it.
        Version 1 has none: the client's decoder begins without it. feeds: of this voice, see
        `CodecSource.takes_words`."""
        codec, wishes = self._codec, self._wishes
        new = wishes if self.version > 1 else None
        told = None
        if prefix is not None and new is not None:
            key = prefix_hash(prefix)
            told = Prefix(id=key, frames=len(prefix), sent=key not in new.prefixes)
        about = new is not None and new.about
        start = CodecStart(
            version=self.version,
            utterance_index=self._index if new is None else None,
            sentence_index=0 if new is None else None,
            model=model,
            codebooks=codec.codebooks,
            codebook_size=codec.codebook_size,
            frame_rate_hz=codec.frame_rate_hz,
            sample_rate=codec.sample_rate_hz,
            decoder_id=DECODER,
            header_format=HEADERS[self.version],
            decoder=codec.decoder if new is not None else None,
            epoch=self._epoch,
            prefix=told,
            voices=list(voices) if about else None,
            languages=list(languages) if about else None,
            feeds=True if feeds and new is not None else None,
        )
        sent: list[Sent] = [start.written()]
        if told is not None and prefix is not None and told.sent:
            starts = range(0, len(prefix), MOST_FRAMES)
            sent += [self._message(prefix[at : at + MOST_FRAMES], Flag.PREFIX) for at in starts]
        return sent

    def push(self, codes: Ids, allowed: int | None, *, text_late: bool = False) -> list[Sent]:
        """What to send once a frame is made, int64 [codebooks]. allowed: frames that the client
        granted; where there are no more, or the next one's text is late, nothing waits for
        another."""
        self._waiting.append(codes)
        self.frames += 1
        if len(self._waiting) < self._together() and self.frames != allowed and not text_late:
            return []
        return [self._flush(Flag.TEXT_LATE if text_late else Flag(0))]

    def _together(self) -> int:
        """How many frames go in one message now."""
        if self._wishes is None or self.version < 2 or self.frames <= AT_ONCE:
            return 1
        return min(self._wishes.per_message, 2 if self.frames <= IN_PAIRS else MOST_FRAMES)

    def end(self, end: SpeechEnd | None, *, error: str | None = None) -> list[Sent]:
        """What to send at the end. None: it was cancelled, or ``error`` says what went wrong."""
        last = Flag.EOS | Flag.SEGMENT_END
        sent: list[Sent] = []
        if end is not None and error is None:
            sent.append(self._flush(last))
        else:
            self.frames -= len(self._waiting)
            self._waiting.clear()
        first, speech = self.version < 2, self.frames
        if end is not None:
            speech = min(end.frames, self.frames)
        cancelled = end is None and error is None
        done = CodecDone(
            utterance_index=self._index if first else None,
            sentence_index=0 if first else None,
            total_frames=speech,
            seq_last=self._messages - 1,
            error=error,
            cancelled=cancelled if first or cancelled else None,
            epoch=self._epoch,
            stop_reason=None if end is None else end.reason,
            sent_frames=None if speech == self.frames else self.frames,
        )
        if self.version > 1:
            return [*sent, done.written()]
        return [*sent, done.written(), SessionDone(utterance_index=self._index).written()]

    def _flush(self, flags: Flag) -> bytes:
        codes = np.zeros((0, self._codec.codebooks), np.int64)
        if self._waiting:
            codes = np.stack(self._waiting)
            self._waiting.clear()
        return self._message(codes, flags)

    def _message(self, codes: Ids, flags: Flag) -> bytes:
        if self._messages == 0:
            flags |= Flag.RESET
        message = FrameMessage(self._messages, flags, codes, self._epoch or 0)
        self._messages += 1
        return pack(message, self.version)
