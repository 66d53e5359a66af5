"""Bytes of a model become text, up to what ends the answer."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from s2s.llm.generated_text import GeneratedText


def words(text: str, stop_at: tuple[str, ...], sizes: list[int]) -> str:
    """`text` given as bytes in pieces of these sizes, then all that is left."""
    each, data, given_out = GeneratedText(stop_at), text.encode(), ""
    for size in sizes:
        piece, data = data[:size], data[size:]
        given_out += each.push(piece)
        if each.ended:
            return given_out
    return given_out + each.push(data) + ("" if each.ended else each.flush())


@given(
    st.text(alphabet="ab€😀\n"),
    st.lists(st.text(alphabet="ab€", min_size=1, max_size=3), max_size=2).map(tuple),
    st.lists(st.integers(0, 5)),
)
def test_any_split_gives_the_text_up_to_the_first_stop(
    text: str, stop_at: tuple[str, ...], sizes: list[int]
) -> None:
    found = [at for stop in stop_at if (at := text.find(stop)) >= 0]
    # Of two that begin apart, the one that ends first is seen first.
    expected = {text[: min(found)] if found else text} | {
        text[:at] for at in found if len(stop_at) > 1
    }
    assert words(text, stop_at, sizes) in expected


def test_half_a_character_at_the_end_is_no_error() -> None:
    each = GeneratedText(())
    assert each.push("é".encode()[:1]) == ""
    assert each.flush() == "\ufffd"
