"""Settings files and variables as people and their tools write them: YAML 1.1's surprises, numbers,
encodings, empty variables, keys of the user's own."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.config import loader, settings_yaml, typed
from s2s.config.typed import SettingError
from s2s.system.encoding import EncodingError, decode, decode_typed

YAML_1_1 = """
    y Y yes Yes YES n N no No NO true True TRUE false False FALSE on On ON off Off OFF
    12:30 1:30:15 010 0x1F 0b11 1_000 +1 1e3 2e-1 .5 1. .inf -.inf .NaN
    2026-11-30 2026-11-30T08:00:00Z = 1.10 007 0o17 de-CH none
"""
"""Plain scalars that YAML 1.1 takes for something, or that look like it."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A setting of each kind."""

    text: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    listed: tuple[str, ...] = ()
    flag: bool = False
    number: float = 0.0
    whole: int = 0
    mode: Literal["auto", "on", "off", "yes", "no"] = "auto"
    anything: Mapping[str, object] = field(default_factory=dict)
    amounts: Mapping[str, float] = field(default_factory=dict)


def read(text: str) -> Wanted:
    document = settings_yaml.read(text.encode())
    assert isinstance(document, dict)
    built = typed.build(Wanted, typed.tree(document, "test.yaml"))
    assert isinstance(built, Wanted)
    return built


@pytest.mark.parametrize("word", YAML_1_1.split())
def test_where_text_is_wanted_every_plain_scalar_is_text(word: str):
    assert read(f"text: {word}").text == word
    assert read(f"words: {{{word}: {word}}}").words == {word: word}
    assert read(f"listed: [{word}, {word}]").listed == (word, word)


@pytest.mark.parametrize("word", ["on", "off", "yes", "no", "On", "OFF", "Yes", "NO"])
def test_on_and_off_are_a_settings_own_words(word: str):
    assert read(f"mode: {word}").mode == word.lower()
    assert read(f"mode: '{word.lower()}'").mode == word.lower()


@pytest.mark.parametrize(
    ("word", "value"),
    [("yes", True), ("No", False), ("ON", True), ("off", False), ("true", True), ("False", False)],
)
def test_where_true_or_false_is_wanted_they_are_that(word: str, value: bool):
    assert read(f"flag: {word}").flag is value


@pytest.mark.parametrize(
    ("written", "value"),
    [
        *((text, float(text)) for text in ("2e-1", "1E3", ".5", "1.", "+0.5", "-3", "1_0.5", "7")),
        ("1e-05", 1e-05),
    ],
)
def test_every_number_that_python_reads_is_a_number(written: str, value: float):
    assert read(f"number: {written}").number == value
    assert read(f"amounts: {{x: {written}}}").amounts == {"x": value}


@pytest.mark.parametrize(
    ("written", "value"), [("010", 10), ("0x1F", 31), ("1_000", 1000), ("1e3", 1000), ("-2", -2)]
)
def test_whole_numbers_are_decimal_unless_they_say_otherwise(written: str, value: int):
    assert read(f"whole: {written}").whole == value


@pytest.mark.parametrize("written", ["1.5", "12:30", ".inf", "-.inf", ".nan", "inf", "nan", "yes"])
def test_what_is_no_number_is_said_as_it_was_written(written: str):
    said = re.escape(f"got '{written}'")
    with pytest.raises(SettingError, match=f"^test.yaml: whole must be a whole number, {said}"):
        read(f"whole: {written}")


def test_settings_of_any_type_keep_what_yaml_takes_them_for():
    text = "anything: {a: 1, b: 0.5, c: true, d: [1, x], e: '1', f: {g: no}, h: !!str 3, i: null}"
    assert read(text).anything == {
        "a": 1,
        "b": 0.5,
        "c": True,
        "d": [1, "x"],
        "e": "1",
        "f": {"g": False},
        "h": "3",
        "i": None,
    }


@given(st.dictionaries(st.text(max_size=8), st.text(max_size=20), max_size=4))
def test_any_text_that_is_quoted_is_that_text(words: dict[str, str]):
    import yaml

    written = yaml.safe_dump({"words": words}, allow_unicode=True, default_style='"')
    assert read(written).words == words


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tts: {voice: a, voice: b}", "the key voice is given twice"),
        ("tts: &a {x: *a}", "nested without end"),
        ("tts: " + "[" * 5000, "is nested without end|is not YAML"),
        ("tts: !!python/name:os.system", "is not YAML"),
        ("tts: !!int x", "is not YAML"),
    ],
)
def test_a_document_that_cannot_be_used_is_named(tmp_path: Path, text: str, said: str):
    file = tmp_path / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingError, match=rf"mine\.yaml: .*({said})"):
        loader.load(file=file, environment={})


ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_file_in_any_unicode_encoding_is_read(tmp_path: Path, encoding: str, newline: str):
    file = tmp_path / "mine.yaml"
    lines = ["# für Zürich, 東京", "session:", "  history_turns: 7", "  system_prompt: Grüezi 你好"]
    file.write_bytes(newline.join(lines).encode(encoding))
    made = loader.load(file=file, environment={})
    assert made.session.history_turns == 7
    assert made.session.system_prompt == "Grüezi 你好"


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "cp1251", "shift-jis"])
def test_another_encoding_is_refused_with_its_line_and_what_to_do(tmp_path: Path, encoding: str):
    text = {"cp1251": "Привет", "shift-jis": "東京"}.get(encoding, "für")
    file = tmp_path / "mine.yaml"
    file.write_bytes(f"session:\n  system_prompt: {text}\n".encode(encoding))
    with pytest.raises(SettingError, match=r"mine\.yaml: is not UTF-8 text: byte 0x\w\w in line 2"):
        loader.load(file=file, environment={})


def test_what_comes_through_a_pipe_is_always_text():
    assert decode_typed("grün".encode("utf-16")) == "grün"
    assert decode_typed(b"gr\xfcn").startswith("gr")
    with pytest.raises(EncodingError, match="Save it as UTF-8"):
        decode(b"gr\xfcn")


@given(st.binary(max_size=60))
def test_no_bytes_at_all_raise_anything_else(data: bytes):
    assert isinstance(decode_typed(data), str)
    with contextlib.suppress(EncodingError):
        decode(data)


def _variables() -> list[str]:
    """A variable for every setting of a session, and for options of each stage's backend."""
    names: list[str] = []

    def walk(kind: type, path: tuple[str, ...]) -> None:
        for name, hint in typed.field_types(kind).items():
            if isinstance(hint, type) and hasattr(hint, "__dataclass_fields__"):
                walk(hint, (*path, name))
            else:
                names.append("S2S_" + "_".join([path[0], "__".join([*path[1:], name])]).upper())

    for section, kind in loader.sections().items():
        walk(kind, (section,))
    return [*names, "S2S_LLM_MAX_TOKENS", "S2S_TTS_VOICE", "S2S_STT_MODEL"]


@pytest.mark.parametrize("empty", ["", " ", "\t"])
@pytest.mark.parametrize("name", _variables())
def test_an_empty_variable_is_not_given(name: str, empty: str):
    assert loader.load(environment={name: empty}) == loader.load(environment={})


def test_an_empty_flag_is_what_it_says():
    made = loader.load(environment={}, flags=[("--set", "session.system_prompt", "")])
    assert made.session.system_prompt == ""


@pytest.mark.parametrize("key", ["pt-BR", "zh_Hant", "X-Api-Key", "de", "no", "a-b-c", "1"])
@pytest.mark.parametrize("way", ["file", "flag", "both"])
def test_a_key_of_the_users_own_stays_as_it_was_written(key: str, way: str):
    low = typed.tree({"words": {key: "low", "other": "x"}}, "file")
    high = typed.tree({"words": {key: "high"}}, "--set")
    node = {"file": low, "flag": high, "both": typed.merged(low, high)}[way]
    built = typed.build(Wanted, node)
    assert isinstance(built, Wanted)
    assert built.words[key] == ("low" if way == "file" else "high")


def test_a_flags_deeper_keys_are_not_touched():
    tree = loader.from_keys(
        [("--set", "tts.names.pt-BR", "x"), ("--set", "tts.predictor-quant", "q8_0")]
    )
    assert list(typed.section(typed.section(tree["tts"], "tts")["options"], "o")) == [
        "names",
        "predictor_quant",
    ]
    options = typed.section(typed.section(tree["tts"], "tts")["options"], "o")
    assert list(typed.section(options["names"], "n")) == ["pt-BR"]


def test_a_field_may_be_written_with_a_hyphen_at_any_depth():
    made = loader.load(
        environment={},
        flags=[
            ("--set", "session.turns.unanswered-reopen-ms", "100"),
            ("--set", "session.history-turns", "3"),
        ],
    )
    assert made.session.turns.unanswered_reopen_ms == 100
    assert made.session.history_turns == 3
