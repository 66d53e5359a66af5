"""The input tables of a converted checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.checkpoint.tables import CodeVectors, Table, TableEmbeddings, open_tables
from s2s.tts.qwen3.errors import GGUFError

Converted = Callable[[str, str], Path]


@pytest.fixture(scope="module")
def folder(converted_qwen3: Converted) -> Path:
    return converted_qwen3("1.7b-base", "f32")


def test_rows_are_those_that_are_asked_for(folder: Path) -> None:
    spec, file = read_spec(folder), open_tables(folder)
    table = Table(file, "codec", (spec.talker.vocabulary, spec.talker.hidden))
    both = table(np.array([3, 1]))
    assert both.shape == (2, spec.talker.hidden)
    np.testing.assert_array_equal(both[0], table.row(3))
    np.testing.assert_array_equal(both[1], table.row(1))


@pytest.mark.parametrize("at", [-1, 1 << 20])
def test_a_row_outside_is_an_error(folder: Path, at: int) -> None:
    spec, file = read_spec(folder), open_tables(folder)
    table = Table(file, "codec", (spec.talker.vocabulary, spec.talker.hidden))
    with pytest.raises(IndexError):
        table(np.array([at]))
    with pytest.raises(IndexError):
        table.row(at)


def test_a_frame_is_the_sum_of_its_codes(folder: Path) -> None:
    spec, file = read_spec(folder), open_tables(folder)
    embeddings = TableEmbeddings(file, spec)
    codes = np.random.default_rng(0).integers(0, spec.codes, (2, spec.groups))
    total = embeddings.codec(codes[:, 0])
    for group in range(1, spec.groups):
        table = Table(file, f"codes.{group - 1}", (spec.codes, spec.talker.hidden))
        total = total + table(codes[:, group])
    np.testing.assert_array_equal(embeddings.frames(codes), total)


@pytest.mark.parametrize("kind", ["0.6b-base", "1.7b-base"])
def test_the_predictor_is_fed_rows_of_its_own_width(kind: str, converted_qwen3: Converted) -> None:
    made = converted_qwen3(kind, "f32")
    spec = read_spec(made)
    vectors = CodeVectors(open_tables(made), spec)
    stored, rows = vectors.stored()
    assert stored.name == "f32"
    assert len(rows) == spec.groups - 1
    for group in (0, spec.groups - 2):
        vector = vectors(group, 5)
        assert vector.shape == (spec.predictor.hidden,)
        np.testing.assert_array_equal(rows[group][5].view(np.float32), vector)


def test_a_table_of_another_shape_is_named(folder: Path) -> None:
    with pytest.raises(GGUFError, match="codec"):
        Table(open_tables(folder), "codec", (3, 3))
    with pytest.raises(GGUFError, match=r"tables\.gguf is missing"):
        open_tables(folder / "speech_tokenizer")
