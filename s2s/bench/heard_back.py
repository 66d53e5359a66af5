"""Speaks a list of prompts, hears them back, and compares voices: for those who own weights.

    python -m s2s bench voice --tts qwen3 --voice aiden
    python -m s2s bench voice --tts qwen3 --voice me --prompts LIST.txt --like me.wav --base BASE
    python -m s2s bench voice --tts piper --keep FOLDER        the sound as files

The word error rate is of the speech recogniser that is chosen (--stt), so it holds that one's
errors too: compare voices with each other, not with a person. Similarity is the cosine between
vectors of the speaker encoder of a Qwen3-TTS Base model: of each utterance with the recording
(--like), and with the other utterances, which says how steady the voice is. With random weights
both mean nothing. The last line is JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

from s2s.bench.hearing.wer import errors
from s2s.core.audio import PIPELINE_HZ, Block, empty, resample, write_sound
from s2s.stt.base import Transcriber
from s2s.tts.base import Synthesizer
from s2s.tts.speak import language_for, speak

PROMPTS = (
    "The weather is lovely today, so let us walk along the river.",
    "Could you please tell me what time the next train leaves?",
    "She opened the window and listened to the rain for a while.",
    "There are seven days in a week and twelve months in a year.",
    "I am sorry, but the library closes early on Sundays.",
    "He bought three apples, two lemons and a loaf of bread.",
    "Nobody knew where the old map had come from.",
    "Turn left at the corner, then keep straight on past the school.",
    "The doctor said that I should drink more water and sleep longer.",
    "What a wonderful surprise it is to see you again!",
    "My brother plays the piano every evening after dinner.",
    "If you need any help, just ask, and I will be there at once.",
)
"""Plain words, so that a reader's errors are not the text's."""

Embed = Callable[[Block, int], Block]
"""A speaker's vector, float32 [width], of samples at a rate in Hz."""


@dataclass(frozen=True, slots=True)
class HeardBack:
    """One prompt, spoken and heard."""

    text: str
    heard: str
    wrong: int
    words: int
    audio_s: float
    rtf: float
    like: float | None
    """Similarity to the recording; None without one."""
    steady: float | None
    """Mean similarity to the other utterances; None without an encoder."""


def hear_back(
    prompts: Sequence[str],
    synthesizer: Synthesizer,
    transcriber: Transcriber,
    *,
    language: str | None,
    embed: Embed | None = None,
    like: Block | None = None,
    keep: Path | None = None,
) -> list[HeardBack]:
    """Speak and hear each prompt. like: the vector of a recording. keep: a folder for the sound."""
    rate_hz = synthesizer.capabilities.sample_rate_hz
    spoken = [_spoken(text, synthesizer, language) for text in prompts]
    vectors = [embed(sound, rate_hz) if embed and len(sound) else None for sound, _ in spoken]
    found: list[HeardBack] = []
    for at, (text, (sound, took_s)) in enumerate(zip(prompts, spoken, strict=True)):
        audio_s = len(sound) / rate_hz
        heard = ""
        if len(sound):
            sixteen = resample(sound, rate_hz, PIPELINE_HZ)
            heard = transcriber.transcribe(sixteen, language=language).text
        if keep is not None:
            write_sound(keep / f"{at + 1:03}.wav", sound, rate_hz)
        vector, others = vectors[at], [v for i, v in enumerate(vectors) if i != at]
        found.append(
            HeardBack(
                text,
                heard,
                *errors(text, heard),
                round(audio_s, 2),
                round(took_s / audio_s, 3) if audio_s else 0.0,
                None if like is None or vector is None else similarity(vector, like),
                _steady(vector, others),
            )
        )
    return found


def read_prompts(path: Path) -> list[str]:
    """A prompt a line; empty lines and those that begin with # do not count.

    Raises ValueError for a file without any.
    """
    lines = (line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines())
    found = [line for line in lines if line and not line.startswith("#")]
    if not found:
        raise ValueError(f"{path} holds no prompt: write one a line")
    return found


def similarity(one: Block, other: Block) -> float:
    """Cosine between two vectors, -1 to 1."""
    size = float(np.linalg.norm(one)) * float(np.linalg.norm(other))
    return round(float(np.dot(one, other)) / size, 4) if size else 0.0


def _steady(vector: Block | None, others: Sequence[Block | None]) -> float | None:
    found = [similarity(vector, each) for each in others if vector is not None and each is not None]
    return round(float(np.mean(found)), 4) if found else None


def _spoken(text: str, synthesizer: Synthesizer, language: str | None) -> tuple[Block, float]:
    """The sound of a text as in a conversation, and the seconds it took."""
    began_s = perf_counter()
    supported = synthesizer.capabilities.languages
    synthesis = speak(text, synthesizer, language_for(text, supported, language))
    parts = [chunk.samples for chunk in synthesis.chunks]
    return (np.concatenate(parts) if parts else empty()), perf_counter() - began_s
