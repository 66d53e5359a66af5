"""The command `voices me`: a voice is enrolled, shown, listened to, erased."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from s2s.app.voices.my_voice import enrol_me, erase_me, own_voice, show_me
from s2s.config.schema import Config
from s2s.core.audio import PIPELINE_HZ, Block, read_wav
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.turns.speaker.config import Mode
from s2s.turns.speaker.enrolment import EnrolmentError, enrolled_path

DATA = Path(__file__).resolve().parents[2] / "data"
RECORDING = DATA / "librivox_0870.wav"
MODELS = ("speaker-campplus", "silero-vad")


@pytest.fixture
def store(resources: Resources, tmp_path: Path) -> Store:
    """A folder of one's own with the real models in it."""
    (tmp_path / "models").symlink_to(resources.store.root / "models", target_is_directory=True)
    return Store(tmp_path)


def with_mode(mode: Mode) -> Config:
    config = Config()
    turns = config.session.turns
    turns = replace(turns, speaker=replace(turns.speaker, mode=mode))
    return replace(config, session=replace(config.session, turns=turns))


def recording(name: str) -> Block:
    return read_wav(DATA / f"{name}.wav", PIPELINE_HZ)[0]


def test_without_a_voice_everybody_is_listened_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(tmp_path)
    assert own_voice(Config(), store) is None
    assert show_me(store) == 0
    assert "everybody is answered" in capsys.readouterr().out
    assert erase_me(store) == 0
    assert "no voice was enrolled" in capsys.readouterr().out
    with pytest.raises(EnrolmentError, match="voices me"):
        own_voice(with_mode("on"), store)


@pytest.mark.models(*MODELS)
def test_a_voice_is_enrolled_shown_known_and_erased(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    assert enrol_me(Config(), store, RECORDING) == 0
    path = enrolled_path(store.root)
    assert str(path) in capsys.readouterr().out
    assert show_me(store) == 0
    assert "384 numbers by speaker-campplus" in capsys.readouterr().out
    known = own_voice(with_mode("on"), store)
    assert known is not None
    mine = known.likeness(recording("librivox_0920"))
    assert mine > known.likeness(recording("goforward")) + 0.2
    assert known.likeness(recording("goforward")[:1000]) == 0.0
    assert own_voice(with_mode("off"), store) is None
    assert erase_me(store) == 0
    assert not path.exists()


@pytest.mark.models(*MODELS)
def test_a_voice_of_another_embedder_is_refused(store: Store) -> None:
    enrol_me(Config(), store, RECORDING)
    path = enrolled_path(store.root)
    kept = path.read_text(encoding="utf-8")
    path.write_text(kept.replace("speaker-campplus", "another"), encoding="utf-8")
    with pytest.raises(EnrolmentError, match=r"made with another.*again"):
        own_voice(Config(), store)


@pytest.mark.models(*MODELS)
def test_too_little_speech_enrols_nobody(store: Store) -> None:
    with pytest.raises(EnrolmentError, match="at least 3 s"):
        enrol_me(Config(), store, DATA / "goforward.wav")
    assert not enrolled_path(store.root).exists()
