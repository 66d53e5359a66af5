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
(Wilson) and, last, one line of JSON. With --synthetic the persons are synthetic voices, and others
are both; such figures are no person's.

Where the recogniser, which knows English alone, finds no words in what somebody says, words are
put there: whose voice it is does not depend on them.

Needs the models of the embedded profile, the speaker model, apt-get and dpkg-deb unless --material
has the packages of `s2s.bench.whose_voice.material` unpacked, and av to decode them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from s2s.bench.conditions import Conditions
from s2s.bench.entry import existing_folder
from s2s.bench.packages import unpacked
from s2s.bench.whose_voice.cases import cases, cases_over_reply, shuffled, split
from s2s.bench.whose_voice.conversations import CaseResult, RealEars, hold
from s2s.bench.whose_voice.material import PACKAGES, music, synthetic_voices, utterances
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.turns.speaker.own_voice import KnownVoice

PER_SPEAKER = 24


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
    parser.add_argument(
        "--extra", type=existing_folder, nargs="*", default=[], help="more recordings"
    )
    parser.add_argument("--each", type=int, default=3, help="cases a person, kind and SNR")
    parser.add_argument("--enrolled", choices=("yes", "no"), default="yes")
    parser.add_argument("--synthetic", action="store_true", help="persons are synthetic voices")
    parser.add_argument("--over", action="store_true", help="over a reply, instead of turns")
    parser.add_argument("--part", default="1/1", help="only this part of the cases, as 2/4")
    parser.add_argument("--rows", type=Path, help="add each result to this file; report on all")
    options = parser.parse_args()
    part, parts = (int(number) for number in options.part.split("/"))
    voices = utterances(unpacked(PACKAGES, options.material), options.extra, PER_SPEAKER)
    store = Store()
    synthetic = synthetic_voices(Resources(store, 1)) if options.synthetic else {}
    persons = [name for name, said in sorted((synthetic or voices).items()) if split(said)[1]]
    voices |= synthetic
    tunes = music(options.material)
    listener = RealEars(store)
    if options.over:
        chosen = list(cases_over_reply(voices, persons, options.each))
    else:
        chosen = list(cases(voices, persons, tunes, options.each))
    known: dict[str, KnownVoice] = {}
    rows: list[CaseResult] = []
    for case in shuffled(chosen)[part - 1 :: parts]:
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
