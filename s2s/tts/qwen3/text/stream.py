"""Text that is still being written while it is spoken.

Between a writer and the frame loop: the loop takes one token's vector a frame and stands still
when the next token is not there yet. It is never fed a pad before the end of the text, which the
model would take for that end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from s2s.tts.codec_stream.feeding import TextFeed
from s2s.tts.qwen3.interfaces import Floats, Ids, Stale
from s2s.tts.qwen3.text.tokenizer import Tokenizer, TokenStream

__all__ = ["FedText", "TextFeed", "TextSource", "TextTokens"]


class TextSource(Protocol):
    """A text that is still being written, for one reader. Any thread."""

    @property
    def quiet(self) -> bool:
        """Who reads now has to wait."""
        ...

    def read(self, stale: Stale) -> str | None:
        """What was written since the last call, waiting for it; empty once the text has ended.
        None when it is stale or closed."""
        ...

    def close(self) -> None:
        """It is read no further. Idempotent."""
        ...


class TextTokens:
    """Ids of a text in pieces, as they stand within its template: merges happen at the seams."""

    def __init__(
        self, tokenizer: Tokenizer, before: str, after: str, *, skipped: int, dropped: int
    ) -> None:
        """The template's own ids, ``skipped`` at the start and ``dropped`` at the end, are left
        out."""
        self._stream = TokenStream(tokenizer)
        self._after = after
        self._opening = self._stream.push(before)
        self._skipped = skipped
        self._dropped = dropped

    def push(self, text: str) -> list[int]:
        """More text; returns the ids that are settled by it."""
        ids, self._opening = self._opening + self._stream.push(text), []
        left_out = min(self._skipped, len(ids))
        self._skipped -= left_out
        return ids[left_out:]

    def end(self) -> list[int]:
        """No more text; returns the ids that are left."""
        ids = self.push(self._after) + self._stream.end()
        return ids[: len(ids) - self._dropped]


class FedText:
    """The text vectors of a feed, one a token: for one thread at a time."""

    def __init__(
        self,
        feed: TextSource,
        tokens: TextTokens,
        embed: Callable[[Ids], Floats],
        eos: Floats,
        pad: Floats,
    ) -> None:
        self._feed = feed
        self._tokens = tokens
        self._embed = embed
        self._eos = eos
        self._pad = pad
        self._vectors: list[Floats] = []
        self.ended = False
        """All of the text is known."""

    @property
    def tokens(self) -> int:
        """Tokens of the text so far."""
        return len(self._vectors) - self.ended

    def vector(self, token: int, stale: Stale) -> Floats | None:
        """float32 [H] of a token, waiting for it: after the last one comes the end of the text,
        then pads for ever. None when it is stale or the feed was closed."""
        while token >= len(self._vectors) and not self.ended:
            text = self._feed.read(stale)
            if text is None:
                return None
            ids = self._tokens.push(text) if text else self._tokens.end()
            if ids:
                self._vectors += list(self._embed(np.array(ids, np.int64)))
            if not text:
                self.ended = True
                self._vectors.append(self._eos)
        return self._vectors[token] if token < len(self._vectors) else self._pad

    def late(self, token: int) -> bool:
        """A token is not there yet, nor is text it could be in. Asked from any thread."""
        return token >= len(self._vectors) and not self.ended and self._feed.quiet

    def left(self, token: int) -> bool:
        """Something of the text comes after this token, its end included."""
        return not self.ended or token < len(self._vectors) - 1
