"""Which files a voice is, and why some are not deleted alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from s2s.app import cli
from s2s.app.keeping.removal import KeptError
from s2s.app.voices.listed import LISTED
from s2s.app.voices.removed import FINDERS, WITHOUT_FILES, voice_removal
from s2s.models.store import Store
from tests.support.vits import voice_folder

pytestmark = pytest.mark.usefixtures("clean_environment")


def put(name: str) -> Path:
    """A file in the cache."""
    path = Store().root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * 100)
    return path


def piper_voice() -> Path:
    """A Piper voice in the cache, with what was cut from it here and elsewhere."""
    folder = Store().root / "models" / "mine"
    folder.mkdir(parents=True)
    made = voice_folder(folder, "plain")
    voice = made / "joe.onnx"
    (made / "plain.onnx").rename(voice)
    (made / "voice.json").rename(made / "joe.onnx.json")
    put("split/joe.onnx.split-1-a/split.json")
    return voice


def test_every_backend_that_is_listed_is_known_here() -> None:
    assert set(FINDERS) | set(WITHOUT_FILES) == set(LISTED)
    assert not set(FINDERS) & set(WITHOUT_FILES)


@pytest.mark.parametrize("how", ["path", "joe.onnx", "joe", "piper:joe"])
def test_a_piper_voice_goes_with_its_config_and_its_cuts(how: str) -> None:
    voice = piper_voice()
    found = voice_removal(Store(), str(voice) if how == "path" else how)
    assert found.paths == (
        voice,
        voice.with_name("joe.onnx.json"),
        Store().root / "split" / "joe.onnx.split-1-a",
    )


def test_a_voice_that_was_fetched_or_made_ready_is_deleted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    style, german = put("kokoro-voices/af_sky.bin"), put("mms/deu-abc/voice.onnx")
    assert cli.main(["voices", "rm", "af_sky", "mms:deu", "--yes"]) == 0
    assert not style.exists()
    assert not german.parent.exists()
    assert "deleted: af_sky, deu; 200 bytes are free" in capsys.readouterr().out


def test_an_enrolled_voice_is_deleted(capsys: pytest.CaptureFixture[str]) -> None:
    voice = put("voices/anna.voice.npz")
    assert cli.main(["voices", "rm", "anna", "--yes"]) == 0
    assert not voice.exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("heart", "heart comes with the package hibari"),
        ("af_heart", "models rm kokoro-82m"),
        ("ryan", "ryan comes with the models of Qwen3-TTS"),
        ("nobody", "no voice nobody to delete; `python -m s2s voices list`"),
        ("../voices", "no voice ../voices to delete"),
        ("piper:anna", "no voice piper:anna to delete"),
    ],
)
def test_what_is_no_file_of_its_own_stays(name: str, said: str) -> None:
    put("voices/anna.voice.npz")
    with pytest.raises(KeptError, match=said):
        voice_removal(Store(), name)


def test_a_name_of_several_voices_is_no_choice() -> None:
    put("voices/sky.voice.npz")
    put("kokoro-voices/sky.bin")
    with pytest.raises(KeptError, match="qwen3:sky, kokoro:sky"):
        voice_removal(Store(), "sky")
    assert voice_removal(Store(), "kokoro:sky").about == "kokoro"
