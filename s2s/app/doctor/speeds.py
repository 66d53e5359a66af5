"""How fast each stage of a conversation is on this machine, on the models of a configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from s2s.app.doctor.report import Finding, Value
from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block
from s2s.llm.base import ChatMessage
from s2s.session.models import Models

QUESTION = "What is the capital of France?"
SENTENCE = "The old lighthouse stood alone above the quiet harbour, and the wind had gone to sleep."
MOST_PIECES = 60
"""Of an answer that is written to be measured."""


@dataclass(frozen=True, slots=True)
class StageSpeeds:
    """What is measured with: the models, a recording of speech, a clock.

    recording: float32 [samples at 16 kHz].
    """

    models: Models
    recording: Block
    now: Callable[[], float]

    def findings(self) -> Iterator[Finding]:
        """A finding for each stage, as it is measured."""
        yield self._hearing()
        yield self._transcriber()
        yield self._chat()
        yield self._voice()

    def _hearing(self) -> Finding:
        vad = self.models.vad.open()
        count = len(self.recording) // BLOCK_SAMPLES
        started_s = self.now()
        for n in range(count):
            vad.probability(self.recording[n * BLOCK_SAMPLES : (n + 1) * BLOCK_SAMPLES])
        each_ms = 1000 * (self.now() - started_s) / max(1, count)
        return _found(
            "vad", f"voice activity: {each_ms:.2f} ms for each window of 32 ms", window_ms=each_ms
        )

    def _transcriber(self) -> Finding:
        seconds = len(self.recording) / PIPELINE_HZ
        started_s = self.now()
        self.models.transcriber.transcribe(self.recording)
        took_s = self.now() - started_s
        return _found(
            "stt",
            f"stt: {took_s:.2f} s for {seconds:.1f} s of speech",
            seconds=took_s,
            real_time_factor=took_s / seconds,
        )

    def _chat(self) -> Finding:
        prompt = [ChatMessage("system", "Answer at length."), ChatMessage("user", QUESTION)]
        started_s, first_s, last_s, pieces = self.now(), 0.0, 0.0, 0
        stream = self.models.chat.stream(prompt, stop=lambda: pieces >= MOST_PIECES)
        for _ in stream:
            last_s = self.now()
            first_s = first_s or last_s
            pieces += 1
        took_s = last_s - first_s
        rate = (pieces - 1) / took_s if pieces > 1 and took_s > 0 else 0.0
        first_ms = 1000 * (first_s - started_s) if pieces else 0.0
        return _found(
            "llm",
            f"llm: first words after {first_ms:.0f} ms, then {rate:.0f} pieces of text a second",
            first_ms=first_ms,
            pieces_a_second=rate,
        )

    def _voice(self) -> Finding:
        voice = self.models.synthesizer
        started_s, first_s, samples = self.now(), 0.0, 0
        for chunk in voice.synthesize(SENTENCE):
            if len(chunk.samples):
                first_s = first_s or self.now()
            samples += len(chunk.samples)
        sound_s = samples / voice.capabilities.sample_rate_hz
        factor = (self.now() - started_s) / sound_s if sound_s else 0.0
        first_ms = 1000 * (first_s - started_s) if samples else 0.0
        return _found(
            "tts",
            f"tts: first sound after {first_ms:.0f} ms, {factor:.2f} s of work for a second of it",
            first_ms=first_ms,
            real_time_factor=factor,
        )


def _found(stage: str, what: str, **figures: float) -> Finding:
    values: dict[str, Value] = {"stage": stage}
    values |= {name: round(value, 4) for name, value in figures.items()}
    return Finding("ok", what, area="speed", values=values)
