"""The two ends of an interruption with a real voice, voice detector and recogniser."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from s2s.models.resources import Resources
from s2s.models.store import Store

SCRIPT = Path(__file__).parents[2] / "scripts" / "benchmark_interruptions.py"


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("benchmark_interruptions", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.models
def test_a_spoken_mm_hmm_goes_on_and_spoken_words_stop(benchmark: ModuleType) -> None:
    """livekit/agents#4039: resuming broke unnoticed, since no test had a real "mhmm"."""
    store = Store()
    say = benchmark.voice("hibari", Resources(store, 1))
    listener = benchmark.Listener(store)
    question = say(benchmark.QUESTION)
    for text, nod in (("Mm-hmm.", True), ("Yeah.", True), ("Tell me about Paris.", False)):
        clip = benchmark.Clip(text, "hibari", say(text), nod)
        outcome = benchmark.hold(clip, question, listener)
        assert outcome.right, outcome
        if not nod:
            assert outcome.stop_ms < 700
