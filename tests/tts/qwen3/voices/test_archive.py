"""Archives of arrays: what NumPy writes is read, what lies about its size is refused first."""

from __future__ import annotations

import io
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from s2s.tts.qwen3.errors import VoiceError
from s2s.tts.qwen3.voices.archive import DAMAGED, read_archive
from s2s.tts.qwen3.voices.store import SUFFIX, Voice, list_voices, load_voice, save_voice


def test_what_numpy_writes_comes_back(tmp_path: Path) -> None:
    arrays = {
        "text": np.array("Grüße"), "number": np.array(3.5), "codes": np.ones((3, 2), np.uint16),
        "columns": np.asfortranarray(np.arange(6.0, dtype=np.float32).reshape(2, 3)),
        "empty": np.zeros((0, 4), np.float32),
    }  # fmt: skip
    np.savez(tmp_path / "a.npz", **arrays)  # type: ignore[arg-type]
    found = read_archive(tmp_path / "a.npz")
    assert set(found) == set(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)


def member(shape: object, descr: str = "'<f4'", data: bytes = b"\0" * 16) -> bytes:
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}\n".encode()
    return b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header + data


@pytest.mark.parametrize(
    "content",
    [
        member("(10**12,)"), member((10**12,)), member((10**9, 10**9, 10**9)), member((-4,)),
        member((4.0,)), member("[4]"), member((4,), "'|O'"), member((4,), "'x'"),
        member((4,), "[('a', '<f4')]"), member((5,)), member((4,), "'<U0'"), member("(" * 200),
        b"\x93NUMPY\1\0\xff\xff{}", b"\x93NUMPY\x09\0\0\0", b"", b"\x80\x04pickle.",
    ],
)  # fmt: skip
def test_an_array_that_lies_is_refused_before_memory_is_taken(
    content: bytes, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("speaker.npy", content)
    tracemalloc.start()
    try:
        with pytest.raises(DAMAGED):
            read_archive(tmp_path / "a.npz")
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()


def test_an_archive_that_unpacks_to_much_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("speaker.npy", bytes(80 << 20))
    with pytest.raises(ValueError, match="more than 64 MB"):
        read_archive(tmp_path / "a.npz")


VOICE = Voice("anna", "0b6 base", "abc", np.ones(4, np.float32), 2.0, np.ones((2, 3), int), "Hi")


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("speaker", np.full(4, np.nan, np.float32), "speaker holds"),
        ("speaker", np.ones((2, 2), np.float32), "speaker is"),
        ("speaker", np.ones(4), "speaker is float64"), ("speaker", None, "speaker"),
        ("codes", np.ones(3, np.uint16), "codes are"), ("codes", np.ones((2, 3)), "codes are"),
        ("codes", np.full((2, 3), -1), "codes holds -1"), ("seconds", np.array(np.inf), "seconds"),
        ("seconds", np.array("long"), "could not convert"), ("format", np.array(9), "format 9"),
        ("decoder/x", np.full(2, np.inf, np.float32), "decoder/x holds"),
    ],
)  # fmt: skip
def test_a_damaged_voice_says_what_is_wrong(
    name: str, array: np.ndarray | None, message: str, tmp_path: Path
) -> None:
    path = save_voice(VOICE, tmp_path)
    arrays = dict(np.load(path)) | {"decoder_version": np.array(1)}
    arrays.pop(name, None)
    if array is not None:
        arrays[name] = array
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    path.write_bytes(buffer.getvalue())
    with pytest.raises(VoiceError, match=rf"'anna'.*{message}.*Enrol it again"):
        load_voice("anna", tmp_path, "abc")
    (entry,) = list_voices(tmp_path)
    assert message in entry.problem
    assert path.name == f"anna{SUFFIX}"
