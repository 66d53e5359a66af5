"""The assistant as a client's turns see it: what plays is the client's, ended and never paused."""

from __future__ import annotations

from collections.abc import Callable

from s2s.core.events import CancelReason
from s2s.core.messages import ResponseId, TurnId
from s2s.core.state import SessionState
from s2s.llm.conversation import ConversationItems
from s2s.session.client.telling import TurnTelling
from s2s.session.recent_speech import RecentSpeech
from s2s.transport.client_playback import ClientPlayback
from s2s.transport.sender import Sender


class ClientFloor:
    """Ends the answers of the conversation. Safe from any thread."""

    def __init__(
        self,
        playback: ClientPlayback,
        sender: Sender,
        recent: RecentSpeech,
        state: SessionState,
        conversation: ConversationItems,
        telling: TurnTelling,
    ) -> None:
        self.recent = recent
        self._playback = playback
        self._sender = sender
        self._state = state
        self._conversation = conversation
        self._telling = telling

    @property
    def playing(self) -> bool:
        """An answer is being made, or believed to be heard."""
        return self._playback.playing or bool(len(self._sender.responses))

    @property
    def heard_text(self) -> str:
        return self._playback.heard_text

    @property
    def active(self) -> ResponseId | None:
        """The response that is being made."""
        opened = self._sender.responses.all()
        return opened[-1] if opened else None

    def interrupt(self) -> None:
        """The person speaks: what is being answered, and what is owed, is not any more."""
        for turn_id in self._telling.owed:
            self._state.silence(turn_id)
            self._telling.settled(turn_id)
        self.end("turn_detected")

    def end(self, reason: CancelReason) -> None:
        """End the responses that are being made; told before this returns."""
        for response in self._sender.responses.all():
            opened = self._sender.responses.get(response)
            if opened is not None:
                opened.reason = reason
            self._state.silence(response.turn_id)
        self._sender.interrupt()

    def give_up(self, error: str) -> None:
        """Fail the responses that are being made."""
        for response in self._sender.responses.all():
            opened = self._sender.responses.get(response)
            if opened is not None:
                opened.error = error
            self._state.silence(response.turn_id)
        self._playback.clear()
        for report in self._playback.reports():
            self._sender.on_played(report)
        for response in self._sender.responses.all():
            self._sender.responses.end(response, "failed", "", error)

    def forget(self, turn: TurnId) -> None:
        self._conversation.forget(turn)


class HeardFloor:
    """`s2s.turns.base.Floor` for one way to detect turns.

    Args:
        floor: the session's.
        interrupting: called before anything is interrupted.
        overlaps: speech over an answer is judged before it is a turn; else it is one at once.
        interrupts: speech ends an answer.
    """

    def __init__(
        self,
        floor: ClientFloor,
        interrupting: Callable[[], None],
        *,
        overlaps: bool,
        interrupts: bool,
    ) -> None:
        self._floor = floor
        self._interrupting = interrupting
        self._overlaps = overlaps
        self._interrupts = interrupts

    @property
    def playing(self) -> bool:
        return self._overlaps and self._floor.playing

    @property
    def asks(self) -> bool:
        """Every word counts where nothing is judged: "stop" is an answer like any other."""
        return not self._overlaps or self._floor.recent.ends_in_question

    @property
    def half_duplex(self) -> bool:
        return False

    @property
    def can_take_back(self) -> bool:
        return False

    def is_own_voice(self, text: str) -> bool:
        return self._overlaps and self._floor.recent.echoes(text)

    def other_words(self, text: str) -> str:
        return self._floor.recent.others(text, self._floor.heard_text)

    def own_voice_heard(self) -> None:
        """The client cancels its own echo."""

    def duck(self) -> None:
        """The client's loudspeaker is not ours."""

    def restore(self) -> None:
        """Nothing was turned down."""

    def pause(self) -> None:
        """A client cannot go on at the sample: it is over."""
        self.interrupt()

    def interrupt(self) -> None:
        self._interrupting()
        if self._interrupts:
            self._floor.interrupt()

    def forget(self, turn: TurnId) -> None:
        self._floor.forget(turn)

    def take_back(self) -> None:
        """Nothing begins provisionally."""
