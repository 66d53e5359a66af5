"""What cannot be done is told in words, and which of it was asked can be told apart."""

from __future__ import annotations

import pytest

from s2s.core.control import (
    ControlError,
    DuplicateItem,
    InputEmpty,
    NoSound,
    ResponseActive,
    UnknownItem,
)


def test_an_active_response_is_named() -> None:
    error = ResponseActive("resp_7")
    assert error.key == "resp_7"
    assert str(error) == "Conversation already has an active response in progress: resp_7"


@pytest.mark.parametrize(
    ("heard_ms", "said"),
    [(0, "0.00ms"), (32.0, "32.00ms"), (99.999, "100.00ms"), (1 / 3, "0.33ms")],
)
def test_too_little_sound_is_told_in_milliseconds(heard_ms: float, said: str) -> None:
    error = InputEmpty(heard_ms)
    assert error.heard_ms == heard_ms
    assert str(error) == f"buffer only has {said} of audio"


@pytest.mark.parametrize(
    "error",
    [ResponseActive("a"), InputEmpty(1.0), UnknownItem("x"), DuplicateItem("x"), NoSound("x")],
    ids=lambda error: type(error).__name__,
)
def test_every_refusal_is_one_that_a_wire_can_catch(error: ControlError) -> None:
    with pytest.raises(ControlError):
        raise error
    others = {UnknownItem, DuplicateItem, NoSound, ResponseActive, InputEmpty} - {type(error)}
    assert not isinstance(error, tuple(others))
