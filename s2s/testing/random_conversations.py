"""Random conversations, and what must hold in every one of them.

A seed gives a conversation: utterances with pauses in them, interruptions at random times, models
of random speed, sometimes failing. `violations` looks for what may never happen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from s2s.core.audio import PIPELINE_HZ
from s2s.core.clock import Clock
from s2s.core.events import AnswerText, Event, Interruption, ResponseDone, ResponseStarted
from s2s.session.config import SessionConfig
from s2s.session.models import Models
from s2s.session.session import stages_alive
from s2s.stt.base import Transcriber, Transcription
from s2s.testing.simulator import SYNTH_HZ, ModelCosts, Said, Simulation, tone, with_pauses

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
        if rng.random() < 0.5:
            said.append(_overlap(rng))
    costs = ModelCosts(
        stt_s=rng.uniform(0.02, 0.4),
        end_of_turn_s=rng.uniform(0.0, 0.2),
        first_token_s=rng.uniform(0.02, 1.0),
        token_s=rng.uniform(0.002, 0.1),
        tts_rtf=rng.uniform(0.01, 1.2),
        tts_first_s=rng.uniform(0.01, 0.3),
    )
    sentences = int(rng.integers(1, 5))
    answer = " ".join(f"This is sentence {n} of the answer, as it is." for n in range(sentences))
    config = SessionConfig(speculative_tts=bool(rng.random() < 0.8))
    fails = rng.random() < 0.15
    return Simulation(
        said,
        answer=lambda _: answer,
        costs=costs,
        config=config,
        models=(lambda models, _clock: _failing(models, rng)) if fails else _as_they_are,
    )


def _overlap(rng: np.random.Generator) -> Said:
    """Something said at a random time, whatever the assistant does then."""
    words = str(rng.choice(OVERLAPS))
    wait = np.zeros(int(rng.uniform(0.0, 3.0) * PIPELINE_HZ), dtype=np.float32)
    voice = tone(0.1 + 0.25 * len(words.split()), rng.uniform(120, 240))
    return Said(np.concatenate([wait, voice]), words, None)


def _as_they_are(models: Models, _clock: Clock) -> Models:
    return models


class _FailingTranscriber:
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
    return replace(models, transcriber=_FailingTranscriber(models.transcriber, fails))


def violations(simulation: Simulation) -> list[str]:
    """What went wrong in a conversation that was run; empty when nothing did."""
    found = [
        *_ends(simulation.events),
        *_one_at_a_time(simulation.events),
        *_silence_after_cancel(simulation),
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
    """No turn has two answers open at once."""
    open_now: set[object] = set()
    for at_s, event in events:
        match event:
            case ResponseStarted(response=response):
                same_turn = [r for r in open_now if r.turn_id == response.turn_id]  # type: ignore[attr-defined]
                if same_turn:
                    yield f"{at_s:.3f}: two answers to {response.turn_id} are open"
                open_now.add(response)
            case ResponseDone(response=response):
                open_now.discard(response)
            case _:
                pass


def _silence_after_cancel(simulation: Simulation) -> Iterator[str]:
    """The loudspeaker is silent from soon after a cancel to the next response."""
    sound = simulation.transport.assistant()
    starts = [at_s for at_s, e in simulation.events if isinstance(e, ResponseStarted)]
    for at_s, event in simulation.events:
        if isinstance(event, Interruption) and event.action == "cancel":
            until_s = min((s for s in starts if s >= at_s), default=len(sound) / SYNTH_HZ)
            first, last = (int(t * SYNTH_HZ) for t in (at_s + SILENCE_MS / 1000, until_s))
            if sound[first:last].any():
                yield f"{at_s:.3f}: cancelled, and still heard after {SILENCE_MS} ms"


def _history_is_what_was_heard(simulation: Simulation) -> Iterator[str]:
    """The history holds the heard part of each answer, word for word, and nothing else."""
    done = [e for _, e in simulation.events if isinstance(e, ResponseDone)]
    heard = [" ".join(e.played.split()) for e in done if e.played.strip()]
    messages = simulation.session.history.prompt()
    held = [" ".join(m.content.split()) for m in messages if m.role == "assistant"]
    if heard[-len(held) :] != held and held:
        yield f"history holds {held}, heard was {heard}"
    text: dict[object, str] = {}
    for _, event in simulation.events:
        if isinstance(event, AnswerText):
            text[event.response] = text.get(event.response, "") + event.text
    for event in done:
        if not text.get(event.response, "").startswith(event.played):
            yield f"{event.response}: heard '{event.played}', which was never said"
