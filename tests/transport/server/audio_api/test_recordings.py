"""What is said in a recording, piece by piece, by a recogniser that hears how long it is given."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from s2s.core.audio import Block
from s2s.core.work import Unlimited, Work
from s2s.stt.base import TimedWord, Transcription
from s2s.testing.simulator import EnergyVad, tone
from s2s.transport.server.audio_api.recordings import GAP_S, Recogniser, Writing, pieces, said_in

SILENCE = np.zeros(32_000, np.float32)
TWO = np.concatenate([SILENCE, tone(1.0), SILENCE, tone(2.0), SILENCE]).astype(np.float32)


class Ear:
    """Hears the seconds; tells no times."""

    def __init__(self) -> None:
        self.languages: list[str | None] = []

    def transcribe(
        self,
        audio: Block,
        *,
        language: str | None = None,
        earlier: Transcription | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        self.languages.append(language)
        return Transcription(f"{len(audio) / 16_000:.0f} seconds", "en", confidence=-0.1)

    def warm(self) -> None: ...

    def close(self) -> None: ...


class TimingEar(Ear):
    """Hears each second at its time."""

    def transcribe_words(
        self,
        audio: Block,
        *,
        language: str | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Transcription:
        return Transcription("go on", words=(TimedWord("go", 0.1, 0.3), TimedWord("on", 0.3, 0.5)))


class Asked(Unlimited):
    """Remembers for what it was asked."""

    def __init__(self) -> None:
        self.works: list[Work] = []

    def wait(self, work: Work, stop: Callable[[], bool] = lambda: False) -> None:
        self.works.append(work)


def test_long_pieces_for_words_and_short_ones_for_times() -> None:
    ear, compute = Ear(), Asked()
    recogniser = Recogniser(ear, EnergyVad(), compute)
    assert len(list(said_in(TWO, recogniser, Writing("de")))) == 1
    first, second = said_in(TWO, recogniser, Writing(in_segments=True))
    assert first.start_s == pytest.approx(2.0, abs=0.5)
    assert second.start_s - first.end_s > GAP_S / 2
    assert (first.language, first.mean_log_prob, first.timed) == ("en", -0.1, ())
    assert ear.languages == ["de", None, None]
    assert compute.works == [Work.TEXT_AHEAD] * 3


def test_words_are_timed_from_the_start_of_the_recording() -> None:
    recogniser = Recogniser(TimingEar(), EnergyVad())
    assert recogniser.tells_words
    assert not Recogniser(Ear(), EnergyVad()).tells_words
    for said in said_in(TWO, recogniser, Writing(in_segments=True, words=True)):
        assert [word.text for word in said.timed] == ["go", "on"]
        assert said.timed[0].start_s == pytest.approx(said.start_s + 0.1)
    untimed = said_in(TWO, Recogniser(Ear(), EnergyVad()), Writing(in_segments=True, words=True))
    assert {said.timed for said in untimed} == {()}


def test_it_ends_when_it_is_stopped_and_silence_has_no_pieces() -> None:
    ear = Ear()
    assert list(said_in(TWO, Recogniser(ear, EnergyVad()), Writing(), lambda: True)) == []
    assert ear.languages == []
    assert list(pieces(SILENCE, EnergyVad(), short=True)) == []
    long = np.tile(tone(1.0), 30).astype(np.float32)
    cut = list(pieces(long, EnergyVad(), short=True))
    assert len(cut) >= 3
    assert all(piece.stop - piece.start <= 12 * 16_000 for piece in cut)
