"""Holds a conversation beside an open loudspeaker with the real models that hear."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from s2s.bench.interruptions import voice
from s2s.bench.open_speakers.material import (
    PERSON_DB,
    SELF_ANSWERS,
    Saying,
    Scene,
    active_db,
    leveled,
)
from s2s.bench.recording import AUDIBLE
from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block, resample
from s2s.core.clock import Clock
from s2s.core.events import Event, Heard, Interruption, ResponseDone, ResponseStarted
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.session.models import Models
from s2s.stt.base import Transcriber, Transcription
from s2s.stt.moonshine import Moonshine, MoonshineConfig
from s2s.testing.echo_room import Defence, EchoRoom, OpenLoudspeaker
from s2s.testing.simulator import SYNTH_HZ, Said, Simulation
from s2s.transport.playback import Playback
from s2s.transport.wav import Script
from s2s.tts.base import AudioChunk, Capabilities
from s2s.tts.text import speakable
from s2s.turns.speaker.embedder import SpeakerEmbedder
from s2s.turns.speaker.own_voice import KnownVoice, enrol
from s2s.turns.vad import SileroVad

Without = Defence | Literal["words"]
"""Also: what the assistant is just saying itself does not count, unless more comes."""

QUESTION = "What is the weather like in London today?"
ANSWER_DB = -20.0
"""Of what is played, as `tts.backends.hibari` makes it."""
SPEAKER = "speaker-campplus"
STT_S = 0.06
"""What a transcript takes here."""


@dataclass(frozen=True, slots=True)
class SceneOutcome:
    """What came of a conversation."""

    right: bool
    answers: int
    """That were begun."""
    self_interrupted: int
    """Paused or stopped while nobody spoke, or begun without a question."""
    ducks: int
    """Turned down while nobody spoke."""
    stop_ms: float | None
    """From the first sound of the person to the last of the answer."""
    heard: str
    half_duplex: bool
    delay_error_ms: float | None
    residual_db: float
    """What was left of the echo against the person, while nobody spoke."""


# --- the models ----------------------------------------------------------------------------------


class RecordedVoice:
    """Speaks sentences that were recorded before, at the pipeline's level."""

    def __init__(self, answers: Sequence[Sequence[Saying]], clock: Clock) -> None:
        self._clock = clock
        self._sentences = {
            _letters(speakable(each.text, "en").text): leveled(each.audio, ANSWER_DB)
            for answer in answers
            for each in answer
        }

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(PIPELINE_HZ, streaming=True, languages=("en",))

    def synthesize(
        self,
        text: str,
        *,
        voice: str | None = None,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[AudioChunk]:
        self._clock.wait_until(self._clock.now() + 0.04)
        sounds = list(self._sounds(_letters(text)))
        if not sounds:
            raise ValueError(f"nobody ever said {text!r}")
        gap = np.zeros(PIPELINE_HZ // 5, dtype=np.float32)
        yield AudioChunk(np.concatenate([part for sound in sounds for part in (sound, gap)]), None)

    def _sounds(self, text: str) -> Iterator[Block]:
        """Of the sentences in `text`, or of the one that it is a part of."""
        for said, sound in self._sentences.items():
            if said in text:
                yield sound
            elif text in said:
                start, end = said.index(text), said.index(text) + len(text)
                scale = len(sound) / len(said)
                yield sound[int(start * scale) : int(end * scale)]

    def warm(self) -> None:
        """Nothing to load."""

    def close(self) -> None:
        """Nothing to free."""


def _disguised(answer: Sequence[Saying]) -> tuple[Saying, ...]:
    """The same sound to a text in which nobody finds it: its letters are moved by half the
    alphabet."""
    return tuple(replace(each, text=codecs.encode(each.text, "rot13")) for each in answer)


def _letters(text: str) -> str:
    return "".join(re.findall(r"[a-z]+", text.lower()))


class Punctual:
    """A recogniser whose calls take a set time."""

    def __init__(self, inner: Transcriber, clock: Clock) -> None:
        self._inner, self._clock = inner, clock
        self.warm, self.close = inner.warm, inner.close

    def transcribe(
        self,
        audio: Block,
        *,
        language: str | None = None,
        earlier: Transcription | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        self._clock.wait_until(self._clock.now() + STT_S)
        return self._inner.transcribe(audio, language=language, earlier=earlier, stop=stop)


class AlwaysDone:
    """Every pause is an end: only what is said over an answer is looked at here."""

    def probability(self, audio: Block) -> float:
        return 0.95


# --- a conversation ------------------------------------------------------------------------------


class SpeakerBench:
    """Holds conversations with the real models that hear."""

    def __init__(
        self,
        store: Store,
        canceller: Literal["on", "off"],
        without: Without | None = None,
        *,
        enrolled: bool = False,
    ) -> None:
        """
        Args:
            without: a defence that is switched off.
            enrolled: the person's voice is, and asks the questions: the assistant's is another's.
        """
        self._without: Without | None = without
        self._embedder = SpeakerEmbedder(store.path(SPEAKER), SPEAKER) if enrolled else None
        self._vad = SileroVad(store.path("silero-vad"))
        self._recogniser = Moonshine(MoonshineConfig(), Resources(store, 1))
        self._canceller: Literal["on", "off"] = canceller
        self._question = leveled(voice("hibari-slow", Resources(store, 1))(QUESTION), PERSON_DB)

    def hold(self, scene: Scene) -> SceneOutcome:
        rooms: list[EchoRoom] = []
        path = replace(scene.path, gain_db=self._gain_db(scene))
        own = self._own_voice(scene)

        def room(script: Script, playback: Playback, clock: Clock) -> EchoRoom:
            without = None if self._without == "words" else self._without
            rooms.append(
                EchoRoom(
                    script, playback, clock, path=path, canceller=self._canceller, without=without
                )
            )
            return rooms[0]

        def models(scripted: Models, clock: Clock) -> Models:
            return replace(
                scripted,
                vad=self._vad,
                end_of_turn=AlwaysDone(),
                transcriber=Punctual(self._recogniser, clock),
                synthesizer=RecordedVoice(scene.answers, clock),
                own_voice=own,
            )

        if self._without == "words":
            scene = replace(scene, answers=tuple(_disguised(each) for each in scene.answers))
        texts = iter("".join(each.text for each in answer) for answer in scene.answers)
        last = "".join(each.text for each in scene.answers[-1])
        simulation = Simulation(
            self._script(scene),
            answer=lambda _: next(texts, last),
            models=models,
            room=room,
        ).run()
        return _outcome(scene, simulation, rooms[0])

    def _script(self, scene: Scene) -> list[Said]:
        question = Said(self._question, QUESTION, 0.5)
        if self._embedder is not None and scene.person[0].speaker != "hibari-slow":
            question = Said(scene.person[0].audio, scene.person[0].text, 0.5)
        if scene.over is None:
            return [question] * SELF_ANSWERS
        wait = np.zeros(int(scene.into_s * PIPELINE_HZ), dtype=np.float32)
        over = Said(np.concatenate([wait, scene.over.audio]), scene.over.text, None)
        return [question, question, over] if scene.warm else [question, over]

    def _own_voice(self, scene: Scene) -> KnownVoice | None:
        if self._embedder is None:
            return None
        said = [each.audio for each in scene.person]
        if scene.person[0].speaker == "hibari-slow":
            said.append(self._question)
        print_of = enrol(np.concatenate(said), self._vad.open(), self._embedder)
        return KnownVoice(self._embedder, print_of.vectors)

    def _gain_db(self, scene: Scene) -> float:
        """The gain at which the echo of the answers comes at its level."""
        played = np.concatenate([leveled(each.audio, ANSWER_DB) for each in scene.answers[0]])
        loudspeaker = OpenLoudspeaker(replace(scene.path, drift_ppm=0.0))
        whole = played[: len(played) // BLOCK_SAMPLES * BLOCK_SAMPLES]
        echo = [loudspeaker.echo(block) for block in whole.reshape(-1, BLOCK_SAMPLES)]
        return PERSON_DB + scene.echo_db - active_db(np.concatenate(echo))


def _outcome(scene: Scene, simulation: Simulation, room: EchoRoom) -> SceneOutcome:
    events = simulation.events
    said = simulation.script.said
    over_s = np.inf
    if scene.over is not None:
        over_s = said[-1][0] / PIPELINE_HZ + scene.into_s
    questions = len(said) - (scene.over is not None)
    started = [at_s for at_s, event in events if isinstance(event, ResponseStarted)]
    early = [event for at_s, event in events if at_s < over_s]
    wrong = sum(_stops(event) for event in early)
    wrong += max(0, sum(at_s < over_s for at_s in started) - questions)
    texts = [event.text for at_s, event in events if isinstance(event, Heard) and at_s > over_s]
    stopped_s = next((at_s for at_s, event in events if at_s >= over_s and _cancels(event)), None)
    spoken_over = len([at_s for at_s in started if at_s < over_s]) >= questions
    stop_ms = None
    if stopped_s is not None and scene.over is not None:
        sound = simulation.transport.assistant()[: int((stopped_s + 0.1) * SYNTH_HZ)]
        last_s = float(np.flatnonzero(np.abs(sound) > AUDIBLE)[-1]) / SYNTH_HZ
        stop_ms = 1000 * (last_s - over_s)
    delay_ms = room.echo_path.delay_ms
    real_ms = scene.path.delay_ms + scene.path.drift_ppm * 1e-3 * simulation.clock.now()
    return SceneOutcome(
        right=wrong == 0 if scene.over is None else stopped_s is not None and spoken_over,
        answers=len(started),
        self_interrupted=wrong,
        ducks=sum(isinstance(event, Interruption) and event.action == "duck" for event in early),
        stop_ms=stop_ms,
        heard=texts[-1] if texts else "",
        half_duplex=room.half_duplex,
        delay_error_ms=None if delay_ms is None else delay_ms - real_ms,
        residual_db=_residual_db(room, over_s),
    )


def _stops(event: Event) -> bool:
    return isinstance(event, Interruption) and event.action in ("pause", "cancel")


def _cancels(event: Event) -> bool:
    return isinstance(event, ResponseDone) and event.status == "cancelled"


def _residual_db(room: EchoRoom, until_s: float) -> float:
    """Of the echo behind the canceller while the person is silent, against the person."""
    left = np.concatenate(room.cancelled)
    person = room.person()[: len(left)]
    played = resample(room.assistant(), SYNTH_HZ, PIPELINE_HZ)
    windows = min(len(left), len(person), len(played)) // BLOCK_SAMPLES
    shape = (windows, BLOCK_SAMPLES)
    cut = windows * BLOCK_SAMPLES
    silent = ~person[:cut].reshape(shape).any(axis=1)
    loud = np.square(played[:cut].reshape(shape)).mean(axis=1) > 1e-4
    before = np.arange(windows) * BLOCK_SAMPLES < min(until_s, 1e6) * PIPELINE_HZ
    power = np.square(left[:cut].reshape(shape), dtype=np.float64).mean(axis=1)
    chosen = power[silent & loud & before]
    return 10.0 * float(np.log10(chosen.mean() + 1e-12)) - PERSON_DB if len(chosen) else -100.0
