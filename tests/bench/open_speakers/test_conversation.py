"""The assistant's recorded voice beside a loudspeaker: it says what was recorded, in its time."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.bench.open_speakers.conversation import (
    ANSWER_DB,
    STT_S,
    AlwaysDone,
    Punctual,
    RecordedVoice,
)
from s2s.bench.open_speakers.material import Saying, active_db
from s2s.core.audio import PIPELINE_HZ
from s2s.core.clock import ManualClock
from s2s.stt.base import Transcription


def hum(seconds: float, hz: float) -> np.ndarray:
    t = np.arange(int(seconds * PIPELINE_HZ)) / PIPELINE_HZ
    return (0.5 * np.sin(2 * np.pi * hz * t)).astype(np.float32)


ANSWER = (
    Saying("It opens at 9.", "a", hum(1.0, 200)),
    Saying("It closes late.", "a", hum(2.0, 300)),
)


@pytest.fixture
def voice() -> RecordedVoice:
    return RecordedVoice([ANSWER], ManualClock())


def test_sentences_are_said_as_they_were_recorded_at_the_answers_level(
    voice: RecordedVoice,
) -> None:
    (chunk,) = voice.synthesize("It opens at nine. It closes late.")
    gap = PIPELINE_HZ // 5
    assert len(chunk.samples) == 3 * PIPELINE_HZ + 2 * gap
    assert active_db(chunk.samples[:PIPELINE_HZ]) == pytest.approx(ANSWER_DB, abs=0.2)


def test_a_part_of_a_sentence_is_a_part_of_its_sound(voice: RecordedVoice) -> None:
    (chunk,) = voice.synthesize("it closes")
    assert 0 < len(chunk.samples) - PIPELINE_HZ // 5 < 2 * PIPELINE_HZ


def test_what_nobody_said_is_an_error(voice: RecordedVoice) -> None:
    with pytest.raises(ValueError, match="nobody ever said"):
        list(voice.synthesize("Something else entirely."))


def test_a_transcript_takes_a_set_time() -> None:
    clock = ManualClock()

    class Ear:
        def transcribe(self, *_: object, **__: object) -> Transcription:
            return Transcription("yes")

        def warm(self) -> None: ...

        def close(self) -> None: ...

    ear = Punctual(Ear(), clock)  # type: ignore[arg-type]
    assert ear.transcribe(hum(1.0, 100)).text == "yes"
    assert clock.now() == STT_S
    assert AlwaysDone().probability(hum(1.0, 100)) > 0.9
