"""Measure who is answered and who interrupts: the person, others, music, babble, noises.

    python scripts/benchmark_only_my_voice.py --material FOLDER
    python scripts/benchmark_only_my_voice.py --material FOLDER --enrolled no
    python scripts/benchmark_only_my_voice.py --material FOLDER --part 1/4 --rows rows.jsonl

Each case is a whole conversation in simulated time with the real voice detector, end-of-turn model,
recogniser and embedder; answers are scripted. Every human voice at hand is the person in turn, and
another in all other cases; mixing is at 0, 5 and 10 dB. `own`: the person speaks over another
voice, music or babble, and is to be answered. `other`: another speaks, at the person's level or 5
or 10 dB below it, alone or over music, and is not to be answered. `babble`, `music`: nothing but
that, likewise. `after`: another goes on where the person ends; the person is to be answered all the
same. `noise-over`, `other-over`, `own-over`, `stop-over`: over a reply, which must go on (the
first two) or stop. Without an enrolled voice the person is known by what was answered before: each
case begins with something that they say in quiet. Prints a table of rates with 95 % intervals
(Wilson) and, last, one line of JSON. Synthetic voices (--synthetic) are counted apart.

Needs the models of the embedded profile, the speaker model, apt-get and dpkg-deb unless --material
has the packages of `s2s.bench.whose_voice.material` unpacked, and av to decode them.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np

from s2s.bench.conditions import Conditions
from s2s.bench.packages import unpacked
from s2s.bench.whose_voice.material import (
    PACKAGES,
    SpokenLine,
    babble,
    levelled,
    mixed,
    music,
    utterances,
)
from s2s.bench.whose_voice.noises import noises
from s2s.core.audio import PIPELINE_HZ, Block
from s2s.core.clock import Clock
from s2s.core.events import Heard, Interruption, ResponseStarted, SpeechDropped
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.session.config import SessionConfig
from s2s.session.models import Models
from s2s.stt.moonshine import Moonshine, MoonshineConfig
from s2s.testing.simulator import Said, Simulation
from s2s.turns.base import OwnVoice
from s2s.turns.config import TurnsConfig
from s2s.turns.endpoint import EndOfTurn
from s2s.turns.speaker.embedder import SpeakerEmbedder
from s2s.turns.speaker.own_voice import KnownVoice, enrol
from s2s.turns.vad import SileroVad

SNRS_DB = (0, 5, 10)
ENROL_S = 10.0
PER_SPEAKER = 24
REPLY = "This is the first sentence of a long reply. " * 5
INTO_REPLY_S = 1.6
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


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What came of it."""

    kind: str
    person: str
    other: str
    snr_db: int
    enrolled: bool
    right: bool
    told: str
    """Why it was dropped, or what was heard."""
    delay_ms: float | None = None
    """From the end of the person's speech to the answer; or to the stop of the reply."""
    counted: bool = True
    """False where the recogniser found no words, or no reply had begun: nothing was decided."""
    cost_ms: float = 0.0
    """Processor time of all looks at the voice."""


@dataclass(slots=True)
class TimedVoice:
    """An enrolled voice that notes what each look takes of a processor."""

    inner: OwnVoice
    costs_s: list[float] = field(default_factory=list)

    def likeness(self, audio: Block) -> float:
        started_s = time.process_time()
        likeness = self.inner.likeness(audio)
        self.costs_s.append(time.process_time() - started_s)
        return likeness


class RealEars:
    """The real models, shared by all conversations."""

    def __init__(self, store: Store) -> None:
        self.vad = SileroVad(store.path("silero-vad"))
        self.recogniser = Moonshine(MoonshineConfig(), Resources(store, 1))
        self.end_of_turn = EndOfTurn(store.path("smart-turn-v3"))
        self.embedder = SpeakerEmbedder(store.path("speaker-dvector"), "speaker-dvector")

    def known(self, said: Sequence[SpokenLine]) -> KnownVoice:
        """The voice enrolled from `said`."""
        joined = np.concatenate([each.audio for each in said])
        return KnownVoice(self.embedder, enrol(joined, self.vad.open(), self.embedder).vector)

    def models(self, scripted: Models, own: OwnVoice | None) -> Models:
        return replace(
            scripted,
            vad=self.vad,
            transcriber=self.recogniser,
            end_of_turn=self.end_of_turn,
            own_voice=own,
        )


# --- cases ---------------------------------------------------------------------------------------


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
    from s2s.core.audio.gain import speech_level_db

    return speech_level_db(own.audio, PIPELINE_HZ)


# --- the conversation ----------------------------------------------------------------------------


def hold(case: VoiceCase, listener: RealEars, own: KnownVoice | None, before: Block) -> CaseResult:
    """Hold the conversation; `before` is what the person says first, in quiet."""
    timed = None if own is None else TimedVoice(own)
    wait = np.zeros(int(INTO_REPLY_S * PIPELINE_HZ), dtype=np.float32)
    first = Said(before, "before")
    last = Said(case.audio, "case")
    if case.over_reply:
        last = Said(np.concatenate([wait, case.audio]), "case", None)

    def models(scripted: Models, clock: Clock) -> Models:
        del clock
        return listener.models(scripted, timed)

    answers = iter((REPLY if case.over_reply else "Yes.",))
    said = [first, last] if own is None or case.over_reply else [last]
    turns = TurnsConfig(partial_interval_ms=500 if case.over_reply else 0)
    simulation = Simulation(
        said,
        answer=lambda _: next(answers, "Fine."),
        models=models,
        config=SessionConfig(turns=turns),
    ).run()
    start_s = simulation.script.said[-1][0] / PIPELINE_HZ
    row = _over(case, simulation, start_s) if case.over_reply else _plain(case, simulation, start_s)
    cost_ms = 0.0 if timed is None else 1000 * sum(timed.costs_s)
    return replace(row, enrolled=own is not None, cost_ms=cost_ms)


def _plain(case: VoiceCase, simulation: Simulation, start_s: float) -> CaseResult:
    events = [(at_s, event) for at_s, event in simulation.events if at_s >= start_s]
    began = [at_s for at_s, event in events if isinstance(event, ResponseStarted)]
    dropped = [event.reason for _, event in events if isinstance(event, SpeechDropped)]
    heard = [event.text for _, event in events if isinstance(event, Heard) and event.final]
    right = bool(began) == case.wanted
    counted = bool(began or dropped)
    delay_ms = None
    if began and case.wanted:
        spoken_s = case.first_part_s or len(case.audio) / PIPELINE_HZ
        delay_ms = 1000 * (began[0] - start_s - spoken_s)
    told = heard[0] if began and heard else "; ".join(dict.fromkeys(dropped))
    return CaseResult(
        case.kind, case.person, case.other, case.snr_db, False, right, told, delay_ms, counted
    )


def _over(case: VoiceCase, simulation: Simulation, start_s: float) -> CaseResult:
    onset_s = start_s + INTO_REPLY_S
    counted = any(
        isinstance(event, ResponseStarted) and at_s < onset_s for at_s, event in simulation.events
    )
    stops = [
        (at_s, event)
        for at_s, event in simulation.events
        if at_s >= onset_s
        and isinstance(event, Interruption)
        and event.action in ("pause", "cancel")
    ]
    delay_ms = 1000 * (stops[0][0] - onset_s) if stops else None
    told = stops[0][1].reason if stops else ""
    right = bool(stops) == case.wanted
    return CaseResult(
        case.kind, case.person, case.other, case.snr_db, False, right, told, delay_ms, counted
    )


# --- the report ----------------------------------------------------------------------------------


def wilson(wrong: int, count: int) -> tuple[float, float]:
    """The 95 % interval of a rate."""
    if not count:
        return 0.0, 1.0
    z, share = 1.96, wrong / count
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z * np.sqrt(share * (1 - share) / count + z * z / (4 * count**2)) / (1 + z * z / count)
    return max(0.0, middle - half), min(1.0, middle + half)


def report(rows: Sequence[CaseResult]) -> dict[str, object]:
    """Print a line a group; returns the figures by name."""
    figures: dict[str, object] = {"undecided": sum(not row.counted for row in rows)}
    print(f"{figures['undecided']} of {len(rows)} cases without words or without a reply: left out")
    rows = [row for row in rows if row.counted]
    groups = sorted({(row.enrolled, row.kind, row.snr_db) for row in rows}, reverse=True)
    kinds = sorted({(row.enrolled, row.kind) for row in rows}, reverse=True)
    for enrolled, kind, *snr in [*kinds, *groups]:
        group = [
            row
            for row in rows
            if (row.enrolled, row.kind) == (enrolled, kind) and (not snr or row.snr_db == snr[0])
        ]
        wrong = sum(not row.right for row in group)
        low, high = wilson(wrong, len(group))
        name = f"{'enrolled' if enrolled else 'anybody'} {kind}" + (f" {snr[0]} dB" if snr else "")
        delays = [row.delay_ms for row in group if row.delay_ms is not None]
        middle = f"{np.median(delays):6.0f} ms" if delays else ""
        rate = f"{100 * wrong / len(group):5.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
        print(f"{name:>32} {wrong:4d} of {len(group):4d} wrong {rate} {middle}")
        figures[name] = {"wrong": wrong, "of": len(group), "low": low, "high": high}
    costs = [row.cost_ms for row in rows if row.enrolled]
    if costs:
        figures["cost_ms_median"] = float(np.median(costs))
        print(f"{'looks at the voice':>32} {np.median(costs):.1f} ms a case (median, processor)")
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure who is answered and who interrupts.")
    parser.add_argument("--material", type=Path, required=True, help="folder for the packages")
    parser.add_argument("--extra", type=Path, nargs="*", default=[], help="more recordings")
    parser.add_argument("--each", type=int, default=3, help="cases a person, kind and SNR")
    parser.add_argument("--enrolled", choices=("yes", "no"), default="yes")
    parser.add_argument("--over", action="store_true", help="over a reply, instead of turns")
    parser.add_argument("--part", default="1/1", help="only this part of the cases, as 2/4")
    parser.add_argument("--rows", type=Path, help="add each result to this file; report on all")
    options = parser.parse_args()
    part, parts = (int(number) for number in options.part.split("/"))
    voices = utterances(unpacked(PACKAGES, options.material), options.extra, PER_SPEAKER)
    persons = [name for name, said in sorted(voices.items()) if split(said)[1]]
    tunes = music(options.material)
    listener = RealEars(Store())
    if options.over:
        chosen = list(cases_over_reply(voices, persons, options.each))
    else:
        chosen = list(cases(voices, persons, tunes, options.each))
    known: dict[str, KnownVoice] = {}
    rows: list[CaseResult] = []
    for case in chosen[part - 1 :: parts]:
        enrolment = split(voices[case.person])[0]
        english = [each for each in voices[case.person] if each.name.startswith("en_")]
        if case.person not in known:
            known[case.person] = listener.known(enrolment)
        own = known[case.person] if options.enrolled == "yes" else None
        rows.append(hold(case, listener, own, (english or enrolment)[0].audio))
        if not rows[-1].right:
            print(f"  {rows[-1]}", flush=True)
        if options.rows is not None:
            with options.rows.open("a", encoding="utf-8") as out:
                out.write(json.dumps(asdict(rows[-1])) + "\n")
    if options.rows is not None:
        lines = options.rows.read_text(encoding="utf-8").splitlines()
        rows = [CaseResult(**json.loads(line)) for line in lines]
    print(f"persons: {', '.join(f'{name} {len(voices[name])}' for name in persons)}")
    figures = report(rows)
    print(json.dumps({**figures, "persons": persons, **asdict(Conditions.here())}))
