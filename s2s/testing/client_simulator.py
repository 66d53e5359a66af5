"""A client that talks to a session in simulated time: real stages, scripted models, no wire."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block
from s2s.core.clock import ManualClock
from s2s.core.control import Answering, Hearing, ResponseRequest
from s2s.core.events import Event, ResponseDone
from s2s.session.client.session import ClientSession, ClientSessions
from s2s.session.config import SessionConfig
from s2s.session.models import Models
from s2s.testing.simulator import (
    SYNTH_HZ,
    EnergyVad,
    ModelCosts,
    Said,
    ScriptedChat,
    ScriptedEndOfTurn,
    ScriptedSynthesizer,
    ScriptedTranscriber,
    ScriptWords,
)
from s2s.transport.client_playback import ClientSound
from s2s.transport.client_transport import ClientTransport

MESSAGE_SAMPLES = 3 * BLOCK_SAMPLES
"""A client sends about a tenth of a second at once."""

Told = Event | ClientSound
T = TypeVar("T")


@dataclass
class ClientSimulation:
    """A client and its session. Use it within `running`; what happened is in `told`.

    What the client says begins at a window's border: the scripted models know their words by the
    samples of whole windows.
    """

    said: Sequence[Said] = ()
    answer: Callable[[str], str] = lambda question: f"You said {question}. That is fine with me."
    costs: ModelCosts = field(default_factory=ModelCosts)
    config: SessionConfig = field(default_factory=SessionConfig)
    answering: Answering = field(default_factory=lambda: Answering("Be brief."))
    hearing: Hearing = field(default_factory=Hearing)
    models: Callable[[Models], Models] = lambda models: models
    """Replaces scripted models, for example by failing ones."""
    told: list[tuple[float, Told]] = field(default_factory=list[tuple[float, Told]])

    def __post_init__(self) -> None:
        self._unread = 0
        self.clock = ManualClock()
        words = ScriptWords(self.said)
        ends = {each.text.split()[-1]: 0.97 for each in self.said if each.text.split()}
        self.chat = ScriptedChat(self.clock, self.costs, self.answer)
        self.scripted = self.models(
            Models(
                EnergyVad(),
                ScriptedEndOfTurn(words, ends, self.clock, self.costs.end_of_turn_s),
                ScriptedTranscriber(words, self.clock, self.costs.stt_s),
                self.chat,
                ScriptedSynthesizer(self.clock, self.costs),
            )
        )
        self.sessions = ClientSessions(self.scripted, self.config, clock=lambda: self.clock)

    @contextmanager
    def running(
        self, session_id: str = "a", kept: object | None = None
    ) -> Generator[ClientSimulation]:
        """The session, from its beginning to its end; `kept` is of one before it."""
        self.transport = ClientTransport(self.clock, SYNTH_HZ, self._on_sound)
        self.session: ClientSession = self.sessions(
            self.transport,
            self._note,
            session_id=session_id,
            answering=self.answering,
            hearing=self.hearing,
            kept=kept,
        )
        try:
            yield self
        finally:
            self.session.close()

    # --- what the client does --------------------------------------------------------------------

    def say(self, said: Said) -> None:
        """Say it, in real time."""
        self.send(said.audio)

    def send(self, audio: Block) -> None:
        """Send float32 [samples] at 16 kHz in real time, in messages; to a window's border."""
        missing = -len(audio) % BLOCK_SAMPLES
        whole = np.concatenate([audio, np.zeros(missing, dtype=np.float32)])
        for start in range(0, len(whole), MESSAGE_SAMPLES):
            message = whole[start : start + MESSAGE_SAMPLES]
            self.wait(len(message) / PIPELINE_HZ)
            assert self.transport.hear(message)

    def silence(self, seconds: float) -> None:
        """Say nothing, into an open microphone."""
        self.send(np.zeros(round(seconds * PIPELINE_HZ), dtype=np.float32))

    def wait(self, seconds: float) -> None:
        """Send nothing. What came has been read, ten times a second."""
        until_s = self.clock.now() + seconds
        while (now_s := self.clock.now()) < until_s:
            self.clock.wait_until(min(until_s, now_s + 0.1))
            unread, self._unread = self._unread, 0
            self.transport.sent(unread)

    def silence_until_done(self, responses: int = 1, *, at_most_s: float = 60.0) -> None:
        """Say nothing until so many responses have ended since the beginning."""
        until_s = self.clock.now() + at_most_s
        while len(self.all(ResponseDone)) < responses:
            assert self.clock.now() < until_s, f"no {responses} responses in {at_most_s} s"
            self.silence(0.1)

    def ask(self, key: str) -> None:
        """Ask for a response as the session's settings have it."""
        self.session.respond(ResponseRequest(key, self.answering))

    # --- what it was told ------------------------------------------------------------------------

    def all(self, kind: type[T]) -> list[T]:
        """What was told of this kind, in order."""
        return [each for _, each in self.told if isinstance(each, kind)]

    def when(self, kind: type[Told]) -> list[float]:
        """When it was told."""
        return [at_s for at_s, each in self.told if isinstance(each, kind)]

    def names(self, *but: type[Told]) -> list[str]:
        """The kinds of what was told, in order; of the same in a row one."""
        names = [type(each).__name__ for _, each in self.told if not isinstance(each, but)]
        return [name for at, name in enumerate(names) if at == 0 or names[at - 1] != name]

    def _note(self, event: Event) -> None:
        self.told.append((round(self.clock.now(), 6), event))

    def _on_sound(self, sound: ClientSound) -> None:
        self._unread += len(sound.block)
        self.told.append((round(self.clock.now(), 6), sound))
