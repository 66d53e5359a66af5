"""sherpa-onnx's export becomes a voice of Piper's layout with the same sound."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from s2s.models.onnx_file import read_model, write_model
from s2s.system.onnx import onnx_session
from s2s.tts.backends.mms.convert import converted, read_tokens, with_scales
from s2s.tts.base import TtsError
from s2s.tts.vits import read_config
from tests.support.mms import SCALES, mms_voice
from tests.support.vits import VOICES


def test_the_graph_gives_the_same_sound(tmp_path: Path) -> None:
    folder = mms_voice(tmp_path / "deu")
    rewritten = with_scales(read_model(folder / "model.onnx"))
    ids = np.array([[5, 9, 7, 12, 6]], np.int64)
    ours, theirs = onnx_session(write_model(rewritten)), onnx_session(folder / "model.onnx")
    names = {value.name for value in theirs.get_inputs()}
    (lengths,) = [name for name in names if "len" in name and "scale" not in name]
    (numbers,) = names - {lengths, *SCALES}
    feed = {numbers: ids, lengths: np.array([5], np.int64)}
    scales = np.array([0.0, 1.5, 0.0], np.float32)  # no noise: the same each time
    apart = {name: scales[at : at + 1] for at, name in enumerate(SCALES)}
    one = ours.run(None, {**feed, "scales": scales})[0]
    other = theirs.run(None, {**feed, **apart})[0]
    assert np.asarray(one).size > 0
    assert np.array_equal(one, other)


def test_it_is_made_once(tmp_path: Path) -> None:
    folder = mms_voice(tmp_path / "deu")
    files = folder / "model.onnx", folder / "tokens.txt"
    made = converted(*files, "de", tmp_path / "keep")
    config = read_config(made / "voice.onnx.json")
    assert (config.sample_rate_hz, config.language, config.phoneme_type) == (
        16_000,
        "de",
        "letters",
    )
    assert config.ids["_"] == (0,), "the blank between symbols is number 0"
    before = (made / "voice.onnx").stat().st_mtime_ns
    assert converted(*files, "de", tmp_path / "keep") == made
    assert (made / "voice.onnx").stat().st_mtime_ns == before
    assert sorted(path.name for path in made.iterdir()) == ["voice.onnx", "voice.onnx.json"]


def test_a_graph_of_others_is_named(tmp_path: Path) -> None:
    folder = mms_voice(tmp_path)
    (folder / "model.onnx").write_bytes((VOICES / "plain.onnx").read_bytes())
    with pytest.raises(TtsError, match=r"lacks noise_scale, .*sherpa-onnx's export"):
        converted(folder / "model.onnx", folder / "tokens.txt", "de", tmp_path)
    (folder / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(TtsError, match=r"model\.onnx"):
        converted(folder / "model.onnx", folder / "tokens.txt", "de", tmp_path)


def test_the_table_of_letters(tmp_path: Path) -> None:
    path = tmp_path / "tokens.txt"
    path.write_text("k 0\n' 1\n  2\nä 3\n", encoding="utf-8")
    assert read_tokens(path) == {"k": 0, "'": 1, " ": 2, "ä": 3}
    for told in ("k\n", "k x\n", ""):
        path.write_text(told, encoding="utf-8")
        with pytest.raises(TtsError, match=r"tokens\.txt"):
            read_tokens(path)
