"""The codec's upsampling decoder on the compiled kernel, against float64 on each vector unit there
is, and the decoder around it against the one on ONNX Runtime."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.tts.qwen3.checkpoint.codec_spec import CodecDecoderSpec, CodecSpec
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_json
from s2s.tts.qwen3.codec.decoder import CheckpointDecoder
from s2s.tts.qwen3.codec.open import open_decoder
from s2s.tts.qwen3.codec.tensors import DILATIONS, upsampler_state
from s2s.tts.qwen3.codec.weights import Convolution, Snake, UpsamplerWeights
from s2s.tts.qwen3.interfaces import Floats
from s2s.tts.qwen3.native import library as kernel
from s2s.tts.qwen3.native import transformer as stack
from s2s.tts.qwen3.native.codec_upsampler import CodecUpsampler
from s2s.tts.qwen3.native.compiling import levels
from s2s.tts.qwen3.native.transformer import ThreadPool

FRAMES = 12


STEPS = 4  # of a frame that go into the upsampling decoder


Tiny = Callable[[str], Path]


Wide64 = np.ndarray


@pytest.fixture(scope="module")
def folder(tiny_qwen3: Tiny) -> Path:
    return tiny_qwen3("0.6b-base") / "speech_tokenizer"


@pytest.fixture(scope="module")
def spec(folder: Path) -> CodecDecoderSpec:
    return CodecSpec.from_config(read_json(folder / "config.json")).decoder


@pytest.fixture(scope="module")
def latents(spec: CodecDecoderSpec) -> Floats:
    random = np.random.default_rng(5)
    return random.standard_normal((FRAMES * STEPS, spec.latent_dim), dtype=np.float32)


@pytest.fixture(scope="module", params=["native", *levels()])
def unit_cache(
    request: pytest.FixtureRequest, kernel_cache: Path, leveled_kernel: Callable[[str], Path]
) -> Iterator[Path]:
    """Where `ThreadPool` finds the kernel, as it is loaded here and of each of its levels."""
    level: str = request.param
    if level == "native":
        yield kernel_cache
        return
    path = leveled_kernel(level)

    def load(_: Path) -> ctypes.CDLL:
        return kernel.open_kernel(path, level)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stack.kernel, "load_kernel", load)
        yield path.parent


def make_upsampler(
    cache: Path, folder: Path, spec: CodecDecoderSpec, threads: int = 2, frames: int = FRAMES
) -> CodecUpsampler:
    return CodecUpsampler(ThreadPool(cache, threads), Checkpoint(folder), spec, frames=frames)


@pytest.fixture(scope="module")
def upsampler(kernel_cache: Path, folder: Path, spec: CodecDecoderSpec) -> CodecUpsampler:
    return make_upsampler(kernel_cache, folder, spec)


def zeros(spec: CodecDecoderSpec) -> list[Floats]:
    return [np.zeros(shape, np.float32) for shape in upsampler_state(spec).values()]


def run_split(
    upsampler: CodecUpsampler,
    spec: CodecDecoderSpec,
    latents: Floats,
    sizes: Sequence[int],
    begin: int = 0,
) -> tuple[Floats, list[Floats]]:
    """Frames in calls of the given sizes, over and over."""
    past, parts, start, call = zeros(spec), [], 0, 0
    frames = len(latents) // STEPS
    while start < frames:
        size = min(sizes[call % len(sizes)], frames - start)
        part = latents[start * STEPS : (start + size) * STEPS]
        samples, past = upsampler.run(part, size, begin + start, past)
        parts.append(samples)
        start, call = start + size, call + 1
    return np.concatenate(parts), past


def snake(x: Wide64, values: Snake) -> Wide64:
    return x + values.scales * np.sin(values.frequencies * x) ** 2


def convolve(x: Wide64, conv: Convolution, dilation: int = 1) -> Wide64:
    padded = np.concatenate([np.zeros((6 * dilation, x.shape[1])), x])
    taps = (padded[tap * dilation :][: len(x)] @ conv.weight[:, :, tap].T for tap in range(7))
    return sum(taps, conv.bias)


def plain(spec: CodecDecoderSpec, folder: Path, latents: Floats) -> Wide64:
    """The upsampling decoder in float64, layer by layer."""
    weights = UpsamplerWeights(Checkpoint(folder), spec)
    x = convolve(latents.astype(np.float64), weights.first())
    for block, rate in enumerate(spec.upsample_rates, 1):
        x = snake(x, weights.before_transposed(block))
        matrix, bias = weights.transposed(block)
        before = np.concatenate([np.zeros((1, x.shape[1])), x[:-1]])
        x = (np.concatenate([before, x], axis=1) @ matrix + bias).reshape(len(x) * rate, -1)
        for at, dilation in enumerate(DILATIONS):
            unit = weights.residual(block, at)
            angles = convolve(snake(x, unit.before), unit.conv, dilation)
            x = x + (angles + unit.scales * np.sin(angles) ** 2) @ unit.matrix + unit.bias
    before, last = weights.last()
    return np.clip(convolve(snake(x, before), last)[:, 0], -1, 1)


def snr_db(expected: np.ndarray, found: np.ndarray) -> float:
    wanted = expected.astype(np.float64)
    noise = max(float(np.mean((found - wanted) ** 2)), 1e-30)
    return float(10 * np.log10(np.mean(wanted**2) / noise))


def test_it_is_float64_but_for_rounding(
    unit_cache: Path, folder: Path, spec: CodecDecoderSpec, latents: Floats
) -> None:
    expected = plain(spec, folder, latents)
    assert expected.std() > 0.02
    upsampler = make_upsampler(unit_cache, folder, spec)
    for sizes in ([FRAMES], [1], [5, 2]):
        samples, _ = run_split(upsampler, spec, latents, sizes)
        assert samples.shape == expected.shape
        assert np.abs(samples - expected).max() < 1e-5
        assert snr_db(expected, samples) > 105


def test_threads_change_no_bit(
    unit_cache: Path, folder: Path, spec: CodecDecoderSpec, latents: Floats
) -> None:
    expected, after = run_split(
        make_upsampler(unit_cache, folder, spec, threads=1), spec, latents, [FRAMES]
    )
    for threads in (2, 3):
        upsampler = make_upsampler(unit_cache, folder, spec, threads)
        for _ in range(3):
            samples, states = run_split(upsampler, spec, latents, [FRAMES])
            np.testing.assert_array_equal(samples, expected)
            for state, wanted in zip(states, after, strict=True):
                np.testing.assert_array_equal(state, wanted)


@settings(max_examples=25, deadline=None)
@given(
    sizes=st.lists(st.integers(1, FRAMES), min_size=1, max_size=6),
    frames=st.integers(1, FRAMES),
    begin=st.integers(0, 10**7),
)
def test_splits_change_no_bit(
    upsampler: CodecUpsampler,
    spec: CodecDecoderSpec,
    latents: Floats,
    sizes: list[int],
    frames: int,
    begin: int,
) -> None:
    part = latents[: frames * STEPS]
    expected, after = run_split(upsampler, spec, part, [FRAMES], begin)
    samples, states = run_split(upsampler, spec, part, sizes, begin)
    np.testing.assert_array_equal(samples, expected)
    for state, wanted in zip(states, after, strict=True):
        np.testing.assert_array_equal(state, wanted)


def test_the_given_state_is_not_written_to(
    upsampler: CodecUpsampler, spec: CodecDecoderSpec, latents: Floats
) -> None:
    _, past = run_split(upsampler, spec, latents[: 3 * STEPS], [3])
    kept = [array.copy() for array in past]
    first, _ = upsampler.run(latents[:STEPS], 1, 3, past)
    again, _ = upsampler.run(latents[:STEPS], 1, 3, past)
    np.testing.assert_array_equal(first, again)
    for array, wanted in zip(past, kept, strict=True):
        np.testing.assert_array_equal(array, wanted)


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("codec")


@pytest.fixture(scope="module")
def native(folder: Path, graphs: Path, kernel_cache: Path) -> CheckpointDecoder:
    return open_decoder(folder, graphs, threads=2, placement="native", kernels=kernel_cache)
