"""Token ids against the official package's, and against the tokenizers library on any text."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.tts.qwen3.errors import SpecError
from s2s.tts.qwen3.text.tokenizer import Tokenizer, TokenStream, class_of, composes, words

GOLDEN = json.loads((Path(__file__).parents[3] / "data" / "qwen3" / "cases.json").read_text())
PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
TEXT = st.text(
    st.one_of(
        st.sampled_from(" \t\r\n'sStTreVEmlLd1²½Ⅷ一aée\u0301\u00a0\u2003_-.😀"),
        st.characters(codec="utf-8", exclude_categories=("Cn", "Co")),
    )
)


STREAMED = st.text(
    st.one_of(
        st.sampled_from(
            " \t\r\n'sStTreVEmlLd1²Ⅷ一가ㄱ\u1100\u1161\u11a8aé\u0301\u0338\u0323=<>|_-.😀"
        ),
        st.characters(codec="utf-8", exclude_categories=("Cn", "Co")),
    ),
    max_size=40,
)
ADDED = st.sampled_from(["<|im_start|>", "<|im_end|>", "<tts_pad>", "<think>", "<|im_", "<tts"])
PIECES = st.lists(st.one_of(STREAMED, ADDED), max_size=8)


@pytest.fixture(scope="module")
def tokenizer(tiny_qwen3: Callable[[str], Path]) -> Tokenizer:
    return Tokenizer.load(tiny_qwen3("0.6b-base"))


@pytest.fixture(scope="module")
def library(tiny_qwen3: Callable[[str], Path]) -> Any:
    """The same tokenizer built from the tokenizers library, as transformers builds it."""
    tokenizers = pytest.importorskip("tokenizers")
    folder = tiny_qwen3("0.6b-base")
    model = tokenizers.models.BPE.from_file(str(folder / "vocab.json"), str(folder / "merges.txt"))
    built = tokenizers.Tokenizer(model)
    built.normalizer = tokenizers.normalizers.NFC()
    built.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
        [
            tokenizers.pre_tokenizers.Split(tokenizers.Regex(PATTERN), "isolated"),
            tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    return built


@pytest.mark.parametrize("case", GOLDEN["tokens"], ids=lambda case: case["text"][:20])
def test_ids_are_the_official_ones(case: dict[str, Any], tokenizer: Tokenizer) -> None:
    assert tokenizer.encode(case["text"]).tolist() == case["ids"]


def test_twenty_strings_are_compared() -> None:
    assert len(GOLDEN["tokens"]) == 20


@settings(max_examples=300, deadline=None)
@given(TEXT)
def test_words_put_together_are_the_text(text: str) -> None:
    assert "".join(words(text)) == text


def test_ids_are_the_librarys_on_any_text(tokenizer: Tokenizer, library: Any) -> None:
    @settings(max_examples=400, deadline=None, database=None)
    @given(TEXT)
    def same(text: str) -> None:
        assert tokenizer.encode(text).tolist() == library.encode(text).ids

    same()


def test_added_tokens_are_never_split(tokenizer: Tokenizer) -> None:
    assert len(tokenizer.encode("<|im_start|><tts_pad><tts_text_bos_single>")) == 3


def test_the_role_is_three_tokens(tokenizer: Tokenizer) -> None:
    assert len(tokenizer.encode("<|im_start|>assistant\n")) == 3


def test_a_folder_without_merges_is_an_error(
    tiny_qwen3: Callable[[str], Path], tmp_path: Path
) -> None:
    (tmp_path / "vocab.json").write_bytes((tiny_qwen3("0.6b-base") / "vocab.json").read_bytes())
    with pytest.raises(SpecError, match=r"merges\.txt"):
        Tokenizer.load(tmp_path)


def test_the_tokens_of_a_text_in_any_pieces_are_those_of_the_whole(tokenizer: Tokenizer) -> None:
    @settings(max_examples=800, deadline=None, database=None)
    @given(PIECES, st.lists(st.integers(0, 60), max_size=12))
    def same(texts: list[str], cuts: list[int]) -> None:
        text = "".join(texts)
        stream, at = TokenStream(tokenizer), 0
        ids: list[int] = []
        for cut in sorted(cuts):
            ids += stream.push(text[at:cut])
            at = cut
        ids += stream.push(text[at:]) + stream.end()
        assert ids == tokenizer.encode(text).tolist()

    same()


def test_no_text_that_follows_changes_what_is_settled(tokenizer: Tokenizer) -> None:
    @settings(max_examples=800, deadline=None, database=None)
    @given(STREAMED, st.one_of(STREAMED, ADDED))
    def kept(text: str, more: str) -> None:
        settled = tokenizer.settled(text)
        ids = (
            tokenizer.encode(text[:settled]).tolist()
            + tokenizer.encode(text[settled:] + more).tolist()
        )
        assert ids == tokenizer.encode(text + more).tolist()

    kept()


@pytest.mark.parametrize(
    ("text", "settled"),
    [
        ("Hello", 0),
        ("Hello ", 5),
        ("Hello, ", 6),
        ("Hello wor", 5),
        ("don't", 3),
        ("don't ", 5),
        ("a  ", 1),
        ("a  b", 2),
        ("你好，世界", 2),
        ("12", 1),
        ("a\n", 1),
        ("e", 0),
        ("x<|im_end|>", 11),
        ("x <|im_", 1),
    ],
)
def test_a_word_is_settled_by_what_follows_it(
    text: str, settled: int, tokenizer: Tokenizer
) -> None:
    assert tokenizer.settled(text) == settled


def test_composition_in_unicode_is_as_it_is_taken_to_be() -> None:
    """Everything that composes with what stands before it is known to, and never turns a letter,
    number or space into something else."""
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        parts = unicodedata.decomposition(character).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            first, second = (chr(int(part, 16)) for part in parts)
            if unicodedata.normalize("NFC", first + second) == character:
                assert composes(second)
                assert class_of(character) == class_of(first)
        elif not 0xD800 <= code < 0xE000 and unicodedata.combining(character):
            assert composes(character)
    for first, second in ("\u1100\u1161", "\uac00\u11a8"):
        assert composes(second)
        assert len(unicodedata.normalize("NFC", first + second)) == 1
