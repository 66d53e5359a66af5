"""Files of a converted checkpoint that say or hold something else than config.json, read by each
core that reads GGUF: refused by name before the core sees them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from s2s.tts.qwen3.checkpoint import gguf
from s2s.tts.qwen3.checkpoint.gguf import GGUFFile, NewTensor, Value
from s2s.tts.qwen3.checkpoint.gguf_layout import PREDICTOR, TABLES, TALKER
from s2s.tts.qwen3.checkpoint.quant import TYPES, dequantize, quantize
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.engine.language_model import LanguageModel
from s2s.tts.qwen3.errors import GGUFError
from s2s.tts.qwen3.ggml.language import load as load_ggml
from s2s.tts.qwen3.interfaces import Floats, PredictorState, State
from s2s.tts.qwen3.native.language import load as load_native
from s2s.tts.qwen3.sampling import Sampling, SeededDraws

KIND = "1.7b-customvoice"
FolderOf = Callable[[str, str], Path]
Load = Callable[[Path], LanguageModel[State, PredictorState]]
NAN = float("nan")


@pytest.fixture(params=["native", "ggml"])
def load(request: pytest.FixtureRequest, kernel_cache: Path) -> Load:
    """Opens a folder with a core."""
    if request.param == "native":
        return lambda folder: load_native(folder, read_spec(folder), 1, cache=kernel_cache).language
    return lambda folder: load_ggml(folder, read_spec(folder), threads=1).language


@pytest.fixture
def copy(converted_qwen3: FolderOf, tmp_path: Path) -> Path:
    """A converted checkpoint that may be damaged."""
    return shutil.copytree(converted_qwen3(KIND, "q8_0"), tmp_path / "copy")


def rewrite(
    path: Path, values: Mapping[str, Value | None], tensors: Mapping[str, Floats | None]
) -> None:
    """The same file with other values and tensors; None takes one away. A tensor that is given is
    stored as float32."""
    file = GGUFFile(path)
    metadata = {**file.metadata, **values}
    made: list[NewTensor] = []
    for name, info in file.tensors.items():
        if name not in tensors:
            assert info.kind is not None
            content = file.raw(name).copy()
            made.append(NewTensor(name, info.shape, info.kind, lambda raw=content: iter([raw])))
    for name, new in tensors.items():
        if new is not None:
            raw = np.ascontiguousarray(new, np.float32).view(np.uint8)
            made.append(NewTensor(name, new.shape, TYPES["f32"], lambda raw=raw: iter([raw])))
    kept = {key: value for key, value in metadata.items() if value is not None}
    path.unlink()
    gguf.write(path, kept, made)


@pytest.mark.parametrize("file", [TALKER, PREDICTOR])
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("qwen3.attention.head_count", 3), ("qwen3.attention.head_count", 10**9),
        ("qwen3.attention.head_count", [4, 4]), ("qwen3.attention.head_count_kv", 0),
        ("qwen3.attention.head_count_kv", 3), ("qwen3.attention.key_length", 127),
        ("qwen3.attention.value_length", 64), ("qwen3.block_count", 0),
        ("qwen3.block_count", 10**6), ("qwen3.block_count", "2"), ("qwen3.block_count", True),
        ("qwen3.embedding_length", 1 << 31), ("qwen3.feed_forward_length", 1),
        ("qwen3.attention.layer_norm_rms_epsilon", NAN),
        ("qwen3.attention.layer_norm_rms_epsilon", 1e-5), ("qwen3.rope.freq_base", 0.0),
        ("qwen3.rope.freq_base", 5.0), ("qwen3.context_length", 1), ("qwen3.vocab_size", 7),
        ("qwen3.rope.scaling.type", "yarn"), ("qwen3.attention.sliding_window", 4),
        ("qwen3.expert_count", 8), ("qwen3.rope.freq_base", None),
        ("general.architecture", "llama"), ("tokenizer.ggml.model", "gpt2"),
        ("general.alignment", 7),
    ],
)  # fmt: skip
def test_a_value_is_named(file: str, key: str, value: Value, copy: Path, load: Load) -> None:
    rewrite(copy / file, {key: value}, {})
    with pytest.raises(GGUFError) as caught:
        load(copy)
    assert (caught.value.file, caught.value.field) == (str(copy / file), key)


@pytest.mark.parametrize(
    ("file", "name", "new"),
    [
        (TABLES, "predictor_in.3", np.zeros((63, 256))), (TABLES, "predictor_in.0", None),
        (TABLES, "codes.2", np.zeros((1, 512))), (TABLES, "codec", np.zeros((1087, 512))),
        (TABLES, "text", np.zeros((9, 512))), (TABLES, "head.14", np.zeros((63, 256))),
        (TABLES, "head.0", None), (TABLES, "projection.bias", np.zeros(255)),
        (TABLES, "projection.bias", np.full(256, NAN)),
        (TABLES, "projection.weight", np.zeros((256, 511))),
        (TALKER, "blk.1.attn_k.weight", np.zeros((128, 512))),
        (TALKER, "blk.0.attn_norm.weight", np.zeros(511)), (TALKER, "output_norm.weight", None),
        (TALKER, "output.weight", np.zeros((1087, 512))),
        (TALKER, "token_embd.weight", np.zeros((1, 512))),
        (PREDICTOR, "blk.0.ffn_up.weight", np.zeros((257, 256))),
        (PREDICTOR, "blk.2.attn_q.weight", np.zeros((512, 256))),
    ],
)  # fmt: skip
def test_a_tensor_is_named(
    file: str, name: str, new: Floats | None, copy: Path, load: Load
) -> None:
    rewrite(copy / file, {}, {name: new})
    with pytest.raises(GGUFError) as caught:
        load(copy)
    assert str(copy / file) in str(caught.value)
    assert name in str(caught.value)


def test_vectors_of_several_types_are_read_as_they_are(
    copy: Path, load: Load, converted_qwen3: FolderOf
) -> None:
    """One table in float32 among float16: the codes are the same."""
    file = GGUFFile(copy / TABLES)
    kind = file.tensors["predictor_in.4"].kind
    assert kind is not None
    assert kind.name == "f16"
    rewrite(copy / TABLES, {}, {"predictor_in.4": dequantize(file.raw("predictor_in.4"), kind)})
    hidden = np.random.default_rng(0).standard_normal(512).astype(np.float32)
    found = []
    for folder in (converted_qwen3(KIND, "q8_0"), copy):
        predictor = load(folder).predictor
        state = predictor.new_state()
        found.append(predictor.frame(state, hidden, 3, Sampling(greedy=True), SeededDraws(0)))
        state.close()
    assert found[0].tolist() == found[1].tolist()


@pytest.mark.parametrize("damage", ["twice", "shared", "unaligned"])
def test_a_directory_that_cannot_be_is_named(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "a.gguf"
    values = np.ones((2, 32), np.float32)

    def chunks() -> object:
        return iter([quantize(values, TYPES["f32"], lambda *_: values.view(np.uint8))])

    names = ["m", "m" if damage == "twice" else "n"]
    gguf.write(path, {}, [NewTensor(name, (2, 32), TYPES["f32"], chunks) for name in names])  # type: ignore[arg-type]
    if damage != "twice":
        content = bytearray(path.read_bytes())
        at = content.rindex((256).to_bytes(8, "little"))
        content[at : at + 8] = {"shared": 128, "unaligned": 250}[damage].to_bytes(8, "little")
        path.write_bytes(content)
    message = {"twice": "is there twice", "shared": "shares bytes", "unaligned": "no multiple"}
    with pytest.raises(GGUFError, match=message[damage]):
        GGUFFile(path)
