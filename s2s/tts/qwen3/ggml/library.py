"""The functions of a llama.cpp library that speech needs: graphs of matrices, and quantisation."""

from __future__ import annotations

from ctypes import Structure, c_bool, c_char_p, c_int, c_int64, c_size_t, c_void_p
from functools import cache

import numpy as np

from s2s.core.arrays import Floats
from s2s.system.llama_cpp import (
    PACKAGES,
    Library,
    Prototype,
    first_usable,
)
from s2s.tts.qwen3.checkpoint.quant import Bytes, TensorType
from s2s.tts.qwen3.errors import LlamaError


class InitParameters(Structure):
    """struct ggml_init_params."""

    _fields_ = [
        ("mem_size", c_size_t),
        ("mem_buffer", c_void_p),
        ("no_alloc", c_bool),
    ]


PROTOTYPES: dict[str, Prototype] = {
    "ggml_init": (c_void_p, [InitParameters]),
    "ggml_free": (None, [c_void_p]),
    "ggml_tensor_overhead": (c_size_t, []),
    "ggml_graph_overhead": (c_size_t, []),
    "ggml_new_tensor_2d": (c_void_p, [c_void_p, c_int, c_int64, c_int64]),
    "ggml_get_data": (c_void_p, [c_void_p]),
    "ggml_mul_mat": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "ggml_new_graph": (c_void_p, [c_void_p]),
    "ggml_build_forward_expand": (None, [c_void_p, c_void_p]),
    "ggml_backend_init_by_type": (c_void_p, [c_int, c_char_p]),
    "ggml_backend_cpu_set_n_threads": (None, [c_void_p, c_int]),
    "ggml_backend_graph_compute": (c_int, [c_void_p, c_void_p]),
    "ggml_backend_free": (None, [c_void_p]),
    "ggml_get_name": (c_char_p, [c_void_p]),
    "ggml_nbytes": (c_size_t, [c_void_p]),
    "ggml_backend_tensor_get": (None, [c_void_p, c_void_p, c_size_t, c_size_t]),
    "ggml_quantize_chunk": (
        c_size_t,
        [c_int, c_void_p, c_void_p, c_int64, c_int64, c_int64, c_void_p],
    ),
}


@cache
def library() -> Library:
    """The library of this process, loaded at the first call.

    Raises LlamaError when none is installed or none can be loaded.
    """
    return first_usable(PACKAGES, PROTOTYPES, LlamaError)


def k_quantize(lib: Library, rows: Floats, kind: TensorType) -> Bytes:
    """rows: float32 [n, width]; returns uint8 [n, kind.row_bytes(width)]."""
    n, width = rows.shape
    packed = np.empty((n, kind.row_bytes(width)), np.uint8)
    rows = np.ascontiguousarray(rows, np.float32)
    written = lib.number(
        "ggml_quantize_chunk",
        kind.ggml_id,
        rows.ctypes.data,
        packed.ctypes.data,
        0,
        n,
        width,
        None,
    )
    if written != packed.nbytes:
        raise LlamaError(f"{kind.name}: {written} bytes came back, not {packed.nbytes}")
    return packed
