"""A converted model as one file for programs in C: the weights as the kernel has them in memory,
and all that Python reads from JSON (native/include/s2s_qwen3.h opens it)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s2s.tts.qwen3.checkpoint.codec_shapes import decoder_shapes
from s2s.tts.qwen3.checkpoint.codec_spec import CodecDecoderSpec, check_pair, read_codec_spec
from s2s.tts.qwen3.checkpoint.gguf import GGUFFile
from s2s.tts.qwen3.checkpoint.gguf_layout import PREDICTOR, TALKER
from s2s.tts.qwen3.checkpoint.quant import TYPES, dequantize
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import DecoderSpec, Kind, Spec, read_spec
from s2s.tts.qwen3.checkpoint.tables import Table, TableEmbeddings, open_tables
from s2s.tts.qwen3.codec.silence import silent_codes
from s2s.tts.qwen3.codec.weights import CONVNEXT_EPS
from s2s.tts.qwen3.errors import KernelError
from s2s.tts.qwen3.folders import GRAPHS_FOLDER, KERNEL_FOLDER
from s2s.tts.qwen3.native.codec_transformer import CodecTransformer
from s2s.tts.qwen3.native.codec_upsampler import CodecUpsampler
from s2s.tts.qwen3.native.language import (
    open_kernel_part,
    predictor_heads,
    projection_bias,
    talker_head,
)
from s2s.tts.qwen3.native.packed_file import FileSection, Numbers, Put, write_packed
from s2s.tts.qwen3.native.transformer import (
    Matrices,
    Stored,
    ThreadPool,
    bits_of,
    last_norm,
    layer_matrices,
    layer_norms,
)
from s2s.tts.qwen3.sampling import Sampling
from s2s.tts.qwen3.text.prompt import AUTO, PromptBuilder, spoken_languages
from s2s.tts.qwen3.text.text_tables import token_tables, unicode_tables
from s2s.tts.qwen3.text.tokenizer import Tokenizer

_KINDS = (Kind.BASE, Kind.CUSTOM_VOICE, Kind.VOICE_DESIGN)
_MOST_RATIOS, _MOST_RATES = 4, 6  # MOST_RATIOS, MOST_RATES of codec.h
_NO_DIALECT = -1
_FLOATS = ("f32", "f16", "bf16")


def pack_model(folder: Path, path: Path, *, home: Path, threads: int = 1) -> Path:
    """Write a converted model to ``path``, for `s2s_qwen3_open`. Returns ``path``.

    folder: as `convert_model` made it, in a quantisation that the compiled kernel computes in.
    home: where kernel and graphs are kept. Raises Qwen3Error for what cannot be packed, OSError
    when the file cannot be written.
    """
    pack_folder(folder, path, ThreadPool(home / KERNEL_FOLDER, threads), home / GRAPHS_FOLDER)
    return path


def pack_folder(folder: Path, path: Path, pool: ThreadPool, graphs: Path) -> None:
    """The same, packed by ``pool``; the graph that finds silence is kept in ``graphs``."""
    spec, tables = read_spec(folder), open_tables(folder)
    talker, _ = open_kernel_part(folder, TALKER, spec)
    predictor, _ = open_kernel_part(folder, PREDICTOR, spec)
    codec_folder = folder / "speech_tokenizer"
    codec = read_codec_spec(codec_folder)
    check_pair(spec, codec, codec_folder / "config.json")
    tokenizer = Tokenizer.load(folder, spec.text_vocabulary)
    PromptBuilder(spec, tokenizer, TableEmbeddings(tables, spec))  # its template is there
    silent = silent_codes(codec_folder, codec, graphs, pool.threads)
    text = Table(tables, "text", (spec.text_vocabulary, spec.talker.hidden))
    code_tables = _CodeTables.read(tables, spec)
    numbers: dict[str, Numbers] = {
        "model": _model_numbers(spec, codec.sample_rate_hz, text, code_tables),
        "generation": _generation(spec),
        "silent": np.array(sorted(silent), np.int32),
        "text": text.raw,
        **code_tables.sections,
        **token_tables(tokenizer.parts),
        **unicode_tables(),
        **_voices(spec),
    }
    bias = projection_bias(tables, spec)
    if bias is not None:
        numbers["projection.bias"] = bias
    sections = [
        *(FileSection.of(name, values) for name, values in numbers.items()),
        *_stack(pool, "talker", talker, spec.talker),
        *_stack(pool, "predictor", predictor, spec.predictor),
        *_matrices(pool, "head", talker_head(talker, spec)),
        *_matrices(pool, "heads", predictor_heads(tables, spec)),
        *_codec(pool, codec_folder, codec.decoder),
    ]
    write_packed(path, sections)


@dataclass(frozen=True, slots=True)
class _CodeTables:
    """The vectors of codes, by the names of their sections, in one type each."""

    sections: Mapping[str, Numbers]
    code_type: int
    input_type: int

    @classmethod
    def read(cls, tables: GGUFFile, spec: Spec) -> _CodeTables:
        width, groups = spec.talker.hidden, range(spec.groups - 1)
        codec = Table(tables, "codec", (spec.talker.vocabulary, width))
        codes = [Table(tables, f"codes.{group}", (spec.codes, width)) for group in groups]
        code_type, (first, *others) = _of_one_type([codec, *codes])
        sections = {"codec": first, "codes": np.concatenate(others)}
        input_type = code_type
        if spec.projected:
            shape = (spec.codes, spec.predictor.hidden)
            fed = [Table(tables, f"predictor_in.{group}", shape) for group in groups]
            input_type, rows = _of_one_type(fed)
            sections["inputs"] = np.concatenate(rows)
        return cls(sections, code_type, input_type)


def _of_one_type(tables: list[Table]) -> tuple[int, list[Numbers]]:
    """As ggml numbers the type, and the rows of each table in it, which nothing is lost in."""
    kinds = {table.kind.name for table in tables}
    if len(kinds) == 1 and kinds <= set(_FLOATS):
        return tables[0].kind.ggml_id, [table.raw for table in tables]
    return TYPES["f32"].ggml_id, [dequantize(table.raw, table.kind) for table in tables]


def _model_numbers(spec: Spec, rate_hz: int, text: Table, codes: _CodeTables) -> Numbers:
    """``Numbers`` of language_model.h."""
    ids = spec.ids
    return np.array(
        [
            _KINDS.index(spec.kind), spec.takes_instruction, spec.groups, spec.codes,
            spec.talker.vocabulary, spec.text_vocabulary, spec.talker.max_positions, rate_hz,
            text.kind.ggml_id, codes.code_type, codes.input_type,
            ids.pad, ids.bos, ids.eos, ids.think, ids.nothink, ids.think_bos, ids.think_eos,
            ids.text_pad, ids.text_bos, ids.text_eos,
        ],
        np.int32,
    )  # fmt: skip


def _generation(spec: Spec) -> Numbers:
    """``Generation`` of speech.c."""
    generation = spec.generation

    def numbers(of: Sampling) -> list[float]:
        return [of.greedy, of.temperature, of.top_k, of.top_p]

    lengths = [generation.min_new_tokens, generation.max_new_tokens]
    every = [*numbers(generation.talker), *numbers(generation.predictor)]
    return np.array([*every, generation.repetition_penalty, *lengths], np.float64)


def _voices(spec: Spec) -> dict[str, Numbers]:
    languages = [name for name in spoken_languages(spec) if name != AUTO]
    dialects = [
        spec.languages[spec.dialects[name]] if name in spec.dialects else _NO_DIALECT
        for name in spec.speakers
    ]
    return {
        "languages.names": _names(languages),
        "languages.ids": np.array([spec.languages[name] for name in languages], np.int32),
        "speakers.names": _names(spec.speakers),
        "speakers.ids": np.array(list(spec.speakers.values()), np.int32),
        "speakers.dialects": np.array(dialects, np.int32),
    }


def _names(names: Mapping[str, int] | list[str]) -> Numbers:
    return np.frombuffer(b"".join(name.encode() + b"\0" for name in names), np.uint8)


def _stack(pool: ThreadPool, part: str, file: GGUFFile, spec: DecoderSpec) -> Iterator[FileSection]:
    shape = [spec.hidden, spec.intermediate, spec.layers, spec.heads, spec.kv_heads, spec.head_dim]
    floats = np.array([spec.rms_norm_eps, spec.rope_theta], np.float32)
    yield FileSection.of(f"{part}.shape", np.array(shape, np.int32))
    yield FileSection.of(f"{part}.floats", floats)
    norms = [norm for layer in range(spec.layers) for norm in layer_norms(file, spec, layer)]
    yield FileSection.of(f"{part}.norms", np.concatenate([*norms, last_norm(file, spec)]))
    yield from _matrices(pool, part, layer_matrices(file, spec))


def _matrices(pool: ThreadPool, part: str, stored: Mapping[str, Stored]) -> Iterator[FileSection]:
    bits = [bits_of(each.kind) for each in stored.values()]
    yield FileSection.of(f"{part}.bits", np.array(bits, np.int32))

    def fill(put: Put) -> None:
        matrices = Matrices(pool, stored)
        put(matrices.packed)

    yield FileSection(f"{part}.weights", fill)


def _codec(pool: ThreadPool, folder: Path, spec: CodecDecoderSpec) -> Iterator[FileSection]:
    tensors = Checkpoint(folder)
    tensors.require(decoder_shapes(spec))
    ratios, rates = spec.upsampling_ratios, spec.upsample_rates
    if len(ratios) > _MOST_RATIOS or len(rates) > _MOST_RATES:
        raise KernelError(f"{folder}: a codec of {len(ratios)} and {len(rates)} upsamplings")
    shape = [
        spec.code_groups, spec.codebook_size, spec.codebook_dim, spec.latent_dim,
        spec.hidden_size, spec.intermediate_size, spec.layers, spec.heads, spec.head_dim,
        spec.window_frames, spec.decoder_dim,
        len(ratios), *ratios, *[1] * (_MOST_RATIOS - len(ratios)),
        len(rates), *rates, *[1] * (_MOST_RATES - len(rates)),
    ]  # fmt: skip
    yield FileSection.of("codec.shape", np.array(shape, np.int32))
    epsilons = np.array([spec.rms_norm_eps, CONVNEXT_EPS], np.float32)
    yield FileSection.of("codec.floats", epsilons)

    def fill_transformer(put: Put) -> None:
        made = CodecTransformer(pool, tensors, spec, frames=1)
        put(made.packed)

    def fill_upsampler(put: Put) -> None:
        made = CodecUpsampler(pool, tensors, spec, frames=1)
        put(made.packed)

    yield FileSection("codec.transformer", fill_transformer)
    yield FileSection("codec.upsampler", fill_upsampler)
