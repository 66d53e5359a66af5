"""What is in the three GGUF files a checkpoint is converted to, by tensor name, shape and type.

``talker.gguf`` and ``predictor.gguf`` are of llama.cpp's stock ``qwen3`` architecture and are fed
with vectors. That is exact: the talker's three rotary position streams are always equal, which
makes the interleaved multi-axis rotation the plain one. ``tables.gguf`` holds what stock files
have no place for: the input tables, with every projection that depends on a token id alone folded
in, and the predictor's heads. Knows nothing of where weights come from or where files go.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from s2s.core.arrays import Floats
from s2s.tts.qwen3.checkpoint.gguf import GGUFFile, NewTensor, Value
from s2s.tts.qwen3.checkpoint.quant import (
    MIXES,
    TYPES,
    Bytes,
    KQuantize,
    Mix,
    TensorType,
    fitting,
    more_bits,
    quantize,
)
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import DecoderSpec, Spec
from s2s.tts.qwen3.errors import ConvertError, GGUFError

TALKER, PREDICTOR, TABLES = "talker.gguf", "predictor.gguf", "tables.gguf"
TABLES_ARCHITECTURE = "s2s-qwen3-tts-tables"
_DESCRIPTIVE = ("general.name", "general.file_type")
CONVERT_AGAIN = "convert the checkpoint again"
FORMAT = 1  # of the three files together; another number is refused

# A stock file must have a vocabulary. The predictor's heads are kept outside, so its own has one
# entry, which is not read.
PREDICTOR_VOCABULARY = 1

_PIECE_VALUES = 1 << 21  # 8 MB of float32: what one piece of a tensor takes while it is converted
_NORMS = (
    ("attn_norm", "input_layernorm"),
    ("ffn_norm", "post_attention_layernorm"),
    ("attn_q_norm", "self_attn.q_norm"),
    ("attn_k_norm", "self_attn.k_norm"),
)
_MATRICES = (
    ("attn_q", "self_attn.q_proj"),
    ("attn_k", "self_attn.k_proj"),
    ("attn_v", "self_attn.v_proj"),
    ("attn_output", "self_attn.o_proj"),
    ("ffn_gate", "mlp.gate_proj"),
    ("ffn_up", "mlp.up_proj"),
    ("ffn_down", "mlp.down_proj"),
)
_SENSITIVE = ("attn_v", "ffn_down")

Rows = Callable[[int, int], Floats]
"""float32 [stop - start, width] of a matrix, for (start, stop)."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One file to write."""

    name: str
    metadata: dict[str, Value]
    tensors: list[NewTensor]


def check_decoder(file: GGUFFile, shape: DecoderSpec, vocabulary: int, where: str) -> None:
    """Raise GGUFError unless a file of `Planner` says and holds what config.json says, and nothing
    else: the reader then computes that, and takes no more memory.

    vocabulary: entries of the file's own. where: the part of config.json, for the message.
    """
    expected = _stock_metadata("", shape, vocabulary, MIXES["f32"])
    for key, value in expected.items():
        found = file.metadata.get(key)
        wanted = float(np.float32(value)) if isinstance(value, float) else value
        same = found == wanted or key in _DESCRIPTIVE
        if type(found) is not type(wanted) or not same:
            raise GGUFError(
                f"is {found!r:.80}, but {where} of config.json makes it {wanted!r}",
                file=file.path,
                field=key,
                advice="undo the edit of config.json, or convert the checkpoint again",
            )
    for key in file.metadata:
        if key not in expected and not key.startswith("s2s."):
            raise GGUFError(
                "is not of this program", file=file.path, field=key, advice=CONVERT_AGAIN
            )
    shapes = _decoder_shapes(shape)
    for name, size in shapes.items():
        info = file.require(name, size)
        if info.kind is None or (len(size) == 1 and info.kind.name != "f32"):
            kind = info.type_id if info.kind is None else info.kind.name
            raise GGUFError(
                f"has tensor type {kind}", file=file.path, field=name, advice=CONVERT_AGAIN
            )
    known = {*shapes, "token_embd.weight", "output.weight"}
    for name in file.tensors:
        if name not in known:
            raise GGUFError(
                "is not of this program", file=file.path, field=name, advice=CONVERT_AGAIN
            )
    file.require("token_embd.weight", (vocabulary, shape.hidden))
    if "output.weight" in file.tensors:
        file.require("output.weight", (vocabulary, shape.hidden))


def _decoder_shapes(shape: DecoderSpec) -> dict[str, tuple[int, ...]]:
    """A stock file's tensors of a stack, and their shapes."""
    hidden, inner = shape.hidden, shape.intermediate
    query, key = shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim
    layer: dict[str, tuple[int, ...]] = {
        "attn_norm": (hidden,),
        "ffn_norm": (hidden,),
        "attn_q_norm": (shape.head_dim,),
        "attn_k_norm": (shape.head_dim,),
        "attn_q": (query, hidden),
        "attn_k": (key, hidden),
        "attn_v": (key, hidden),
        "attn_output": (hidden, query),
        "ffn_gate": (inner, hidden),
        "ffn_up": (inner, hidden),
        "ffn_down": (hidden, inner),
    }
    shapes: dict[str, tuple[int, ...]] = {"output_norm.weight": (hidden,)}
    for at in range(shape.layers):
        shapes |= {f"blk.{at}.{name}.weight": size for name, size in layer.items()}
    return shapes


class Planner:
    """Plans the three files of one checkpoint. Nothing is read before a plan is written; then
    ``threads`` work on pieces of a tensor at once."""

    def __init__(
        self, spec: Spec, weights: Checkpoint, k_quantize: KQuantize, threads: int
    ) -> None:
        self._spec = spec
        self._weights = weights
        self._k_quantize = k_quantize
        self._threads = threads

    def talker(self, mix: Mix) -> Plan:
        """The talker as a stock file; its token table is the codec table, unused by this project
        but what the architecture means by it."""
        shape = self._spec.talker
        tensors = [
            self._matrix("token_embd.weight", "talker.model.codec_embedding.weight", mix.better),
            *self._stack("talker.model", shape, mix),
            self._matrix("output.weight", "talker.codec_head.weight", mix.better),
        ]
        return Plan(TALKER, _stock_metadata("talker", shape, shape.vocabulary, mix), tensors)

    def predictor(self, mix: Mix) -> Plan:
        """The code predictor as a stock file, without its heads."""
        shape = self._spec.predictor
        nothing = np.zeros((PREDICTOR_VOCABULARY, shape.hidden), np.float32)
        tensors = [
            self._tensor(
                "token_embd.weight", nothing.shape, TYPES["f32"], lambda a, b: nothing[a:b]
            ),
            *self._stack("talker.code_predictor.model", shape, mix),
        ]
        metadata = _stock_metadata("code predictor", shape, PREDICTOR_VOCABULARY, mix)
        return Plan(PREDICTOR, metadata, tensors)

    def tables(self, talker: Mix, predictor: Mix | None) -> Plan:
        """Input tables and heads; without a mix for the predictor, input tables alone.

        ``text``: text vectors after the text projection. ``codec``: the talker's codec table.
        ``codes.g``: the vectors of code group g + 1, g from 0, as the talker's feedback sums them.
        ``predictor_in.g``: group g (0 is the first code) as the predictor is fed it; only where
        that differs from the former, after its input projection. ``projection``: that projection,
        for the talker's hidden vector. ``head.g``: the head of group g + 1.
        """
        spec = self._spec
        exact = talker.name == "f32"
        prefix = "talker.code_predictor"
        text_type = "f32" if exact else "f16" if talker.name == "bf16" else "q8_0"
        text_shape = (spec.text_vocabulary, spec.talker.hidden)
        tensors = [
            self._tensor("text", text_shape, fitting(text_type, text_shape[1]), self._text_rows()),
            self._table("codec", "talker.model.codec_embedding.weight", exact),
        ]
        groups = range(spec.groups - 1)
        names = [f"{prefix}.model.codec_embedding.{group}.weight" for group in groups]
        tensors += [self._table(f"codes.{g}", names[g], exact) for g in groups]
        if spec.projected:
            tensors += self._projected(["talker.model.codec_embedding.weight", *names[:-1]], exact)
        if predictor is not None:
            tensors += self._heads(predictor)
        metadata: dict[str, Value] = {
            "general.architecture": TABLES_ARCHITECTURE,
            "general.name": "Qwen3-TTS tables",
        }
        return Plan(TABLES, metadata, tensors)

    def _heads(self, mix: Mix) -> Iterator[NewTensor]:
        prefix = "talker.code_predictor"
        if self._spec.projected:
            name = f"{prefix}.small_to_mtp_projection"
            yield self._matrix("projection.weight", f"{name}.weight", mix.better)
            yield self._vector("projection.bias", f"{name}.bias")
        for group in range(self._spec.groups - 1):
            yield self._matrix(f"head.{group}", f"{prefix}.lm_head.{group}.weight", mix.better)

    def _stack(self, prefix: str, shape: DecoderSpec, mix: Mix) -> Iterator[NewTensor]:
        for layer in range(shape.layers):
            source, target = f"{prefix}.layers.{layer}", f"blk.{layer}"
            for name, official in _NORMS:
                yield self._vector(f"{target}.{name}.weight", f"{source}.{official}.weight")
            for name, official in _MATRICES:
                better = name in _SENSITIVE and more_bits(layer, shape.layers)
                kind = mix.better if better else mix.matrix
                yield self._matrix(f"{target}.{name}.weight", f"{source}.{official}.weight", kind)
        yield self._vector("output_norm.weight", f"{prefix}.norm.weight")

    def _projected(self, sources: list[str], exact: bool) -> Iterator[NewTensor]:
        """The predictor's own input tables, one a group that it is fed."""
        name = "talker.code_predictor.small_to_mtp_projection"
        into = self._spec.predictor.hidden
        shape = (self._spec.codes, into)
        for group, source in enumerate(sources):

            def rows(start: int, stop: int, source: str = source) -> Floats:
                matrix = self._weights.rows(f"{name}.weight", 0, into)
                return self._weights.rows(source, start, stop) @ matrix.T + self._whole(
                    f"{name}.bias"
                )

            yield self._tensor(
                f"predictor_in.{group}", shape, TYPES["f32" if exact else "f16"], rows
            )

    def _text_rows(self) -> Rows:
        """Text vectors after ``fc2(silu(fc1(x)))``, which depends on the token id alone."""
        parts: dict[str, Floats] = {}

        def part(name: str) -> Floats:
            if name not in parts:
                parts[name] = self._whole(f"talker.text_projection.linear_{name}")
            return parts[name]

        def rows(start: int, stop: int) -> Floats:
            inner = self._weights.rows("talker.model.text_embedding.weight", start, stop)
            inner = inner @ part("fc1.weight").T + part("fc1.bias")
            inner /= np.float32(1) + np.exp(-inner)
            return np.add(inner @ part("fc2.weight").T, part("fc2.bias"), dtype=np.float32)

        return rows

    def _table(self, name: str, source: str, exact: bool) -> NewTensor:
        """An input table as it is: in the official bf16 nothing is lost."""
        lossless = "bf16" if self._weights.dtype(source) == "BF16" else "f16"
        return self._matrix(name, source, "f32" if exact else lossless)

    def _matrix(self, name: str, source: str, kind: str) -> NewTensor:
        shape = self._weights.shape(source)
        return self._tensor(
            name, shape, fitting(kind, shape[-1]), lambda a, b: self._weights.rows(source, a, b)
        )

    def _vector(self, name: str, source: str) -> NewTensor:
        shape = self._weights.shape(source)
        return self._tensor(name, shape, TYPES["f32"], lambda _a, _b: self._whole(source)[None])

    def _whole(self, source: str) -> Floats:
        return self._weights.load(source)

    def _tensor(self, name: str, shape: tuple[int, ...], kind: TensorType, rows: Rows) -> NewTensor:
        """A tensor made a piece of rows at a time; a vector is one row."""
        count, width = (1, *shape)[-2:]
        piece = max(1, _PIECE_VALUES // width)

        def make(start: int) -> Bytes:
            try:
                return quantize(rows(start, min(start + piece, count)), kind, self._k_quantize)
            except ValueError as error:
                raise ConvertError(f"{name}: {error}") from error

        def chunks() -> Iterator[Bytes]:
            return _ahead(make, range(0, count, piece), self._threads)

        return NewTensor(name, shape, kind, chunks)


def _ahead(make: Callable[[int], Bytes], starts: range, threads: int) -> Iterator[Bytes]:
    """``make`` of every start, in order, ``threads`` of them in the making at a time."""
    with ThreadPoolExecutor(threads) as pool:
        coming: deque[Future[Bytes]] = deque()
        for start in starts:
            coming.append(pool.submit(make, start))
            if len(coming) > threads:
                yield coming.popleft().result()
        while coming:
            yield coming.popleft().result()


def _stock_metadata(name: str, shape: DecoderSpec, vocabulary: int, mix: Mix) -> dict[str, Value]:
    """What llama.cpp needs to load a ``qwen3`` file. No tokenizer: it is fed with vectors."""
    return {
        "general.architecture": "qwen3",
        "general.name": f"Qwen3-TTS {name}",
        "general.file_type": mix.llama_ftype,
        "general.quantization_version": 2,
        "qwen3.vocab_size": vocabulary,
        "qwen3.context_length": shape.max_positions,
        "qwen3.embedding_length": shape.hidden,
        "qwen3.feed_forward_length": shape.intermediate,
        "qwen3.block_count": shape.layers,
        "qwen3.attention.head_count": shape.heads,
        "qwen3.attention.head_count_kv": shape.kv_heads,
        "qwen3.attention.key_length": shape.head_dim,
        "qwen3.attention.value_length": shape.head_dim,
        "qwen3.attention.layer_norm_rms_epsilon": float(shape.rms_norm_eps),
        "qwen3.rope.freq_base": float(shape.rope_theta),
        "tokenizer.ggml.model": "none",
    }
