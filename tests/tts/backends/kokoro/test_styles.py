"""Voices as they are published: packs and single files, beside the model and out of a hub."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from s2s.models.store import Store
from s2s.tts.backends.kokoro import styles
from s2s.tts.backends.kokoro.styles import Styles, read_pack, read_style
from s2s.tts.base import TtsError
from tests.support.kokoro import kokoro_folder


def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store", manifest={})


def counted() -> np.ndarray:
    """Row n holds n."""
    return np.repeat(np.arange(510, dtype=np.float32), 256).reshape(510, 1, 256)


def test_packs_and_single_files(tmp_path: Path) -> None:
    pack = kokoro_folder(tmp_path) / "voices.npz"
    single = kokoro_folder(tmp_path, "onnx-community") / "voices"
    shutil.copy(pack, tmp_path / "voices-v1.0.bin")  # as kokoro-onnx names its pack
    for files in ([pack], [single], [tmp_path / "voices-v1.0.bin"]):
        voices = Styles(files, store(tmp_path))
        assert voices.names == ("af_loud", "af_soft")
        style = voices.style("af_soft", 3)
        assert style.shape == (1, 256)
        assert np.allclose(style, 0.1)


def test_a_style_goes_by_the_length(tmp_path: Path) -> None:
    counted().tofile(tmp_path / "af_mine.bin")
    voices = Styles([tmp_path / "af_mine.bin"], store(tmp_path))
    assert [float(voices.style("af_mine", n)[0, 0]) for n in (0, 1, 2, 510, 600)] == [
        *(0.0, 0.0, 1.0, 509.0, 509.0)
    ]


def test_an_official_voice_comes_out_of_the_hub_and_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hub client's own cache, laid as it lays it: nothing is asked of a network."""
    hub = tmp_path / "hub"
    repo = hub / "models--onnx-community--Kokoro-82M-v1.0-ONNX"
    snapshot = repo / "snapshots" / "0123456789abcdef0123456789abcdef01234567"
    (snapshot / "voices").mkdir(parents=True)
    (repo / "refs").mkdir()
    (repo / "refs" / "main").write_text(snapshot.name, encoding="utf-8")
    counted().tofile(snapshot / "voices" / "af_heart.bin")
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(hub))
    shelf = store(tmp_path)
    assert float(Styles([], shelf).style("af_heart", 8)[0, 0]) == 7.0
    shutil.rmtree(hub)
    again = Styles([], shelf)
    assert again.names == ("af_heart",)
    assert float(again.style("af_heart", 9)[0, 0]) == 8.0


def test_a_voice_that_is_not_to_be_had(tmp_path: Path) -> None:
    voices = Styles([kokoro_folder(tmp_path) / "voices.npz"], store(tmp_path))
    with pytest.raises(TtsError, match=r"no voice 'bob'.*af_loud.*af_heart"):
        voices.style("bob", 1)
    with pytest.raises(TtsError, match=rf"'bm_lewis' is not on this machine.*{styles.FETCHED}"):
        voices.style("bm_lewis", 1)


def test_files_that_are_no_voices(tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    for numbers in ([], [1.0] * 200, [float("nan")] * 256):
        np.array(numbers, np.float32).tofile(path)
        with pytest.raises(TtsError, match=r"x\.bin"):
            read_style(path)
    (tmp_path / "x.npz").write_bytes(b"PK nothing")
    with pytest.raises(TtsError, match=r"x\.npz"):
        read_pack(tmp_path / "x.npz")
