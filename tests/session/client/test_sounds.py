"""The sound of what was said is kept to be asked for again, in bounds."""

from __future__ import annotations

import numpy as np

from s2s.core.audio import PIPELINE_HZ, Block
from s2s.session.client.sounds import KEPT_S, ItemSounds


def sound(seconds: float, level: float = 0.25) -> Block:
    return np.full(round(seconds * PIPELINE_HZ), level, dtype=np.float32)


def test_what_was_said_in_a_turn_is_the_sound_of_its_item() -> None:
    sounds = ItemSounds()
    sounds.keep_said("t1", sound(0.1))
    kept = sounds.said("item_t1")
    assert kept is not None
    assert kept.dtype == np.float32
    assert np.array_equal(kept, sound(0.1))
    assert sounds.said("t1") is None


def test_what_is_said_again_in_a_turn_replaces_it() -> None:
    sounds = ItemSounds()
    sounds.keep_said("t1", sound(0.1))
    sounds.keep_said("t1", sound(0.2, 0.5))
    kept = sounds.said("item_t1")
    assert kept is not None
    assert np.array_equal(kept, sound(0.2, 0.5))


def test_what_is_gone_has_no_sound() -> None:
    sounds = ItemSounds()
    sounds.keep("a", sound(0.1))
    sounds.keep_said("t1", sound(0.1))
    sounds.forget("a")
    sounds.forget_said("t1")
    assert sounds.said("a") is None
    assert sounds.said("item_t1") is None
    sounds.forget("a")
    sounds.forget_said("nobody")


def test_the_oldest_makes_room_and_what_is_kept_again_is_new() -> None:
    sounds = ItemSounds()
    third = KEPT_S / 3
    for name in ("a", "b", "c"):
        sounds.keep(name, sound(third))
    sounds.keep("a", sound(third))
    sounds.keep("d", sound(third))
    assert [name for name in "abcd" if sounds.said(name) is not None] == ["a", "c", "d"]


def test_the_newest_is_kept_however_long_it_is() -> None:
    sounds = ItemSounds()
    sounds.keep("a", sound(1.0))
    sounds.keep("b", sound(KEPT_S + 1.0))
    assert sounds.said("a") is None
    assert sounds.said("b") is not None
    sounds.keep("c", sound(1.0))
    assert sounds.said("b") is None
    assert sounds.said("c") is not None


def test_silence_of_no_length_is_a_sound_too() -> None:
    sounds = ItemSounds()
    sounds.keep("a", sound(0.0))
    kept = sounds.said("a")
    assert kept is not None
    assert len(kept) == 0
