"""Make turns of real speech with pauses cut in, and say where everything is.

Material: Allison Smith's prompts for Asterisk (Debian package asterisk-core-sounds-en-g722,
CC-BY-SA-3.0; fetched with apt, not kept in this repository) and the LibriVox recordings in
tests/data (public domain). Each turn is one whole sentence; in each, one pause of 0.2 to 1.5 s (two
in long ones) is cut in between two words, anywhere in the sentence, and filled with the recording's
own room tone. Where words meet is what Whisper base says, moved to the quietest point within 60 ms.

    python scripts/make_turn_audio.py --out DIR          WAV files and turns.json
    python scripts/make_turn_audio.py --out DIR --prompts FOLDER    with the package unpacked there
    python scripts/make_turn_audio.py --out DIR --first 3           the same, cut elsewhere

Needs: faster-whisper (for the words; it also brings av, to decode G.722), and apt-get and dpkg-deb
unless --prompts is given.
"""

# pyright: reportUnknownMemberType=false
# faster-whisper leaves arguments open.
from __future__ import annotations

import argparse
import gzip
import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from s2s.bench.entry import existing_folder
from s2s.bench.packages import read_sound, unpacked
from s2s.core.audio import PIPELINE_HZ, Block, read_wav, write_wav
from s2s.models.store import Store

PACKAGES = ("asterisk-core-sounds-en", "asterisk-core-sounds-en-g722")
DATA = Path(__file__).resolve().parents[2] / "tests" / "data"
LIBRIVOX = {
    "librivox_0870": "And Mr. John Dashwood had then leisure to consider how much there might be "
    "prudently in his power to do for them.",
    "librivox_0890": "Unless to be rather cold hearted and rather selfish is to be ill disposed.",
    "librivox_0920": "Had he married a more amiable woman, he might have been made still more "
    "respectable than he was.",
    "librivox_0930": "He might even have been made amiable himself.",
}
"""The recordings that are whole sentences; librivox_0880 stops in the middle of one."""

DIGITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]

_HOP = PIPELINE_HZ // 100
_FADE = PIPELINE_HZ // 200
_LEAD_S = 0.6
_TAIL_S = 2.6


@dataclass(frozen=True, slots=True)
class Recording:
    """A sentence as it was spoken: float32 [samples] at 16 kHz, speech from `start` to `end`."""

    name: str
    text: str
    audio: Block
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Pause:
    """Speech stops at `start` and goes on at `end`, in samples of the turn."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn to be heard. Marks in samples of `audio`, float32 [samples] at 16 kHz."""

    name: str
    text: str
    audio: Block
    speech_start: int
    pauses: tuple[Pause, ...]
    speech_end: int


def _listing(folder: Path) -> Path:
    """What the prompts say, as their package has it. Raises FileNotFoundError when it is not
    there."""
    found = next(folder.rglob("core-sounds-en.txt.gz"), None)
    if found is None:
        raise FileNotFoundError(
            f"{folder} holds no core-sounds-en.txt.gz: name the folder in which make_turn_audio.py "
            "unpacked its Debian packages"
        )
    return found


def sentences(folder: Path) -> dict[str, str]:
    """Prompts that are one whole sentence of at least four words: name -> text."""
    listing = _listing(folder)
    found: dict[str, str] = {}
    for line in gzip.decompress(listing.read_bytes()).decode("utf-8").splitlines():
        name, _, text = line.partition(":")
        text = text.strip()
        whole = re.fullmatch(r"[A-Z][^\[\]]*[^.\[\]][.!?]", text)
        fragment = re.match(r"(To|From|Followed|Un-|Call-Forward|Information|Simultaneous)", text)
        one = len(re.findall(r"[.!?](?:\s|$)", text)) == 1
        if whole and one and not fragment and len(text.split()) >= 4:
            found[name.strip()] = text
    return found


def whole_prompts(folder: Path) -> dict[str, str]:
    """Prompts of several sentences, or of one said as a list, that `sentences` leaves out."""
    listing = _listing(folder)
    single = sentences(folder)
    found: dict[str, str] = {}
    for line in gzip.decompress(listing.read_bytes()).decode("utf-8").splitlines():
        name, _, text = line.partition(":")
        text = text.strip()
        whole = len(text.split()) >= 6 and "..." not in text and "[" not in text
        if whole and name.strip() not in single:
            found[name.strip()] = text
    return found


def level_db(audio: Block) -> np.ndarray:
    """Level of each 10 ms of `audio` over 30 ms, dB, float64 [frames]."""
    count = len(audio) // _HOP
    power = np.square(audio[: count * _HOP].astype(np.float64)).reshape(count, _HOP).mean(axis=1)
    smooth = np.convolve(np.pad(power, 1, mode="edge"), np.ones(3) / 3, mode="valid")
    return 10.0 * np.log10(smooth + 1e-10)


def recordings(folder: Path, longest_s: float = 9.0) -> list[Recording]:
    """Every usable sentence, in a fixed order, with its speech marked by level (-35 dB)."""
    sources = [(name, text, DATA / f"{name}.wav") for name, text in LIBRIVOX.items()]
    for name, text in sorted(sentences(folder).items()):
        sources += [(name, text, path) for path in sorted(folder.rglob(f"{name}.g722"))[:1]]
    found: list[Recording] = []
    for name, text, path in sources:
        audio = read_sound(path)
        level = level_db(audio)
        loud = np.flatnonzero(level > level.max() - 35.0)
        start, end = int(loud[0]) * _HOP, (int(loud[-1]) + 1) * _HOP
        if PIPELINE_HZ <= end - start <= longest_s * PIPELINE_HZ:
            found.append(Recording(name, text, audio, start, end))
    return found


def room_tone(audio: Block, samples: int, random: np.random.Generator) -> Block:
    """Noise as loud as the quietest tenth of `audio`, float32 [samples]."""
    level = float(np.quantile(level_db(audio), 0.05))
    amplitude = 10.0 ** (max(level, -75.0) / 20.0)
    return (random.standard_normal(samples) * amplitude).astype(np.float32)


def word_borders(found: list[Recording], cache: Path) -> dict[str, list[float]]:
    """Where each word of each recording but the first begins, in seconds; kept in `cache`."""
    if not cache.is_file():
        from faster_whisper import WhisperModel

        path = str(Store().path("whisper-base"))
        whisper = WhisperModel(path, device="cpu", compute_type="int8", cpu_threads=2)
        borders = {}
        for recording in found:
            segments, _ = whisper.transcribe(
                recording.audio, language="en", word_timestamps=True, beam_size=1
            )
            words = [word for segment in segments for word in segment.words or []]
            borders[recording.name] = [
                round(float(word.start), 2) for word in words[1:] if word.word.startswith(" ")
            ]
        cache.write_text(json.dumps(borders, indent=1) + "\n")
    return json.loads(cache.read_text())


def cut_points(
    recording: Recording, borders: list[float], count: int, random: np.random.Generator
) -> list[int]:
    """Up to `count` places between words, 0.4 s from the ends and 0.8 s apart, in samples."""
    level = level_db(recording.audio)
    chosen: list[int] = []
    for border_s in random.permutation(np.array(borders)):
        near = slice(max(0, int(border_s * 100) - 6), int(border_s * 100) + 7)
        cut = (near.start + int(np.argmin(level[near]))) * _HOP + _HOP // 2
        inside = recording.start + 40 * _HOP <= cut <= recording.end - 40 * _HOP
        if inside and all(abs(cut - other) >= 80 * _HOP for other in chosen):
            chosen.append(cut)
        if len(chosen) == count:
            break
    return sorted(chosen)


def make_turn(recording: Recording, borders: list[float], variant: int) -> Turn | None:
    """The turn number `variant` of `recording`, always the same; None where nothing can be cut."""
    random = np.random.default_rng([variant, *recording.name.encode()])
    long = recording.end - recording.start > 4 * PIPELINE_HZ
    cuts = cut_points(recording, borders, 2 if long else 1, random)
    if not cuts:
        return None
    fade = np.linspace(1.0, 0.0, _FADE, dtype=np.float32)
    lead = int(_LEAD_S * PIPELINE_HZ)
    pieces, pauses = [room_tone(recording.audio, lead, random)], list[Pause]()
    position, length = recording.start, lead
    for cut in [*cuts, recording.end]:
        piece = recording.audio[position:cut].copy()
        piece[:_FADE] *= fade[::-1]
        piece[-_FADE:] *= fade
        last = cut == recording.end
        pause_s = _TAIL_S if last else random.uniform(0.2, 1.5)
        silence = room_tone(recording.audio, int(pause_s * PIPELINE_HZ), random)
        pieces += [piece, silence]
        length += len(piece)
        if not last:
            pauses.append(Pause(length, length + len(silence)))
            length += len(silence)
        position = cut
    name = f"{recording.name}_{variant}"
    return Turn(name, recording.text, np.concatenate(pieces), lead, tuple(pauses), length)


def natural_turns(folder: Path, longest_s: float = 28.0) -> list[Turn]:
    """Prompts of several sentences and lists, with the pauses that the speaker made: nothing is cut
    in."""
    made: list[Turn] = []
    for name, text in sorted(whole_prompts(folder).items()):
        for path in sorted(folder.rglob(f"{name}.g722"))[:1]:
            audio = read_sound(path)
            loud = np.flatnonzero(level_db(audio) > level_db(audio).max() - 35.0)
            start, end = int(loud[0]) * _HOP, (int(loud[-1]) + 1) * _HOP
            if 2 * PIPELINE_HZ <= end - start <= longest_s * PIPELINE_HZ:
                made.append(_between_silence(name.replace("/", "-"), text, [audio[start:end]], []))
    return made


def dictated_turns(folder: Path, count: int = 40) -> list[Turn]:
    """Telephone numbers, digit by digit, in groups of three, three and four with a pause behind the
    first two, each another one."""
    digits: dict[str, Block] = {}
    for digit, name in enumerate(DIGITS):
        audio = read_sound(next(folder.rglob(f"digits/{digit}.g722")))
        loud = np.flatnonzero(level_db(audio) > level_db(audio).max() - 35.0)
        digits[name] = audio[int(loud[0]) * _HOP : (int(loud[-1]) + 1) * _HOP]
    made: list[Turn] = []
    for number in range(count):
        random = np.random.default_rng([count, number])
        said = [DIGITS[int(digit)] for digit in random.integers(0, 10, 10)]
        gaps_s = random.uniform(0.04, 0.14, 9)
        gaps_s[[2, 5]] = random.uniform(0.35, 1.0, 2)
        pieces = [digits[name] for name in said]
        made.append(_between_silence(f"dictated_{number}", " ".join(said), pieces, gaps_s.tolist()))
    return made


def _between_silence(name: str, text: str, pieces: list[Block], gaps_s: list[float]) -> Turn:
    """`pieces` with room tone before, between and behind them. Gaps of 0.2 s and more are marked
    as pauses."""
    random = np.random.default_rng(list(name.encode()))
    lead, tail = int(_LEAD_S * PIPELINE_HZ), int(_TAIL_S * PIPELINE_HZ)
    parts, length = [room_tone(pieces[0], lead, random)], lead
    pauses: list[Pause] = []
    for piece, gap_s in zip(pieces, [*gaps_s, 0.0], strict=True):
        gap = room_tone(piece, int(gap_s * PIPELINE_HZ), random)
        parts += [piece, gap]
        length += len(piece)
        if gap_s >= 0.2:
            pauses.append(Pause(length, length + len(gap)))
        length += len(gap)
    parts.append(room_tone(pieces[0], tail, random))
    return Turn(name, text, np.concatenate(parts), lead, tuple(pauses), length)


def make_turns(prompts: Path, cache: Path, variants: range = range(3)) -> list[Turn]:
    """Every turn that can be made of the prompts below `prompts` and of tests/data."""
    found = recordings(prompts)
    borders = word_borders(found, cache)
    made = (
        make_turn(recording, borders[recording.name], variant)
        for recording in found
        for variant in variants
    )
    return [turn for turn in made if turn is not None]


def write_turns(turns: list[Turn], folder: Path) -> None:
    """Write a WAV file a turn, and their marks to `turns.json`."""
    marks: list[dict[str, object]] = []
    for turn in turns:
        write_wav(folder / f"{turn.name}.wav", turn.audio, PIPELINE_HZ)
        marks.append(
            {
                "name": turn.name,
                "text": turn.text,
                "speech_start": turn.speech_start,
                "pauses": [asdict(pause) for pause in turn.pauses],
                "speech_end": turn.speech_end,
            }
        )
    (folder / "turns.json").write_text(json.dumps(marks, indent=1) + "\n")


def read_turns(folder: Path) -> list[Turn]:
    """What `write_turns` wrote."""
    turns: list[Turn] = []
    for mark in json.loads((folder / "turns.json").read_text()):
        audio, _ = read_wav(folder / f"{mark['name']}.wav", PIPELINE_HZ)
        pauses = tuple(Pause(**pause) for pause in mark.pop("pauses"))
        turns.append(Turn(audio=audio, pauses=pauses, **mark))
    return turns


def main() -> None:
    parser = argparse.ArgumentParser(description="Make turns of real speech with pauses cut in.")
    parser.add_argument("--out", type=Path, required=True, help="folder for the turns")
    parser.add_argument(
        "--prompts", type=existing_folder, help="folder with the unpacked Debian packages"
    )
    parser.add_argument(
        "--kind",
        choices=("cut", "natural", "dictated"),
        default="cut",
        help="sentences with pauses cut in; prompts with their own pauses; telephone numbers",
    )
    parser.add_argument("--variants", type=int, default=3, help="turns made of each sentence")
    parser.add_argument("--first", type=int, default=0, help="number of the first of these")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    prompts = arguments.prompts or unpacked(PACKAGES, arguments.out / "prompts")
    variants = range(arguments.first, arguments.first + arguments.variants)
    match arguments.kind:
        case "natural":
            turns = natural_turns(prompts)
        case "dictated":
            turns = dictated_turns(prompts)
        case _:
            turns = make_turns(prompts, arguments.out / "words.json", variants)
    write_turns(turns, arguments.out)
    print(f"{len(turns)} turns, {sum(len(turn.pauses) for turn in turns)} pauses: {arguments.out}")
