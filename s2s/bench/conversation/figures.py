"""The figures of a conversation that was held, from its recording and its events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from s2s.bench.conversation.script import Step
from s2s.bench.recording import AUDIBLE, Answer, SpokenSpan, answers, speech_end
from s2s.core.audio import PIPELINE_HZ, Block
from s2s.core.events import ResponseDone
from s2s.core.metrics import percentile
from s2s.testing.simulator import SYNTH_HZ, Simulation


@dataclass(frozen=True, slots=True)
class Figures:
    """What the recording and the events say."""

    turns: int
    answered: int
    latency_p50_ms: float
    latency_p95_ms: float
    false_cut_off_rate: float
    """Answers that began while the person was within a sentence, those taken back included."""
    starts_taken_back: int
    """Answers that began before it was certain that the turn was over, and it was not."""
    missed_turns: int
    backchannels: int
    resumed_rate: float
    """Backchannels after which the same answer went on to its end."""
    interruptions: int
    cancelled_rate: float
    stop_p50_ms: float
    """From the onset of the interrupting speech to the last sound of the answer."""
    stop_p95_ms: float
    unheard_words_in_history: int
    """Words the history holds that were not played, and played ones that it lacks."""
    simulated_s: float
    wall_s: float


def figures(steps: Sequence[Step], simulation: Simulation, wall_s: float) -> Figures:
    """Read the figures off a conversation that was held."""
    sound = simulation.transport.assistant()
    said = [
        SpokenSpan(start + step.speech_start, start + speech_end(utterance.audio), utterance.name)
        for step, (start, utterance) in zip(steps, simulation.script.said, strict=True)
    ]
    questions, overs = _parted(steps, said, sound)
    latencies = [a.latency_ms for a in questions if a.latency_ms is not None and not a.cut_off]
    done = [(at_s, e) for at_s, e in simulation.events if isinstance(e, ResponseDone)]
    stops = [_stop_ms(spoken, sound) for step, spoken in overs if step.kind != "backchannel"]
    outcome = [(step.kind, _status(spoken, done)) for step, spoken in overs]
    backchannels = [status for kind, status in outcome if kind == "backchannel"]
    cuts = [status for kind, status in outcome if kind == "interruption"]
    return Figures(
        turns=len(questions),
        answered=len(latencies),
        latency_p50_ms=round(percentile(latencies, 0.5), 1),
        latency_p95_ms=round(percentile(latencies, 0.95), 1),
        false_cut_off_rate=round(sum(a.cut_off for a in questions) / len(questions), 4),
        starts_taken_back=len(simulation.session.metrics.starts_taken_back()),
        missed_turns=sum(a.latency_ms is None for a in questions),
        backchannels=len(backchannels),
        resumed_rate=_rate(backchannels, "completed"),
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
    steps: Sequence[Step], said: Sequence[SpokenSpan], sound: Block
) -> tuple[list[Answer], list[tuple[Step, SpokenSpan]]]:
    """The answers to questions, and what was said over answers."""
    found = answers(said, sound, SYNTH_HZ)
    pairs = list(zip(steps, said, found, strict=True))
    questions = [answer for step, _, answer in pairs if step.kind == "question"]
    overs = [(step, spoken) for step, spoken, _ in pairs if step.kind != "question"]
    return questions, overs


def _status(spoken: SpokenSpan, done: Sequence[tuple[float, ResponseDone]]) -> str:
    """How the response ended that was being heard when `spoken` began."""
    start_s = spoken.start_sample / PIPELINE_HZ
    return next((event.status for at_s, event in done if at_s >= start_s), "none")


def _stop_ms(spoken: SpokenSpan, sound: Block) -> float:
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
