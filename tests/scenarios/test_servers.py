"""Whole conversations with servers: what is heard, shown and asked of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import numpy as np
import pytest
import soundfile

import s2s.app.talking.talk
from s2s.app.talking.talk import run_talk
from s2s.config.schema import Config
from s2s.llm.openai import OpenAiChat, OpenAiChatConfig
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.session.models import Models
from s2s.stt.openai import OpenAiTranscriber, OpenAiTranscriberConfig
from s2s.testing.simulator import EnergyVad, tone
from s2s.tts.backends.openai import OpenAiSpeech, OpenAiSpeechConfig

pytest.importorskip("openai")

Talk = Callable[..., "Outcome"]
SOUND = (9_000 * np.sin(np.arange(12_000) / 9)).astype("<i2").tobytes()


class Outcome:
    """What became of one question to servers that answer so."""

    def __init__(self, code: int, shown: str, spoken: list[str]) -> None:
        self.code = code
        self.shown = " ".join(shown.split())
        self.spoken = spoken


@pytest.fixture
def talk(
    server, resources: Resources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> Talk:
    speech = np.concatenate([np.zeros(8000), tone(1.2), np.zeros(8000)])
    soundfile.write(tmp_path / "in.wav", speech, 16_000)

    def ask(*tokens: str, sound: bytes = SOUND, words: bytes = b'{"text": "Well?"}') -> Outcome:
        spoken: list[str] = []

        def script(request: BaseHTTPRequestHandler) -> None:
            path = request.path
            body = [body for asked, _, body in server.requests if asked == path][-1]
            if path.endswith("/transcriptions"):
                server.send(request, [words], kind="application/json")
            elif path.endswith("/speech"):
                spoken.append(json.loads(body)["input"])
                server.send(request, [sound] if sound else [], kind="audio/pcm")
            else:
                deltas = [{"choices": [{"delta": {"content": token}}]} for token in tokens]
                done = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
                server.send(
                    request, [f"data: {json.dumps(each)}\n\n".encode() for each in (*deltas, done)]
                )

        server.script = script
        url = server.base_url
        models = Models(
            EnergyVad(),
            None,
            OpenAiTranscriber(OpenAiTranscriberConfig(base_url=url), resources),
            OpenAiChat(OpenAiChatConfig(base_url=url), resources),
            OpenAiSpeech(OpenAiSpeechConfig(base_url=url), resources),
        )
        monkeypatch.setattr(
            s2s.app.talking.talk, "load_models", lambda config, store, notice: models
        )
        code = run_talk(
            Config(), Store(), input_file=tmp_path / "in.wav", output_file=tmp_path / "out.wav",
            fast=True,
        )  # fmt: skip
        return Outcome(code, capsys.readouterr().out, spoken)

    return ask


def words(text: str) -> list[str]:
    """A text as a model's tokens."""
    return re.findall(r"\s*\S+|\s+", text)


def test_thinking_is_neither_spoken_nor_shown(talk: Talk) -> None:
    """E01."""
    thought = "<think>The person wants the capital. It is Paris, I believe. Let me answer.</think>"
    outcome = talk(*words(f"{thought}The capital of France is Paris."))
    assert outcome.spoken == ["The capital of France is Paris."]
    assert "s2s The capital of France is Paris." in outcome.shown
    assert "<think" not in outcome.shown
    assert "believe" not in outcome.shown


def test_a_call_is_told_and_not_spoken(talk: Talk) -> None:
    """E03."""
    call = '<tool_call>\n{"name": "lamp_on", "arguments": {"room": "hall"}}\n</tool_call>'
    outcome = talk(*words(f"I will switch it on. {call}"))
    assert outcome.spoken == ["I will switch it on."]
    assert 'lamp_on: {"room": "hall"}' in outcome.shown
    assert "tool_call" not in outcome.shown


@pytest.mark.parametrize(
    "answer", ["🎉🎉", "```\nprint(1)\n```", "<think>hm. so</think>", "...", ""]
)
def test_something_is_heard_where_nothing_can_be_spoken(talk: Talk, answer: str) -> None:
    """E05 and its kind."""
    outcome = talk(*words(answer))
    assert len(outcome.spoken) == 1
    assert outcome.spoken[0].startswith(("Sorry, I have no answer", "I can only show you"))
    assert "nothing of this can be spoken" in outcome.shown
    assert outcome.code == 0


def test_halves_of_an_emoji_are_shown_and_the_rest_spoken(talk: Talk) -> None:
    """E08, E09."""
    outcome = talk("Well done to you ", "\ud83d", "\ude00", " and good luck.")
    assert outcome.spoken == ["Well done to you and good luck."]
    assert "Well done to you 😀 and good luck." in outcome.shown
    assert outcome.code == 0


def test_a_voice_server_without_sound_is_a_failure_that_is_told(talk: Talk) -> None:
    """E16."""
    outcome = talk(*words("The capital of France is Paris."), sound=b"")
    assert outcome.code == 1
    assert "nothing where sound was due" in outcome.shown


def test_null_is_no_word(talk: Talk) -> None:
    """R01."""
    outcome = talk(*words("Hello there, you."), words=b'{"text": null}')
    assert "None" not in outcome.shown
    assert outcome.spoken == []
