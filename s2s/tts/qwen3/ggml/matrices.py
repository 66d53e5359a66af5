"""Matrices on llama.cpp, each multiplied with one vector at a time. Knows nothing of speech."""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Sequence

import numpy as np

from s2s.core.arrays import Floats
from s2s.system.llama_context import floats_at
from s2s.system.llama_cpp import Library
from s2s.tts.qwen3.checkpoint.quant import Bytes, TensorType
from s2s.tts.qwen3.errors import LlamaError
from s2s.tts.qwen3.ggml.library import InitParameters

_F32 = 0  # enum ggml_type
_CPU_DEVICE = 0  # enum ggml_backend_dev_type


class Matrices:
    """Matrices of one width, in any ggml type, each multiplied with one vector at a time.

    matrices: uint8 [rows, row bytes] each, copied. Any thread; one product at a time.
    """

    def __init__(
        self, lib: Library, matrices: Sequence[tuple[Bytes, TensorType]], width: int, threads: int
    ) -> None:
        self._lib = lib
        self._width = width
        self._lock = threading.Lock()
        size = sum(raw.nbytes + 64 for raw, _ in matrices) + 4 * width + 4096
        size += len(matrices) * (4 * max(len(raw) for raw, _ in matrices) + 256)
        size += (3 * len(matrices) + 2) * lib.number("ggml_tensor_overhead")
        size += len(matrices) * lib.number("ggml_graph_overhead")
        context = lib.number("ggml_init", InitParameters(size, None, False))
        backend = lib.number("ggml_backend_init_by_type", _CPU_DEVICE, None)
        if not context or not backend:
            raise LlamaError(f"no memory for {size} bytes of matrices")
        self._context, self._backend = context, backend
        self._free = weakref.finalize(self, _free_matrices, lib, context, backend)
        lib.run("ggml_backend_cpu_set_n_threads", backend, threads)
        vector = lib.number("ggml_new_tensor_2d", context, _F32, width, 1)
        self._vector = lib.number("ggml_get_data", vector)
        self._graphs = [self._graph(raw, kind, vector) for raw, kind in matrices]

    def _graph(self, raw: Bytes, kind: TensorType, vector: int) -> tuple[int, Floats]:
        lib, context = self._lib, self._context
        rows = len(raw)
        matrix = lib.number("ggml_new_tensor_2d", context, kind.ggml_id, self._width, rows)
        raw = np.ascontiguousarray(raw)
        ctypes.memmove(lib.number("ggml_get_data", matrix), raw.ctypes.data, raw.nbytes)
        product = lib.number("ggml_mul_mat", context, matrix, vector)
        graph = lib.number("ggml_new_graph", context)
        lib.run("ggml_build_forward_expand", graph, product)
        return graph, floats_at(lib.number("ggml_get_data", product), rows)

    def product(self, index: int, vector: Floats) -> Floats:
        """Matrix ``index`` times vector: float32 [width] to float32 [rows], copied."""
        graph, out = self._graphs[index]
        vector = np.ascontiguousarray(vector, np.float32)
        if vector.shape != (self._width,):
            raise ValueError(f"a vector of shape {vector.shape}; wanted [{self._width}]")
        with self._lock:
            ctypes.memmove(self._vector, vector.ctypes.data, vector.nbytes)
            status = self._lib.number("ggml_backend_graph_compute", self._backend, graph)
            if status != 0:
                raise LlamaError(f"ggml_backend_graph_compute failed with {status}")
            return out.copy()


def _free_matrices(lib: Library, context: int, backend: int) -> None:
    lib.run("ggml_backend_free", backend)
    lib.run("ggml_free", context)
