"""One class above everything that the library raises, and a refused file is one of them."""

from pathlib import Path

import pytest

import s2s.tts.vits
from s2s.core.errors import StageError
from s2s.tts.vits import VitsError, VitsFileError, load_voice, prepare_voice, verify_voice

ERRORS = [name for name in s2s.tts.vits.__all__ if name.endswith("Error")]


@pytest.mark.parametrize("name", ERRORS)
def test_every_error_is_a_vits_error(name: str) -> None:
    error = vars(s2s.tts.vits)[name]
    assert issubclass(error, VitsError)
    assert issubclass(error, StageError)


@pytest.mark.parametrize("enter", [load_voice, prepare_voice, verify_voice])
def test_a_file_that_is_no_model_is_one_too(tmp_path: Path, enter) -> None:
    model = tmp_path / "voice.onnx"
    model.write_bytes(b"this is no model at all")
    model.with_name("voice.onnx.json").write_text('{"phoneme_id_map": {"a": [1]}}')
    with pytest.raises(VitsFileError, match=r"voice\.onnx"):
        enter(model)
