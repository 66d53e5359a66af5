"""What of Whisper's text was spoken."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from s2s.stt.whisper import SpokenRules, is_spoken


@pytest.mark.parametrize(
    ("text", "silent", "log_prob", "compression", "spoken"),
    [
        (" Hello", 0.1, -0.2, 1.0, True),
        (" you", 0.8, -1.3, 1.0, False),
        (" sure in noise", 0.8, -0.2, 1.0, True),
        (" unsure", 0.1, -1.3, 1.0, True),
        (" la la la la la", 0.1, -0.2, 2.5, False),
        (" . ♪", 0.1, -0.2, 1.0, False),
    ],
)
def test_silence_and_loops_are_not(
    text: str, silent: float, log_prob: float, compression: float, spoken: bool
) -> None:
    segment = SimpleNamespace(
        text=text, no_speech_prob=silent, avg_logprob=log_prob, compression_ratio=compression
    )
    assert is_spoken(segment, SpokenRules()) is spoken
