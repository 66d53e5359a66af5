"""`s2s bench conversation`: how a conversation feels, from its recording and its events.

A scripted person asks, pauses within sentences, nods, and interrupts. The models are scripted too
(simulated time, always the same), or the real embedded ones: then they run in simulated time as
well, and what each call really took is added to the clock.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from s2s.app.loading import load_models
from s2s.bench.recording import AUDIBLE, Answer, Spoken, answers, speech_end
from s2s.bench.wer import words
from s2s.config import registry
from s2s.config.schema import Config
from s2s.core.audio import PIPELINE_HZ, Block, resample
from s2s.core.clock import Clock
from s2s.core.events import AnswerText, Event, Interruption, ResponseDone
from s2s.core.markup import Call
from s2s.core.metrics import percentile
from s2s.core.work import Work
from s2s.llm.base import ChatMessage, ChatModel, Urgency
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.session.models import Models
from s2s.stt.base import Transcriber, Transcription
from s2s.testing.simulator import SYNTH_HZ, Said, Simulation, tone, with_pauses
from s2s.tts.base import AudioChunk, Synthesizer
from s2s.turns.handler import TurnEnd

QUESTIONS = (
    "what is the weather like in london today",
    "can you tell me how far away the moon is",
    "please explain why leaves fall in autumn",
    "who wrote the story about the prince of denmark",
)
NODS = ("yeah", "mm-hmm", "okay", "right")
INTERRUPTIONS = ("no wait tell me something else please", "stop", "what about the planet mars")
LONG_ANSWER = " ".join(
    f"This is sentence number {n} of a long answer, so that there is time to interrupt it."
    for n in ("one", "two", "three", "four")
)
SHORT_ANSWER = "That is a good question. I like it."


@dataclass(frozen=True, slots=True)
class Figures:
    """What the recording and the events say."""

    turns: int
    answered: int
    latency_p50_ms: float
    latency_p95_ms: float
    false_cut_off_rate: float
    """Answers that began while the person was within a sentence."""
    missed_turns: int
    nods: int
    resumed_rate: float
    """Nods after which the same answer went on to its end."""
    interruptions: int
    cancelled_rate: float
    stop_p50_ms: float
    """From the onset of the interrupting speech to the last sound of the answer."""
    stop_p95_ms: float
    unheard_words_in_history: int
    """Words the history holds that were not played, and played ones that it lacks."""
    simulated_s: float
    wall_s: float


@dataclass(frozen=True, slots=True)
class Step:
    """One thing the person does."""

    kind: str
    """`question`, `nod` or `interruption`."""
    said: Said
    speech_start: int
    """First sample of its speech within the utterance; nods and interruptions wait first."""


def script(turns: int, seed: int, voice: Callable[[str], Block]) -> list[Step]:
    """A person who asks `turns` questions, some with pauses, and talks over every other answer."""
    rng = np.random.default_rng(seed)
    steps: list[Step] = []
    for number in range(turns):
        asked = QUESTIONS[number % len(QUESTIONS)]
        question = Said(voice(asked), asked, 0.8)
        if number % 3 == 1:
            question = with_pauses(question, (0.5, float(rng.uniform(0.2, 1.0))))
        steps.append(Step("question", question, 0))
        if number % 2:
            nod = number % 4 == 1
            over = NODS if nod else INTERRUPTIONS
            text = over[number // 4 % len(over)]
            wait = np.zeros(int(rng.uniform(2.0, 4.0) * PIPELINE_HZ), dtype=np.float32)
            audio = np.concatenate([wait, voice(text)])
            kind = "nod" if nod else "interruption"
            steps.append(Step(kind, Said(audio, text, None), len(wait)))
    return steps


def hum(text: str) -> Block:
    """A stand-in for a voice: as long as the text takes."""
    return tone(max(0.4, len(text) / 14.0), 120.0 + zlib.crc32(text.encode()) % 1000 / 10)


def run(steps: Sequence[Step], models: Callable[[Models, Clock], Models] | None) -> Simulation:
    """Hold the conversation."""
    talked_over = [
        set(first.said.text.split())
        for first, second in pairwise(steps)
        if second.kind != "question"
    ]

    def answer(text: str) -> str:
        """Long where the person will talk over it, told by the words that were heard."""
        heard = set(words(text))
        over = any(len(heard & asked) > 0.6 * len(asked) for asked in talked_over)
        return LONG_ANSWER if over else SHORT_ANSWER

    simulation = Simulation([step.said for step in steps], answer=answer)
    if models is not None:
        simulation.models = models
    return simulation.run()


def figures(steps: Sequence[Step], simulation: Simulation, wall_s: float) -> Figures:
    """Read the figures off a conversation that was held."""
    sound = simulation.transport.assistant()
    said = [
        Spoken(start + step.speech_start, start + speech_end(utterance.audio), utterance.name)
        for step, (start, utterance) in zip(steps, simulation.script.said, strict=True)
    ]
    questions, overs = _parted(steps, said, sound)
    latencies = [a.latency_ms for a in questions if a.latency_ms is not None and not a.cut_off]
    done = [(at_s, e) for at_s, e in simulation.events if isinstance(e, ResponseDone)]
    stops = [_stop_ms(spoken, sound) for step, spoken in overs if step.kind != "nod"]
    outcome = [(step.kind, _status(spoken, done)) for step, spoken in overs]
    nods = [status for kind, status in outcome if kind == "nod"]
    cuts = [status for kind, status in outcome if kind == "interruption"]
    return Figures(
        turns=len(questions),
        answered=len(latencies),
        latency_p50_ms=round(percentile(latencies, 0.5), 1),
        latency_p95_ms=round(percentile(latencies, 0.95), 1),
        false_cut_off_rate=round(sum(a.cut_off for a in questions) / len(questions), 4),
        missed_turns=sum(a.latency_ms is None for a in questions),
        nods=len(nods),
        resumed_rate=_rate(nods, "completed"),
        interruptions=len(cuts),
        cancelled_rate=_rate(cuts, "cancelled"),
        stop_p50_ms=round(percentile(stops or [0.0], 0.5), 1),
        stop_p95_ms=round(percentile(stops or [0.0], 0.95), 1),
        unheard_words_in_history=_history_difference(simulation),
        simulated_s=round(simulation.clock.now(), 1),
        wall_s=round(wall_s, 2),
    )


def _rate(statuses: Sequence[str], wanted: str) -> float:
    return round(statuses.count(wanted) / len(statuses), 4) if statuses else 1.0


def _parted(
    steps: Sequence[Step], said: Sequence[Spoken], sound: Block
) -> tuple[list[Answer], list[tuple[Step, Spoken]]]:
    """The answers to questions, and what was said over answers."""
    found = answers(said, sound, SYNTH_HZ)
    pairs = list(zip(steps, said, found, strict=True))
    questions = [answer for step, _, answer in pairs if step.kind == "question"]
    overs = [(step, spoken) for step, spoken, _ in pairs if step.kind != "question"]
    return questions, overs


def _status(spoken: Spoken, done: Sequence[tuple[float, ResponseDone]]) -> str:
    """How the response ended that was being heard when `spoken` began."""
    start_s = spoken.start_sample / PIPELINE_HZ
    return next((event.status for at_s, event in done if at_s >= start_s), "none")


def _stop_ms(spoken: Spoken, sound: Block) -> float:
    """From the onset of speech to the first moment from which 300 ms are silent."""
    onset = spoken.start_sample * SYNTH_HZ // PIPELINE_HZ
    after = np.abs(sound[onset : onset + 4 * SYNTH_HZ]) > AUDIBLE
    loud = np.flatnonzero(after)
    if not len(loud):
        return 0.0
    gaps = np.flatnonzero(np.diff(loud) > 0.3 * SYNTH_HZ)
    last = loud[gaps[0]] if len(gaps) else loud[-1]
    return 1000 * float(last) / SYNTH_HZ


def _history_difference(simulation: Simulation) -> int:
    """Words by which the history differs from what was played."""
    done = [event for _, event in simulation.events if isinstance(event, ResponseDone)]
    heard = [event.played.split() for event in done if event.played.strip()]
    messages = simulation.session.history.prompt()
    held = [message.content.split() for message in messages if message.role == "assistant"]
    heard = heard[len(heard) - len(held) :]
    return sum(
        abs(len(one) - len(two)) + sum(a != b for a, b in zip(one, two, strict=False))
        for one, two in zip(heard, held, strict=True)
    )


# --- real models on the simulated clock ----------------------------------------------------------


class _Costed:
    """Adds what a call really took to the simulated clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def spend(self, started_s: float) -> None:
        self._clock.wait_until(self._clock.now() + time.perf_counter() - started_s)


class _CostedTranscriber(_Costed):
    def __init__(self, inner: Transcriber, clock: Clock) -> None:
        super().__init__(clock)
        self._inner = inner
        self.warm, self.close = inner.warm, inner.close

    def transcribe(
        self,
        audio: Block,
        *,
        language: str | None = None,
        earlier: Transcription | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        started_s = time.perf_counter()
        result = self._inner.transcribe(audio, language=language, earlier=earlier, stop=stop)
        self.spend(started_s)
        return result


class _CostedTurnEnd(_Costed):
    def __init__(self, inner: TurnEnd, clock: Clock) -> None:
        super().__init__(clock)
        self._inner = inner

    def probability(self, audio: Block) -> float:
        started_s = time.perf_counter()
        result = self._inner.probability(audio)
        self.spend(started_s)
        return result


class _CostedSynthesizer(_Costed):
    def __init__(self, inner: Synthesizer, clock: Clock) -> None:
        super().__init__(clock)
        self._inner = inner
        self.warm, self.close = inner.warm, inner.close
        self.capabilities = inner.capabilities

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        chunks = self._inner.synthesize(text, voice=voice, language=language, stop=stop)
        while True:
            started_s = time.perf_counter()
            chunk = next(chunks, None)
            self.spend(started_s)
            if chunk is None:
                return
            yield chunk


class _LongWinded(_Costed):
    """The real model's first token, then a text long enough to be interrupted."""

    def __init__(self, inner: ChatModel, scripted: ChatModel, clock: Clock) -> None:
        super().__init__(clock)
        self._inner, self._scripted = inner, scripted
        self.warm, self.count_tokens, self.close = inner.warm, inner.count_tokens, inner.close
        self.reads_ahead = inner.reads_ahead

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        stop: Callable[[], bool] = lambda: False,
        work: Urgency = lambda: Work.FIRST_SOUND,
    ) -> Iterator[str | Call]:
        started_s = time.perf_counter()
        with closing(self._inner.stream(messages, stop=stop)) as tokens:  # type: ignore[type-var]
            next(tokens, None)
        self.spend(started_s)
        yield from self._scripted.stream(messages, stop=stop)


def real_models(config: Config, store: Store) -> Callable[[Models, Clock], Models]:
    """Puts the models of `config` in place of the scripted ones, with their real costs."""
    loaded = load_models(config, store, lambda _: None)

    def put(scripted: Models, clock: Clock) -> Models:
        end = loaded.end_of_turn
        return replace(
            loaded,
            end_of_turn=None if end is None else _CostedTurnEnd(end, clock),
            transcriber=_CostedTranscriber(loaded.transcriber, clock),
            chat=_LongWinded(loaded.chat, scripted.chat, clock),
            synthesizer=_CostedSynthesizer(loaded.synthesizer, clock),
        )

    return put


def spoken_by(store: Store, backend: str = "hibari") -> Callable[[str], Block]:
    """A voice for the person: float32 [samples] at 16 kHz, without silence around it."""
    voice = registry.create_synthesizer(backend, None, Resources(store, 1))
    rate_hz = voice.capabilities.sample_rate_hz

    def say(text: str) -> Block:
        audio = np.concatenate([chunk.samples for chunk in voice.synthesize(text)])
        audio = resample(audio, rate_hz, PIPELINE_HZ)
        return audio[: speech_end(audio)]

    return say


# --- the picture ---------------------------------------------------------------------------------


def draw(path: Path, simulation: Simulation, until_s: float = 30.0) -> None:
    """Draw the beginning of the conversation: both voices, and what was decided when."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (person, assistant) = pyplot.subplots(2, 1, sharex=True, figsize=(14, 4.5))
    for axes, samples, rate_hz, title in (
        (person, simulation.transport.person(), PIPELINE_HZ, "person"),
        (assistant, simulation.transport.assistant(), SYNTH_HZ, "assistant"),
    ):
        step = rate_hz // 100
        usable = len(samples) // step * step
        level = np.abs(samples[:usable]).reshape(-1, step).max(axis=1)
        at_s = np.arange(len(level)) / 100
        axes.fill_between(at_s, -level, level, linewidth=0)
        axes.set_ylabel(title)
        axes.set_xlim(0, until_s)
        axes.set_yticks([])
    for at_s, label, colour in _labels(simulation.events):
        if at_s <= until_s:
            assistant.axvline(at_s, color=colour, linewidth=0.8)
            assistant.annotate(label, (at_s, 0.0), rotation=90, fontsize=7, color=colour)
    assistant.set_xlabel("seconds")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _labels(events: Sequence[tuple[float, Event]]) -> Iterator[tuple[float, str, str]]:
    for at_s, event in events:
        match event:
            case Interruption(action=action):
                yield at_s, action, "tab:red"
            case ResponseDone(status=status):
                yield at_s, status, "tab:green"
            case AnswerText():
                yield at_s, "says", "tab:gray"
            case _:
                pass
