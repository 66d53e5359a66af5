"""Measure whole conversations in which someone speaks over a reply: backchannels and interruptions.

    python scripts/benchmark_interruptions.py
    python scripts/benchmark_interruptions.py --words others --voices hibari,piper
    python scripts/benchmark_interruptions.py --recordings FOLDER

The whole pipeline runs in simulated time with the real voice detector and the real recogniser; what
each of their calls took of a processor is added to the clock. Answers are scripted. In each
conversation a question is asked and something is said over the reply: a backchannel, which must not
end it, or an interruption, which must. Everything is read off the recording and the events: whether
the reply went on, and when the last of it was heard. --words chooses the texts (the policy was made
with `usual`; `others` it has never seen), --recordings adds beginnings of human sentences (the
folder of make_turn_audio.py). Prints each mistake, a table and, last, one line of JSON.

Needs the models of the embedded profile, the voices that are asked for, and espeak-ng (a system
package) for those named after it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from s2s.bench.conditions import Conditions
from s2s.bench.entry import existing_folder
from s2s.bench.recording import AUDIBLE
from s2s.config import registry
from s2s.core.audio import PIPELINE_HZ, Block, read_wav, resample
from s2s.core.clock import Clock
from s2s.core.events import (
    Heard,
    Interruption,
    ProvisionalStart,
    ResponseDone,
    ResponseStarted,
)
from s2s.core.messages import ResponseId
from s2s.core.metrics import percentile
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.session.models import Models
from s2s.stt.base import Transcriber, Transcription
from s2s.stt.moonshine import Moonshine, MoonshineConfig
from s2s.testing.simulator import SYNTH_HZ, Said, Simulation
from s2s.turns.vad import SileroVad

BACKCHANNELS = {
    "usual": (
        "Mm-hmm.", "Yeah.", "Okay.", "Right.", "Uh-huh.", "I see.", "Yes.", "Oh, okay.",
        "Yeah, yeah.", "Sure.",
    ),
    "others": (
        "Mhm.", "Yep.", "Got it.", "All right.", "Hmm.", "Ah.", "Oh, yeah.", "Of course.", "Cool.",
        "Okay, good.",
    ),
}  # fmt: skip
INTERRUPTIONS = {
    "usual": (
        "Stop.", "Wait a minute.", "What about tomorrow?", "No, that's wrong.", "How far is it?",
        "Hold on.", "Can you repeat that?", "I meant the other one.", "Actually, never mind.",
        "Tell me about Paris instead.",
    ),
    "others": (
        "Wait.", "Be quiet.", "Who told you that?", "No, no.", "Is it open on Sunday?",
        "Please stop.", "Sorry, say that again?", "That is not what I asked.",
        "Let us talk about music.", "And how much does it cost?",
    ),
}  # fmt: skip
QUESTION = "What is the weather like in London today?"
REPLY = "This is the first sentence of a long reply. " * 5
INTO_REPLY_S = 1.6
"""Seconds from the end of the question to what is said over the reply, which has begun by then."""
LEVEL = 0.3


@dataclass(frozen=True, slots=True)
class Clip:
    """Something said over a reply; float32 [samples] at 16 kHz, without silence around it."""

    text: str
    voice: str
    audio: Block
    backchannel: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the reply."""

    right: bool
    silenced: bool
    """It was silent for a time, or for good."""
    stop_ms: float
    """From the first sound of the speech to the last of the reply, if that was cut."""
    after_decision_ms: float
    text: str
    """What was heard last."""


# --- voices --------------------------------------------------------------------------------------

Say = Callable[[str], Block]
VOICES = {
    "hibari": ("hibari", 1.0),
    "hibari-slow": ("hibari", 0.9),
    "piper": ("piper", 1.0),
    "piper-high": ("piper", 1.12),
    "espeak-man": ("-v en-us+m3 -p 35 -s 150", 1.0),
    "espeak-woman": ("-v en-gb+f3 -p 65 -s 165", 1.0),
}
"""Backend, or options of espeak-ng, and speed by resampling: another person."""
SPELLED = {"Mm-hmm.": "Hmm-hmm.", "Mhm.": "Hmm-hmm."}
"""For voices with espeak-ng's pronunciation: it reads the letter M out in these."""


def voice(name: str, resources: Resources) -> Say:
    made, speed = VOICES[name]
    if name.startswith("espeak"):
        return lambda text: trimmed(espeak(SPELLED.get(text, text), made.split()))
    synthesizer = registry.create_synthesizer(made, None, resources)
    rate_hz = round(synthesizer.capabilities.sample_rate_hz * speed)

    def say(text: str) -> Block:
        text = SPELLED.get(text, text) if made == "piper" else text
        sound = np.concatenate([chunk.samples for chunk in synthesizer.synthesize(text)])
        return trimmed(resample(sound, rate_hz, PIPELINE_HZ))

    return say


def espeak(text: str, options: Sequence[str]) -> Block:
    """float32 [samples] at 16 kHz, by the program espeak-ng."""
    command = ["espeak-ng", *options, "--stdout", text]
    wav = subprocess.run(command, capture_output=True, check=True).stdout
    header = wav.index(b"data") + 8
    rate_hz = int.from_bytes(wav[24:28], "little")
    sound = np.frombuffer(wav[header : len(wav) - (len(wav) - header) % 2], dtype="<i2")
    return resample((sound / 32768).astype(np.float32), rate_hz, PIPELINE_HZ)


def trimmed(sound: Block) -> Block:
    """Without the silence around it, at a usual level."""
    loud = np.flatnonzero(np.abs(sound) > 0.02 * np.abs(sound).max())
    sound = sound[loud[0] : loud[-1] + 1]
    return (sound * (LEVEL / np.abs(sound).max())).astype(np.float32)


def recorded(folder: Path, count: int) -> Iterator[Clip]:
    """Human sentences as interruptions."""
    marks = json.loads((folder / "turns.json").read_text())
    for mark in marks[:: max(1, len(marks) // count)][:count]:
        audio, _ = read_wav(folder / f"{mark['name']}.wav", PIPELINE_HZ)
        speech = audio[mark["speech_start"] : mark["speech_end"]]
        yield Clip(mark["text"], "recording", trimmed(speech), backchannel=False)


# --- the conversation ----------------------------------------------------------------------------


ProcessorTime = Callable[[], float]
"""Seconds of a processor used so far."""


class Timed:
    """A recogniser whose calls cost, on the simulated clock, what they took of a processor."""

    def __init__(
        self, inner: Transcriber, clock: Clock, costs_s: list[float], used: ProcessorTime
    ) -> None:
        self._inner, self._clock, self._costs_s, self._used = inner, clock, costs_s, used
        self.warm, self.close = inner.warm, inner.close

    def transcribe(
        self,
        audio: Block,
        *,
        language: str | None = None,
        earlier: Transcription | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        started_s = self._used()
        result = self._inner.transcribe(audio, language=language, earlier=earlier, stop=stop)
        self._costs_s.append(self._used() - started_s)
        self._clock.wait_until(self._clock.now() + self._costs_s[-1])
        return result


class Listener:
    """The real models that hear, shared by all conversations."""

    def __init__(self, store: Store, used: ProcessorTime = time.process_time) -> None:
        """used: tells what the recogniser costs; by default what it really does here."""
        self.vad = SileroVad(store.path("silero-vad"))
        self.recogniser = Moonshine(MoonshineConfig(), Resources(store, 1))
        self.costs_s: list[float] = []
        self._used = used

    def models(self, scripted: Models, clock: Clock) -> Models:
        timed = Timed(self.recogniser, clock, self.costs_s, self._used)
        return replace(scripted, vad=self.vad, transcriber=timed)


def hold(clip: Clip, question: Block, listener: Listener) -> Outcome:
    """Ask the question, say `clip` over the reply, and see what becomes of it."""
    wait = np.zeros(int(INTO_REPLY_S * PIPELINE_HZ), dtype=np.float32)
    over = Said(np.concatenate([wait, clip.audio]), clip.text, None)
    replies = iter((REPLY,))
    simulation = Simulation(
        [Said(question, QUESTION), over],
        answer=lambda _: next(replies, "Fine."),
        models=listener.models,
    ).run()
    (_, _), (start, _) = simulation.script.said
    return outcome(clip, simulation, (start + len(wait)) / PIPELINE_HZ)


def outcome(clip: Clip, simulation: Simulation, onset_s: float) -> Outcome:
    events = simulation.events
    starts: dict[ResponseId, float] = {}
    for at_s, event in events:
        if isinstance(event, ProvisionalStart | ResponseStarted):
            starts.setdefault(event.response, at_s)
    began = list(starts.values())
    if not began or began[0] > onset_s:
        raise RuntimeError(f"{clip.text}: the reply had not begun when it was said")
    first = next(event for _, event in events if isinstance(event, ResponseDone))
    stops = [
        at_s
        for at_s, event in events
        if isinstance(event, Interruption) and event.action in ("pause", "cancel")
    ]
    until_s = began[1] if len(began) > 1 else simulation.clock.now()
    sound = simulation.transport.assistant()[: int(until_s * SYNTH_HZ)]
    last_s = float(np.flatnonzero(np.abs(sound) > AUDIBLE)[-1]) / SYNTH_HZ
    if stops and first.status == "cancelled":
        after = sound[int(stops[-1] * SYNTH_HZ) :]
        quiet_since = stops[-1] if after.any() else stops[0]
        last_s = max(last_s, 0.0)
    else:
        quiet_since = last_s
    texts = [event.text for _, event in events if isinstance(event, Heard)]
    return Outcome(
        right=first.status == ("completed" if clip.backchannel else "cancelled"),
        silenced=bool(stops),
        stop_ms=1000 * (last_s - onset_s),
        after_decision_ms=1000 * (last_s - quiet_since),
        text=texts[-1] if texts else "",
    )


# --- the report ----------------------------------------------------------------------------------


def rows(clips: Sequence[Clip], outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Figures by their names, in the order of the table."""
    backchannels = [o for c, o in zip(clips, outcomes, strict=True) if c.backchannel]
    interruptions = [o for c, o in zip(clips, outcomes, strict=True) if not c.backchannel]
    stopped = [o for o in interruptions if o.right]
    figures: dict[str, float] = {"backchannels": len(backchannels)}
    if backchannels:
        figures["backchannels_resumed_rate"] = sum(o.right for o in backchannels) / len(
            backchannels
        )
        figures["backchannels_never_silenced_rate"] = sum(
            not o.silenced for o in backchannels
        ) / len(backchannels)
    figures["interruptions"] = len(interruptions)
    if stopped:
        figures["interruptions_cancelled_rate"] = len(stopped) / len(interruptions)
        for share, name in ((0.5, "p50"), (0.95, "p95")):
            figures[f"stop_ms_{name}"] = percentile([o.stop_ms for o in stopped], share)
        after = [o.after_decision_ms for o in stopped]
        figures["stop_after_decision_ms_p95"] = percentile(after, 0.95)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure conversations with speech over a reply.")
    parser.add_argument(
        "--words", choices=sorted(BACKCHANNELS), default="usual", help="texts to say"
    )
    parser.add_argument("--voices", default=",".join(VOICES), help=f"of {', '.join(VOICES)}")
    parser.add_argument("--recordings", type=existing_folder, help="folder of make_turn_audio.py")
    parser.add_argument("--clips", type=int, help="at most so many texts of each kind and voice")
    options = parser.parse_args()
    names = options.voices.split(",")
    if shutil.which("espeak-ng") is None:
        print("espeak-ng is not installed: its voices are left out.")
        names = [name for name in names if not name.startswith("espeak")]
    store = Store()
    voices = {name: voice(name, Resources(store, 1)) for name in names}
    clips = [
        Clip(text, name, say(text), backchannel)
        for name, say in voices.items()
        for backchannel, texts in (
            (True, BACKCHANNELS[options.words]),
            (False, INTERRUPTIONS[options.words]),
        )
        for text in texts[: options.clips]
    ]
    if options.recordings:
        clips += recorded(options.recordings, 50)
    listener = Listener(store)
    question = voices[names[0]](QUESTION)
    outcomes: list[Outcome] = []
    for clip in clips:
        outcomes.append(hold(clip, question, listener))
        if not outcomes[-1].right:
            kind = "backchannel" if clip.backchannel else "interruption"
            print(f"  {kind} {clip.text!r} by {clip.voice}, heard as {outcomes[-1].text!r}: wrong")
    figures = rows(clips, outcomes)
    figures["transcript_ms_p50"] = 1000 * percentile(listener.costs_s, 0.5)
    figures["transcript_ms_p95"] = 1000 * percentile(listener.costs_s, 0.95)
    for name, value in figures.items():
        print(f"{name:>32} {value:8.2f}")
    conditions = asdict(Conditions.here())
    print(json.dumps({**figures, "words": options.words, "voices": names, **conditions}))
