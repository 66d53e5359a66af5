"""What the scripted person says, and the conversation held with it."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from s2s.bench.hearing.wer import words
from s2s.core.audio import PIPELINE_HZ, Block
from s2s.core.clock import Clock
from s2s.session.models import Models
from s2s.testing.simulator import Said, Simulation, tone, with_pauses

QUESTIONS = (
    "what is the weather like in london today",
    "can you tell me how far away the moon is",
    "please explain why leaves fall in autumn",
    "who wrote the story about the prince of denmark",
)
BACKCHANNELS = ("yeah", "mm-hmm", "okay", "right")
INTERRUPTIONS = ("no wait tell me something else please", "stop", "what about the planet mars")
LONG_ANSWER = " ".join(
    f"This is sentence number {n} of a long answer, so that there is time to interrupt it."
    for n in ("one", "two", "three", "four")
)
SHORT_ANSWER = "That is a good question. I like it."


@dataclass(frozen=True, slots=True)
class Step:
    """One thing the person does."""

    kind: str
    """`question`, `backchannel` or `interruption`."""
    said: Said
    speech_start: int
    """First sample of its speech in the utterance; backchannels and interruptions wait first."""


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
            backchannel = number % 4 == 1
            over = BACKCHANNELS if backchannel else INTERRUPTIONS
            text = over[number // 4 % len(over)]
            wait = np.zeros(int(rng.uniform(2.0, 4.0) * PIPELINE_HZ), dtype=np.float32)
            audio = np.concatenate([wait, voice(text)])
            kind = "backchannel" if backchannel else "interruption"
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
