"""States between utterances: used again where they fit, never after an error, all closed."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from s2s.tts.qwen3.engine.states import LanguageStatePool, WarmStarts


class Marked:
    """A state that knows whether it is closed."""

    def __init__(self, made: list[Marked], room: int = 0) -> None:
        self.closed = False
        self.room = room
        self.heard = 0
        made.append(self)

    def close(self) -> None:
        self.closed = True


class Rig:
    def __init__(self) -> None:
        self.made: list[Marked] = []
        self.rewound: list[int] = []
        part = SimpleNamespace(
            new_state=lambda room=0: Marked(self.made, room),
            rewind=lambda _, positions: self.rewound.append(positions),
        )
        spec = SimpleNamespace(talker=SimpleNamespace(max_positions=1000))
        model = SimpleNamespace(talker=part, predictor=part, spec=spec)
        self.pool = LanguageStatePool(model)  # type: ignore[arg-type]

    def speak(self, value: float, positions: int = 10, *, fail: bool = False) -> int:
        """An utterance with a prompt whose first two positions are its prefix; returns how many
        positions were there already."""
        prompt = SimpleNamespace(embeddings=np.full((3, 4), value, np.float32), prefix=2)
        with self.pool.lent(prompt, positions) as (states, done):  # type: ignore[arg-type]
            states.prefix = prompt.embeddings[:2]
            if fail:
                raise RuntimeError("out of memory")
        return done


def test_the_prefix_of_the_last_utterance_is_kept() -> None:
    rig = Rig()
    assert [rig.speak(1.0), rig.speak(1.0), rig.speak(2.0)] == [0, 2, 0]
    assert rig.rewound == [2, 0]
    assert len(rig.made) == 2


def test_more_room_is_another_state_and_the_old_one_is_closed() -> None:
    rig = Rig()
    rig.speak(1.0, 10)
    rig.speak(1.0, 300)
    assert [state.closed for state in rig.made] == [True, True, False, False]
    assert max(state.room for state in rig.made) == 512
    rig.speak(1.0, 999)
    assert max(state.room for state in rig.made) == 1000  # no more than the model has


def test_after_an_error_states_are_not_used_again() -> None:
    rig = Rig()
    with pytest.raises(RuntimeError, match="memory"):
        rig.speak(1.0, fail=True)
    assert all(state.closed for state in rig.made)
    assert rig.speak(1.0) == 0


def test_closing_frees_what_is_idle_and_what_comes_back_later() -> None:
    rig = Rig()
    rig.speak(1.0)
    prompt = SimpleNamespace(embeddings=np.zeros((3, 4), np.float32), prefix=2)
    with rig.pool.lent(prompt, 10):  # type: ignore[arg-type]
        rig.pool.close()
        assert not any(state.closed for state in rig.made)
    assert all(state.closed for state in rig.made)


class Decoder:
    def __init__(self) -> None:
        self.made: list[Marked] = []
        self.decoded = 0

    def new_state(self) -> Marked:
        return Marked(self.made)

    def decode(self, state: Marked, codes: np.ndarray) -> None:
        self.decoded += 1
        state.heard += len(codes)

    def fork(self, state: Marked) -> Marked:
        other = Marked(self.made)
        other.heard = state.heard
        return other


def codes(value: int) -> np.ndarray:
    return np.full((3, 16), value)


def test_a_recording_is_heard_once() -> None:
    decoder = Decoder()
    warm = WarmStarts(decoder)  # type: ignore[arg-type]
    states = [warm.state(codes(1)) for _ in range(3)]
    assert decoder.decoded == 1
    assert {state.heard for state in states} == {3}
    assert len({id(state) for state in states}) == 3
    assert warm.state(None).heard == 0


def test_only_the_latest_voices_are_kept() -> None:
    decoder = Decoder()
    warm = WarmStarts(decoder)  # type: ignore[arg-type]
    for value in range(9):
        warm.state(codes(value))
    warm.state(codes(8))
    assert decoder.decoded == 9
    warm.state(codes(0))  # heard so long ago that it was given up
    assert decoder.decoded == 10


def test_closing_frees_what_is_kept_and_what_is_given_later() -> None:
    decoder = Decoder()
    warm = WarmStarts(decoder)  # type: ignore[arg-type]
    mine = warm.state(codes(1))
    warm.close()
    late = decoder.new_state()
    warm.keep(codes(2), late)
    assert late.closed
    assert [state.closed for state in decoder.made if state is not mine] == [True, True]
    assert not mine.closed
