"""ChatTTS where its package is missing; tests/voices speaks with the package itself."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from s2s.config import registry
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.tts.backends.chattts import ChatTts, ChatTtsConfig
from s2s.tts.base import TtsError


def test_what_is_missing_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resources = Resources(Store(tmp_path, manifest={}))
    with pytest.raises(TtsError, match="no such file or folder"):
        ChatTts(ChatTtsConfig(model=str(tmp_path / "none")), resources)
    monkeypatch.setitem(sys.modules, "ChatTTS", None)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(TtsError, match=r"pip install 's2s\[chattts\]'"):
        ChatTts(ChatTtsConfig(model=str(tmp_path)), resources)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"voice": "anna"}, "the seed of a speaker, from 0 to 2147483647, got 'anna'"),
        ({"voices": ("1", "-2")}, "got '-2'"),
        ({"voice": str(2**31)}, "got '2147483648'"),
        ({"voice": ""}, "got ''"),
        ({"language": "de"}, "language must be en or zh, got 'de'"),
        ({"speed_mark": 10}, "speed_mark must be from 0 to 9, got 10"),
        ({"speed": 10.0}, "speed must be from 0.5 to 2.0, got 10.0"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(options: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ChatTtsConfig(**options)  # type: ignore[arg-type]
    assert ChatTtsConfig(voice=str(2**31 - 1)).voice == "2147483647"


def test_its_licences_are_told_where_it_is_chosen() -> None:
    about = registry.find("tts", "chattts").about
    assert "AGPL" in about
    assert "CC BY-NC" in about
