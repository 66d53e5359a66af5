"""Random conversations, and what must hold in every one of them.

A seed gives a conversation: utterances with pauses in them, interruptions at random times, models
of random speed, sometimes failing, ends of turns that are sometimes undecided. `violations` looks
for what may never happen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block
from s2s.core.clock import Clock
from s2s.core.events import (
    AnswerText,
    Event,
    Interruption,
    NothingSpoken,
    ProvisionalStart,
    ResponseDone,
    ResponseStarted,
    SpeechStarted,
    TakenBack,
    ToolCalled,
)
from s2s.core.messages import ResponseId
from s2s.session.config import SessionConfig
from s2s.session.models import Models
from s2s.session.session import stages_alive
from s2s.stt.base import Transcriber, Transcription
from s2s.testing.simulator import SYNTH_HZ, ModelCosts, Said, Simulation, tone, with_pauses
from s2s.transport.wav import WavTransport
from s2s.turns.base import TurnEnd
from s2s.turns.config import TurnsConfig
from s2s.turns.provisional import ProvisionalConfig

QUESTIONS = (
    "what time is it now in london",
    "tell me about the weather tomorrow",
    "how far is the moon from here",
    "please turn on the kitchen lights",
    "who wrote the play about the prince",
)
OVERLAPS = ("yeah", "mm-hmm", "okay", "stop", "no wait tell me something else", "what about mars")
SILENCE_MS = 100
"""The loudspeaker is silent this long after a cancel at the latest."""
TAKEN_BACK_MS = 60
"""Sound that is provisional is silent this long after the first window of the voice that comes
back, at the latest; longer where the end-of-turn model is slower than a window, if it is asked
again in that moment."""


class RandomError(RuntimeError):
    """A scripted failure."""


def conversation(seed: int) -> Simulation:
    """The conversation of `seed`; not yet run."""
    rng = np.random.default_rng(seed)
    said: list[Said] = []
    for _ in range(rng.integers(1, 4)):
        words = str(rng.choice(QUESTIONS))
        question = Said(tone(rng.uniform(0.8, 1.6), rng.uniform(120, 240)), words)
        pauses = [(share, rng.uniform(0.1, 1.6)) for share in np.sort(rng.uniform(0.2, 0.8, 2))]
        said.append(with_pauses(question, *pauses[: rng.integers(0, 3)]))
        if rng.random() < 0.4:
            said.append(_noise(rng))
        if rng.random() < 0.5:
            said.append(_overlap(rng))
    quick = rng.random() < 0.5
    costs = ModelCosts(
        stt_s=rng.uniform(0.02, 0.1 if quick else 0.4),
        end_of_turn_s=rng.uniform(0.0, 0.2),
        first_token_s=rng.uniform(0.02, 0.1 if quick else 1.0),
        token_s=rng.uniform(0.002, 0.1),
        tts_rtf=rng.uniform(0.01, 1.2),
        tts_first_s=rng.uniform(0.01, 0.3),
    )
    sentences = int(rng.integers(1, 5))
    answer = " ".join(f"This is sentence {n} of the answer, as it is." for n in range(sentences))
    speculative_tts = bool(rng.random() < 0.8)
    fails, undecided = rng.random() < 0.15, rng.random() < 0.6
    early = ProvisionalConfig(enabled=bool(rng.random() < 0.8), lead=rng.uniform(0.5, 5.0))
    config = SessionConfig(TurnsConfig(provisional=early), speculative_tts=speculative_tts)

    def models(scripted: Models, _clock: Clock) -> Models:
        changed = _failing(scripted, rng) if fails else scripted
        return _undecided(changed, rng) if undecided else changed

    return Simulation(
        said,
        answer=lambda _: answer,
        costs=costs,
        config=config,
        models=models,
        room=_OverAWire if rng.random() < 0.2 else WavTransport,
    )


def _overlap(rng: np.random.Generator) -> Said:
    """Something said at a random time, whatever the assistant does then."""
    words = str(rng.choice(OVERLAPS))
    wait = np.zeros(int(rng.uniform(0.0, 3.0) * PIPELINE_HZ), dtype=np.float32)
    voice = tone(0.1 + 0.25 * len(words.split()), rng.uniform(120, 240))
    return Said(np.concatenate([wait, voice]), words, None)


def _noise(rng: np.random.Generator) -> Said:
    """Coughs, soon after what was said: too short for speech, or hardly long enough."""
    parts: list[Block] = []
    for _ in range(rng.integers(1, 4)):
        parts.append(np.zeros(int(rng.uniform(0.2, 0.6) * PIPELINE_HZ), dtype=np.float32))
        parts.append(tone(rng.uniform(0.02, 0.08), rng.uniform(300, 500)))
    return Said(np.concatenate(parts), "", None)


class _OverAWire(WavTransport):
    """A transport whose client owns playback: what was sent there cannot be taken back."""

    @property
    def can_take_back(self) -> bool:
        return False


@dataclass(slots=True)
class _Undecided:
    """An end-of-turn model that takes as long as `inner`, and may say anything."""

    inner: TurnEnd
    rng: np.random.Generator

    def probability(self, audio: Block) -> float:
        self.inner.probability(audio)
        return float(1.0 / (1.0 + np.exp(-self.rng.uniform(-4.0, 5.0))))


def _undecided(models: Models, rng: np.random.Generator) -> Models:
    assert models.end_of_turn is not None
    return replace(models, end_of_turn=_Undecided(models.end_of_turn, rng))


class FailingTranscriber:
    def __init__(self, inner: Transcriber, fails: Iterator[bool]) -> None:
        self._inner = inner
        self._fails = fails
        self.warm, self.close = inner.warm, inner.close

    def transcribe(self, audio: np.ndarray, **options: object) -> Transcription:
        if next(self._fails):
            raise RandomError("transcriber")
        return self._inner.transcribe(audio)


def _failing(models: Models, rng: np.random.Generator) -> Models:
    fails = iter(lambda: bool(rng.random() < 0.2), None)
    return replace(models, transcriber=FailingTranscriber(models.transcriber, fails))


def violations(simulation: Simulation) -> list[str]:
    """What went wrong in a conversation that was run; empty when nothing did."""
    found = [
        *_ends(simulation.events),
        *_one_at_a_time(simulation.events),
        *_silence_after_cancel(simulation),
        *_provisional_starts(simulation),
        *_nothing_after_a_commit(simulation.events),
        *_silence_for_a_voice(simulation),
        *_history_is_what_was_heard(simulation),
    ]
    found += [
        f"channel {stage.inbox.name} held {stage.inbox.peak} of {stage.inbox.capacity}"
        for stage in simulation.session.stages
        if stage.inbox.peak > stage.inbox.capacity
    ]
    found += [f"thread {name} is left" for name in stages_alive()]
    return found


def _ends(events: list[tuple[float, Event]]) -> Iterator[str]:
    """Each response is opened once, ended once, and says nothing before or after."""
    started = Counter(e.response for _, e in events if isinstance(e, ResponseStarted))
    ended = Counter(e.response for _, e in events if isinstance(e, ResponseDone))
    for response in started.keys() | ended.keys():
        if started[response] != 1 or ended[response] != 1:
            yield f"{response}: started {started[response]} times, ended {ended[response]} times"
    live: set[object] = set()
    for at_s, event in events:
        match event:
            case ResponseStarted(response=response):
                live.add(response)
            case ResponseDone(response=response):
                live.discard(response)
            case AnswerText(response=response) if response not in live:
                yield f"{at_s:.3f}: {response} says something while it is not open"
            case _:
                pass


def _one_at_a_time(events: list[tuple[float, Event]]) -> Iterator[str]:
    """No turn has two answers open at once, provisional ones counted."""
    open_now: set[ResponseId] = set()
    for at_s, event in events:
        match event:
            case ProvisionalStart(response=response) | ResponseStarted(response=response):
                others = open_now - {response}
                if any(other.turn_id == response.turn_id for other in others):
                    yield f"{at_s:.3f}: two answers to {response.turn_id} are open"
                open_now.add(response)
            case ResponseDone(response=response) | TakenBack(response=response):
                open_now.discard(response)
            case _:
                pass


def _silence_after_cancel(simulation: Simulation) -> Iterator[str]:
    """The loudspeaker is silent from soon after a cancel to the next response."""
    sound = simulation.transport.assistant()
    starts = _starts(simulation.events)
    for at_s, event in simulation.events:
        if isinstance(event, Interruption) and event.action == "cancel":
            until_s = min((s for s in starts if s >= at_s), default=len(sound) / SYNTH_HZ)
            first, last = (int(t * SYNTH_HZ) for t in (at_s + SILENCE_MS / 1000, until_s))
            if sound[first:last].any():
                yield f"{at_s:.3f}: cancelled, and still heard after {SILENCE_MS} ms"


def _starts(events: list[tuple[float, Event]]) -> list[float]:
    """When answers begin to be heard at the earliest."""
    return [at_s for at_s, e in events if isinstance(e, ProvisionalStart | ResponseStarted)]


def _provisional_starts(simulation: Simulation) -> Iterator[str]:
    """Each is committed or taken back, once; only then something is told of it, or nothing is."""
    fates: dict[ResponseId, str] = {}
    for at_s, event in simulation.events:
        match event:
            case ProvisionalStart(response=response):
                if not simulation.transport.can_take_back:
                    yield f"{at_s:.3f}: {response} is provisional over a wire"
                if response in fates:
                    yield f"{at_s:.3f}: {response} began before"
                fates[response] = "open"
            case TakenBack(response=response):
                if fates.get(response) != "open":
                    yield f"{at_s:.3f}: {response} is taken back, and was not provisional"
                fates[response] = "taken back"
            case ResponseStarted(response=response):
                if fates.get(response, "open") != "open":
                    yield f"{at_s:.3f}: {response} starts after it was taken back"
                fates[response] = "committed"
            case (
                AnswerText(response=response)
                | ToolCalled(response=response)
                | NothingSpoken(response=response)
                | ResponseDone(response=response)
            ) if fates.get(response) != "committed":
                yield f"{at_s:.3f}: {response} is told of: {event}"
            case _:
                pass
    yield from (f"{response} stays provisional" for response in fates if fates[response] == "open")


def _nothing_after_a_commit(events: list[tuple[float, Event]]) -> Iterator[str]:
    """A turn that was answered is not re-opened."""
    answered: set[str] = set()
    for at_s, event in events:
        match event:
            case ResponseStarted(response=response):
                answered.add(response.turn_id)
            case SpeechStarted(turn=turn) if turn.turn_revision and turn.turn_id in answered:
                yield f"{at_s:.3f}: {turn} goes on after its answer was certain"
            case _:
                pass


def _silence_for_a_voice(simulation: Simulation) -> Iterator[str]:
    """What is provisional is silent soon after the voice comes back, until it goes on or another
    answer begins."""
    sound = simulation.transport.assistant()
    judging_s = max(0.0, simulation.costs.end_of_turn_s - BLOCK_SAMPLES / PIPELINE_HZ)
    again = [
        at_s
        for at_s, event in simulation.events
        if isinstance(event, ProvisionalStart | ResponseStarted)
        or (isinstance(event, Interruption) and event.action == "restore")
    ]
    begun_s = 0.0
    for at_s, event in simulation.events:
        if isinstance(event, ProvisionalStart):
            begun_s = at_s
        elif isinstance(event, Interruption) and event.action == "silence":
            heard_s = max(begun_s, (event.sample + BLOCK_SAMPLES) / PIPELINE_HZ)
            until_s = min((s for s in again if s >= at_s), default=len(sound) / SYNTH_HZ)
            silent_s = heard_s + TAKEN_BACK_MS / 1000 + judging_s
            first, last = (int(t * SYNTH_HZ) for t in (silent_s, until_s))
            if sound[first:last].any():
                yield f"{at_s:.3f}: the person goes on, and it still speaks"


def _history_is_what_was_heard(simulation: Simulation) -> Iterator[str]:
    """The history holds the heard part of each answer, word for word, and nothing else."""
    done = [e for _, e in simulation.events if isinstance(e, ResponseDone)]
    heard = [" ".join(e.played.split()) for e in done if e.played.strip()]
    messages = simulation.session.history.prompt()
    answers = [m for m in messages if m.role == "assistant" and not m.calls]
    held = [" ".join(m.content.split()) for m in answers]
    if heard[-len(held) :] != held and held:
        yield f"history holds {held}, heard was {heard}"
    text: dict[object, str] = {}
    for _, event in simulation.events:
        if isinstance(event, AnswerText):
            text[event.response] = text.get(event.response, "") + event.text
    taken_back = [e.response for _, e in simulation.events if isinstance(e, TakenBack)]
    if any(event.response in taken_back for event in done):
        yield f"an answer that was taken back is done: {taken_back}"
    for event in done:
        if not text.get(event.response, "").startswith(event.played):
            yield f"{event.response}: heard '{event.played}', which was never said"
