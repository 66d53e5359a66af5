"""Packed weights on disk: read back to the bit, and packed again whenever they are not what they
should be."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.tts.qwen3.backend import CPU, CodecJob, Setting
from s2s.tts.qwen3.checkpoint.codec_spec import read_codec_spec
from s2s.tts.qwen3.checkpoint.content_hash import codec_content_hash
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.interfaces import Floats
from s2s.tts.qwen3.native import kept as packed
from s2s.tts.qwen3.native.backend import NativeCodec, NativeCore
from s2s.tts.qwen3.native.kept import PACKED_FOLDER, KeptWeights, Origin
from s2s.tts.qwen3.sampling import Sampling, SeededDraws

WEIGHTS = np.random.default_rng(3).integers(0, 256, 9 << 20).astype(np.uint8)


PARTS = {
    "talker", "talker-head", "predictor", "predictor-heads", "codec-transformer", "codec-upsampler",
}  # fmt: skip


Damage = Callable[[bytes], bytes]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """What weights were made from."""
    path = tmp_path / "model.gguf"
    path.write_bytes(b"weights")
    return path


def kept(
    source: Path, part: str = "talker", kernel: str = "qwen3-1", layout: int = 0
) -> KeptWeights:
    return KeptWeights(source.parent / f"{kernel}.so", part, Origin.of(source), layout)


def files(folder: Path) -> set[str]:
    return {path.name for path in (folder / PACKED_FOLDER).glob("*.packed")}


def test_what_is_kept_is_read_to_the_bit(source: Path) -> None:
    assert not kept(source).exists
    kept(source).write(WEIGHTS)
    for threads in (1, 3):
        into = np.zeros_like(WEIGHTS)
        assert kept(source).read(into, threads)
        np.testing.assert_array_equal(into, WEIGHTS)
    assert [path.name for path in (source.parent / PACKED_FOLDER).glob(".*")] == [".lock"]


def flip(at: int) -> Damage:
    def damaged(content: bytes) -> bytes:
        changed = bytearray(content)
        changed[at] ^= 16
        return bytes(changed)

    return damaged


@pytest.mark.parametrize(
    "damage",
    [
        flip(3), flip(64 << 10), flip(-1), flip(5_000_001), lambda content: content[:-1],
        lambda content: content + b"x", lambda content: content[:100], lambda _: b"",
        lambda content: b"[" * (64 << 10) + content[64 << 10 :],
        lambda content: b"{}".ljust(64 << 10) + content[64 << 10 :],
        lambda content: content.replace(b'"bytes": 9', b'"bytes": 8'),
    ],
)  # fmt: skip
def test_damage_anywhere_is_noticed(
    damage: Damage, source: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept(source).write(WEIGHTS)
    path = kept(source).path
    path.write_bytes(damage(path.read_bytes()))
    with caplog.at_level(logging.WARNING):
        assert not kept(source).read(np.zeros_like(WEIGHTS), 2)
    assert f"{path} is damaged: these weights are packed again" in caplog.text
    kept(source).write(WEIGHTS)
    assert kept(source).read(np.zeros_like(WEIGHTS), 2)


@given(at=st.integers(65_536, 65_536 + WEIGHTS.size - 1), bit=st.integers(0, 7))
@settings(max_examples=20, deadline=None)
def test_a_flipped_bit_of_any_weight_is_noticed(
    at: int, bit: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("flip") / "model.gguf"
    path.write_bytes(b"weights")
    kept(path).write(WEIGHTS)
    with kept(path).path.open("r+b") as file:
        file.seek(at)
        old = file.read(1)[0]
        file.seek(at)
        file.write(bytes([old ^ 1 << bit]))
    assert not kept(path).read(np.zeros_like(WEIGHTS), 2)
    shutil.rmtree(path.parent)


def test_another_kernel_layout_or_content_is_another_file(source: Path) -> None:
    first = kept(source).path
    others = {kept(source, kernel="qwen3-2").path.name, kept(source, layout=1).path.name}
    source.write_bytes(b"other weights")
    others.add(kept(source).path.name)
    assert len(others - {first.name}) == 3


def test_what_is_outdated_or_of_nothing_is_removed(source: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone.gguf"
    gone.write_bytes(b"x")
    for each in (kept(gone), kept(source), kept(source, "talker-head")):
        each.write(WEIGHTS[:100])
    gone.unlink()
    (tmp_path / PACKED_FOLDER / ".talker-1.packed.partial").write_bytes(b"x")
    source.write_bytes(b"converted again")
    kept(source).write(WEIGHTS[:100])
    left = files(tmp_path)
    assert len(left) == 2
    assert kept(source).path.name in left
    assert any(name.startswith("talker-head-") for name in left)
    assert not list((tmp_path / PACKED_FOLDER).glob("*.partial"))


def test_a_full_disk_is_said_and_is_no_error(
    source: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    usage = shutil.disk_usage(source.parent)._replace(free=100 << 20)
    monkeypatch.setattr(packed.shutil, "disk_usage", lambda _: usage)
    kept(source).write(WEIGHTS)
    assert not kept(source).exists
    assert "9 MB for packed weights are not to be had (100 MB are free)" in caplog.text


def test_a_folder_that_cannot_be_written_is_no_error(
    source: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (source.parent / PACKED_FOLDER).write_bytes(b"a file")
    kept(source).write(WEIGHTS)
    assert not kept(source).exists
    assert "packed weights cannot be kept" in caplog.text


@pytest.fixture
def own_kernels(kernel_cache: Path, tmp_path: Path) -> Path:
    """The kernel, with nothing kept beside it."""
    return shutil.copytree(
        kernel_cache, tmp_path / "kernels", ignore=shutil.ignore_patterns(PACKED_FOLDER)
    )


def computed(folder: Path, kernels: Path) -> list[Floats]:
    """What all parts of a model make of the same input."""
    spec = read_spec(folder)
    core = NativeCore(Setting(spec, 2, kernels))
    talker, _ = core.talker(folder, 0)
    state = talker.new_state(8)
    embeddings = np.random.default_rng(1).standard_normal((5, spec.talker.hidden))
    output = talker.prefill(state, embeddings.astype(np.float32))
    predictor, _ = core.predictor(folder, 0, 0)
    frame = predictor.frame(
        predictor.new_state(), output.hidden, 3, Sampling(greedy=True), SeededDraws(0)
    )
    codec = folder / "speech_tokenizer"
    decoder = NativeCodec().open(
        CodecJob(
            spec=read_codec_spec(codec).decoder,
            tensors=Checkpoint(codec),
            content_hash=codec_content_hash(codec),
            device=CPU,
            threads=2,
            graphs=kernels,
            kernels=kernels,
        )
    )
    codes = np.concatenate([[3], frame])[None].repeat(6, axis=0)
    pcm = decoder.decode(decoder.new_state(), codes)
    return [output.logits, output.hidden, frame.astype(np.float32), pcm]


def test_a_model_of_kept_weights_computes_the_same_bits(
    converted_qwen3: Callable[[str, str], Path], own_kernels: Path
) -> None:
    folder = converted_qwen3("1.7b-customvoice", "q8_0")
    expected = computed(folder, own_kernels)
    written = {path: path.stat().st_mtime_ns for path in (own_kernels / PACKED_FOLDER).glob("*.*")}
    assert {path.name.rsplit("-", 1)[0] for path in written if path.name != ".lock"} == PARTS
    for found, wanted in zip(computed(folder, own_kernels), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert written == {path: path.stat().st_mtime_ns for path in written}, "nothing was packed"


@pytest.mark.parametrize("part", sorted(PARTS))
def test_a_damaged_part_is_packed_again(
    part: str, converted_qwen3: Callable[[str, str], Path], own_kernels: Path
) -> None:
    folder = converted_qwen3("1.7b-customvoice", "q8_0")
    expected = computed(folder, own_kernels)
    (path,) = (own_kernels / PACKED_FOLDER).glob(f"{part}-{'[0-9a-f]' * 16}.packed")
    whole = path.read_bytes()
    path.write_bytes(flip(len(whole) - 70)(whole))
    for found, wanted in zip(computed(folder, own_kernels), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert path.read_bytes() == whole
