"""Measure what speech over a reply does: nods must let it go on, words must stop it.

    python scripts/benchmark_interruption.py
    python scripts/benchmark_interruption.py --recordings FOLDER

Fifty nods and fifty interruptions, synthesised in several voices and speeds, and, with
--recordings, beginnings of human sentences (the folder of make_turn_audio.py), are heard over a
reply that is being played (on headphones: no echo), by the real voice detector, segmenter and
recogniser, on the sample clock. Partial transcripts are asked for and come as in the program: every
240 ms from the onset on, and --transcript-ms later. Prints each mistake, a table and, last, one
line of JSON.
"""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s2s import registry
from s2s.audio import PIPELINE_HZ, Block, Framer, read_wav, resample
from s2s.metrics import percentile
from s2s.runtime import Resources
from s2s.store import Store
from s2s.stt.moonshine import Moonshine, MoonshineConfig
from s2s.turns.interruption import Cancel, Decision, Interruption, Restore, Resume
from s2s.turns.segmenter import Onset, Phantom, Segmenter, SoftEnd
from s2s.turns.vad import WINDOW_SAMPLES, SileroVad

MS = PIPELINE_HZ // 1000
PARTIAL_SAMPLES = 240 * MS
LEAD_S, TAIL_S = 1.0, 3.5

NODS = (
    "Mm-hmm.", "Yeah.", "Okay.", "Right.", "Uh-huh.", "I see.", "Yes.", "Oh, okay.", "Yeah, yeah.",
    "Sure.",
)  # fmt: skip
ORDERS = (
    "Stop.", "Wait a minute.", "What about tomorrow?", "No, that's wrong.", "How far is it?",
    "Hold on.", "Can you repeat that?", "I meant the other one.", "Actually, never mind.",
    "Tell me about Paris instead.",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Clip:
    """Something said over a reply: float32 [samples] at 16 kHz, speech from `start` on."""

    text: str
    voice: str
    audio: Block
    start: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the reply."""

    goes_on: bool
    decided_ms: float | None
    """From the first sound of the speech to the first decision."""
    cancelled_ms: float | None
    """To the cancel, if there was one."""
    text: str
    """The last transcript."""


def clip(text: str, voice: str, speech: Block, seed: int) -> Clip:
    """Put `speech` into a quiet room, its first sound 1 s after the beginning."""
    loud = np.flatnonzero(np.abs(speech) > 0.02 * np.abs(speech).max())
    speech = speech[loud[0] : loud[-1] + 1] * np.float32(0.3 / np.abs(speech).max())
    lead, tail = int(LEAD_S * PIPELINE_HZ), int(TAIL_S * PIPELINE_HZ)
    room = np.random.default_rng(seed).standard_normal(lead + len(speech) + tail) * 4e-4
    room[lead : lead + len(speech)] += speech
    return Clip(text, voice, room.astype(np.float32), lead)


def synthesised(texts: tuple[str, ...], voices: list[tuple[str, str, float]]) -> Iterator[Clip]:
    """Each text in each voice; voices are (backend, voice name or "", speed by resampling)."""
    resources = Resources(Store(), 1)
    made = {name: registry.create_synthesizer(name, None, resources) for name, _, _ in voices}
    for backend, name, speed in voices:
        synthesizer = made[backend]
        rate_hz = synthesizer.capabilities.sample_rate_hz
        for i, text in enumerate(texts):
            chunks = synthesizer.synthesize(text, voice=name or None)
            sound = np.concatenate([chunk.samples for chunk in chunks])
            sound = resample(sound, round(rate_hz * speed), PIPELINE_HZ)
            yield clip(text, f"{backend} {name} x{speed:g}", sound, i)


def recorded(folder: Path, count: int) -> Iterator[Clip]:
    """Human sentences as interruptions."""
    marks = json.loads((folder / "turns.json").read_text())
    for i, mark in enumerate(marks[:: max(1, len(marks) // count)][:count]):
        audio, _ = read_wav(folder / f"{mark['name']}.wav", PIPELINE_HZ)
        speech = audio[mark["speech_start"] : mark["speech_end"]]
        yield clip(mark["text"], "recording", speech, i)


def hear(said: Clip, vad: SileroVad, recogniser: Moonshine, transcript_ms: float) -> Outcome:
    """Hear `said` over a reply that is played all the time."""
    vad.reset()
    segmenter, machine = Segmenter(), Interruption()
    machine.begin(0)
    decisions: list[Decision] = []
    arriving: list[tuple[int, int, str]] = []
    onset, next_partial, last_text = 0, None, ""
    for block in Framer(WINDOW_SAMPLES).push(said.audio):
        for event in segmenter.push(block, vad.probability(block)):
            match event:
                case Onset():
                    onset = event.sample
                    next_partial = next_partial or onset + PARTIAL_SAMPLES
                    decisions += machine.onset(onset)
                case Phantom() | SoftEnd():
                    decisions += machine.ended(segmenter.sample)
                    next_partial = segmenter.sample
                case _:
                    pass
        now = segmenter.sample
        if next_partial is not None and now >= next_partial and len(segmenter.audio()):
            text = recogniser.transcribe(segmenter.audio(), language="en").text
            arriving.append((now + round(transcript_ms * MS), onset, text))
            quiet = not segmenter.speaking and segmenter.open
            next_partial = None if quiet else now + PARTIAL_SAMPLES
        active_ms = segmenter.active_samples / MS
        decisions += machine.window(now, active_ms, segmenter.speech_probability)
        while arriving and arriving[0][0] <= now:
            _, _, last_text = arriving.pop(0)
            decisions += machine.words(now, last_text)
    decided = [d for d in decisions if isinstance(d, Restore | Cancel)]
    cancels = [d.sample for d in decisions if isinstance(d, Cancel)]
    last = [d for d in decisions if isinstance(d, Restore | Cancel | Resume)][-1:]
    return Outcome(
        not (last and isinstance(last[0], Cancel)),
        (decided[0].sample - said.start) / MS if decided else None,
        (cancels[0] - said.start) / MS if cancels else None,
        last_text,
    )


def report(kind: str, clips: list[Clip], outcomes: list[Outcome], *, goes_on: bool) -> float:
    """Print the mistakes; returns the share that was right."""
    for said, outcome in zip(clips, outcomes, strict=True):
        if outcome.goes_on != goes_on:
            print(f"  {kind} {said.text!r} ({said.voice}), heard as {outcome.text!r}: wrong")
    return sum(outcome.goes_on == goes_on for outcome in outcomes) / len(outcomes)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what speech over a reply does.")
    parser.add_argument("--recordings", type=Path, help="folder of make_turn_audio.py")
    parser.add_argument("--transcript-ms", type=float, default=100.0, help="time of a transcript")
    arguments = parser.parse_args()
    voices = [
        ("hibari", "", 1.0),
        ("hibari", "", 1.15),
        ("hibari", "", 0.9),
        ("piper", "", 1.0),
        ("piper", "", 1.12),
    ]
    nods = list(synthesised(NODS, voices))
    orders = list(synthesised(ORDERS, voices))
    if arguments.recordings:
        orders += recorded(arguments.recordings, 50)
    vad = SileroVad(Store().path("silero-vad"))
    recogniser = Moonshine(MoonshineConfig(), Resources(Store(), 1))
    heard_nods = [hear(said, vad, recogniser, arguments.transcript_ms) for said in nods]
    heard_orders = [hear(said, vad, recogniser, arguments.transcript_ms) for said in orders]
    rows = {
        "nods": len(nods),
        "nods_go_on": report("nod", nods, heard_nods, goes_on=True),
        "nods_without_a_stop": sum(o.cancelled_ms is None for o in heard_nods) / len(nods),
        "interruptions": len(orders),
        "interruptions_cancel": report("order", orders, heard_orders, goes_on=False),
    }
    stops = [o.cancelled_ms for o in heard_orders if o.cancelled_ms is not None]
    rows["stop_ms_p50"] = percentile(stops, 0.5)
    rows["stop_ms_p95"] = percentile(stops, 0.95)
    for name, value in rows.items():
        print(f"{name:>22} {value:8.2f}")
    print(
        json.dumps(
            {
                **rows,
                "transcript_ms_assumed": arguments.transcript_ms,
                "voices": [" ".join(map(str, voice)) for voice in voices],
                "cpu": platform.processor() or platform.machine(),
                "python": platform.python_version(),
            }
        )
    )


if __name__ == "__main__":
    main()
