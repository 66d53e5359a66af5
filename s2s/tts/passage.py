"""The text of one synthesis call, from what waits in the stage's channel. Knows no model.

A voice that wants whole texts gets what is there, joined up to a limit. A voice that takes text
while it is written gets a passage: it reads on in the channel while it speaks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

from s2s.core.channel import Channel, Closed
from s2s.core.messages import AssistantText, Ends, ToolCall, ToolResult, TtsInput, TtsMessage
from s2s.tts.base import WrittenText
from s2s.tts.language import is_written_in
from s2s.tts.speech_time import cjk_chars, estimate_seconds
from s2s.tts.text import Lexicon, SpeakableStream

ENOUGH_CHARS = 200
"""A passage ends with the sentence in which it becomes so long: about 14 s of speech."""
MAX_CHARS = 300
"""With the next clause, or after a fifth more with the next word: a model loses its pace in long
texts (QwenLM/Qwen3-TTS #239, #290)."""

Told = AssistantText | ToolCall | ToolResult
Texts = deque[Told]
"""What the client is told, until it leaves; from any thread."""


def is_silent(message: Told) -> bool:
    """No sound belongs to it: it is told at once."""
    return isinstance(message, ToolResult) or (
        isinstance(message, AssistantText) and not message.spoken
    )


class Passage:
    """What is said in one utterance, while it is written.

    The voice reads it from a thread of its own perhaps; everything else is asked from the stage's.

    Args:
        first: its first piece.
        inbox: where the others come from. What does not belong to it stays there.
        language: ISO 639-1 code that it is spoken in.
        lexicon: the user's respellings.
        texts: gets what stands between the pieces.
        waits: entered while the voice waits for text, and computes nothing.
    """

    def __init__(
        self,
        first: TtsInput,
        inbox: Channel[TtsMessage],
        language: str,
        lexicon: Lexicon | None,
        texts: Texts,
        waits: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._first = first
        self._inbox = inbox
        self._language = language
        self._texts = texts
        self._waits = waits
        self._stream = SpeakableStream(language, lexicon)
        self._unread = ""
        self._over = False
        self._closed = False
        self._push(first)

    @property
    def text(self) -> str:
        """What the voice says, as far as it has been given."""
        return self._stream.given

    @property
    def original(self) -> str:
        """As the client sees it, as far as it was taken."""
        return self._stream.original

    def heard(self, spoken_chars: int) -> str:
        """The start of `original` that has been told with so many characters of `text`."""
        return self._stream.heard(spoken_chars)

    @property
    def quiet(self) -> bool:
        """Who reads now has to wait."""
        return not (self._unread or self._over or self._closed or len(self._inbox))

    def read(self, stale: Callable[[], bool]) -> str | None:
        """See `WrittenText`."""
        while not (self._closed or stale()):
            if self._unread or self._over:
                text, self._unread = self._unread, ""
                return text
            if self._take() or self._over:
                continue
            try:
                with self._waits():
                    self._inbox.wait(lambda: self._closed)
            except Closed:
                return None
        return None

    def close(self) -> None:
        """It is read no further. Idempotent."""
        self._closed = True
        self._inbox.wake()

    def _take(self) -> bool:
        """Take what waits; False when nothing did."""
        refused = False

        def fits(message: TtsMessage) -> bool:
            nonlocal refused
            refused = not self._fits(message)
            return not refused

        taken: list[TtsMessage] = []
        while not (self._over or refused) and (one := self._inbox.take_while(fits, most=1)):
            taken += one
            self._keep(one[0])
        if refused:
            self._end()
        return bool(taken)

    def _keep(self, message: TtsMessage) -> None:
        if isinstance(message, TtsInput):
            self._push(message)
        elif isinstance(message, Told):
            self._texts.append(message)

    def _fits(self, message: TtsMessage) -> bool:
        first = self._first
        if isinstance(message, Told):
            return message.response == first.response and (
                not isinstance(message, AssistantText)
                or is_written_in(message.text, self._language)
            )
        return (
            isinstance(message, TtsInput)
            and goes_on(first, message)
            and is_written_in(message.text, self._language)
        )

    def _push(self, piece: TtsInput) -> None:
        self._unread += self._stream.push(piece.text)
        chars = len(self._stream.original)
        if (
            (piece.ends is Ends.SENTENCE and chars >= ENOUGH_CHARS)
            or (piece.ends is Ends.CLAUSE and chars >= MAX_CHARS)
            or chars >= 1.2 * MAX_CHARS
        ):
            self._end()

    def _end(self) -> None:
        self._unread += self._stream.end()
        self._over = True


class Begun:
    """A text of which the beginning was read already."""

    def __init__(self, begin: str, text: WrittenText) -> None:
        self._begin = begin
        self._text = text

    @property
    def quiet(self) -> bool:
        """Who reads now has to wait."""
        return not self._begin and self._text.quiet

    def read(self, stale: Callable[[], bool]) -> str | None:
        """See `WrittenText`."""
        begin, self._begin = self._begin, ""
        return begin or self._text.read(stale)

    def close(self) -> None:
        """It is read no further."""
        self._begin = ""
        self._text.close()


def goes_on(first: TtsInput, message: TtsInput) -> bool:
    """`message` can be spoken in one call with `first`: of one response, in a language that fits,
    with one voice."""
    return (
        message.response == first.response
        and message.system_note == first.system_note
        and message.voice == first.voice
        and (None in (first.language, message.language) or first.language == message.language)
    )


def wait_for_clause(
    first: TtsInput, inbox: Channel[TtsMessage], texts: Texts, stale: Callable[[], bool]
) -> TtsInput:
    """`first` with what follows it up to the end of its clause, waiting for that; less when it is
    stale, or nothing follows that belongs to it."""

    def belongs(message: TtsMessage) -> bool:
        if isinstance(message, Told):
            return message.response == first.response
        return isinstance(message, TtsInput) and goes_on(first, message)

    whole = first
    while whole.ends is Ends.WORD and not stale():
        inbox.wait(stale)
        taken = inbox.take_while(belongs, most=1)
        if not taken:
            break
        match taken[0]:
            case TtsInput(text=text, language=language, ends=ends):
                text, language = joined([whole.text, text]), whole.language or language
                whole = replace(whole, text=text, language=language, ends=ends)
            case AssistantText() | ToolCall() | ToolResult():
                texts.append(taken[0])
            case _:
                pass
    return whole


def take_waiting(
    first: TtsInput, inbox: Channel[TtsMessage], texts: Texts, max_s: float
) -> list[TtsInput]:
    """What already waits for the same response, in a language that fits, up to so many seconds of
    speech together with `first`."""
    taken: list[TtsInput] = []
    language = first.language
    seconds = estimate_seconds(first.text)

    def fits(message: TtsMessage) -> bool:
        nonlocal language, seconds
        if isinstance(message, Told):
            return message.response == first.response
        if not isinstance(message, TtsInput) or not goes_on(first, message):
            return False
        if None not in (language, message.language) and language != message.language:
            return False
        more = estimate_seconds(message.text)
        if seconds + more > max_s:
            return False
        seconds += more
        language = language or message.language
        return True

    for message in inbox.take_while(fits):
        if isinstance(message, TtsInput):
            taken.append(message)
        elif isinstance(message, Told):
            texts.append(message)
    return taken


def joined(texts: list[str]) -> str:
    """Pieces as one text: a space where two words would run together, none between CJK."""
    whole = ""
    for text in texts:
        if whole and text and not (whole[-1].isspace() or text[0].isspace()):
            whole += "" if cjk_chars(whole[-1] + text[0]) or whole[-1] in "。！？，、" else " "
        whole += text
    return whole
