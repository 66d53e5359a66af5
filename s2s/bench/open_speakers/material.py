"""What is said beside an open loudspeaker, by whom, and through which path it comes back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from s2s.bench.interruptions import voice
from s2s.bench.packages import read_sound
from s2s.bench.turn_audio import recordings
from s2s.core.audio import PIPELINE_HZ, Block
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.testing.echo_room import LoudspeakerPath

ANSWERS = (
    "The museum opens at nine in the morning and closes at six. On Thursdays it stays open until "
    "eight, and the last tickets are sold an hour before. Children under twelve get in for free.",
    "Bees stay inside the hive during the winter. They gather in a tight ball around the queen and "
    "keep her warm by shivering. They live on the honey that they stored in summer.",
    "You can take the train from the main station to the airport. It runs every fifteen minutes "
    "and takes about half an hour. A taxi costs more and is often slower in the afternoon.",
    "First you melt the butter in a pan and add the onions. Then you stir in the rice until it is "
    "coated and pour in the stock a little at a time. After twenty minutes it should be creamy.",
    "The river begins high in the mountains and crosses three countries. It gets wide near the "
    "coast, where many birds rest on their way south. Ships can sail up it for two hundred miles.",
    "A whale can hold its breath for more than an hour. It slows its heart down and sends blood to "
    "the brain first. When it comes up again, it breathes out so hard that it is seen far away.",
)
STOPS = ("Stop.", "Stop it.", "Please stop.", "Wait.", "Be quiet.", "Hold on.")
PERSON_DB = -26.0
"""Level of the person while they speak, dB of full scale."""
SELF_ANSWERS = 3

Kind = Literal["nobody", "person", "stop", "synthetic stop"]


@dataclass(frozen=True, slots=True)
class Saying:
    """Something that is said, float32 [samples] at 16 kHz, without silence around it."""

    text: str
    speaker: str
    audio: Block


@dataclass(frozen=True, slots=True)
class Scene:
    """One conversation."""

    kind: Kind
    number: int
    assistant: str
    answers: tuple[tuple[Saying, ...], ...]
    """Each of them sentence by sentence."""
    over: Saying | None
    person: tuple[Saying, ...]
    """What else the person says, to be enrolled from: their own voice."""
    warm: bool
    """The second answer is spoken over, not the first."""
    into_s: float
    """From the end of the question until somebody speaks over the answer."""
    echo_db: float
    """Level of the echo in the microphone against the person."""
    path: LoudspeakerPath


def leveled(audio: Block, level_db: float) -> Block:
    """`audio` float32 [samples] with its speech at that level."""
    return (audio * 10 ** ((level_db - active_db(audio)) / 20)).astype(np.float32)


def active_db(audio: Block) -> float:
    """Level of float32 [samples] at 16 kHz while there is speech: of its louder half of 30 ms."""
    frames = audio[: len(audio) // 480 * 480].reshape(-1, 480)
    power = np.sort(np.square(frames, dtype=np.float64).mean(axis=1))
    return 10.0 * float(np.log10(power[len(power) // 2 :].mean() + 1e-12))


@dataclass(frozen=True, slots=True)
class Sayings:
    """All that can be said, by human voices but for the last two."""

    allison: list[Saying]
    librivox: list[Saying]
    stops: list[Saying]
    synthetic_stops: list[Saying]
    synthetic: list[tuple[Saying, ...]]
    """Answers."""


def material(prompts: Path, store: Store) -> Sayings:
    found = recordings(prompts, longest_s=7.5)
    sentences = [
        Saying(each.text, "librivox" if each.name.startswith("librivox") else "allison",
               leveled(each.audio[each.start : each.end], PERSON_DB))
        for each in found
    ]  # fmt: skip
    pause = read_sound(next(prompts.rglob("dictate/pause.g722")))
    say = voice("hibari", Resources(store, 1))
    other = voice("hibari-slow", Resources(store, 1))
    return Sayings(
        [each for each in sentences if each.speaker == "allison"],
        [each for each in sentences if each.speaker == "librivox"],
        [Saying("Pause.", "allison", leveled(_cut(pause), PERSON_DB))],
        [Saying(text, "hibari-slow", leveled(other(text), PERSON_DB)) for text in STOPS],
        [
            tuple(Saying(text, "hibari", say(text)) for text in re.findall(r"[^.]+\.", answer))
            for answer in ANSWERS
        ],
    )


def _cut(audio: Block) -> Block:
    loud = np.flatnonzero(np.abs(audio) > 0.05 * np.abs(audio).max())
    return audio[loud[0] : loud[-1] + 1]


def a_path(random: np.random.Generator, seed: int) -> LoudspeakerPath:
    """A loudspeaker in a room; its gain is set later."""
    return LoudspeakerPath(
        delay_ms=float(random.uniform(30.0, 300.0)),
        drift_ppm=float(random.uniform(-1000.0, 1000.0)),
        clip=float(10 ** (random.uniform(-16.0, -6.0) / 20)),
        bass_hz=float(random.uniform(150.0, 500.0)),
        reverberation_s=float(random.uniform(0.15, 0.45)),
        seed=seed,
    )


def scenes(
    kinds: Sequence[tuple[Kind, int]], said: Sayings, levels_db: tuple[float, float]
) -> Iterator[Scene]:
    """So many conversations of each kind, the same ones every time."""
    for kind, count in kinds:
        for number in range(count):
            random = np.random.default_rng([number, *kind.encode()])
            assistant = ("hibari", "allison", "librivox")[number % 3]
            people = said.librivox if assistant == "allison" else said.allison
            if assistant == "hibari" and number % 2:
                people = said.librivox
            choices: dict[Kind, list[Saying]] = {
                "person": people, "stop": said.stops, "synthetic stop": said.synthetic_stops,
            }  # fmt: skip
            if kind == "stop" and assistant == "allison":
                assistant = "hibari"
            over = choices.get(kind)
            answers = tuple(_answer(assistant, said, random) for _ in range(SELF_ANSWERS))
            chosen = None if over is None else over[int(random.integers(len(over)))]
            yield Scene(
                kind,
                number,
                assistant,
                answers,
                chosen,
                _else_said(said, people if chosen is None else [chosen]),
                warm=bool(number % 4 // 2),
                into_s=float(random.uniform(1.3, 4.0)),
                echo_db=float(random.uniform(*levels_db)),
                path=a_path(random, number),
            )


def _else_said(said: Sayings, by: Sequence[Saying]) -> tuple[Saying, ...]:
    """Three more sentences by who says the first of `by`; none of these."""
    every = (*said.allison, *said.librivox, *said.synthetic_stops)
    own = [each for each in every if each.speaker == by[0].speaker and each not in by[:1]]
    return tuple(own[:3])


def _answer(assistant: str, said: Sayings, random: np.random.Generator) -> tuple[Saying, ...]:
    """Some seven to ten seconds."""
    if assistant == "hibari":
        return said.synthetic[int(random.integers(len(said.synthetic)))]
    voices = said.allison if assistant == "allison" else said.librivox
    sentences: list[Saying] = []
    for index in random.permutation(len(voices)):
        sentences.append(voices[int(index)])
        if sum(len(each.audio) for each in sentences) > 8 * PIPELINE_HZ:
            break
    return tuple(replace(each, text=f"{each.text} ") for each in sentences)
