"""Models of llama.cpp and their caches, fed with tokens or with vectors. Knows nothing of text."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from s2s.core.arrays import Floats
from s2s.system.llama_cpp import Batch, Library, Parameters

T = TypeVar("T")

_F32 = 0  # enum ggml_type
_FLASH_OFF = 0  # enum llama_flash_attn_type


class LlamaModel:
    """A GGUF file of an architecture llama.cpp knows.

    Weights are mapped, immutable and shared by all contexts. ``gpu_layers`` go to the library's
    accelerator, if it has one. Raises the library's error with the library's own words.
    """

    def __init__(self, lib: Library, path: Path, gpu_layers: int = 0) -> None:
        self.lib = lib
        self.path = path
        parameters = lib.parameters("llama_model_default_params")
        parameters.words[lib.model_layout.gpu_layers] = gpu_layers
        if "AMX_INT8 = 1" in lib.describe():
            # Batches of several rows end in a protection fault in ggml's AMX kernels (0.25.3):
            # docs/decisions/qwen3-ggml-faults.md.
            lib.model_layout.no_repacking(parameters)
        encoded = str(path).encode()
        handle, errors = lib.listened(
            lambda: lib.number("llama_model_load_from_file", encoded, parameters)
        )
        if not handle:
            raise lib.error(f"{path} cannot be loaded: {errors or 'no reason given'}")
        self.handle = handle
        self._free = weakref.finalize(self, lib.run, "llama_model_free", handle)
        self.width: int = lib.number("llama_model_n_embd", handle)
        self.vocabulary: int = lib.number(
            "llama_vocab_n_tokens", lib.number("llama_model_get_vocab", handle)
        )


@dataclass(frozen=True, slots=True)
class CardUse:
    """Whether something is on a graphics card: which card it is on, or why not on one that there
    is. Both "" where there is none, and where none was to be used."""

    card: str = ""
    refused: str = ""


def on_card(lib: Library, layers: int, make: Callable[[int], T]) -> tuple[T, CardUse]:
    """What ``make`` makes with so many layers on the library's graphics card: with none where there
    is no card, and where the library cannot put them there. Raises as ``make`` does without them.
    """
    cards = lib.graphics_cards() if layers else ()
    if cards:
        try:
            return make(layers), CardUse(card=cards[0])
        except lib.error as error:
            refused = CardUse(refused=f"{cards[0]} does not take it: {error}")
            return make(0), refused
    return make(0), CardUse()


class LlamaContext:
    """The key/value cache of one sequence, and the memory its steps are computed in.

    ``positions`` is how many tokens or vectors the cache holds; there is room for ``room``.
    ``batch`` is the most that one call may feed. ``vectors``: it is fed with vectors and gives
    hidden states too. One thread at a time.
    """

    def __init__(
        self,
        model: LlamaModel,
        room: int,
        batch: int,
        threads: int,
        exact: bool = False,
        watch: TensorWatch | None = None,
        vectors: bool = True,
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
            raise self._lib.error(f"{model.path}: no context of {room} positions: {errors}")
        self._handle = handle
        self._free = weakref.finalize(self, self._lib.run, "llama_free", handle)
        if vectors:
            self._lib.run("llama_set_embeddings", handle, True)
        self.use_threads(threads)
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
        Raises ValueError when there is no room, the library's error when the library fails.
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
            self._decode(self._feed.vectors(piece, self.positions, outputs))

    def feed_tokens(self, tokens: Sequence[int], outputs: int = 1) -> None:
        """Append tokens, ``batch`` of them at the most; logits are of the last ``outputs``.

        Raises ValueError when there is no room, the library's error when it fails.
        """
        if not self._free.alive:
            raise ValueError("this state is closed")
        if not 0 < len(tokens) <= min(self.batch, self.room - self.positions):
            raise ValueError(
                f"{len(tokens)} tokens do not fit: {self.positions} of {self.room} are used, "
                f"{self.batch} at a time"
            )
        self._decode(self._feed.tokens(tokens, self.positions, outputs))

    def use_threads(self, threads: int) -> None:
        """So many threads from the next call on."""
        self._lib.run("llama_set_n_threads", self._handle, threads, threads)

    def _decode(self, batch: Batch) -> None:
        status = self._lib.number("llama_decode", self._handle, batch)
        if status != 0:
            raise self._lib.error(f"llama_decode failed with {status} at position {self.positions}")
        self.positions += int(batch.n_tokens)

    def logits(self, back: int = 1) -> Floats:
        """float32 [vocabulary] of the vector fed last, or of the one so far back, copied."""
        return self._output("llama_get_logits_ith", self._model.vocabulary, -back)

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
        """Forget all but the first ``positions``. Raises ValueError when there are fewer, the
        library's error when this kind of cache cannot be cut there (``clear`` always works)."""
        if not 0 <= positions <= self.positions:
            raise ValueError(f"cannot go back to {positions}: the state holds {self.positions}")
        if not self._lib.number("llama_memory_seq_rm", self._memory, 0, positions, -1):
            raise self._lib.error(f"the cache cannot be cut at {positions}")
        self.positions = positions

    def clear(self) -> None:
        """Forget everything."""
        self._lib.run("llama_memory_clear", self._memory, True)
        self.positions = 0

    def close(self) -> None:
        """Free the cache; calling it twice does no harm."""
        self._free()

    def _output(self, name: str, size: int, at: int) -> Floats:
        address = self._lib.number(name, self._handle, at)
        if not address:
            raise self._lib.error(f"{name} gave nothing: nothing was fed")
        return floats_at(address, size).copy()


_EvalCallback = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_bool, ctypes.c_void_p)


class TensorWatch:
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
        self._tokens = np.zeros(batch, np.int32)

    def vectors(self, vectors: Floats, position: int, outputs: int) -> Batch:
        """vectors: float32 [n, width], contiguous; they must live until the batch is decoded."""
        return self._batch(len(vectors), position, outputs, None, vectors.ctypes.data)

    def tokens(self, tokens: Sequence[int], position: int, outputs: int) -> Batch:
        self._tokens[: len(tokens)] = tokens
        return self._batch(len(tokens), position, outputs, self._tokens.ctypes.data, None)

    def _batch(
        self, n: int, position: int, outputs: int, tokens: int | None, vectors: int | None
    ) -> Batch:
        self._pos[:n] = np.arange(position, position + n)
        self._wanted[:n] = 0
        self._wanted[max(n - outputs, 0) : n] = 1
        return Batch(
            n,
            tokens,
            vectors,
            self._pos.ctypes.data,
            self._n_seq.ctypes.data,
            self._seq_pointers.ctypes.data,
            self._wanted.ctypes.data,
        )


def floats_at(address: int, size: int) -> Floats:
    """float32 [size] at an address of the library's memory."""
    return np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(ctypes.c_float)), (size,))
