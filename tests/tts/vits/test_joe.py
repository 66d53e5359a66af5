"""A real voice: exact against its own graph, with the context that its kernels give."""

import numpy as np
import pytest

from s2s.core.audio import Block
from s2s.models.onnx_file import read_model, write_model
from s2s.models.store import Store
from s2s.system.onnx import onnx_session
from s2s.tts.vits.check import (
    FramesOf,
    compare_windows,
    decode_at_once,
    decode_in_pieces,
    random_frames,
    sentence,
)
from s2s.tts.vits.decoding import SteppedDecoding, WindowedDecoding
from s2s.tts.vits.engine import load_engine
from s2s.tts.vits.graph.stepwise import make_stepwise
from s2s.tts.vits.parts import AUDIO, Cut, cut_voice
from s2s.tts.vits.reference import TOLERANCE, difference
from s2s.tts.vits.verify import verify_voice
from s2s.tts.vits.windows import Context

pytestmark = pytest.mark.models("piper-joe")

SCALES = {"scales": np.array([0.667, 1.0, 0.8], np.float32)}


def joe_model():
    return read_model(Store().path("piper-joe/en_US-joe-medium.onnx"))


@pytest.mark.parametrize(("cut", "frames"), [("latent", 11), ("before_flow", 43)])
def test_the_margin_of_a_medium_voice(cut: Cut, frames: int) -> None:
    assert cut_voice(joe_model(), cut).receptive_field() == (Context(frames, frames), 256)


@pytest.mark.parametrize("cut", ["latent", "before_flow"])
def test_pieces_are_exact(cut: Cut) -> None:
    parts = cut_voice(joe_model(), cut)
    fixed = SCALES if cut == "before_flow" else {}
    total = 150
    frames = random_frames(parts, total)
    plain = onnx_session(write_model(parts.decoder))
    whole = decode_at_once(plain, frames, fixed, parts.mask)
    stepper, steps = make_stepwise(parts.decoder, parts.moving, AUDIO, parts.mask)
    session = onnx_session(write_model(stepper))
    for sizes in ((8, 16, 32, 64), (3, 50), (1, 1, 90)):
        stepped = SteppedDecoding(session, steps, FramesOf(frames), total, fixed)
        assert difference(whole, decode_in_pieces(stepped, total, sizes)) <= TOLERANCE
    context, hop = parts.receptive_field()
    assert hop == 256
    windowed = WindowedDecoding(plain, context, hop, FramesOf(frames), total, fixed)
    assert difference(whole, decode_in_pieces(windowed, total, (8, 40))) <= TOLERANCE


def test_two_frames_less_is_wrong() -> None:
    parts = cut_voice(joe_model(), "latent")
    frames = random_frames(parts, 90)
    plain = onnx_session(write_model(parts.decoder))
    whole = decode_at_once(plain, frames, {}, None)
    windowed = WindowedDecoding(plain, Context(9, 9), 256, FramesOf(frames), 90, {})
    assert difference(whole, decode_in_pieces(windowed, 90, (8, 16, 32))) > TOLERANCE
    assert not compare_windows(parts, Context(9, 9), 256).same, "no rounding excuses a wrong cut"
    assert compare_windows(parts, Context(11, 11), 256).same


def test_it_verifies() -> None:
    verdict = verify_voice(Store().path("piper-joe"))
    assert verdict.passed
    assert verdict.decoding == "steps"
    assert verdict.cut == "before the flow"
    assert verdict.frames == verdict.original_frames
    assert verdict.faithful
    assert verdict.whole is not None
    assert verdict.whole.error > TOLERANCE, "a bound of its own would have refused a good voice"


def test_the_same_schedule_gives_the_same_bits_and_another_one_rounds() -> None:
    """The streamed voice in words of `reference`: what is exact, and what is float noise."""
    engine = load_engine(Store().path("piper-joe"), threads=1)
    ids = sentence(24)

    def spoken(*schedule: int) -> Block:
        pieces = engine.begin(ids, seed=5, schedule=schedule).pieces()
        return np.concatenate([piece.samples for piece in pieces])

    first = spoken(8, 16, 32)
    assert np.array_equal(first, spoken(8, 16, 32))
    for schedule in ((1, 7, 3), (64,), (100_000,)):
        assert difference(first, spoken(*schedule)) <= TOLERANCE
