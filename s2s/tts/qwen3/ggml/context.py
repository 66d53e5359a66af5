"""Models fed with vectors, and matrices, on llama.cpp. Knows nothing of speech."""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from s2s.system.llama_cpp import Batch, Library, Parameters
from s2s.tts.qwen3.checkpoint.quant import Bytes, Floats, TensorType
from s2s.tts.qwen3.ggml.library import InitParameters, LlamaError

_F32 = 0  # enum ggml_type
_FLASH_OFF = 0  # enum llama_flash_attn_type
_CPU_DEVICE = 0  # enum ggml_backend_dev_type


class Model:
    """A GGUF file of an architecture llama.cpp knows, fed with vectors instead of tokens.

    Weights are mapped, immutable and shared by all contexts. ``gpu_layers`` go to the library's
    accelerator, if it has one. Raises LlamaError with the library's own words.
    """

    def __init__(self, lib: Library, path: Path, gpu_layers: int = 0) -> None:
        self.lib = lib
        self.path = path
        parameters = lib.parameters("llama_model_default_params")
        parameters.words[lib.model_layout.gpu_layers] = gpu_layers
        if "AMX_INT8 = 1" in lib.describe():
            # Batches of several rows end in a protection fault in ggml's AMX kernels (0.25.3).
            lib.model_layout.no_repacking(parameters)
        encoded = str(path).encode()
        handle, errors = lib.listened(
            lambda: lib.number("llama_model_load_from_file", encoded, parameters)
        )
        if not handle:
            raise LlamaError(f"{path} cannot be loaded: {errors or 'no reason given'}")
        self.handle = handle
        self._free = weakref.finalize(self, lib.run, "llama_model_free", handle)
        self.width: int = lib.number("llama_model_n_embd", handle)
        self.vocabulary: int = lib.number(
            "llama_vocab_n_tokens", lib.number("llama_model_get_vocab", handle)
        )


class Context:
    """The key/value cache of one sequence, and the memory its steps are computed in.

    ``positions`` is how many vectors the cache holds; there is room for ``room``. ``batch`` is
    the most that one call may feed. One thread at a time.
    """

    def __init__(
        self,
        model: Model,
        room: int,
        batch: int,
        threads: int,
        exact: bool = False,
        watch: Watch | None = None,
    ) -> None:
        self.room = room
        self.batch = batch
        self.positions = 0
        self._model = model
        self._lib = model.lib
        self._watch = watch  # the library calls it as long as the context lives
        parameters = self._parameters(room, min(batch, room), exact)
        handle, errors = self._lib.listened(
            lambda: self._lib.number("llama_init_from_model", model.handle, parameters)
        )
        if not handle:
            raise LlamaError(f"{model.path}: no context of {room} positions: {errors}")
        self._handle = handle
        self._free = weakref.finalize(self, self._lib.run, "llama_free", handle)
        self._lib.run("llama_set_embeddings", handle, True)
        self._lib.run("llama_set_n_threads", handle, threads, threads)
        self._memory = self._lib.number("llama_get_memory", handle)
        self._feed = _Feed(batch)

    def _parameters(self, room: int, batch: int, exact: bool) -> Parameters:
        parameters = self._lib.parameters("llama_context_default_params")
        layout = self._lib.context_layout
        parameters.words[0], parameters.words[1], parameters.words[2] = room, batch, batch
        if exact:
            parameters.words[layout.type_k] = parameters.words[layout.type_v] = _F32
            parameters.words[layout.flash_attention] = _FLASH_OFF
        if self._watch is not None:
            low, high = self._watch.address_words
            parameters.words[layout.callback], parameters.words[layout.callback + 1] = low, high
        return parameters

    def feed(self, vectors: Floats, outputs: int = 1) -> None:
        """Append vectors at the next positions. vectors: float32 [n, width], n >= 1.

        ``outputs``: of how many of the last vectors something is wanted; at most ``batch``.
        Raises ValueError when there is no room, LlamaError when the library fails.
        """
        if not self._free.alive:
            raise ValueError("this state is closed")
        if vectors.ndim != 2 or vectors.shape[1] != self._model.width or not len(vectors):
            raise ValueError(f"vectors of shape {vectors.shape}; wanted [n, {self._model.width}]")
        if self.positions + len(vectors) > self.room:
            raise ValueError(
                f"no room for {len(vectors)} positions: {self.positions} of {self.room} are used"
            )
        for start in range(0, len(vectors), self.batch):
            piece = np.ascontiguousarray(vectors[start : start + self.batch], np.float32)
            batch = self._feed(piece, self.positions, outputs)
            status = self._lib.number("llama_decode", self._handle, batch)
            if status != 0:
                raise LlamaError(f"llama_decode failed with {status} at position {self.positions}")
            self.positions += len(piece)

    def logits(self) -> Floats:
        """float32 [vocabulary] of the vector fed last, copied."""
        return self._output("llama_get_logits_ith", self._model.vocabulary, -1)

    def hidden(self) -> Floats:
        """float32 [width] of the vector fed last, after the final norm, copied."""
        return self._output("llama_get_embeddings_ith", self._model.width, -1)

    def hiddens(self, count: int) -> Floats:
        """float32 [count, width] of the vectors fed last, all in one call of ``feed`` that wanted
        as many outputs."""
        width = self._model.width
        rows = [self._output("llama_get_embeddings_ith", width, at) for at in range(-count, 0)]
        return np.stack(rows)

    def rewind(self, positions: int) -> None:
        """Forget all but the first ``positions``. Raises ValueError when there are fewer."""
        if not 0 <= positions <= self.positions:
            raise ValueError(f"cannot go back to {positions}: the state holds {self.positions}")
        if not self._lib.number("llama_memory_seq_rm", self._memory, 0, positions, -1):
            raise LlamaError(f"the cache cannot be cut at {positions}")
        self.positions = positions

    def close(self) -> None:
        """Free the cache; calling it twice does no harm."""
        self._free()

    def _output(self, name: str, size: int, at: int) -> Floats:
        address = self._lib.number(name, self._handle, at)
        if not address:
            raise LlamaError(f"{name} gave nothing: nothing was fed")
        return _view(address, size).copy()


_EvalCallback = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_bool, ctypes.c_void_p)


class Watch:
    """Sees tensors as a context computes them.

    ``see`` is called with the library's name of a tensor and its value, float32 [n, width], for
    the names that ``wanted`` accepts. Slow: the library computes tensor by tensor.
    """

    def __init__(
        self,
        lib: Library,
        width: int,
        wanted: Callable[[str], bool],
        see: Callable[[str, Floats], None],
    ) -> None:
        def on_tensor(tensor: int, asking: bool, _: object) -> bool:
            name = lib.text("ggml_get_name", tensor)
            if not wanted(name):
                return not asking
            if not asking:
                value = np.empty((lib.number("ggml_nbytes", tensor) // (4 * width), width), "f4")
                lib.run("ggml_backend_tensor_get", tensor, value.ctypes.data, 0, value.nbytes)
                see(name, value)
            return True

        self._callback = _EvalCallback(on_tensor)

    @property
    def address_words(self) -> tuple[int, int]:
        """The callback's address as two signed 32-bit words, low first."""
        address = ctypes.cast(self._callback, ctypes.c_void_p).value or 0
        low, high = np.array([address], np.uint64).view(np.int32).tolist()
        return low, high


class _Feed:
    """The arrays a llama_batch points at, made once."""

    def __init__(self, batch: int) -> None:
        self._pos = np.zeros(batch, np.int32)
        self._n_seq = np.ones(batch, np.int32)
        self._seq = np.zeros(1, np.int32)
        self._seq_pointers = np.full(batch, self._seq.ctypes.data, np.uintp)
        self._wanted = np.zeros(batch, np.int8)

    def __call__(self, vectors: Floats, position: int, outputs: int) -> Batch:
        n = len(vectors)
        self._pos[:n] = np.arange(position, position + n)
        self._wanted[:n] = 0
        self._wanted[max(n - outputs, 0) : n] = 1
        return Batch(
            n,
            None,
            vectors.ctypes.data,
            self._pos.ctypes.data,
            self._n_seq.ctypes.data,
            self._seq_pointers.ctypes.data,
            self._wanted.ctypes.data,
        )


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
        return graph, _view(lib.number("ggml_get_data", product), rows)

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


def _view(address: int, size: int) -> Floats:
    """float32 [size] at an address of the library's memory."""
    return np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(ctypes.c_float)), (size,))


def _free_matrices(lib: Library, context: int, backend: int) -> None:
    lib.run("ggml_backend_free", backend)
    lib.run("ggml_free", context)
