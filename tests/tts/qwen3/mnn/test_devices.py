"""MNN's back ends and their options, by name."""

from __future__ import annotations

import pytest

from s2s.tts.qwen3.errors import MnnError
from s2s.tts.qwen3.mnn.devices import BACK_ENDS, MnnDevice, device_named


@pytest.mark.parametrize(
    ("text", "device"),
    [
        ("", MnnDevice()),
        ("CPU", MnnDevice()),
        ("opencl", MnnDevice("opencl")),
        (
            "OpenCL: precision=low, power=high",
            MnnDevice("opencl", {"precision": "low", "power": "high"}),
        ),
    ],
)
def test_a_back_end_is_read_from_a_placement(text: str, device: MnnDevice) -> None:
    assert device_named(text) == device


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("npu", "'npu' is no back end of MNN; known: cpu, metal, cuda, opencl, vulkan, coreml"),
        ("qnn:fast", "'fast' is no option of mnn@qnn: write NAME=VALUE"),
        ("qnn:memory=low", "mnn@qnn has no option 'memory'; known: precision, power"),
        ("cpu:precision=best", "precision cannot be 'best'; it can be high, normal, low"),
    ],
)
def test_what_there_is_not_is_an_error_that_names_what_there_is(text: str, message: str) -> None:
    with pytest.raises(MnnError, match=message):
        device_named(text)


def test_numbers_are_computed_in_float32_unless_it_is_said_otherwise() -> None:
    assert device_named("cpu").config == {"backend": 0, "precision": 1}
    assert device_named("metal:precision=normal,power=low").config == {
        "backend": 1,
        "precision": 0,
        "power": 2,
    }


def test_every_back_end_of_the_issue_is_there() -> None:
    assert {"cpu", "opencl", "qnn", "metal", "coreml", "nnapi"} <= set(BACK_ENDS)
    assert all(known.built for known in BACK_ENDS.values())
    assert [name for name in BACK_ENDS if device_named(name).processor] == ["cpu"]
