"""Partial transcripts on their way, and the final one that the outside is told.

What the person said is final once the answer begins: until then the turn may be re-opened.
"""

from __future__ import annotations

import logging
from collections import OrderedDict

from s2s.core.channel import Channel
from s2s.core.events import Event, EventSink, Heard, ResponseDone, ResponseStarted
from s2s.core.messages import LlmInput, PartialTranscript, SttInput
from s2s.turns.handler import TurnInput

log = logging.getLogger(__name__)

MAX_TURNS = 64
"""Turns whose words are kept. Only those that were not answered wait here: noises, for example."""


class FinalTranscripts:
    """Passes events on, and before each `ResponseStarted` what it answers, as `Heard(final)`.

    Partials come on the recogniser's thread, events on any; each turn is seen by one at a time.
    """

    def __init__(self, events: EventSink) -> None:
        self._events = events
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._told = ""
        """The turn whose words were told last: a withdrawn answer begins a second time."""

    def on_partial(self, partial: PartialTranscript) -> None:
        """Remember the newest words of a turn."""
        self._texts[partial.turn.turn_id] = partial.text
        while len(self._texts) > MAX_TURNS:
            self._texts.popitem(last=False)

    def on_event(self, event: Event) -> None:
        """Pass `event` on."""
        if isinstance(event, ResponseStarted):
            turn = event.response.turn
            if turn.turn_id in self._texts or turn.turn_id != self._told:
                self._events(Heard(turn, self._texts.get(turn.turn_id, ""), final=True))
            self._told = turn.turn_id
        elif isinstance(event, ResponseDone):
            self._texts.pop(event.response.turn_id, None)
        self._events(event)


class PartialRoute:
    """Takes partial transcripts to the turns, and to the language model to read ahead.

    Called on the recogniser's thread, which must not wait: a stage that is behind is passed over.
    """

    def __init__(
        self,
        finals: FinalTranscripts,
        turns: Channel[TurnInput],
        speech: Channel[SttInput],
        transcripts: Channel[LlmInput],
    ) -> None:
        self._finals = finals
        self._turns = turns
        self._speech = speech
        self._transcripts = transcripts

    def send(self, partial: PartialTranscript) -> None:
        """Deliver `partial` where there is room for it."""
        self._finals.on_partial(partial)
        if not self._turns.offer(partial):
            log.debug("turns is behind: a partial transcript was skipped")
        if not len(self._transcripts) and not len(self._speech):
            self._transcripts.offer(partial)  # to read ahead, while nothing newer is on its way
