"""A voice's config: read, checked, and phonemes turned into numbers as Piper does."""

import json
from pathlib import Path

import pytest

from s2s.tts.vits.encoding import Scales
from s2s.tts.vits.errors import VitsVoiceError
from s2s.tts.vits.voice import Streaming, config_path, read_config

IDS = {"_": [0], "^": [1], "$": [2], " ": [3], "a": [4], "b": [5], "ts": [6, 7], ",": [8]}


def config(tmp_path: Path, **fields: object):
    path = tmp_path / "voice.onnx.json"
    path.write_text(json.dumps({"phoneme_id_map": IDS, **fields}), encoding="utf-8")
    return read_config(path)


def test_defaults_are_pipers(tmp_path: Path) -> None:
    voice = config(tmp_path)
    assert voice.sample_rate_hz == 22050
    assert voice.scales == Scales(0.667, 1.0, 0.8)
    assert (voice.phoneme_type, voice.espeak_voice, voice.language) == ("espeak", "en-us", "en")
    assert (voice.speaker_count, voice.sentence_silence_s) == (1, 0.2)
    assert voice.streaming == Streaming()


def test_every_field_is_read(tmp_path: Path) -> None:
    voice = config(
        tmp_path,
        audio={"sample_rate": 16000},
        espeak={"voice": "de"},
        inference={
            "noise_scale": 0.5,
            "length_scale": 1.5,
            "noise_w": 0,
            "sentence_silence": 0.3,
            "phoneme_silence": {",": 0.1},
        },
        language={"family": "de"},
        num_speakers=2,
        speaker_id_map={"anna": 0, "otto": 1},
        phoneme_map={"x": ["a", "b"], "y": "a"},
        phoneme_type="text",
        engine_params={
            "streaming": {
                "context_margin": 24,
                "first_chunk": 8,
                "next_chunk": 160,
                "fallback_frames": 128,
            },
            "intra_op_num_threads": 3,
        },
    )
    assert (voice.sample_rate_hz, voice.espeak_voice, voice.language) == (16000, "de", "de")
    assert voice.scales == Scales(0.5, 1.5, 0.0)
    assert (voice.sentence_silence_s, voice.phoneme_silence_s) == (0.3, {",": 0.1})
    assert voice.phoneme_map == {"x": ("a", "b"), "y": ("a",)}
    assert voice.phoneme_type == "text"
    assert voice.streaming == Streaming(24, (8, 160), 128, 3)


def test_numbers_are_framed_and_spaced(tmp_path: Path) -> None:
    numbers, owners, unknown = config(tmp_path).phoneme_ids(["a", "ts", "?", "b"])
    assert numbers == [1, 0, 4, 0, 6, 7, 0, 5, 0, 2]
    assert owners == [None, None, 0, 0, 1, 1, 1, 3, 3, None]
    assert unknown == {"?"}


def test_the_phoneme_map_comes_first(tmp_path: Path) -> None:
    voice = config(tmp_path, phoneme_map={"x": ["a", "b"]})
    assert voice.phoneme_ids(["x"])[0] == [1, 0, 4, 0, 5, 0, 2]
    assert voice.phoneme_ids(["x"])[1] == [None, None, 0, 0, 0, 0, None]


def test_speakers_by_name_and_number(tmp_path: Path) -> None:
    voice = config(tmp_path, num_speakers=3, speaker_id_map={"anna": 2})
    assert voice.speaker_number(None) == 0
    assert voice.speaker_number("anna") == 2
    assert voice.speaker_number("1") == voice.speaker_number(1) == 1
    for wrong in (3, -1, "7", "otto"):
        with pytest.raises(VitsVoiceError, match="it has anna"):
            voice.speaker_number(wrong)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"phoneme_id_map": {}}, "is empty"),
        ({"phoneme_id_map": None}, "phoneme_id_map should be a JSON object"),
        ({"phoneme_id_map": {"a": ["x"]}}, "'a' should be a whole number"),
        ({"phoneme_id_map": {"a": [True]}}, "'a' should be a whole number"),
        ({"audio": {"sample_rate": "high"}}, "sample_rate should be a number"),
        ({"audio": {"sample_rate": 1e12}}, "sample_rate is 1000000000000.0, outside"),
        ({"inference": {"length_scale": 0}}, "length_scale is 0, outside"),
        ({"inference": {"noise_w": float("nan")}}, "noise_w should be a number"),
        ({"inference": [1]}, "inference should be a JSON object"),
        ({"engine_params": {"streaming": {"first_chunk": 0}}}, "first_chunk is 0"),
    ],
)
def test_a_bad_field_is_named(tmp_path: Path, fields: dict[str, object], reason: str) -> None:
    with pytest.raises(VitsVoiceError, match=reason):
        config(tmp_path, **fields)


def test_no_json_no_voice(tmp_path: Path) -> None:
    path = tmp_path / "voice.onnx.json"
    with pytest.raises(VitsVoiceError, match="cannot be read"):
        read_config(path)
    path.write_text("{")
    with pytest.raises(VitsVoiceError, match="not JSON"):
        read_config(path)
    path.write_text("[]")
    with pytest.raises(VitsVoiceError, match="the file should be a JSON object"):
        read_config(path)


def test_the_config_is_found_beside_the_model(tmp_path: Path) -> None:
    model = tmp_path / "voice.onnx"
    with pytest.raises(VitsVoiceError, match="no config beside it"):
        config_path(model)
    (tmp_path / "other.json").touch()
    assert config_path(model).name == "other.json"
    (tmp_path / "voice.json").touch()
    assert config_path(model).name == "voice.json"
    (tmp_path / "voice.onnx.json").touch()
    assert config_path(model).name == "voice.onnx.json"


WILD: dict[str, tuple[dict[str, object], dict[str, object]]] = {
    "the enum's name": ({"phoneme_type": "PhonemeType.ESPEAK"}, {"phoneme_type": "espeak"}),
    "the enum's repr": (
        {"phoneme_type": "<PhonemeType.ESPEAK: 'espeak'>"},
        {"phoneme_type": "espeak"},
    ),
    "capitals": ({"phoneme_type": "ESPEAK"}, {"phoneme_type": "espeak"}),
    "espeak-ng": ({"phoneme_type": "espeak-ng"}, {"phoneme_type": "espeak"}),
    "no type": ({"phoneme_type": None}, {"phoneme_type": "espeak"}),
    "an empty type": ({"phoneme_type": ""}, {"phoneme_type": "espeak"}),
    "letters": ({"phoneme_type": "PhonemeType.TEXT"}, {"phoneme_type": "text"}),
    "letters' repr": ({"phoneme_type": "<PhonemeType.TEXT: 'text'>"}, {"phoneme_type": "text"}),
    "pinyin": ({"phoneme_type": "PhonemeType.PINYIN"}, {"phoneme_type": "other"}),
    "no audio": ({"audio": None}, {"sample_rate_hz": 22050}),
    "an empty audio": ({"audio": {}}, {"sample_rate_hz": 22050}),
    "a rate as text": ({"audio": {"sample_rate": "16000"}}, {"sample_rate_hz": 16000}),
    "a rate with a point": ({"audio": {"sample_rate": 16000.0}}, {"sample_rate_hz": 16000}),
    "a rate at the top": ({"sample_rate": 16000}, {"sample_rate_hz": 16000}),
    "no inference": ({"inference": None}, {"scales": Scales(0.667, 1.0, 0.8)}),
    "a scale of null": ({"inference": {"noise_w": None}}, {"scales": Scales(0.667, 1.0, 0.8)}),
    "no espeak": ({"espeak": None}, {"espeak_voice": "en-us"}),
    "espeak's voice alone": ({"espeak": "de"}, {"espeak_voice": "de", "language": "de"}),
    "espeak without a voice": ({"espeak": {"voice": None}}, {"espeak_voice": "en-us"}),
    "a language in a word": ({"language": "pt_BR"}, {"language": "pt"}),
    "a language by its code": ({"language": {"code": "zh_CN"}}, {"language": "zh"}),
    "a family of null": (
        {"language": {"family": None}, "espeak": {"voice": "fr-fr"}},
        {"language": "fr"},
    ),
    "no speakers": ({"num_speakers": None, "speaker_id_map": None}, {"speaker_count": 1}),
    "0 speakers": ({"num_speakers": 0}, {"speaker_count": 1}),
    "a number as text": ({"num_speakers": "3"}, {"speaker_count": 3}),
    "speakers uncounted": (
        {"num_speakers": 0, "speaker_id_map": {"a": 0, "b": 1}},
        {"speaker_count": 2},
    ),
    "speakers in a list": ({"speaker_id_map": ["a", "b"]}, {"speakers": {"a": 0, "b": 1}}),
    "speakers as text": ({"speaker_id_map": {"a": "0"}}, {"speakers": {"a": 0}}),
    "bare numbers": ({"phoneme_id_map": {"a": 4}}, {"ids": {"a": (4,)}}),
    "numbers as text": (
        {"phoneme_id_map": {"a": ["4"], "b": "5"}},
        {"ids": {"a": (4,), "b": (5,)}},
    ),
    "numbers with a point": ({"phoneme_id_map": {"a": [4.0]}}, {"ids": {"a": (4,)}}),
    "nulls": (
        {"phoneme_map": None, "engine_params": None, "phoneme_silence": None},
        {"phoneme_map": {}, "streaming": Streaming()},
    ),
    "fields of others": ({"hop_length": 256, "piper_version": None, "dataset": "x"}, {}),
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
@pytest.mark.parametrize("kind", WILD)
def test_a_config_as_it_is_found_is_read(tmp_path: Path, kind: str, encoding: str) -> None:
    fields, wanted = WILD[kind]
    path = tmp_path / "voice.onnx.json"
    path.write_bytes(json.dumps({"phoneme_id_map": IDS, **fields}).encode(encoding))
    voice = read_config(path)
    for name, value in wanted.items():
        assert getattr(voice, name) == value


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"phoneme_id_map": {"a": [-1]}}, "phoneme 'a' has the number -1: below 0"),
        ({"phoneme_id_map": {"a": [1.5]}}, "'a' should be a whole number, found 1.5"),
        ({"phoneme_id_map": {"a": ["x"]}}, "'a' should be a whole number, found 'x'"),
        ({"phoneme_id_map": {"a": None}}, "'a' should be a whole number, found None"),
        ({"phoneme_id_map": None}, "phoneme_id_map should be a JSON object, found None"),
        ({"audio": {"sample_rate": "fast"}}, "sample_rate should be a number, found 'fast'"),
        ({"audio": {"sample_rate": "1e999"}}, "sample_rate should be a number"),
        ({"audio": [1]}, r"audio should be a JSON object, found \[1\]"),
        ({"language": 7}, "language should be a JSON object, found 7"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, fields: dict[str, object], said: str) -> None:
    with pytest.raises(VitsVoiceError, match=rf"voice\.onnx\.json: {said}"):
        config(tmp_path, **fields)


@pytest.mark.parametrize("data", [b"", b"gr\xfcn", b"[" * 100_000, b"{", b"[]", b"null"])
def test_what_is_no_config_is_named(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "voice.onnx.json"
    path.write_bytes(data)
    with pytest.raises(VitsVoiceError, match=r"voice\.onnx\.json: "):
        read_config(path)
