"""The ends of two stages in a client's session: who is told of words, and where sound goes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from s2s.core.handler import Handler
from s2s.core.messages import LlmInput, SenderInput, SttInput, Transcript, TranscriptFailed
from s2s.session.client.telling import TurnTelling
from s2s.transport.sender import Sender


class TellingStt(Handler[SttInput, LlmInput]):
    """The stage `inner`, whose transcripts the client is told."""

    name = "stt"

    def __init__(self, inner: Handler[SttInput, LlmInput], telling: TurnTelling) -> None:
        self._inner = inner
        self._telling = telling

    def process(self, message: SttInput) -> Iterable[LlmInput]:
        return self._told(self._inner.process(message))

    def failed(self, message: SttInput | None, error: Exception) -> Iterable[LlmInput]:
        return self._told(self._inner.failed(message, error))

    def _told(self, outputs: Iterable[LlmInput]) -> Iterator[LlmInput]:
        for output in outputs:
            if isinstance(output, Transcript):
                self._telling.words(output.turn, output.text)
            elif isinstance(output, TranscriptFailed):
                self._telling.failed(output.turn, output.error)
            yield output


class SenderOutlet:
    """The sender in the thread of the stage before it: it never waits for a loudspeaker, and one
    thread less is one thread less for each of many sessions."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def put(self, item: SenderInput, /) -> None:
        for _ in self._sender.process(item):
            pass

    def close(self) -> None:
        """The session ends what is still open."""
