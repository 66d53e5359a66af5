"""What may be written behind fixed@qnn."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from s2s.tts.qwen3.errors import ProviderError
from s2s.tts.qwen3.fixed.providers import provider_named
from s2s.tts.qwen3.fixed.qnn.options import QnnOptions, qnn_options
from s2s.tts.qwen3.fixed.qnn.provider import QnnProvider


def test_they_are_read_from_a_placement() -> None:
    found = provider_named("qnn:soc_model=69,htp_arch=79,agreement=0.98,simulate=1")
    assert found == QnnProvider(QnnOptions(69, 79, agreement=0.98, simulate=True))
    assert provider_named("qnn") == QnnProvider(QnnOptions(57, 75, 1.0, False))
    assert QnnOptions(69, 79).chip == "soc69-v79-f16"


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ({"soc": "57"}, "qnn has no option 'soc'; known: soc_model, htp_arch"),
        ({"htp_arch": "12"}, "htp_arch cannot be '12'; it can be 68, 69, 73, 75, 79, 81"),
        ({"soc_model": "SM8650"}, "soc_model cannot be 'SM8650'; it is a number such as 57"),
        ({"soc_model": "0"}, "soc_model cannot be '0'"),
        ({"agreement": "all"}, "agreement cannot be 'all'; it is a share from 0 to 1"),
        ({"agreement": "nan"}, "agreement cannot be 'nan'"),
        ({"simulate": "yes"}, "simulate cannot be 'yes'; it can be 0, 1"),
    ],
)
def test_others_are_errors_that_say_what_can_be(written: Mapping[str, str], says: str) -> None:
    with pytest.raises(ProviderError, match=says):
        qnn_options(written)
