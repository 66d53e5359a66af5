"""@openai/agents-realtime over WebRTC in Debian's Chromium, by a recording of a person for a
microphone, against a real server: voice activity, recogniser, language model and voice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from s2s.bench.hearing.wer import words
from s2s.core.audio import read_wav
from tests.clients.test_calls import BUNDLE
from tests.clients.test_clients import CLIENTS
from tests.support.browser import Browsers
from tests.support.clients import environment
from tests.support.real_server import RealServer

pytestmark = [
    pytest.mark.clients,
    pytest.mark.browser,
    pytest.mark.models,
    pytest.mark.timeout(900),
]
DRIVER = Path(__file__).parent / "drive_speech.js"
SAID = Path(__file__).parents[1] / "data" / "librivox_0880.wav"
WORDS = words("he was not an ill disposed young man")
PAUSES_S = (3.0, *[9.0] * 20)
"""Between one time that the sentence is said and the next: enough for an answer to begin."""


def test_speech_is_answered_and_interrupts_and_the_call_is_taken_up(
    browsers: Browsers, real_server: RealServer
) -> None:
    agents_js = next(client for client in CLIENTS if client.name == "agents-js")
    bundle = environment(agents_js) / BUNDLE
    said, _ = read_wav(SAID, 16_000)
    parts = [part for s in PAUSES_S for part in (np.zeros(int(16_000 * s), np.float32), said)]
    real_server.start()
    page = browsers.open(f"{real_server.url}/health", microphone=np.concatenate(parts))
    page.add_script_tag(path=bundle)
    options = {
        "url": f"{real_server.url}/v1/realtime/calls",
        "said": WORDS,
        "patienceMs": 120_000,
    }
    results = page.evaluate(DRIVER.read_text("utf-8"), options)
    assert results == dict.fromkeys(("turn", "interruption", "reconnection"), "passes")
