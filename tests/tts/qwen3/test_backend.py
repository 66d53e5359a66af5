"""Placements as they are written, and what a backend says of itself."""

from __future__ import annotations

import pytest

from s2s.tts.qwen3.backends import (
    backend_named,
    codec_placement,
    device_placement,
)
from s2s.tts.qwen3.errors import BackendError


@pytest.mark.parametrize(
    "text",
    [
        *("native", "onnx", "mlx", "ggml", "ggml@gpu", "ggml@gpu:20", "fixed", "fixed@coreml"),
        *("executorch", "mnn", "mnn@metal", "mnn@opencl:precision=normal"),
    ],
)
def test_a_placement_is_written_as_it_is_read(text: str) -> None:
    assert str(device_placement(text)) == text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("coreml", "unknown backend 'coreml'; known: native, onnx, ggml, mlx"),
        ("mlx@gpu", "only ggml computes on a graphics card"),
        ("native@gpu", "only ggml computes on a graphics card"),
        ("ggml@tpu", "write ggml@gpu or ggml@gpu:LAYERS"),
        ("ggml@gpu:all", "write ggml@gpu or ggml@gpu:LAYERS"),
    ],
)
def test_another_placement_is_an_error_that_names_the_known(text: str, says: str) -> None:
    with pytest.raises(BackendError, match=says):
        device_placement(text)


@pytest.mark.parametrize(
    ("text", "name", "device"),
    [
        ("native", "native", "cpu"),
        ("onnx", "onnx", "cpu"),
        ("mlx", "mlx", "cpu"),
        ("onnx@cuda", "onnx", "cuda"),
        ("fixed@tensorrt", "fixed", "tensorrt"),
        ("mnn@qnn", "mnn", "qnn"),
        ("executorch@coreml", "executorch", "coreml"),
        ("ONNX@cpu", "onnx", "cpu"),
    ],
)
def test_a_codec_is_placed_like_a_language_model(text: str, name: str, device: str) -> None:
    placement = codec_placement(text)
    assert (placement.name, placement.device) == (name, device)
    assert placement.codec is backend_named(name).codec


@pytest.mark.parametrize(
    ("text", "device", "now"), [("cpu", "cpu", "onnx"), ("cuda", "cuda", "onnx@cuda")]
)
def test_a_codec_as_it_was_once_written_is_read_with_a_hint(
    text: str, device: str, now: str, caplog: pytest.LogCaptureFixture
) -> None:
    placement = codec_placement(text)
    assert (placement.name, placement.device) == ("onnx", device)
    assert f"is now written '{now}'" in caplog.text
