"""A voice's config file: Piper's `<model>.onnx.json`, and this engine's own settings in it.

Reads and checks; knows nothing about graphs. Piper's fields:
https://github.com/OHF-Voice/piper1-gpl/blob/main/src/piper/config.py
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from s2s.tts.vits.encoding import Scales
from s2s.tts.vits.errors import VoiceError
from s2s.tts.vits.windows import DEFAULT_SCHEDULE

PhonemeType = Literal["espeak", "text", "other"]

PAD, BOS, EOS = "_", "^", "$"
"""Piper's marks: between phonemes, before the first, after the last."""


@dataclass(frozen=True, slots=True)
class Streaming:
    """How to stream; `engine_params.streaming` of the config, all optional."""

    context_margin: int | None = None
    """Frames on both sides for decoding in windows; None is what the graph needs."""
    schedule: tuple[int, ...] | None = None
    """Frames of the first, second, ... piece; None is measured on this machine."""
    fallback_frames: int = 0
    """Sentences this short or shorter are decoded at once; 0 never."""
    threads: int | None = None
    """For the voice's two graphs; None is measured on this machine."""


@dataclass(frozen=True, slots=True)
class VoiceConfig:
    """What a voice says about itself."""

    sample_rate_hz: int
    ids: Mapping[str, tuple[int, ...]]
    """Phoneme -> the model's numbers for it."""
    phoneme_map: Mapping[str, tuple[str, ...]]
    """Phoneme -> phonemes to use in its place."""
    phoneme_type: PhonemeType
    espeak_voice: str
    """eSpeak NG's name of the language, such as `en-us`."""
    language: str
    """ISO 639-1 code."""
    speakers: Mapping[str, int]
    """Name -> number; empty for voices of one speaker without a name."""
    speaker_count: int
    scales: Scales
    sentence_silence_s: float
    phoneme_silence_s: Mapping[str, float]
    """Silence after a phoneme (such as a comma)."""
    streaming: Streaming

    def speaker_number(self, speaker: str | int | None) -> int:
        """The number of a speaker by name or number; None is the first.

        Raises:
            VoiceError: no such speaker.
        """
        if speaker is None:
            return 0
        if isinstance(speaker, str) and speaker in self.speakers:
            return self.speakers[speaker]
        number = int(speaker) if isinstance(speaker, int) or speaker.isdigit() else -1
        if not 0 <= number < self.speaker_count:
            known = ", ".join(list(self.speakers)[:8]) or f"0 to {self.speaker_count - 1}"
            raise VoiceError(f"no speaker '{speaker}' in this voice; it has {known}")
        return number

    def phoneme_ids(self, phonemes: Sequence[str]) -> tuple[list[int], list[int | None], set[str]]:
        """The model's numbers for a sentence, framed and spaced as the voice was trained.

        Args:
            phonemes: one symbol each, as the voice's alphabet has them.

        Returns:
            (numbers, index of the phoneme that each number belongs to or None for the frame,
            phonemes that the voice does not know and that were left out).
        """
        numbers: list[int] = []
        owners: list[int | None] = []
        unknown: set[str] = set()

        def put(symbol: str, owner: int | None) -> None:
            found = self.ids.get(symbol, ())
            numbers.extend(found)
            owners.extend([owner] * len(found))

        put(BOS, None)
        put(PAD, None)
        for index, phoneme in enumerate(phonemes):
            for symbol in self.phoneme_map.get(phoneme, (phoneme,)):
                if symbol not in self.ids:
                    unknown.add(symbol)
                    continue
                put(symbol, index)
                put(PAD, index)
        put(EOS, None)
        return numbers, owners, unknown


def config_path(model: Path) -> Path:
    """Where a model's config lies: `<model>.onnx.json`, `<model>.json` or the folder's one JSON.

    Raises:
        VoiceError: nowhere.
    """
    for path in (model.with_name(model.name + ".json"), model.with_suffix(".json")):
        if path.is_file():
            return path
    others = sorted(model.parent.glob("*.json"))
    if len(others) == 1:
        return others[0]
    raise VoiceError(f"{model}: no config beside it. Put the voice's .onnx.json next to the model")


def read_config(path: str | Path) -> VoiceConfig:
    """Read a voice's config. Raises VoiceError."""
    path = Path(path)
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise VoiceError(f"{path}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise VoiceError(f"{path}: not JSON ({error})") from error
    try:
        return _parse(_mapping(told, "the file"))
    except VoiceError as error:
        raise VoiceError(f"{path}: {error}") from error


def _parse(told: Mapping[str, object]) -> VoiceConfig:
    audio = _mapping(told.get("audio", {}), "audio")
    espeak = _mapping(told.get("espeak", {}), "espeak")
    inference = _mapping(told.get("inference", {}), "inference")
    kind = told.get("phoneme_type", "espeak")
    voice = str(espeak.get("voice", "en-us"))
    language = _mapping(told.get("language", {}), "language")
    speakers = _mapping(told.get("speaker_id_map") or {}, "speaker_id_map")
    return VoiceConfig(
        sample_rate_hz=int(_number(audio, "sample_rate", 22050, 4000, 192_000)),
        ids=_ids(told.get("phoneme_id_map")),
        phoneme_map=_phoneme_map(told.get("phoneme_map") or {}),
        phoneme_type="espeak" if kind == "espeak" else "text" if kind == "text" else "other",
        espeak_voice=voice,
        language=str(language.get("family", voice.split("-")[0])),
        speakers={str(name): _integer(number, name) for name, number in speakers.items()},
        speaker_count=int(_number(told, "num_speakers", 1, 0, 100_000)) or 1,
        scales=Scales(
            _number(inference, "noise_scale", 0.667, 0.0, 10.0),
            _number(inference, "length_scale", 1.0, 0.05, 20.0),
            _number(inference, "noise_w", 0.8, 0.0, 10.0),
        ),
        sentence_silence_s=_number(inference, "sentence_silence", 0.2, 0.0, 10.0),
        phoneme_silence_s=_silences(inference.get("phoneme_silence") or {}),
        streaming=_streaming(told.get("engine_params") or {}),
    )


def _ids(told: object) -> dict[str, tuple[int, ...]]:
    table = _mapping(told, "phoneme_id_map")
    ids: dict[str, tuple[int, ...]] = {}
    for symbol, numbers in table.items():
        listed = numbers if isinstance(numbers, list) else [numbers]
        ids[symbol] = tuple(_integer(number, symbol) for number in listed)
    if not ids:
        raise VoiceError("phoneme_id_map is empty")
    return ids


def _phoneme_map(told: object) -> dict[str, tuple[str, ...]]:
    table = _mapping(told, "phoneme_map")
    return {
        symbol: tuple(str(x) for x in others) if isinstance(others, list) else (str(others),)
        for symbol, others in table.items()
    }


def _silences(told: object) -> dict[str, float]:
    table = _mapping(told, "phoneme_silence")
    return {symbol: _number(table, symbol, 0.0, 0.0, 10.0) for symbol in table}


def _streaming(told: object) -> Streaming:
    params = _mapping(told, "engine_params")
    wishes = _mapping(params.get("streaming") or {}, "engine_params.streaming")
    context = wishes.get("context_margin")
    threads = wishes.get("intra_op_num_threads", params.get("intra_op_num_threads"))
    schedule = None
    if "first_chunk" in wishes or "next_chunk" in wishes:
        first = int(_number(wishes, "first_chunk", DEFAULT_SCHEDULE[0], 1, 100_000))
        following = int(_number(wishes, "next_chunk", DEFAULT_SCHEDULE[-1], 1, 100_000))
        schedule = (first, following)
    return Streaming(
        None if context is None else int(_number(wishes, "context_margin", 0, 0, 10_000)),
        schedule,
        int(_number(wishes, "fallback_frames", 0, 0, 100_000)),
        None if threads is None else max(1, _integer(threads, "intra_op_num_threads")),
    )


def _mapping(told: object, what: str) -> dict[str, object]:
    if not isinstance(told, dict):
        raise VoiceError(f"{what} should be a JSON object, found {told!r:.60}")
    return told


def _number(told: Mapping[str, object], key: str, default: float, low: float, high: float) -> float:
    value = told.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise VoiceError(f"{key} should be a number, found {value!r:.60}")
    if not low <= value <= high:
        raise VoiceError(f"{key} is {value}, outside {low} to {high}")
    return float(value)


def _integer(value: object, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise VoiceError(f"'{what}' should be a whole number, found {value!r:.60}")
    return value
