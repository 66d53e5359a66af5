"""The assistant as the turns stage sees it: whether it speaks, and how to make it be quiet."""

from __future__ import annotations

from collections.abc import Callable

from s2s.core.messages import TurnId
from s2s.core.state import SessionState
from s2s.session.recent_speech import RecentSpeech
from s2s.transport.base import Transport
from s2s.transport.playback import PlaybackMode
from s2s.transport.sender import Sender


class AssistantFloor:
    """`turns.base.Floor` over a session's playback and sender. Safe from any thread."""

    def __init__(
        self,
        transport: Transport,
        sender: Sender,
        recent: RecentSpeech,
        state: SessionState,
        forget: Callable[[TurnId], None],
    ) -> None:
        self._transport = transport
        self._playback = transport.playback
        self._sender = sender
        self._recent = recent
        self._state = state
        self._forget = forget

    @property
    def playing(self) -> bool:
        return self._playback.playing

    @property
    def asks(self) -> bool:
        return self._recent.ends_in_question

    @property
    def half_duplex(self) -> bool:
        return self._transport.half_duplex

    @property
    def can_take_back(self) -> bool:
        return self._transport.can_take_back

    def is_own_voice(self, text: str) -> bool:
        return self._recent.echoes(text)

    def other_words(self, text: str) -> str:
        return self._recent.others(text, self._playback.heard_text)

    def own_voice_heard(self) -> None:
        self._transport.own_voice_heard()

    def duck(self) -> None:
        self._playback.set_output(PlaybackMode.DUCKED)

    def restore(self) -> None:
        self._playback.set_output(PlaybackMode.NORMAL)

    def pause(self) -> None:
        self._playback.set_output(PlaybackMode.PAUSED)

    def interrupt(self) -> None:
        """Make all work stale first, then silence it, then wake who waits for a grace.

        An answer that was still provisional was given: who stops it does not go on with the turn.
        """
        self._state.turns.commit_provisional()
        self._state.scope.cancel()
        self._sender.interrupt()
        self._state.turns.wake()

    def forget(self, turn: TurnId) -> None:
        self._forget(turn)

    def take_back(self) -> None:
        self._sender.take_back()

    def give_up(self, turn: TurnId | None, error: str) -> None:
        """Fail the answer, to `turn` if none has begun; what made it is stale, should it come back.

        The person hears that it failed.
        """
        self._state.scope.cancel()
        self._state.turns.wake()
        self._sender.give_up(turn, error)
