"""The words in a transcription that a server sends while it writes it. Pure.

Server-sent events as OpenAI sends them (`transcript.text.delta`, `transcript.text.done`), or as
vLLM does (chunks with `choices`, then `[DONE]`).
"""

from __future__ import annotations

import json
import re

from s2s.core.untyped import is_list, is_mapping
from s2s.stt.base import SttError
from s2s.system.remote import reported_error, unexpected

_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")
_SHOWN_BYTES = 4096


class TranscriptionEvents:
    """Reads one answer. Feed it with `push`; `finish` says whether it was one.

    Args:
        url: names the server in errors.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._rest = b""
        self._start = b""
        self._data: list[str] = []
        self._text = ""
        self._begun = self._done = False

    @property
    def text(self) -> str:
        """What was written so far."""
        return self._text

    @property
    def begun(self) -> bool:
        """There were events; else it may be a transcription that came whole."""
        return self._begun

    @property
    def done(self) -> bool:
        """It is whole, whatever becomes of the connection."""
        return self._done

    def push(self, data: bytes) -> bool:
        """Add bytes; True when there are more words.

        Raises:
            SttError: the server reports an error, or sends what is no transcription.
        """
        self._start += data[: max(0, _SHOWN_BYTES - len(self._start))]
        before = self._text
        *whole, self._rest = _LINE_END.split(self._rest + data)
        for line in whole:
            self._read(line.decode("utf-8", errors="replace"))
        return self._text != before

    def finish(self) -> str:
        """The answer is over: its text.

        Raises:
            SttError: it broke off, or was none.
        """
        self._read(self._rest.decode("utf-8", errors="replace"))
        self._rest = b""
        self._read("")
        if not self._done:
            if self._text:
                raise SttError(f"{self._url} ended its transcription in the middle.")
            raise SttError(str(unexpected(self._url, self._start, "a transcription")))
        return self._text

    def _read(self, line: str) -> None:
        """A line; an empty one ends an event, whose data may be of several."""
        field, _, value = line.partition(":")
        if field == "data":
            self._begun = True
            self._data.append(value.removeprefix(" "))
        elif not line and self._data:
            data, self._data = "\n".join(self._data), []
            if data.strip() == "[DONE]":
                self._done = True
            else:
                self._take(data)

    def _take(self, data: str) -> None:
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            event = None
        if (words := reported_error(event)) is not None:
            raise SttError(f"{self._url} failed: {words}")
        if not is_mapping(event):
            raise SttError(str(unexpected(self._url, data.encode(), "a transcription")))
        match event.get("type"):
            case "transcript.text.delta":
                self._text += _text(event.get("delta"))
            case "transcript.text.done":
                self._text = _text(event.get("text")) or self._text
                self._done = True
            case None if is_list(choices := event.get("choices")):
                for choice in choices:
                    delta = choice.get("delta") if is_mapping(choice) else None
                    self._text += _text(delta.get("content")) if is_mapping(delta) else ""
            case _:
                pass  # usage, segments of speakers, and what is yet to be invented


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
