"""The seams of the Qwen3-TTS core: what a backend must be able to do, and nothing about how.

Weights belong to the object that implements a port and never change; everything that changes
during an utterance lives in a state made by ``new_state`` and is passed back in. One object can
therefore serve any number of utterances, but a state belongs to one utterance and one thread at a
time. Arrays are numpy, C-contiguous; ``H`` is the talker's hidden size, ``V`` the size of its
codec vocabulary, ``G`` the number of code groups (16), ``B`` the size of one codebook.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from s2s.core.arrays import Floats, Ids
from s2s.tts.qwen3.sampling import Draws, Sampling

Stale = Callable[[], bool]
"""Asked again and again: true once the utterance is cancelled."""


class Stopped(Exception):
    """A decoder was told that the utterance is cancelled."""


def never() -> bool:
    """Nothing is ever stale."""
    return False


class State(Protocol):
    """What one utterance has accumulated in one port."""

    def close(self) -> None:
        """Give back whatever the state holds outside Python; calling it twice does no harm."""
        ...


class PredictorState(State, Protocol):
    """Scratch memory of the code predictor."""

    forward_passes: int
    """Forward passes over its weights made with it so far."""


S = TypeVar("S", bound=State)


@dataclass(frozen=True, slots=True)
class TalkerOutput:
    """What the talker says about the position after the last one fed.

    logits: float32 [V], before any penalty; an id that can never be sampled may be -inf.
    hidden: float32 [H], after the final norm: the vector the code predictor starts from.
    """

    logits: Floats
    hidden: Floats


class Embeddings(Protocol):
    """The input tables: every talker position is a sum of rows of them."""

    def text(self, ids: Ids) -> Floats:
        """Projected text vectors. ids: int64 [n] text token ids; returns float32 [n, H]."""
        ...

    def codec(self, ids: Ids) -> Floats:
        """Rows of the talker's codec table. ids: int64 [n] below V; returns float32 [n, H]."""
        ...

    def frames(self, codes: Ids) -> Floats:
        """One vector a frame: the sum of its G code vectors, group 0 from the talker's table and
        the others from the predictor's own tables, unprojected.

        codes: int64 [frames, G], each below B; returns float32 [frames, H].
        """
        ...


class Talker(Protocol[S]):
    """The large decoder: one position in, the distribution of the next frame's first code out."""

    def new_state(self, max_positions: int) -> S:
        """An empty key/value cache with room for ``max_positions`` (prompt and frames)."""
        ...

    def prefill(self, state: S, embeddings: Floats) -> TalkerOutput:
        """Append prompt positions. embeddings: float32 [n, H], n >= 1.

        May be called again on the same state: positions go on counting from where it stands.
        Raises ValueError when the state has no room left.
        """
        ...

    def step(self, state: S, embedding: Floats) -> TalkerOutput:
        """Append one position. embedding: float32 [H]. Raises ValueError when there is no room."""
        ...

    def rewind(self, state: S, positions: int) -> None:
        """Forget all but the first ``positions`` positions, so that a cached prefix can be reused.

        Raises ValueError when the state holds fewer.
        """
        ...


class CodePredictor(Protocol[S]):
    """The small decoder: the G - 1 remaining codes of a frame. Nothing survives a frame but the
    memory it was computed in."""

    def new_state(self) -> S:
        """Scratch memory for one frame at a time: a cache of G positions."""
        ...

    def frame(self, state: S, hidden: Floats, code0: int, sampling: Sampling, draws: Draws) -> Ids:
        """The other codes of a frame, in order; the state is emptied first.

        hidden: float32 [H] of the position that produced ``code0`` (below B). ``sampling`` gives
        temperature, top-k and top-p, or greedy; ``draws`` is where every random number comes from.
        Returns int64 [G - 1].
        """
        ...


class CodecDecoder(Protocol[S]):
    """Codes to sound, exactly: any split of the frames into calls gives the same samples."""

    def new_state(self) -> S:
        """The state before the first frame: empty attention windows, zero convolution tails."""
        ...

    def decode(self, state: S, codes: Ids, stale: Stale = never) -> Floats:
        """The samples of the next frames; ``state`` moves on.

        codes: int64 [frames, G], frames >= 1; returns float32 [frames * samples_per_frame] in
        [-1, 1], mono. ``stale`` is asked again and again: once true, Stopped is raised, and the
        state is only good for being closed.
        """
        ...

    def fork(self, state: S) -> S:
        """An independent copy: a cloned voice's warm-start state is copied for each utterance."""
        ...


class SpeakerEncoder(Protocol):
    """A reference recording to the vector that stands for its voice."""

    def embed(self, pcm: Floats) -> Floats:
        """pcm: float32 [samples], mono, at the model's encoder rate (24 kHz); returns float32 [H].

        Raises ValueError when the recording is too short for the mel front end.
        """
        ...


class CodecEncoder(Protocol):
    """A reference recording to codes, for cloning in context."""

    def encode(self, pcm: Floats) -> Ids:
        """pcm: float32 [samples], mono, 24 kHz; returns int64 [ceil(samples / 1920), G].

        Raises ValueError when there is no sample.
        """
        ...
