"""Options of the Qwen3-TTS backend: schedules by their names, models by size, voices."""

from __future__ import annotations

import pytest

from s2s.config import typed
from s2s.config.typed import Given, SettingError
from s2s.system.llama_cpp import installed
from s2s.tts.qwen3 import ScheduleConfig
from s2s.tts.qwen3_adapter import Qwen3Config, full_name

pytestmark = [
    pytest.mark.ggml,
    pytest.mark.skipif(not installed(), reason="no llama.cpp library: pip install xllamacpp"),
]


def configured(**text: str) -> Qwen3Config:
    """As read from flags."""
    made = typed.build(
        Qwen3Config, {name: Given(value, "--set", is_text=True) for name, value in text.items()}
    )
    assert isinstance(made, Qwen3Config)
    return made


def test_the_schedule_is_chosen_by_the_servers_names() -> None:
    assert Qwen3Config().server_schedule() is None
    assert configured(codec_left_context_frames="72").server_schedule() is None
    for options, expected in (
        ({"initial_codec_chunk_frames": "2"}, ScheduleConfig(2, 25)),
        ({"initial_codec_chunk_frames": "0"}, ScheduleConfig(0, 25)),
        ({"codec_chunk_frames": "8"}, ScheduleConfig(1, 8)),
        ({"codec_chunk_ramp": "2, 4,8"}, ScheduleConfig(1, 25, (2, 4, 8))),
        ({"codec_chunk_adaptive": "true"}, ScheduleConfig(1, 25, (), True)),
    ):
        assert configured(**options).server_schedule() == expected


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("codec_chunk_ramp", "4", "at least two sizes"),
        ("codec_chunk_ramp", "4,0", "at least two sizes"),
        ("codec_chunk_ramp", "a,b", "codec_chunk_ramp"),
        ("codec_chunk_ramp", "4,-1", "at least two sizes"),
        ("codec_chunk_frames", "0", "1 and 0 frames"),
        ("max_new_tokens", "1", "at least 2"),
    ],
)
def test_sizes_that_cannot_be_are_refused(name: str, value: str, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        configured(**{name: value})


@pytest.mark.parametrize(
    ("model", "enrolled", "instruct", "expected"),
    [
        ("0.6b", False, False, "0.6b-customvoice"),
        ("0.6B", True, False, "0.6B-base"),
        ("0.6b", False, True, "0.6b-customvoice"),
        ("1.7b", False, True, "1.7b-voicedesign"),
        ("1.7b", True, True, "1.7b-base"),
        ("someone/else", True, True, "someone/else"),
    ],
)
def test_a_size_stands_for_the_kind_the_voice_needs(
    model: str, enrolled: bool, instruct: bool, expected: str
) -> None:
    assert full_name(model, enrolled, instruct) == expected


@pytest.mark.parametrize("options", [{"speed": "3"}, {"speed": "0"}, {"volume_db": "90"}])
def test_a_pace_or_volume_that_cannot_be_is_refused(options: dict[str, str]) -> None:
    with pytest.raises(SettingError, match=r"from 0\.5 to 2\.0|from -40 to 40"):
        configured(**options)
