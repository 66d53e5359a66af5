"""Options of a provider are those that it has, with values that they can have."""

from __future__ import annotations

import pytest

from s2s.tts.qwen3.errors import ProviderError
from s2s.tts.qwen3.fixed.provider_options import check_options

KNOWN = {"speed": ("0", "1"), "device": ()}


def test_what_is_known_passes() -> None:
    check_options("npu", {"speed": "1", "device": "any"}, KNOWN)
    check_options("npu", {}, {})


def test_another_name_or_value_is_an_error_that_says_what_can_be() -> None:
    with pytest.raises(ProviderError, match="npu has no option 'spin'; known: speed, device"):
        check_options("npu", {"spin": "1"}, KNOWN)
    with pytest.raises(ProviderError, match="npu has no option 'spin'; known: none"):
        check_options("npu", {"spin": "1"}, {})
    with pytest.raises(ProviderError, match="npu: speed cannot be '2'; it can be 0, 1"):
        check_options("npu", {"speed": "2"}, KNOWN)
