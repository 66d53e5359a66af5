"""Token ids against the official package's, and against the tokenizers library on any text."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.tts.qwen3.spec import SpecError
from s2s.tts.qwen3.tokenizer import Tokenizer, words

GOLDEN = json.loads((Path(__file__).parents[2] / "data" / "qwen3" / "cases.json").read_text())
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
