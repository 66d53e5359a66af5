"""Pieces join to exactly the one-shot sound, for any schedule; too small a context is heard."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.core.audio import Block
from s2s.models.onnx_file import read_model, write_model
from s2s.system.onnx import onnx_session
from s2s.tts.vits.check import (
    FramesOf,
    decode_at_once,
    decode_in_pieces,
    fixed_inputs,
    random_frames,
)
from s2s.tts.vits.decoding import SteppedDecoding, WindowedDecoding
from s2s.tts.vits.graph.stepwise import make_stepwise
from s2s.tts.vits.parts import AUDIO, Cut, Parts, adopt_pair, cut_voice
from s2s.tts.vits.reference import TOLERANCE, difference
from s2s.tts.vits.windows import Context
from tests.support.vits import VOICES

KINDS: list[tuple[str, Cut]] = [
    ("plain", "before_flow"),
    ("plain", "latent"),
    ("speakers", "before_flow"),
    ("speakers", "latent"),
    ("coarse", "before_flow"),
    ("steady", "latent"),
    ("pair", "latent"),
]


SCHEDULES = st.lists(st.integers(1, 30), min_size=1, max_size=8)


@cache
def parts_of(name: str, cut: Cut) -> Parts:
    if name == "pair":
        pair = (read_model(VOICES / f"pair/{half}.onnx") for half in ("encoder", "decoder"))
        return adopt_pair(*pair)
    return cut_voice(read_model(VOICES / f"{name}.onnx"), cut)


@cache
def sessions(name: str, cut: Cut):
    parts = parts_of(name, cut)
    stepper, steps = make_stepwise(parts.decoder, parts.moving, AUDIO, parts.mask)
    plain, stepped = onnx_session(write_model(parts.decoder)), onnx_session(write_model(stepper))
    return plain, stepped, steps


def at_once(name: str, cut: Cut, total: int) -> Block:
    parts = parts_of(name, cut)
    frames = random_frames(parts, total)
    return decode_at_once(sessions(name, cut)[0], frames, fixed_inputs(parts), parts.mask)


def windowed(name: str, cut: Cut, total: int, context: Context, sizes: list[int]) -> Block:
    parts = parts_of(name, cut)
    plain, _, steps = sessions(name, cut)
    frames = FramesOf(random_frames(parts, total))
    decoding = WindowedDecoding(plain, context, steps.hop, frames, total, fixed_inputs(parts))
    return decode_in_pieces(decoding, total, sizes)


@pytest.mark.parametrize(("name", "cut"), KINDS)
@settings(max_examples=25, deadline=None)
@given(total=st.integers(1, 150), sizes=SCHEDULES)
def test_steps_join_to_the_whole(name: str, cut: Cut, total: int, sizes: list[int]) -> None:
    parts = parts_of(name, cut)
    _, stepped, steps = sessions(name, cut)
    frames = FramesOf(random_frames(parts, total))
    decoding = SteppedDecoding(stepped, steps, frames, total, fixed_inputs(parts))
    joined = decode_in_pieces(decoding, total, sizes)
    assert difference(at_once(name, cut, total), joined) <= TOLERANCE


@pytest.mark.parametrize(("name", "cut"), KINDS)
@settings(max_examples=15, deadline=None)
@given(
    total=st.integers(1, 150),
    sizes=SCHEDULES,
    more=st.tuples(st.integers(0, 9), st.integers(0, 9)),
)
def test_windows_of_any_margin_from_the_computed_one_join_to_the_whole(
    name: str, cut: Cut, total: int, sizes: list[int], more: tuple[int, int]
) -> None:
    context, _ = parts_of(name, cut).receptive_field()
    wide = Context(context.left + more[0], context.right + more[1])
    assert (
        difference(at_once(name, cut, total), windowed(name, cut, total, wide, sizes)) <= TOLERANCE
    )


@pytest.mark.parametrize("name", ["plain", "steady", "pair"])
def test_two_frames_less_is_wrong(name: str) -> None:
    context, _ = parts_of(name, "latent").receptive_field()
    total = 2 * context.both + 20
    whole = at_once(name, "latent", total)
    for narrow in (
        Context(context.left - 2, context.right),
        Context(context.left, context.right - 2),
    ):
        assert difference(whole, windowed(name, "latent", total, narrow, [7])) > TOLERANCE


@pytest.mark.parametrize(("name", "cut"), KINDS)
def test_a_third_of_the_margin_is_wrong(name: str, cut: Cut) -> None:
    # Through a flow of random weights the outermost frames count for less than rounding.
    context, _ = parts_of(name, cut).receptive_field()
    total = 2 * context.both + 20
    narrow = Context(context.left // 3, context.right // 3)
    whole = at_once(name, cut, total)
    assert difference(whole, windowed(name, cut, total, narrow, [7])) > TOLERANCE


def test_the_sound_is_not_constant() -> None:
    for name, cut in KINDS:
        assert np.std(at_once(name, cut, 60)) > 0.01


def test_pieces_come_as_early_as_asked() -> None:
    parts = parts_of("plain", "before_flow")
    _, stepped, steps = sessions("plain", "before_flow")
    frames = FramesOf(random_frames(parts, 200))
    decoding = SteppedDecoding(stepped, steps, frames, 200, fixed_inputs(parts))
    first = decoding.until(8)
    assert 8 * steps.hop <= len(first) < 10 * steps.hop
    assert len(decoding.until(8)) == 0
    assert len(decoding.until(200)) == 200 * steps.hop - len(first)
