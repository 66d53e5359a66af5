"""What is said in each conversation: the person and others, mixed with music, babble and noises.

The same cases every time, in an order in which any part of them holds some of every kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from s2s.bench.whose_voice.material import SpokenLine, babble, levelled, mixed
from s2s.bench.whose_voice.noises import noises
from s2s.core.audio import PIPELINE_HZ, Block
from s2s.core.audio.gain import speech_level_db

SNRS_DB = (0, 5, 10)
ENROL_S = 10.0
GAP_S = 0.25
"""Between the person's last word and another's first."""


@dataclass(frozen=True, slots=True)
class VoiceCase:
    """One conversation: what is said in it, and whether its last part is to be answered."""

    kind: str
    person: str
    other: str
    snr_db: int
    audio: Block
    wanted: bool
    over_reply: bool = False
    first_part_s: float = 0.0
    """Of `audio`, until the person is done; 0: all of it."""


def split(said: Sequence[SpokenLine]) -> tuple[list[SpokenLine], list[SpokenLine]]:
    """What a voice is enrolled from, and what it is tried with."""
    length, used = 0, 0
    while used < len(said) and length < ENROL_S * PIPELINE_HZ:
        length += len(said[used].audio)
        used += 1
    return list(said[:used]), list(said[used:])


def cases(
    voices: dict[str, list[SpokenLine]], persons: Sequence[str], tunes: Sequence[Block], each: int
) -> Iterator[VoiceCase]:
    """For every person, `each` of every kind and SNR."""
    for person in persons:
        random = np.random.default_rng([*person.encode()])
        mine = split(voices[person])[1]
        others = [said for name, all_of in voices.items() if name != person for said in all_of]
        for number in range(each):
            for snr_db in SNRS_DB:
                own = mine[int(random.integers(len(mine)))]
                other = others[int(random.integers(len(others)))]
                tune = _part(tunes[int(random.integers(len(tunes)))], 6.0, random)
                crowd = babble(voices, 6.0, int(random.integers(1 << 30)), person)
                beside = (other.audio, tune, crowd)[number % 3]
                name = (other.speaker, "music", "babble")[number % 3]
                yield VoiceCase("own", person, name, snr_db, mixed(own.audio, beside, snr_db), True)
                quieter = _softer(other.audio, snr_db)
                if number % 2:
                    quieter = mixed(quieter, tune, 5)
                yield VoiceCase("other", person, other.speaker, snr_db, quieter, False)
                if number % 2 == 0:
                    yield VoiceCase(
                        "babble", person, "babble", snr_db, _like(crowd, own, snr_db), False
                    )
                    yield VoiceCase(
                        "music", person, "music", snr_db, _like(tune, own, snr_db), False
                    )
                    yield _after(own, other, snr_db)


def _after(own: SpokenLine, other: SpokenLine, snr_db: int) -> VoiceCase:
    """Another goes on where the person ends."""
    gap = np.zeros(int(GAP_S * PIPELINE_HZ), dtype=np.float32)
    parts = [own.audio, gap, _softer(other.audio, snr_db)]
    first_s = len(own.audio) / PIPELINE_HZ
    audio = np.concatenate(parts)
    return VoiceCase("after", own.speaker, other.speaker, snr_db, audio, True, first_part_s=first_s)


def cases_over_reply(
    voices: dict[str, list[SpokenLine]], persons: Sequence[str], each: int
) -> Iterator[VoiceCase]:
    """Speech and noises over a reply."""
    for name, noise in noises():
        yield VoiceCase("noise-over", persons[0], name, 0, noise, False, over_reply=True)
    for person in persons:
        random = np.random.default_rng([1, *person.encode()])
        mine = split(voices[person])[1]
        others = [said for name, all_of in voices.items() if name != person for said in all_of]
        for _ in range(each):
            own = mine[int(random.integers(len(mine)))]
            other = others[int(random.integers(len(others)))]
            yield VoiceCase("own-over", person, person, 0, own.audio, True, over_reply=True)
            yield VoiceCase(
                "other-over", person, other.speaker, 0, other.audio, False, over_reply=True
            )


def _part(tune: Block, seconds: float, random: np.random.Generator) -> Block:
    start = int(random.integers(max(1, len(tune) - int(seconds * PIPELINE_HZ))))
    return tune[start : start + int(seconds * PIPELINE_HZ)]


def _softer(audio: Block, db: int) -> Block:
    return (audio * 10 ** (-db / 20)).astype(np.float32)


def _like(sound: Block, own: SpokenLine, db: int) -> Block:
    """`sound` below the level of `own` by `db`."""
    return np.clip(_softer(levelled(sound, level_of(own)), db), -1, 1).astype(np.float32)


def level_of(own: SpokenLine) -> float:
    """Of its loud frames, dB of full scale."""
    return speech_level_db(own.audio, PIPELINE_HZ)


def shuffled(made: Sequence[VoiceCase]) -> list[VoiceCase]:
    """In an order of their own: each n-th of them is a fair part of all."""
    return [made[index] for index in np.random.default_rng(0).permutation(len(made))]
