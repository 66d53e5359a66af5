"""The states an engine keeps between utterances, and who may use them when. Knows no sound."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from s2s.tts.qwen3.engine.language_model import LanguageModel, P, T
from s2s.tts.qwen3.interfaces import CodecDecoder, Floats, Ids, State
from s2s.tts.qwen3.text.prompt import Prompt

D = TypeVar("D", bound=State)

_ROOM_STEP = 256  # positions; states are reused, so their sizes are kept alike
_WARM_STARTS = 8  # voices cloned in context whose decoder state is kept, a few MB each


@dataclass(slots=True)
class LanguageStates(Generic[T, P]):
    """What the language model accumulates in an utterance."""

    talker: T
    predictor: P
    room: int
    """Positions the talker's state has room for."""
    prefix: Floats
    """float32 [n, H]: the leading positions of a prompt that still stand in it."""

    def close(self) -> None:
        """Free both."""
        self.talker.close()
        self.predictor.close()


class LanguageStatePool(Generic[T, P]):
    """Keeps the states of one utterance for the next. Safe from any thread."""

    def __init__(self, model: LanguageModel[T, P]) -> None:
        self._model = model
        self._lock = threading.Lock()
        self._idle: LanguageStates[T, P] | None = None
        self._closed = False

    @contextmanager
    def lent(
        self, prompt: Prompt, positions: int
    ) -> Generator[tuple[LanguageStates[T, P], int], None, None]:
        """States with room for ``positions``, and how many of the prompt's positions already stand
        in them. After an error of a backend they are not used again."""
        states, done = self._claim(prompt, positions)
        reusable = True
        try:
            yield states, done
        except Exception:  # raised again: only the states are not used any more
            reusable = False
            raise
        finally:
            self._give_back(states, reusable)

    def close(self) -> None:
        """Free what is idle; what is lent is freed when it comes back."""
        with self._lock:
            idle, self._idle, self._closed = self._idle, None, True
        if idle is not None:
            idle.close()

    def _claim(self, prompt: Prompt, positions: int) -> tuple[LanguageStates[T, P], int]:
        model = self._model
        with self._lock:
            idle, self._idle = self._idle, None
        if idle is not None and idle.room < positions:
            idle.close()
            idle = None
        if idle is None:
            room = -(-positions // _ROOM_STEP) * _ROOM_STEP
            room = min(room, model.spec.talker.max_positions)
            predictor = model.predictor.new_state()
            talker = model.talker.new_state(room)
            return LanguageStates(talker, predictor, room, prompt.embeddings[:0]), 0
        wanted = prompt.embeddings[: prompt.prefix]
        kept = len(wanted) if np.array_equal(idle.prefix, wanted) else 0
        idle.prefix = idle.prefix[:kept]
        model.talker.rewind(idle.talker, kept)
        return idle, kept

    def _give_back(self, states: LanguageStates[T, P], reusable: bool) -> None:
        with self._lock:
            keep = self._idle is None and not self._closed and reusable
            if keep:
                self._idle = states
        if not keep:
            states.close()


class WarmStarts(Generic[D]):
    """Decoder states that have heard a recording, for voices cloned in context of it: the first
    frame follows on from its last. Safe from any thread."""

    def __init__(self, decoder: CodecDecoder[D]) -> None:
        self._decoder = decoder
        self._lock = threading.Lock()
        self._kept: OrderedDict[bytes, D] = OrderedDict()
        self._closed = False

    def keep(self, codes: Ids, state: D) -> None:
        """Keep a state that has heard ``codes``, int64 [frames, G]; it is closed here when it is
        no longer needed."""
        with self._lock:
            old = self._kept.pop(codes.tobytes(), None)
            if self._closed:
                old = state
            else:
                self._kept[codes.tobytes()] = state
            if len(self._kept) > _WARM_STARTS:
                old = self._kept.popitem(last=False)[1]
        if old is not None:
            old.close()

    def state(self, codes: Ids | None) -> D:
        """A state for one utterance: fresh, or one that has heard ``codes``. The official package
        decodes the recording every time and cuts it off again: the same samples."""
        if codes is None:
            return self._decoder.new_state()
        key = codes.tobytes()
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
                return self._decoder.fork(kept)
        state = self._decoder.new_state()
        self._decoder.decode(state, codes)
        self.keep(codes, self._decoder.fork(state))
        return state

    def close(self) -> None:
        """Free all of them."""
        with self._lock:
            kept, self._kept, self._closed = list(self._kept.values()), OrderedDict(), True
        for state in kept:
            state.close()
