"""A conversation in simulated time: real handlers, a scripted person, models that only take time.

The person's audio may be real recordings; the scripted models know what was said in it and cost
what they are told to cost on a `ManualClock`. A conversation of minutes runs in well under a
second, and its events are the same every time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block
from s2s.core.clock import Clock, ManualClock
from s2s.core.events import Event
from s2s.core.metrics import Metrics
from s2s.core.work import Work
from s2s.llm.base import PLAIN, ChatMessage, ChatOptions, Urgency
from s2s.records.ends import SessionEnds
from s2s.session.config import SessionConfig
from s2s.session.models import Models
from s2s.session.session import Session
from s2s.stt.base import Transcription
from s2s.transport.playback import Playback
from s2s.transport.wav import Line, Script, WavTransport
from s2s.tts.base import AudioChunk, Capabilities

SYNTH_HZ = 24_000
CHARS_PER_S = 15.0


@dataclass(frozen=True, slots=True)
class Said:
    """An utterance of the script, and its words in the order in which they are spoken."""

    audio: Block
    """float32 [samples] at 16 kHz."""
    text: str
    after_quiet_s: float | None = 0.6


@dataclass(frozen=True, slots=True)
class ModelCosts:
    """What the models take, in seconds of simulated time."""

    stt_s: float = 0.08
    end_of_turn_s: float = 0.06
    first_token_s: float = 0.09
    token_s: float = 0.012
    tts_rtf: float = 0.05
    tts_first_s: float = 0.02


class ScriptWords:
    """Knows which words are in a piece of the script's audio, by the samples themselves."""

    def __init__(self, said: Sequence[Said]) -> None:
        self._words: list[tuple[str, ...]] = []
        self._places: dict[bytes, tuple[int, float]] = {}
        for number, each in enumerate(said):
            self._words.append(tuple(each.text.split()))
            loud = np.flatnonzero(np.abs(each.audio) > 0.02)
            first, last = (int(loud[0]), int(loud[-1])) if len(loud) else (0, 1)
            for start in range(0, len(each.audio), BLOCK_SAMPLES):
                window = np.zeros(BLOCK_SAMPLES, dtype=np.float32)
                piece = each.audio[start : start + BLOCK_SAMPLES]
                window[: len(piece)] = piece
                share = (start + BLOCK_SAMPLES - first) / max(1, last - first)
                if window.any():
                    self._places[window.tobytes()] = (number, min(1.0, max(0.0, share)))

    def heard(self, audio: Block) -> str:
        """The words that end within `audio`, float32 [samples].

        It ends at a window's border, or, when it was split off a longer turn, within a window.
        """
        split = len(audio) - BLOCK_SAMPLES // 2
        return self._heard(audio) or self._heard(audio[: max(0, split)])

    def _heard(self, audio: Block) -> str:
        spans: dict[int, tuple[float, float]] = {}
        for start in range(len(audio) % BLOCK_SAMPLES, len(audio), BLOCK_SAMPLES):
            place = self._places.get(audio[start : start + BLOCK_SAMPLES].tobytes())
            if place is not None:
                number, share = place
                low, high = spans.get(number, (share, share))
                spans[number] = (min(low, share), max(high, share))
        words: list[str] = []
        for number in spans:  # in the order in which they are heard
            low, high = spans[number]
            every = self._words[number]
            words += every[int(low * len(every) + 0.5) : int(high * len(every) + 0.5)]
        return " ".join(words)


class EnergyVad:
    """Speech is what is loud. It keeps no state, so one serves every stream."""

    def __init__(self, threshold: float = 0.01) -> None:
        self._threshold = threshold

    def open(self) -> EnergyVad:
        return self

    def probability(self, block: Block) -> float:
        power = float(np.dot(block, block)) / len(block)
        return 0.95 if power > self._threshold**2 else 0.02

    def reset(self) -> None:
        """Nothing to forget."""


@dataclass(slots=True)
class ScriptedEndOfTurn:
    """The turn is over when its last word was said."""

    words: ScriptWords
    last_words: Mapping[str, float]
    """Probability by the last word heard; other endings are incomplete."""
    clock: Clock
    cost_s: float

    def probability(self, audio: Block) -> float:
        self.clock.wait_until(self.clock.now() + self.cost_s)
        heard = self.words.heard(audio).split()
        return self.last_words.get(heard[-1], 0.03) if heard else 0.5


@dataclass(slots=True)
class ScriptedTranscriber:
    """Writes down exactly what the script says."""

    words: ScriptWords
    clock: Clock
    cost_s: float

    def transcribe(
        self,
        audio: Block,
        *,
        language: str | None = None,
        earlier: Transcription | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        self.clock.wait_until(self.clock.now() + self.cost_s)
        return Transcription(self.words.heard(audio), "en")

    def warm(self) -> None:
        """Nothing to load."""

    def close(self) -> None:
        """Nothing to free."""


@dataclass(slots=True)
class ScriptedChat:
    """Answers with the script's answers in turn, or echoes the question at length."""

    clock: Clock
    costs: ModelCosts
    answer: Callable[[str], str]
    prompts: list[list[ChatMessage]] = field(default_factory=list)
    asked: list[ChatOptions] = field(default_factory=list)
    """What each answer might be."""

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        stop: Callable[[], bool] = lambda: False,
        work: Urgency = lambda: Work.FIRST_SOUND,
        options: ChatOptions = PLAIN,
    ) -> Iterator[str]:
        self.prompts.append(list(messages))
        self.asked.append(options)
        self.clock.wait_until(self.clock.now() + self.costs.first_token_s)
        words = self.answer(messages[-1].content).split(" ")[: options.max_tokens]
        for index, word in enumerate(words):
            if stop():
                return
            yield word if index == len(words) - 1 else f"{word} "
            self.clock.wait_until(self.clock.now() + self.costs.token_s)

    @property
    def reads_ahead(self) -> bool:
        return True

    def warm(self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN) -> None:
        """Nothing to load."""

    def ending(
        self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN
    ) -> float | None:
        """It has no opinion."""
        return None

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def close(self) -> None:
        """Nothing to free."""


@dataclass(slots=True)
class ScriptedSynthesizer:
    """Hums: as long as the text would take, in chunks of 80 ms, at a given real-time factor."""

    clock: Clock
    costs: ModelCosts

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(SYNTH_HZ, streaming=True, languages=("en",))

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        self.clock.wait_until(self.clock.now() + self.costs.tts_first_s)
        chunk = SYNTH_HZ * 80 // 1000
        total = max(chunk, int(len(text) / CHARS_PER_S * SYNTH_HZ))
        tone = 0.1 * np.sin(2 * np.pi * 220 * np.arange(total) / SYNTH_HZ)
        for start in range(0, total, chunk):
            if stop():
                return
            samples = tone[start : start + chunk].astype(np.float32)
            self.clock.wait_until(self.clock.now() + self.costs.tts_rtf * len(samples) / SYNTH_HZ)
            yield AudioChunk(samples, min(len(text), int(len(text) * (start + chunk) / total)))

    def warm(self) -> None:
        """Nothing to load."""

    def close(self) -> None:
        """Nothing to free."""


@dataclass
class Simulation:
    """One scripted conversation and what came of it."""

    said: Sequence[Said]
    answer: Callable[[str], str] = lambda question: f"You said {question}. That is fine with me."
    costs: ModelCosts = field(default_factory=ModelCosts)
    config: SessionConfig = field(default_factory=SessionConfig)
    models: Callable[[Models, Clock], Models] = lambda models, _clock: models
    """Replaces scripted models, for example by real ones or failing ones."""
    room: Callable[[Script, Playback, Clock], WavTransport] = WavTransport
    """Where it takes place: for example one whose microphone can be muted."""
    ends: Callable[[SessionEnds, Playback, Clock], SessionEnds] = lambda ends, _playback, _clock: (
        ends
    )
    """Puts something between the session and its ends, for example what records it."""
    events: list[tuple[float, Event]] = field(default_factory=list)

    def run(self) -> Simulation:
        """Hold the conversation; afterwards `events`, `transport` and `session` tell of it."""
        self.clock = ManualClock()
        words = ScriptWords(self.said)
        ends = {each.text.split()[-1]: 0.97 for each in self.said if each.text.split()}
        self.chat = ScriptedChat(self.clock, self.costs, self.answer)
        scripted = Models(
            EnergyVad(),
            ScriptedEndOfTurn(words, ends, self.clock, self.costs.end_of_turn_s),
            ScriptedTranscriber(words, self.clock, self.costs.stt_s),
            self.chat,
            ScriptedSynthesizer(self.clock, self.costs),
        )
        utterances = [Line(each.audio, each.after_quiet_s, each.text) for each in self.said]
        self.script = Script(utterances)
        self.metrics = Metrics()
        playback = Playback(self.clock, SYNTH_HZ)
        self.transport = self.room(self.script, playback, self.clock)
        ends = SessionEnds(
            self.models(scripted, self.clock),
            self.transport,
            lambda event: self.events.append((round(self.clock.now(), 6), event)),
        )
        ends = self.ends(ends, playback, self.clock)
        self.session = Session(
            ends.models,
            ends.transport,
            self.config,
            events=ends.events,
            clock=self.clock,
            metrics=self.metrics,
        )
        self.session.run()
        return self

    def trace(self) -> list[str]:
        """The events as text, for comparison."""
        return [f"{at_s:9.3f} {event}" for at_s, event in self.events]


def tone(seconds: float, hz: float = 180.0, level: float = 0.2) -> Block:
    """A voice-like hum, float32 [samples] at 16 kHz; no two windows of it are equal."""
    t = np.arange(int(seconds * PIPELINE_HZ)) / PIPELINE_HZ
    wobble = 1.0 + 0.3 * np.sin(2 * np.pi * 3.1 * t) + 0.01 * t
    return (level * wobble * np.sin(2 * np.pi * (hz + 2.0 * t) * t)).astype(np.float32)


def with_pauses(said: Said, *pauses: tuple[float, float]) -> Said:
    """The same with silence put in: (share of the audio, seconds), in order."""
    parts: list[Block] = []
    done = 0
    for share, seconds in pauses:
        cut = int(share * len(said.audio)) // BLOCK_SAMPLES * BLOCK_SAMPLES
        parts += [said.audio[done:cut], np.zeros(int(seconds * PIPELINE_HZ), dtype=np.float32)]
        done = cut
    parts.append(said.audio[done:])
    return replace(said, audio=np.concatenate(parts))
