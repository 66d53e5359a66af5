"""A voice's config file: Piper's `<model>.onnx.json`, and this engine's own settings in it.

Reads and checks; knows nothing about graphs. Piper's fields:
https://github.com/OHF-Voice/piper1-gpl/blob/main/src/piper/config.py
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from s2s.core.untyped import is_list, is_object
from s2s.system.encoding import EncodingError, decode
from s2s.tts.vits.encoding import Scales
from s2s.tts.vits.errors import VitsVoiceError
from s2s.tts.vits.windows import DEFAULT_SCHEDULE

PhonemeType = Literal["espeak", "text", "letters", "other"]

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
    name: str = ""
    """Of the file."""

    def speaker_number(self, speaker: str | int | None) -> int:
        """The number of a speaker by name or number; None is the first.

        Raises:
            VitsVoiceError: no such speaker.
        """
        if speaker is None:
            return 0
        if isinstance(speaker, str) and speaker in self.speakers:
            return self.speakers[speaker]
        number = int(speaker) if isinstance(speaker, int) or speaker.isdigit() else -1
        if not 0 <= number < self.speaker_count:
            known = ", ".join(list(self.speakers)[:8]) or f"0 to {self.speaker_count - 1}"
            raise VitsVoiceError(f"no speaker '{speaker}' in this voice; it has {known}")
        return number

    def misfit(self, reason: str, speaker: int) -> str:
        """Why the voice's graph refused a sentence. ONNX Runtime's `reason` has a number that is
        beyond a table, but not what it stands for."""
        voice = self.name or "the voice"
        found = re.search(r"idx=(-?\d+) must be within the inclusive range \[-?\d+,(\d+)\]", reason)
        if found is None:
            return f"{voice}: {reason}"
        number, most = int(found[1]), found[2]
        symbols = [symbol for symbol, ids in self.ids.items() if number in ids]
        what = f"phoneme '{symbols[0]}'" if symbols else "a phoneme"
        if "emb_g" in reason or (not symbols and number == speaker):
            what = "the speaker"
        return (
            f"{voice}: {what} has the number {number}, and the model knows 0 to {most}: this "
            "config is another model's. Fetch the two files of one voice"
        )

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
        VitsVoiceError: nowhere.
    """
    for path in (model.with_name(model.name + ".json"), model.with_suffix(".json")):
        if path.is_file():
            return path
    others = sorted(model.parent.glob("*.json"))
    if len(others) == 1:
        return others[0]
    raise VitsVoiceError(
        f"{model}: no config beside it. Put the voice's .onnx.json next to the model"
    )


def read_config(path: str | Path) -> VoiceConfig:
    """Read a voice's config. Raises VitsVoiceError."""
    path = Path(path)
    try:
        told = json.loads(decode(path.read_bytes()))
    except OSError as error:
        raise VitsVoiceError(f"{path}: cannot be read ({error.strerror})") from error
    except EncodingError as error:
        raise VitsVoiceError(f"{path}: {error}") from error
    except (ValueError, RecursionError) as error:
        raise VitsVoiceError(f"{path}: not JSON ({error})") from error
    try:
        return replace(_parse(_mapping(told, "the file")), name=path.name)
    except VitsVoiceError as error:
        raise VitsVoiceError(f"{path}: {error}") from error


def _parse(told: Mapping[str, object]) -> VoiceConfig:
    """Fields that a published config leaves out, or that hold null, have Piper's defaults."""
    audio = _mapping(told.get("audio") or {}, "audio")
    inference = _mapping(told.get("inference") or {}, "inference")
    voice = _espeak_voice(told.get("espeak"))
    speakers = _speakers(told.get("speaker_id_map") or {})
    rates = audio if audio.get("sample_rate") is not None else told
    return VoiceConfig(
        sample_rate_hz=int(_number(rates, "sample_rate", 22050, 4000, 192_000)),
        ids=_ids(told.get("phoneme_id_map")),
        phoneme_map=_phoneme_map(told.get("phoneme_map") or {}),
        phoneme_type=_phoneme_type(told.get("phoneme_type")),
        espeak_voice=voice,
        language=_language(told.get("language"), voice),
        speakers=speakers,
        speaker_count=int(_number(told, "num_speakers", 1, 0, 100_000)) or len(speakers) or 1,
        scales=Scales(
            _number(inference, "noise_scale", 0.667, 0.0, 10.0),
            _number(inference, "length_scale", 1.0, 0.05, 20.0),
            _number(inference, "noise_w", 0.8, 0.0, 10.0),
        ),
        sentence_silence_s=_number(inference, "sentence_silence", 0.2, 0.0, 10.0),
        phoneme_silence_s=_silences(inference.get("phoneme_silence") or {}),
        streaming=_streaming(told.get("engine_params") or {}),
    )


def _phoneme_type(told: object) -> PhonemeType:
    """`espeak`, as it is documented; `PhonemeType.ESPEAK`, as Python writes the value and many
    published voices have it; or nothing, as before there were others."""
    words = re.findall("[a-z]+", str(told or "espeak").lower())
    if "espeak" in words:
        return "espeak"
    if "letters" in words:
        return "letters"
    return "text" if "text" in words else "other"


def _espeak_voice(told: object) -> str:
    if isinstance(told, str) and told:
        return told
    return str(_mapping(told or {}, "espeak").get("voice") or "en-us")


def _language(told: object, voice: str) -> str:
    """ISO 639-1 code of the family, else of the locale (`en_US`), else of eSpeak NG's voice."""
    if isinstance(told, str) and told:
        code = told
    else:
        fields = _mapping(told or {}, "language")
        code = str(fields.get("family") or fields.get("code") or voice)
    return re.split("[-_]", code)[0].lower()


def _speakers(told: object) -> dict[str, int]:
    if is_list(told):
        return {str(name): number for number, name in enumerate(told)}
    table = _mapping(told, "speaker_id_map")
    return {str(name): _integer(number, name) for name, number in table.items()}


def _ids(told: object) -> dict[str, tuple[int, ...]]:
    table = _mapping(told, "phoneme_id_map")
    ids: dict[str, tuple[int, ...]] = {}
    for symbol, numbers in table.items():
        listed = numbers if is_list(numbers) else [numbers]
        ids[symbol] = tuple(_integer(number, symbol) for number in listed)
        if min(ids[symbol], default=0) < 0:
            raise VitsVoiceError(f"phoneme '{symbol}' has the number {min(ids[symbol])}: below 0")
    if not ids:
        raise VitsVoiceError("phoneme_id_map is empty")
    return ids


def _phoneme_map(told: object) -> dict[str, tuple[str, ...]]:
    table = _mapping(told, "phoneme_map")
    return {
        symbol: tuple(str(x) for x in others) if is_list(others) else (str(others),)
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
    if not is_object(told):
        raise VitsVoiceError(f"{what} should be a JSON object, found {told!r:.60}")
    return told


def _number(told: Mapping[str, object], key: str, default: float, low: float, high: float) -> float:
    value = told.get(key)
    number = default if value is None else _as_number(value)
    if number is None:
        raise VitsVoiceError(f"{key} should be a number, found {value!r:.60}")
    if not low <= number <= high:
        raise VitsVoiceError(f"{key} is {value}, outside {low} to {high}")
    return float(number)


def _as_number(value: object) -> float | None:
    """A finite number, also one that was written as text; None when it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _integer(value: object, what: str) -> int:
    number = _as_number(value)
    if number is None or not number.is_integer():
        raise VitsVoiceError(f"'{what}' should be a whole number, found {value!r:.60}")
    return int(number)
