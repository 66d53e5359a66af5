"""Voices, music and noises to mix conversations from: where they come from, and how they are read.

Human voices, each a speaker of their own: the recordings in tests/data (LibriVox, public domain;
pocketsphinx, BSD), and prompts for Asterisk in Debian's packages (CC-BY-SA-3.0 and free licences
named in each package's copyright file): Allison (English and Spanish: one voice), June (French),
Carlo (Italian), a Russian voice, Menardi (Italian), Armelle (French), a Colombian. Recordings in
wheels and source packages may be added by folder. Music: asterisk-moh-opsound (CC-BY-SA). Nothing
of it is kept in this repository.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s2s.bench.interruptions import voice
from s2s.bench.open_speakers.material import ANSWERS
from s2s.bench.packages import RAW, read_sound
from s2s.core.audio import PIPELINE_HZ, Block
from s2s.core.audio.gain import speech_level_db
from s2s.models.resources import Resources

PACKAGES = (
    "asterisk-core-sounds-en-g722", "asterisk-core-sounds-es-g722", "asterisk-core-sounds-fr-g722",
    "asterisk-core-sounds-it-g722", "asterisk-core-sounds-ru-g722", "asterisk-moh-opsound-g722",
    "asterisk-prompt-es-co", "asterisk-prompt-fr-armelle", "asterisk-prompt-it-menardi-wav",
)  # fmt: skip
DATA = Path(__file__).resolve().parents[3] / "tests" / "data"
FOLDERS = {
    "en_US_f_Allison": "allison",
    "es_MX_f_Allison": "allison",
    "fr_CA_f_June": "june",
    "it_IT_m_Carlo": "carlo",
    "ru_RU_f_IvrvoiceRU": "russian",
    "it_IT_f_Menardi": "menardi",
    "sounds/es": "colombian",
    "sounds/fr": "armelle",
}
"""Part of a file's path -> its speaker."""
SPEAKERS_IN_DATA = {"librivox": "librivox", "goforward": "sphinx", "something": "sphinx"}
SYNTHETIC = ("hibari", "piper", "espeak-man", "espeak-woman")
SHORTEST_S, LONGEST_S = 1.6, 6.0
"""Of what is taken for something said to an assistant."""
SPEECH_DB = -26.0
"""Level of every voice before it is mixed: loud frames, dB of full scale."""


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """Something said; float32 [samples] at 16 kHz, at `SPEECH_DB`, without silence around it."""

    speaker: str
    name: str
    audio: Block


def levelled(audio: Block, level_db: float) -> Block:
    """`audio` made so loud that its loud frames have `level_db`."""
    now_db = speech_level_db(audio, PIPELINE_HZ)
    return (audio * 10 ** ((level_db - now_db) / 20)).astype(np.float32)


def trimmed(audio: Block) -> Block:
    """Without what is 40 dB below its peak at either end."""
    loud = np.flatnonzero(np.abs(audio) > 0.01 * np.abs(audio).max(initial=0.0))
    return audio[loud[0] : loud[-1] + 1] if len(loud) else audio[:0]


def utterances(
    folder: Path, extra: Sequence[Path], per_speaker: int
) -> dict[str, list[SpokenLine]]:
    """Speaker -> what they say, in a fixed order, at most `per_speaker` each.

    Args:
        folder: the unpacked packages.
        extra: further recordings, each one speaker named after the file; cut at their pauses.
        per_speaker: taken evenly over all there are.
    """
    found: dict[str, list[SpokenLine]] = {}
    listed = sorted(_files(folder), key=lambda each: (each[0], each[1].name))
    counts = Counter(speaker for speaker, _ in listed)
    for index, (speaker, path) in enumerate(listed):
        if index % max(1, counts[speaker] // (4 * per_speaker)):
            continue  # more than enough: only some are read
        if len(found.setdefault(speaker, [])) < 400 and path.stat().st_size > 2_000:
            audio = trimmed(read_sound(path))
            if SHORTEST_S <= len(audio) / PIPELINE_HZ <= LONGEST_S:
                name = f"{path.parent.name}/{path.stem}"
                found[speaker].append(SpokenLine(speaker, name, levelled(audio, SPEECH_DB)))
    for path in extra:
        pieces = cut_at_pauses(read_sound(path))
        speaker = re.sub(r"\W+", "_", path.stem)
        found[speaker] = [
            SpokenLine(speaker, f"{path.stem}/{number}", levelled(piece, SPEECH_DB))
            for number, piece in enumerate(pieces)
        ]
    return {
        speaker: said[:: max(1, len(said) // per_speaker)][:per_speaker]
        for speaker, said in found.items()
        if said
    }


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(DATA.glob("*.wav")):
        speaker = next((v for k, v in SPEAKERS_IN_DATA.items() if path.stem.startswith(k)), None)
        if speaker is not None:
            yield speaker, path
    for path in sorted(folder.rglob("*")):
        if path.suffix not in (*RAW, ".wav") or "moh" in path.parts:
            continue
        speaker = next((v for k, v in FOLDERS.items() if k in str(path)), None)
        if speaker is not None and "digits" not in path.parts:
            yield speaker, path


def synthetic_voices(resources: Resources) -> dict[str, list[SpokenLine]]:
    """Speaker -> what they say: the sentences of the answers beside an open loudspeaker."""
    sentences = [each for answer in ANSWERS for each in re.findall(r"[^.]+\.", answer)]
    return {
        f"synthetic {name}": [
            SpokenLine(f"synthetic {name}", sentence.strip(), levelled(say(sentence), SPEECH_DB))
            for sentence in sentences
        ]
        for name in SYNTHETIC
        for say in (voice(name, resources),)
    }


def cut_at_pauses(audio: Block) -> list[Block]:
    """Pieces of a long recording between its pauses, each long enough to be something said."""
    hop = PIPELINE_HZ // 50
    count = len(audio) // hop
    power = np.square(audio[: count * hop]).reshape(count, hop).mean(axis=1)
    smooth = np.convolve(power, np.ones(10) / 10, mode="same")
    quiet = smooth < 0.01 * np.quantile(smooth, 0.9)
    pieces: list[Block] = []
    start = 0
    for frame in range(count + 1):
        long_s = (frame - start) * hop / PIPELINE_HZ
        if (frame == count or quiet[frame]) and long_s >= SHORTEST_S:
            piece = trimmed(audio[start * hop : frame * hop])
            if SHORTEST_S <= len(piece) / PIPELINE_HZ <= LONGEST_S:
                pieces.append(piece)
            start = frame
        elif frame < count and quiet[frame] and long_s < 0.3:
            start = frame
    return pieces


def music(folder: Path) -> list[Block]:
    """The pieces of asterisk-moh-opsound, float32 [samples] at 16 kHz."""
    return [read_sound(path) for path in sorted(folder.rglob("moh/*.g722"))]


def babble(voices: dict[str, list[SpokenLine]], seconds: float, seed: int, without: str) -> Block:
    """Six other voices at once, each saying one thing after another; float32 [samples]."""
    random = np.random.default_rng(seed)
    names = sorted(name for name in voices if name != without)
    mixed = np.zeros(int(seconds * PIPELINE_HZ), dtype=np.float32)
    for name in random.choice(names, min(6, len(names)), replace=False):
        start = -int(random.integers(PIPELINE_HZ))
        while start < len(mixed):
            said = voices[str(name)][int(random.integers(len(voices[str(name)])))].audio
            part = said[max(0, -start) : max(0, len(mixed) - start)]
            mixed[max(0, start) : max(0, start) + len(part)] += part
            start += len(said) + int(random.integers(PIPELINE_HZ // 2))
    return mixed


def mixed(speech: Block, other: Block, snr_db: float) -> Block:
    """`speech` with `other` below it by `snr_db`, cut to its length; both by their loud frames."""
    level_db = speech_level_db(speech, PIPELINE_HZ) - snr_db
    below = levelled(np.resize(other, len(speech)), level_db)
    return np.clip(speech + below, -1.0, 1.0).astype(np.float32)
