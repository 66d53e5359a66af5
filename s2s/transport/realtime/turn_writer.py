"""What is told of the person's turns: speech, commits, items, words."""

from __future__ import annotations

from s2s.core.events import (
    TurnBegan,
    TurnCommitted,
    TurnEnded,
    TurnTranscript,
    TurnTranscriptFailed,
)
from s2s.transport.realtime.send_queue import SendQueue
from s2s.transport.realtime.wire.items import InputAudio, UserMessage
from s2s.transport.realtime.wire.server_events import (
    AudioCommitted,
    DurationUsage,
    InputSpeechStarted,
    InputSpeechStopped,
    ItemAdded,
    ItemDone,
    TimeoutTriggered,
    TranscriptionCompleted,
    TranscriptionDelta,
    TranscriptionError,
    TranscriptionFailed,
)

TurnEvent = TurnBegan | TurnEnded | TurnCommitted | TurnTranscript | TurnTranscriptFailed


class TurnWriter:
    """Tells turns. Knows how much of the words of each was told."""

    def __init__(self, outbox: SendQueue) -> None:
        self._outbox = outbox
        self._told: dict[str, int] = {}
        """Characters, of the turns whose words are not final."""

    def tell(self, event: TurnEvent) -> None:
        match event:
            case TurnBegan():
                started = InputSpeechStarted(
                    audio_start_ms=event.audio_start_ms, item_id=event.item_id
                )
                self._outbox.put(started)
            case TurnEnded():
                self._ended(event)
            case TurnCommitted():
                self._committed(event)
            case TurnTranscript():
                self._words(event)
            case TurnTranscriptFailed():
                self._failed(event.item_id, event.error)

    def _ended(self, event: TurnEnded) -> None:
        stopped = InputSpeechStopped(audio_end_ms=event.audio_end_ms, item_id=event.item_id)
        self._outbox.put(stopped)
        if event.dropped and self._told.get(event.item_id):
            self._failed(event.item_id, event.dropped)  # so that the words shown are withdrawn

    def _committed(self, event: TurnCommitted) -> None:
        item_id, previous = event.item_id, event.previous_item_id
        if event.idle is not None:
            start_ms, end_ms = event.idle
            silence = TimeoutTriggered(
                audio_start_ms=start_ms, audio_end_ms=end_ms, item_id=item_id
            )
            self._outbox.put(silence)
        self._outbox.put(AudioCommitted(item_id=item_id, previous_item_id=previous))
        content = InputAudio(transcript=None)
        item = UserMessage(id=item_id, status="completed", content=[content])
        self._outbox.put(ItemAdded(item=item, previous_item_id=previous))
        self._outbox.put(ItemDone(item=item, previous_item_id=previous))

    def _words(self, event: TurnTranscript) -> None:
        item_id = event.item_id
        told = self._told.get(item_id, 0)
        if len(event.stable) > told:
            delta = TranscriptionDelta(item_id=item_id, content_index=0, delta=event.stable[told:])
            self._outbox.put(delta)
            self._told[item_id] = len(event.stable)
        if event.final:
            self._told.pop(item_id, None)
            completed = TranscriptionCompleted(
                item_id=item_id,
                content_index=0,
                transcript=event.text,
                usage=DurationUsage(seconds=event.duration_s),
            )
            self._outbox.put(completed)

    def _failed(self, item_id: str, why: str) -> None:
        self._told.pop(item_id, None)
        error = TranscriptionError(type="transcription_error", message=why)
        self._outbox.put(TranscriptionFailed(item_id=item_id, content_index=0, error=error))
