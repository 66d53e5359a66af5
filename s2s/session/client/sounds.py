"""The sound of what the person said, kept to be asked for again. Safe from any thread."""

from __future__ import annotations

import threading
from collections import OrderedDict

import numpy as np
import numpy.typing as npt

from s2s.core.audio import PIPELINE_HZ, Block, from_int16, to_int16
from s2s.core.items import user_item_id

KEPT_S = 120.0
"""In all: 4 MB. The newest is kept, whatever its length."""


class ItemSounds:
    """The sound of the newest turns, at 16 kHz."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._said: OrderedDict[str, npt.NDArray[np.int16]] = OrderedDict()

    def keep_said(self, turn_id: str, audio: Block) -> None:
        """`audio`, float32 [samples] at 16 kHz, is what was said in the turn."""
        self.keep(user_item_id(turn_id), audio)

    def keep(self, item_id: str, audio: Block) -> None:
        """Likewise, of an item."""
        with self._lock:
            self._said[item_id] = to_int16(audio)
            self._said.move_to_end(item_id)
            while len(self._said) > 1 and self._samples() > KEPT_S * PIPELINE_HZ:
                self._said.popitem(last=False)

    def forget_said(self, turn_id: str) -> None:
        with self._lock:
            self._said.pop(user_item_id(turn_id), None)

    def forget(self, item_id: str) -> None:
        """The item is gone."""
        with self._lock:
            self._said.pop(item_id, None)

    def said(self, item_id: str) -> Block | None:
        """float32 [samples] at 16 kHz; None when it is not kept."""
        with self._lock:
            kept = self._said.get(item_id)
            return None if kept is None else from_int16(kept)

    def _samples(self) -> int:
        return sum(len(each) for each in self._said.values())
