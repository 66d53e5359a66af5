"""The command `say`: a text as it is read in a conversation, into a file or a loudspeaker."""

from __future__ import annotations

import types
from pathlib import Path

import numpy as np
import pytest

from s2s.app import cli
from s2s.app.commands import say
from s2s.config import registry
from s2s.tts.base import Capabilities
from tests.support.program import ToneVoice

pytestmark = pytest.mark.usefixtures("clean_environment")


@pytest.mark.usefixtures("backends")
def test_say_writes_a_wav_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    target = tmp_path / "out.wav"
    assert cli.main(["say", "one two three", "-o", str(target)]) == 0
    assert "0.30 s at 16000 Hz" in capsys.readouterr().out
    assert target.stat().st_size == 44 + 2 * 4800


@pytest.mark.parametrize(
    ("text", "languages", "heard", "options"),
    [
        ("it costs 5 €", ("en",), ("it costs five euros", "en"), []),
        ("**Total:** $12.75 at 8:05.", ("en",), None, []),
        ("<think>hm. so</think>Yes.", ("en",), ("Yes.", "en"), []),
        ("Das ist nicht die Antwort, 5 €.", ("en", "de"), None, []),
        ("42", ("en", "de"), None, ["--session.language=de"]),
        ("42", ("en", "de"), ("forty-two", "en"), []),
    ],
)
def test_say_reads_a_text_as_a_conversation_does(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    languages: tuple[str, ...],
    heard: tuple[str, str] | None,
    options: list[str],
):
    asked: list[tuple[str, object]] = []

    class Written(ToneVoice):
        capabilities = Capabilities(16_000, True, languages)

        def synthesize(self, text: str, **how: object):
            asked.append((text, how["language"]))
            yield from super().synthesize(text)

    monkeypatch.setattr(registry, "create_synthesizer", lambda *_: Written())
    assert cli.main(["say", text, "-o", str(tmp_path / "out.wav"), *options]) == 0
    [(spoken, language)] = asked
    assert not set(spoken) & set("*$€<>")
    assert "think" not in spoken
    assert language == ("de" if options or "Das" in text else "en")
    if heard is not None:
        assert (spoken, language) == heard


@pytest.mark.usefixtures("backends")
def test_say_plays_block_by_block(monkeypatch: pytest.MonkeyPatch):
    written: list[tuple[int, ...]] = []

    class OutputStream:
        def __init__(self, **options: object) -> None:
            assert options["samplerate"] == 16_000

        def __enter__(self):
            return self

        def __exit__(self, *_: object) -> None: ...

        def write(self, block: np.ndarray) -> None:
            written.append(block.shape)

    monkeypatch.setattr(say, "portaudio", lambda: types.SimpleNamespace(OutputStream=OutputStream))
    assert cli.main(["say", "one two"]) == 0
    assert written == [(1600, 1), (1600, 1)]


@pytest.mark.usefixtures("backends")
def test_a_text_without_words_is_a_failure_that_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert cli.main(["say", " ", "-o", str(tmp_path / "out.wav")]) == 1
    assert "nothing to say" in capsys.readouterr().err
