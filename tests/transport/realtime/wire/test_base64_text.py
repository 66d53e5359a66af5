"""What is base64 and what is not is the same whoever decodes it."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.transport.realtime.wire.base64_text import decoded, decoded_slowly, encoded


def read(decode: object, text: str) -> bytes | None:
    assert callable(decode)
    try:
        data = decode(text)
    except ValueError:
        return None
    assert isinstance(data, bytes)
    return data


@given(st.binary(max_size=64))
def test_what_is_encoded_is_decoded(data: bytes) -> None:
    text = encoded(data)
    assert text == base64.b64encode(data).decode()
    assert decoded(text) == decoded_slowly(text) == data


@given(st.text("AB/+=z \n-_é", max_size=13))
def test_both_accept_and_refuse_the_same(text: str) -> None:
    assert read(decoded, text) == read(decoded_slowly, text)


@pytest.mark.parametrize("text", ["A", "AAA", "AAAA=", "A===", "=AAA", "AA==AA==", "AA A", "AA-_"])
@pytest.mark.parametrize("decode", [decoded, decoded_slowly])
def test_what_is_no_base64_is_refused(decode: object, text: str) -> None:
    assert read(decode, text) is None
