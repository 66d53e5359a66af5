"""What the scenarios share: a person who speaks at given times, and rooms and models that fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from s2s.core.audio import PIPELINE_HZ, Block
from s2s.core.clock import Clock
from s2s.core.events import Heard, Interruption, ResponseDone, ResponseStarted
from s2s.core.markup import Call
from s2s.core.messages import AudioIn
from s2s.core.work import Work
from s2s.llm.base import PLAIN, ChatMessage, ChatOptions, Urgency
from s2s.session.models import Models
from s2s.testing.simulator import SYNTH_HZ, Said, Simulation, tone
from s2s.transport.playback import Playback
from s2s.transport.wav import Script, WavTransport
from s2s.tts.base import AudioChunk, Capabilities

QUESTION = Said(tone(1.5), "what time is it now")
QUESTION_ENDS_S = 0.6 + 1.5
LONG_ANSWER = " ".join(f"Sentence number {n} of a long answer is this." for n in range(8))


def long_answer(_question: str) -> str:
    return LONG_ANSWER


def said_after(wait_s: float, text: str, speech_s: float, hz: float = 230.0) -> Said:
    """`text`, said `wait_s` after the end of what was said before, whatever happens then."""
    silence = np.zeros(int(PIPELINE_HZ * wait_s), dtype=np.float32)
    return Said(np.concatenate([silence, tone(speech_s, hz)]), text, None)


def done(simulation: Simulation) -> list[ResponseDone]:
    return [event for _, event in simulation.events if isinstance(event, ResponseDone)]


def statuses(simulation: Simulation) -> list[str]:
    return [event.status for event in done(simulation)]


def heard(simulation: Simulation) -> list[str]:
    return [e.text for _, e in simulation.events if isinstance(e, Heard) and e.final]


def actions(simulation: Simulation) -> list[str]:
    return [e.action for _, e in simulation.events if isinstance(e, Interruption)]


def prompts(simulation: Simulation) -> list[tuple[str, str]]:
    """The history at the end, without the system prompt: (role, content)."""
    return [(m.role, m.content) for m in simulation.session.history.prompt()[1:]]


def started_s(simulation: Simulation, number: int = 0) -> float:
    """When the answer `number` began to be played."""
    return [at for at, e in simulation.events if isinstance(e, ResponseStarted)][number]


def audible_s(simulation: Simulation, level: float = 0.02) -> list[float]:
    """Seconds at which something is heard of the assistant, to 10 ms."""
    sound = simulation.transport.assistant()
    step = SYNTH_HZ // 100
    whole = sound[: len(sound) // step * step].reshape(-1, step)
    return [float(i) / 100 for i in np.flatnonzero(np.abs(whole).max(axis=1) > level)]


class Room(WavTransport):
    """A room in which no frames come while the microphone is muted, and that may end early."""

    def __init__(
        self,
        script: Script,
        playback: Playback,
        clock: Clock,
        muted: Callable[[float], bool] = lambda _: False,
        ends_s: float = float("inf"),
        half_duplex: bool = False,
    ) -> None:
        super().__init__(script, playback, clock)
        self._muted = muted
        self._ends_s = ends_s
        self._half_duplex = half_duplex

    @property
    def half_duplex(self) -> bool:
        return self._half_duplex

    def run(self, heard: Callable[[AudioIn], None], tick: Callable[[], bool]) -> None:
        def listen(window: AudioIn) -> None:
            at_s = window.end_sample / PIPELINE_HZ
            if not self._muted(at_s):
                heard(window)
            if at_s >= self._ends_s:
                self.stop()

        super().run(listen, tick)


def room(
    *,
    muted: Callable[[float], bool] = lambda _: False,
    ends_s: float = float("inf"),
    half_duplex: bool = False,
) -> Callable[[Script, Playback, Clock], WavTransport]:
    return lambda script, playback, clock: Room(script, playback, clock, muted, ends_s, half_duplex)


@dataclass
class Hung:
    """Calls that do not return for `seconds`, whatever they are told: the first `times` of them."""

    seconds: float
    times: int = 1
    after_tokens: int = 0
    """A language model hangs after so many."""
    calls: int = 0

    def wait(self, clock: Clock) -> None:
        self.calls += 1
        if self.calls <= self.times:
            clock.wait_until(clock.now() + self.seconds)

    def chat(self, models: Models, clock: Clock) -> Models:
        return replace(models, chat=_HungChat(models, clock, self))

    def synthesizer(self, models: Models, clock: Clock) -> Models:
        """Hangs after the first chunk."""
        return replace(models, synthesizer=_HungSynthesizer(models, clock, self))


@dataclass
class _HungChat:
    models: Models
    clock: Clock
    hung: Hung

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        stop: Callable[[], bool] = lambda: False,
        work: Urgency = lambda: Work.FIRST_SOUND,
        options: ChatOptions = PLAIN,
    ) -> Iterator[str | Call]:
        for number, token in enumerate(self.models.chat.stream(messages, stop=stop)):
            if number == self.hung.after_tokens:
                self.hung.wait(self.clock)
            yield token

    reads_ahead = False

    def warm(self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN) -> None:
        """Nothing to load."""

    def ending(
        self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN
    ) -> float | None:
        return None

    def count_tokens(self, text: str) -> int:
        return self.models.chat.count_tokens(text)

    def close(self) -> None:
        """Nothing to free."""


@dataclass
class _HungSynthesizer:
    models: Models
    clock: Clock
    hung: Hung
    capabilities: Capabilities = field(init=False)

    def __post_init__(self) -> None:
        self.capabilities = self.models.synthesizer.capabilities

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        for number, chunk in enumerate(self.models.synthesizer.synthesize(text, stop=stop)):
            yield chunk
            if number == 4:
                self.hung.wait(self.clock)

    def warm(self) -> None:
        """Nothing to load."""

    def close(self) -> None:
        """Nothing to free."""


def noise(seconds: float, level: float = 0.2, seed: int = 0) -> Block:
    """White noise, float32 [samples] at 16 kHz."""
    rng = np.random.default_rng(seed)
    return (level * rng.standard_normal(int(seconds * PIPELINE_HZ))).astype(np.float32)
