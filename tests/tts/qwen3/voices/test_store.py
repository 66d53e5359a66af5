"""Enrolling, keeping, refusing and listing voices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from s2s.app import cli
from s2s.tts.qwen3.checkpoint.content_hash import voice_content_hash
from s2s.tts.qwen3.convert import convert
from s2s.tts.qwen3.errors import VoiceError
from s2s.tts.qwen3.voices.enrol import Enrolment, warm_start
from s2s.tts.qwen3.voices.store import (
    SUFFIX,
    Voice,
    WarmStart,
    list_voices,
    load_voice,
    save_voice,
)
from tests.support.recordings import DATA, WORDS_0880

Tiny = Callable[[str], Path]


def test_a_voice_comes_back_as_it_was(voice: Voice, tmp_path: Path) -> None:
    path = save_voice(voice, tmp_path)
    loaded = load_voice("anna", tmp_path, voice.content_hash)
    assert path.name == f"anna{SUFFIX}"
    assert (loaded.name, loaded.model, loaded.text) == ("anna", "0b6 base", WORDS_0880)
    assert loaded.seconds == pytest.approx(2.99)
    np.testing.assert_array_equal(loaded.speaker, voice.speaker)
    assert loaded.codes is not None
    assert voice.codes is not None
    np.testing.assert_array_equal(loaded.codes, voice.codes)
    assert loaded.codes.dtype == np.int64
    assert loaded.reference.in_context
    assert [path.name for path in tmp_path.iterdir()] == [f"anna{SUFFIX}"]


def test_speech_goes_on_from_the_warm_start_state(
    enrolment: Enrolment, voice: Voice, tmp_path: Path
) -> None:
    """Restored from the file, decoded anew and decoded in one go: the same samples."""
    assert voice.codes is not None
    decoder = enrolment.decoder
    speech = np.random.default_rng(1).integers(0, 64, (6, 16))
    together = decoder.decode(decoder.new_state(), np.concatenate([voice.codes, speech]))
    expected = together[len(voice.codes) * 1920 :]
    save_voice(voice, tmp_path)
    loaded = load_voice("anna", tmp_path, voice.content_hash)
    assert loaded.warm_start is not None
    older = replace(loaded, warm_start=WarmStart(loaded.warm_start.version - 1, {}))
    for kept in (loaded, older, replace(loaded, warm_start=None)):
        state = warm_start(decoder, kept)
        assert state.position == len(voice.codes)
        np.testing.assert_allclose(decoder.decode(state, speech), expected, rtol=0, atol=1e-4)


def test_without_a_transcript_there_is_only_the_vector(
    enrolment: Enrolment, pcm: np.ndarray, tmp_path: Path
) -> None:
    voice, _ = enrolment.enrol("bea", pcm, "  ")
    save_voice(voice, tmp_path)
    loaded = load_voice("bea", tmp_path, voice.content_hash)
    assert loaded.codes is None
    assert loaded.warm_start is None
    assert not loaded.reference.in_context
    assert warm_start(enrolment.decoder, loaded).position == 0
    assert (tmp_path / f"bea{SUFFIX}").stat().st_size < 10_000


def test_another_models_voice_is_refused(voice: Voice, tiny_qwen3: Tiny, tmp_path: Path) -> None:
    save_voice(voice, tmp_path)
    other = voice_content_hash(tiny_qwen3("1.7b-base"))
    assert voice.content_hash == voice_content_hash(tiny_qwen3("0.6b-base"))
    with pytest.raises(VoiceError, match=r"made with another model \(0b6 base\)"):
        load_voice("anna", tmp_path, other)


def test_a_voice_fits_what_the_model_is_converted_to(
    voice: Voice, tiny_qwen3: Tiny, tmp_path: Path
) -> None:
    converted = convert(tiny_qwen3("0.6b-base"), "q8_0", converted=tmp_path)
    assert converted != tiny_qwen3("0.6b-base")
    assert voice_content_hash(converted) == voice.content_hash


def test_the_list_shows_damaged_files_too(voice: Voice, tmp_path: Path) -> None:
    assert list_voices(tmp_path) == []
    path = save_voice(voice, tmp_path)
    whole = path.read_bytes()
    (tmp_path / f"cut{SUFFIX}").write_bytes(whole[: len(whole) // 2])
    (tmp_path / f"text{SUFFIX}").write_text("not an archive")
    anna, cut, text = list_voices(tmp_path)
    assert (anna.name, anna.in_context, anna.problem) == ("anna", True, "")
    assert anna.seconds == pytest.approx(2.99)
    assert "cannot be read" in cut.problem
    assert "cannot be read" in text.problem
    for name in ("cut", "text"):
        with pytest.raises(VoiceError, match="Enrol it again"):
            load_voice(name, tmp_path, voice.content_hash)


def test_pickled_objects_are_not_loaded(voice: Voice, tmp_path: Path) -> None:
    path = tmp_path / f"evil{SUFFIX}"
    with path.open("wb") as file:
        np.savez(file, format=np.array([print], dtype=object))
    with pytest.raises(VoiceError, match="cannot be read"):
        load_voice("evil", tmp_path, voice.content_hash)


def test_a_failed_save_leaves_the_old_voice(
    voice: Voice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_voice(voice, tmp_path)

    def full_disk(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("s2s.tts.qwen3.voices.store.os.fsync", full_disk)
    with pytest.raises(OSError, match="no space"):
        save_voice(replace(voice, text="other"), tmp_path)
    assert load_voice("anna", tmp_path, voice.content_hash).text == WORDS_0880
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "tail.", "x" * 65, "a\n"])
def test_names_that_are_no_file_names(voice: Voice, tmp_path: Path, name: str) -> None:
    with pytest.raises(VoiceError, match="is no name"):
        save_voice(replace(voice, name=name), tmp_path)
    assert not list(tmp_path.iterdir())


def test_names_in_any_script(voice: Voice, tmp_path: Path) -> None:
    for name in ("Jörg", "王芳", "my voice-2.1"):
        save_voice(replace(voice, name=name), tmp_path)
        assert load_voice(name, tmp_path, voice.content_hash).name == name
    assert len(list_voices(tmp_path)) == 3


def test_an_unknown_voice_names_the_known_ones(voice: Voice, tmp_path: Path) -> None:
    save_voice(voice, tmp_path)
    with pytest.raises(VoiceError, match="no voice named 'ana'; enrolled: anna"):
        load_voice("ana", tmp_path, voice.content_hash)


def test_the_command_makes_a_voice_and_lists_it(
    tiny_qwen3: Tiny,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("S2S_HOME", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    audio = str(DATA / "librivox_0880.wav")
    model = ["--model", str(tiny_qwen3("0.6b-base"))]
    assert cli.main(["voices", "add", "anna", "--audio", audio, "--text", WORDS_0880, *model]) == 0
    shown = capsys.readouterr()
    assert f"anna{SUFFIX}" in shown.out
    assert "only 3.0 s long" in shown.err
    assert cli.main(["voices", "list"]) == 0
    listed = capsys.readouterr().out
    assert "--tts qwen3 --voice 'anna'" in listed
    assert "made with 0b6 base from 3.0 s, with its words" in listed
    assert cli.main(["voices", "add", "bea", "--audio", str(DATA / "README.md"), *model]) == 1
    assert "as audio" in capsys.readouterr().err
    assert cli.main(["voices", "add", "bea", "--audio", audio]) == 1
    assert "Qwen/Qwen3-TTS-12Hz-0.6B-Base" in capsys.readouterr().err
