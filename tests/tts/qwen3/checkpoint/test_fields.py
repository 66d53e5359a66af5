"""Fields of a JSON file: each is checked, and what is wrong is named with its value."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from s2s.tts.qwen3.checkpoint.fields import MAX_JSON_BYTES, Fields, read_object
from s2s.tts.qwen3.errors import CodecError, SpecError


def fields(**values: object) -> Fields:
    return Fields(values, "config.json", "talker")


def test_what_is_right_is_given() -> None:
    read = fields(a=3, b=0.5, c=[1, 2], d="x", e={"f": 1})
    assert read.whole("a", 1, 3) == 3
    assert read.number("b", 0, 1) == 0.5
    assert read.number("a", 0, 9) == 3.0
    assert read.wholes("c", 2, range(1, 4)) == (1, 2)
    assert read.text("d") == "x"
    assert read.section("e").whole("f", 0, 1) == 1
    assert read.section("e").name("f") == "talker.e.f"


def test_what_is_absent_or_null_has_its_default() -> None:
    read = fields(a=None)
    assert not read.has("a")
    assert read.whole("a", 1, 9, 5) == 5
    assert read.number("x", 0, 1, 0.25) == 0.25
    assert read.wholes("x", 9, range(1, 3), (4,)) == (4,)
    assert read.text("x", "y") == "y"
    assert read.ids("x", 3) == {}
    read.fixed("x", "only this")


@pytest.mark.parametrize("value", [0, 10, True, 1.0, "3", [3], None, 10**30])
def test_a_whole_number_is_one_and_within_its_bounds(value: object) -> None:
    with pytest.raises(SpecError, match=r"talker\.a"):
        fields(a=value).whole("a", 1, 9)


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, math.inf, False, "0.5", None])
def test_a_number_is_one_and_within_its_bounds(value: object) -> None:
    with pytest.raises(SpecError, match=r"talker\.a"):
        fields(a=value).number("a", 0, 1)


@pytest.mark.parametrize("value", [[], [1, 2, 3], [0], [3], [True], ["1"], 1, None, "12"])
def test_a_list_has_its_length_and_its_numbers_their_bounds(value: object) -> None:
    with pytest.raises(SpecError, match=r"talker\.a"):
        fields(a=value).wholes("a", 2, range(1, 3))


def test_a_choice_is_one_of_those_that_are_computed() -> None:
    fields(a="silu").fixed("a", "silu", "gelu")
    with pytest.raises(SpecError, match=r"is 'relu'; only 'silu' or 'gelu' is supported"):
        fields(a="relu").fixed("a", "silu", "gelu")


def test_ids_are_rows_of_a_table_and_may_be_lists_of_one() -> None:
    assert fields(a={"English": 2, "x": [1]}).ids("a", 3) == {"english": 2, "x": 1}
    for wrong in ({"x": 3}, {"x": -1}, {"x": [1, 2]}, {"x": "1"}, {"x": True}):
        with pytest.raises(SpecError, match=r"talker\.a"):
            fields(a=wrong).ids("a", 3)


@pytest.mark.parametrize(("value", "said"), [(None, "is missing"), ("x", "is 'x', no object")])
def test_a_section_is_an_object(value: object, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        fields(a=value).section("a")


def test_a_long_value_is_shown_in_part_and_the_error_is_that_of_the_file() -> None:
    read = Fields({"a": "x" * 5000}, "config.json", error=CodecError)
    with pytest.raises(CodecError) as failed:
        read.text("a")
    assert len(str(failed.value)) < 400


@pytest.mark.parametrize(
    ("content", "said"),
    [("[1]", "holds no JSON object"), ("{", "cannot be read"), ("[" * 100_000, "nested|read")],
)
def test_what_is_no_object_is_refused(content: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(content)
    with pytest.raises(SpecError, match=said):
        read_object(file)
    with pytest.raises(SpecError, match="is missing"):
        read_object(tmp_path / "none.json")


def test_a_file_of_any_size_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    with file.open("wb") as sparse:
        sparse.truncate(MAX_JSON_BYTES + 1)
    with pytest.raises(SpecError, match="more than 64 MB"):
        read_object(file)
    file.write_text(json.dumps({"a": 1}))
    assert read_object(file) == {"a": 1}
