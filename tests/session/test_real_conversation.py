"""The conversation that `python -m s2s` holds where there is no microphone, with the real models.

Simulated time: the models run for real and take no time, so the test is as quick as they are.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from s2s.app.loading import close_models, load_models
from s2s.bench.hearing.wer import errors
from s2s.config.loader import load
from s2s.core.audio import PIPELINE_HZ, read_wav, resample
from s2s.core.clock import ManualClock
from s2s.core.events import AnswerText, Event, Heard, ResponseDone, ResponseStarted
from s2s.models.store import Store
from s2s.session.session import Session
from s2s.transport.playback import Playback
from s2s.transport.wav import Line, Script, WavTransport

pytestmark = [pytest.mark.models, pytest.mark.timeout(400)]  # a busy machine slows llama.cpp much

DATA = Path(__file__).parents[1] / "data"
WORDS = {
    "librivox_0880": "he was not an ill disposed young man",
    "librivox_0930": "he might even have been made amiable himself",
    "librivox_0920": "had he married a more amiable woman he might have been made still more "
    "respectable than he was",
}
OUTPUT_HZ = 24_000


def test_three_turns_are_understood_answered_and_spoken() -> None:
    said = [Line(read_wav(DATA / f"{n}.wav", PIPELINE_HZ)[0], 0.6, n) for n in WORDS]
    flags = [
        ("test", "llm.max_tokens", "24"),
        ("test", "llm.seed", "7"),
        ("test", "llm.threads", "1"),
    ]
    config = load(environment={}, flags=flags)
    notices: list[str] = []
    models = load_models(config, Store(), notices.append)
    clock = ManualClock()
    transport = WavTransport(Script(said), Playback(clock, OUTPUT_HZ), clock)
    events: list[Event] = []
    try:
        Session(models, transport, config.session, events=events.append, clock=clock).run()
        _check(events, transport)
        _heard_as_said(events, transport, models.transcriber.transcribe)
    finally:
        close_models(models)
    assert notices == []


def _check(events: list[Event], transport: WavTransport) -> None:
    heard = [event.text for event in events if isinstance(event, Heard) and event.final]
    wrong, total = map(sum, zip(*map(errors, WORDS.values(), heard), strict=True))
    assert len(heard) == 3
    assert wrong / total <= 0.05, heard
    started = Counter(e.response for e in events if isinstance(e, ResponseStarted))
    ended = [e for e in events if isinstance(e, ResponseDone)]
    assert started == Counter(e.response for e in ended)
    assert set(started.values()) == {1}
    assert [e.status for e in ended] == ["completed"] * 3
    assert all(e.played.strip() for e in ended)
    assert np.abs(transport.assistant()).max() < 1.0


def _heard_as_said(events: list[Event], transport: WavTransport, transcribe: object) -> None:
    """Each answer, cut out of the recording, is heard by the STT as the text the client saw."""
    sound = transport.assistant()
    texts: dict[object, str] = {}
    for event in events:
        if isinstance(event, AnswerText):
            texts[event.response] = texts.get(event.response, "") + event.text
    loud = np.flatnonzero(np.abs(sound) > 0.005)
    gaps = np.flatnonzero(np.diff(loud) > OUTPUT_HZ * 2)
    starts = [int(loud[0]), *(int(loud[g + 1]) for g in gaps)]
    ends = [*(int(loud[g]) for g in gaps), int(loud[-1])]
    assert len(starts) == len(texts)
    wrong = total = 0
    for start, end, text in zip(starts, ends, texts.values(), strict=True):
        pad = OUTPUT_HZ // 10
        answer = resample(sound[max(0, start - pad) : end + pad], OUTPUT_HZ, PIPELINE_HZ)
        heard = transcribe(answer).text  # type: ignore[operator]
        errs, count = errors(text, heard)
        wrong, total = wrong + errs, total + count
    assert wrong / total <= 0.10, (wrong, total, list(texts.values()))
