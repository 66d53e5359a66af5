"""The end that decodes: what it says, and what the messages of the other end mean to it.

Told each message as it comes, it gives what happened; knows no socket and no time. Whatever a
server sends that cannot be is a `WireError`: nothing is decoded of it, and the socket is to be
closed. What belongs to an answer that was cancelled is dropped.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import numpy as np

from s2s.core.arrays import Ids
from s2s.tts.codec_stream.framing import (
    EPOCHS,
    HEADERS,
    Flag,
    FrameMessage,
    WireError,
    unpack,
    valid_frames,
)
from s2s.tts.codec_stream.messages import (
    DECODER,
    MOST_TEXT,
    CodecDone,
    CodecStart,
    CreditGrant,
    ErrorMessage,
    InputCancel,
    InputDone,
    Prefix,
    SpeechConfig,
    SpeechText,
    StreamWishes,
    parse_server,
)
from s2s.tts.codec_stream.source import CodecFormat, SpeechWish, prefix_hash

MOST_ANSWER_FRAMES = 1 << 15
"""Of one answer: 43 minutes; a server that sends more is broken."""
_KEPT_PREFIXES = 8


@dataclass(frozen=True, slots=True, eq=False)
class StreamBegun:
    """The answer begins."""

    start: CodecStart
    prefix: Ids | None
    """int64 [frames, codebooks] for the decoder to hear first."""


@dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """Frames of speech: int64 [n, codebooks], those that can be decoded."""

    codes: Ids
    text_late: bool = False
    """The text after them has yet to be written."""


@dataclass(frozen=True, slots=True)
class Over:
    """The answer has ended."""

    reason: str
    """In one word; "end" where the server tells none."""
    frames: int
    """So many of those that came are speech."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The server cannot speak it, or not to its end. The message is for people."""

    message: str
    discard: bool = False
    """What came of it is better not played."""


Event = StreamBegun | Codes | Over | Refused


def text_messages(text: str, *, ended: bool) -> list[str]:
    """What to send of the text of an answer: more of it, and whether that was all. From any
    thread, as long as no other answer is asked for meanwhile."""
    parts = [text[at : at + MOST_TEXT] for at in range(0, len(text), MOST_TEXT)]
    return [
        *(SpeechText(text=part).written() for part in parts),
        *([InputDone().written()] if ended else []),
    ]


class FrameReceiver:
    """The answers of one socket, one after the other. For one thread at a time.

    Args:
        decoder: that is here.
        window: frames that the server may be ahead of what was taken; None: any number.
        per_message: frames that may wait for each other.
    """

    def __init__(
        self, decoder: CodecFormat, window: int | None = None, per_message: int = 1
    ) -> None:
        self._decoder = decoder
        self._window = window
        self._per_message = per_message
        self._prefixes: OrderedDict[str, Ids] = OrderedDict()
        self._epoch = 0
        self._version = 0
        """Of the server; 0 until it has begun an answer."""
        self._owed = 0
        """Ends of earlier answers that have not come, of a server without epochs."""
        self._asked = False
        self._answer: _Answer | None = None
        self.dropped = 0
        """Frames that cannot be decoded, and were left out."""

    @property
    def version(self) -> int:
        """Of the server; 0 until it has begun an answer."""
        return self._version

    def ask(self, wish: SpeechWish, *, model: str | None = None, about: bool = False) -> list[str]:
        """What to send to have a text spoken. An earlier answer is over with it. Of a text that is
        still being written `text_messages` follow."""
        if self._asked and self._version < 2:
            self._owed += 1
        self._epoch = (self._epoch + 1) % EPOCHS
        self._asked, self._answer = True, None
        config = SpeechConfig(
            model=model,
            voice=wish.voice,
            language=wish.language,
            instructions=wish.instructions or None,
            seed=wish.seed,
            max_new_tokens=wish.max_new_tokens,
            codec_stream=StreamWishes(
                epoch=self._epoch,
                decoder=self._decoder.decoder,
                credit=self._window,
                per_message=self._per_message,
                prefixes=list(self._prefixes),
                attempt=wish.attempt,
                about=about,
                fed=not isinstance(wish.text, str),
            ),
        )
        told = text_messages(wish.text, ended=True) if isinstance(wish.text, str) else []
        return [config.written(), *told]

    def cancel(self) -> list[str]:
        """What to send when the answer is not wanted any more; nothing where it is over."""
        if not self._asked:
            return []
        if self._version < 2:
            self._owed += 1
        self._asked, self._answer = False, None
        return [InputCancel(epoch=self._epoch).written()]

    def taken(self, frames: int) -> str | None:
        """What to send once so many frames of the answer, of those that were given, were taken, if
        it is time: each time that half the window is free."""
        answer = self._answer
        if answer is None or self._window is None or self._version < 2:
            return None
        granted = frames + answer.lost + self._window
        if granted - answer.granted < max(1, self._window // 2):
            return None
        answer.granted = granted
        return CreditGrant(epoch=self._epoch, frames=granted).written()

    def receive(self, message: str | bytes) -> list[Event]:
        """What happened with a message. Raises WireError for one that cannot be."""
        if isinstance(message, bytes):
            return self._binary(message)
        told = parse_server(message)
        match told:
            case CodecStart():
                return self._begin(told) if self._is_current(told.epoch) else []
            case CodecDone():
                return self._end(told) if self._is_current(told.epoch, ends=True) else []
            case ErrorMessage():
                if not self._is_current(told.epoch, ends=True):
                    return []
                self._asked, self._answer = False, None
                return [Refused(told.message, told.action == "discard")]
            case _:
                return []

    def _is_current(self, epoch: int | None, *, ends: bool = False) -> bool:
        """It belongs to the answer that was asked for last."""
        if epoch is not None:
            return self._asked and epoch == self._epoch
        if self._owed:
            self._owed -= ends
            return False
        return self._asked

    def _begin(self, start: CodecStart) -> list[Event]:
        self._check(start)
        self._version = min(start.version, 2)
        if self._version > 1:
            self._owed = 0  # what comes of earlier answers is known by its epoch
        granted = MOST_ANSWER_FRAMES
        if self._version > 1 and self._window is not None:
            granted = self._window
        answer = self._answer = _Answer(start, self._version, granted)
        if start.prefix is None:
            return [StreamBegun(start, None)]
        if not start.prefix.sent:
            known = self._prefixes.get(start.prefix.id)
            if known is None:
                raise WireError(f"prefix {start.prefix.id!r} was not sent, and is not known here")
            self._prefixes.move_to_end(start.prefix.id)
            return [StreamBegun(start, known)]
        answer.lacks = start.prefix
        return []

    def _check(self, start: CodecStart) -> None:
        """Raise WireError unless the codes are for the decoder that is here."""
        here = self._decoder
        if self._answer is not None:
            raise WireError("codec.start came twice for one answer")
        if start.header_format != HEADERS[min(start.version, 2)]:
            raise WireError(f"header_format is {start.header_format!r} in version {start.version}")
        if start.version > 1 and start.epoch is None:
            raise WireError("codec.start of version 2 has no epoch")
        for name, sent, own in (
            ("decoder_id", start.decoder_id, DECODER),
            ("codebooks", start.codebooks, here.codebooks),
            ("codebook_size", start.codebook_size, here.codebook_size),
            ("frame_rate_hz", start.frame_rate_hz, here.frame_rate_hz),
            ("sample_rate", start.sample_rate, here.sample_rate_hz),
            ("decoder", start.decoder or here.decoder, here.decoder),
        ):
            if sent != own:
                raise WireError(
                    f"the server's codes are for another decoder: {name} is {sent!r} there and "
                    f"{own!r} here; give tts.model as the server has it"
                )

    def _binary(self, data: bytes) -> list[Event]:
        if self._version == 0 and not self._owed:
            raise WireError("codes came before codec.start")
        if self._version < 2 and self._owed:
            return []
        message = unpack(data, self._version, self._decoder.codebooks)
        if self._version > 1 and (message.epoch != self._epoch or not self._asked):
            return []
        answer = self._answer
        if answer is None:
            if not self._asked:
                return []
            raise WireError("codes came before codec.start")
        answer.note(message)
        if message.flags & Flag.PREFIX:
            return self._heard(answer, message.codes)
        if answer.lacks is not None:
            raise WireError("speech came before all of the prefix")
        answer.speech(message)
        good = valid_frames(message.codes, self._decoder.codebook_size, zeros=self._version > 1)
        self.dropped += len(message.codes) - len(good)
        answer.lost += len(message.codes) - len(good)
        late = bool(message.flags & Flag.TEXT_LATE)
        return [Codes(good, late)] if len(good) else []

    def _heard(self, answer: _Answer, codes: Ids) -> list[Event]:
        """More of the reference prefix."""
        wanted = answer.lacks
        if wanted is None:
            raise WireError("a prefix came that codec.start did not tell of")
        answer.prefix.append(codes)
        found = np.concatenate(answer.prefix)
        if len(found) < wanted.frames:
            return []
        size = self._decoder.codebook_size
        if len(found) > wanted.frames or len(valid_frames(found, size, zeros=True)) != len(found):
            raise WireError(f"the prefix has {len(found)} frames, or codes that there are not")
        if prefix_hash(found) != wanted.id:
            raise WireError(f"the prefix is not the one that codec.start told of ({wanted.id})")
        answer.lacks = None
        self._prefixes[wanted.id] = found
        if len(self._prefixes) > _KEPT_PREFIXES:
            self._prefixes.popitem(last=False)
        return [StreamBegun(answer.start, found)]

    def _end(self, done: CodecDone) -> list[Event]:
        answer = self._answer
        self._asked, self._answer = False, None
        if done.error is not None:
            return [Refused(done.error)]
        if done.cancelled:
            return [Over("stopped", 0)]
        if answer is None:
            raise WireError("codec.done came before codec.start")
        if answer.lacks is not None:
            raise WireError("codec.done came before all of the prefix")
        return [Over(done.stop_reason or "end", answer.speech_frames(done))]


class _Answer:
    """What has come of one answer."""

    def __init__(self, start: CodecStart, version: int, granted: int) -> None:
        self.start = start
        self.granted = granted
        self.lacks: Prefix | None = None
        """The prefix that has not come whole."""
        self.prefix: list[Ids] = []
        self.lost = 0
        self._version = version
        self._messages = 0
        self._frames = 0
        self._ended = False

    def note(self, message: FrameMessage) -> None:
        """Raise WireError for a message that cannot come now."""
        if message.seq != self._messages:
            raise WireError(f"message {message.seq} came where {self._messages} was due")
        if self._ended:
            raise WireError("codes came after the end of their answer")
        if message.flags & Flag.RESET and self._frames and len(message.codes):
            raise WireError("the decoder was to begin anew in the middle of an answer")
        self._messages += 1

    def speech(self, message: FrameMessage) -> None:
        """Count its frames. Raises WireError where they are more than may come."""
        self._frames += len(message.codes)
        if self._frames > min(self.granted, MOST_ANSWER_FRAMES):
            raise WireError(f"{self._frames} frames came where {self.granted} were granted")
        self._ended = bool(message.flags & Flag.EOS)

    def speech_frames(self, done: CodecDone) -> int:
        """How many of the frames that can be decoded are speech. Raises WireError where some that
        were sent have not come."""
        last = self._messages - 1
        if done.seq_last is not None and self._messages and done.seq_last != last:
            raise WireError(f"messages up to {done.seq_last} were sent, and {last} was the last")
        sent = done.total_frames if done.sent_frames is None else done.sent_frames
        if self._version > 1 and (sent != self._frames or done.total_frames > sent):
            raise WireError(
                f"{sent} frames were sent, {done.total_frames} of them speech, and "
                f"{self._frames} came"
            )
        return min(done.total_frames, self._frames - self.lost)
