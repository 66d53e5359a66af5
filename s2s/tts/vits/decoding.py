"""Two ways to decode an utterance piece by piece with the same result: windows and steps.

Both take frames in order and give sound in order; they differ in what they keep between two
pieces. A session is shared; what belongs to one utterance lies in the object made for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np

from s2s.core.arrays import Floats
from s2s.core.audio import Block
from s2s.tts.vits.errors import SpeechError
from s2s.tts.vits.graph.stepwise import Array, Steps, initial_state, step_inputs
from s2s.tts.vits.windows import Context, Window, keep

if TYPE_CHECKING:
    import onnxruntime

Frames = Callable[[int, int], Mapping[str, Floats]]
"""(first, last) -> the decoder's inputs along time for these frames, [1, channels, frames]."""


class Decoding(Protocol):
    """One utterance on its way through the decoder."""

    def until(self, stop: int) -> Block:
        """Sound up to frame `stop`, at least; what was given before is not given again."""
        ...


class SteppedDecoding:
    """Carries the decoder's state from piece to piece: no frame is decoded twice."""

    def __init__(
        self,
        session: onnxruntime.InferenceSession,
        steps: Steps,
        frames: Frames,
        total: int,
        fixed: Mapping[str, Array],
    ) -> None:
        self._session = session
        self._steps = steps
        self._frames = frames
        self._total = total
        self._fixed = fixed
        self._state = initial_state(steps)
        self._fed = 0

    def until(self, stop: int) -> Block:
        """Sound up to frame `stop`, at least."""
        lag = self._steps.lead - 1
        target = min(self._total, stop + lag)
        # A few frames at the end are not worth a step of their own.
        if self._total - target <= (target - self._fed) // 4:
            target = self._total
        if target <= self._fed:
            return np.zeros(0, np.float32)
        first, last = self._fed == 0, target == self._total
        feed: dict[str, Array] = {
            **self._frames(self._fed, target),
            **self._fixed,
            **self._state,
            **step_inputs(self._steps, first=first, last=last),
        }
        audio, *state = run(self._session, feed)
        names = (state.source for state in self._steps.states)
        self._state = dict(zip(names, state, strict=True))
        self._fed = target
        return audio.reshape(-1)


class WindowedDecoding:
    """Decodes each piece with a context on both sides and throws the context away."""

    def __init__(
        self,
        session: onnxruntime.InferenceSession,
        context: Context,
        hop: int,
        frames: Frames,
        total: int,
        fixed: Mapping[str, Array],
    ) -> None:
        self._session = session
        self._mask = "mask" in {value.name for value in session.get_inputs()}
        self._context = context
        self._hop = hop
        self._frames = frames
        self._total = total
        self._fixed = fixed
        self._done = 0

    def until(self, stop: int) -> Block:
        """Sound up to frame `stop`."""
        stop = min(stop, self._total)
        first = max(0, self._done - self._context.left)
        last = min(self._total, stop + self._context.right)
        window = Window(self._done, stop, first, last)
        if window.frames <= 0:
            return np.zeros(0, np.float32)
        feed: dict[str, Array] = {**self._frames(first, last), **self._fixed}
        if self._mask:
            feed["mask"] = np.ones((1, 1, last - first), np.float32)
        decoded = run(self._session, feed)[0].reshape(-1)
        self._done = stop
        return keep(window, decoded, self._hop)


def run(session: onnxruntime.InferenceSession, feed: Mapping[str, Array]) -> list[Floats]:
    """Run a session; every output is a dense array of finite numbers.

    Raises:
        SpeechError: the graph refuses its inputs (the message is ONNX Runtime's), or what it makes
            is no number.
    """
    try:
        made = cast("list[Floats]", session.run(None, dict(feed)))
    except Exception as error:  # its errors have no base of their own
        raise SpeechError(str(error)) from error
    for value, found in zip(session.get_outputs(), made, strict=True):
        if not np.isfinite(found).all():
            raise SpeechError(
                f"{value.name} of the voice's graph is no finite number: its weights are damaged "
                "or its scales too large; fetch the voice again"
            )
    return made
