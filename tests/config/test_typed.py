"""Dataclasses from values: every supported type read from YAML and from text, and back."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from s2s.config import typed
from s2s.config.typed import Given, Late, SettingError
from s2s.core.setting import documented, setting


@dataclass(frozen=True, slots=True)
class Inner:
    """Part of an `Everything`."""

    ratio: float = setting(0.5, "Between nothing and all.")
    count: int = 3


@dataclass(frozen=True, slots=True)
class Everything:
    """One field of every kind."""

    name: str = "a"
    maybe: str | None = None
    flag: bool = False
    mode: Literal["on", "off", "auto"] = "auto"
    numbers: tuple[int, ...] = (1, 2)
    pair: tuple[int, float] = (1, 2.0)
    either: int | str = 1
    words: Mapping[str, str] = field(default_factory=dict)
    parts: tuple[Inner, ...] = ()
    path: Path | None = None
    inner: Inner = field(default_factory=Inner)
    share: Literal["none", "all"] | None = None

    def __post_init__(self) -> None:
        if self.name == "refused":
            raise ValueError("that name is refused")


@dataclass(frozen=True, slots=True)
class Renamed:
    """A setting that had another name."""

    backchannels: int = setting(0, "Listening noises.", formerly=("nods", "noises"))


def build(values: Mapping[object, object]) -> Everything:
    built = typed.build(Everything, typed.tree(values, "test.yaml"))
    assert isinstance(built, Everything)
    return built


def from_text(key: str, text: str) -> object:
    node: typed.Tree = {key: Given(text, "--set", is_text=True)}
    return getattr(typed.build(Everything, node), key)


texts = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=20)
inners = st.builds(
    Inner,
    ratio=st.floats(allow_nan=False, allow_infinity=False),
    count=st.integers(),
)
everything = st.builds(
    Everything,
    name=texts.filter(lambda text: text != "refused"),
    maybe=st.none() | texts,
    flag=st.booleans(),
    mode=st.sampled_from(["on", "off", "auto"]),
    numbers=st.lists(st.integers()).map(tuple),
    pair=st.tuples(st.integers(), st.floats(allow_nan=False, allow_infinity=False)),
    either=st.integers() | texts,
    words=st.dictionaries(texts, texts, max_size=3),
    parts=st.lists(inners, max_size=2).map(tuple),
    path=st.none() | st.sampled_from([Path("a"), Path("/b/c")]),
    inner=inners,
    share=st.sampled_from([None, "none", "all"]),
)


@given(everything)
def test_what_was_written_as_yaml_is_read_back_the_same(value: Everything):
    text = yaml.safe_dump(typed.plain(value), allow_unicode=True)
    assert build(yaml.safe_load(text)) == value


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("name", "no", "no"),
        ("name", "3", "3"),
        ("maybe", "none", None),
        ("maybe", "", None),
        ("maybe", "some", "some"),
        ("flag", "on", True),
        ("flag", "No", False),
        ("mode", "on", "on"),
        ("numbers", "3, 4,5", (3, 4, 5)),
        ("numbers", "", ()),
        ("pair", "3,0.5", (3, 0.5)),
        ("either", "7", 7),
        ("either", "seven", "seven"),
        ("words", "{a: b}", {"a": "b"}),
        ("path", "x/y", Path("x/y")),
        ("share", "none", "none"),
        ("share", "null", None),
        ("share", "all", "all"),
    ],
)
def test_text_is_read_as_the_type_wants_it(key: str, text: str, value: object):
    assert from_text(key, text) == value


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"flag": "yes"}, "flag must be true or false, got 'yes'"),
        ({"numbers": 3}, "numbers must be a list, got 3"),
        ({"numbers": [1, "x"]}, r"numbers\[1\] must be a whole number, got 'x'"),
        ({"pair": [1]}, "pair must be a list of 2"),
        ({"mode": "of"}, "mode must be one of on, off, auto, got 'of'"),
        ({"name": 3}, "name must be text, got 3"),
        ({"inner": {"ratio": "much"}}, "inner.ratio must be a number, got 'much'"),
        ({"inner": {"ratio": True}}, "inner.ratio must be a number, got True"),
        ({"inner": {"ratio": float("nan")}}, "inner.ratio must be a number, got nan"),
        ({"inner": {"count": 1.5}}, "inner.count must be a whole number, got 1.5"),
        ({"inner": 3}, "inner must be a section with keys, got 3"),
        ({"words": ["a"]}, "words must be keys with values"),
        ({"inner": {"raito": 1}}, r"unknown key inner.raito. Did you mean inner.ratio\?"),
        ({"zzz": 1}, "unknown key zzz. Known are name, maybe"),
        ({"name": "refused"}, "Everything: that name is refused"),
    ],
)
def test_a_wrong_value_says_where_it_came_from_which_key_and_what_is_wanted(
    values: dict[object, object], said: str
):
    with pytest.raises(SettingError, match=f"^test.yaml: {said}"):
        build(values)


def test_an_empty_section_is_the_defaults():
    assert build({"inner": None}) == Everything()


def test_the_higher_layer_wins_key_by_key():
    low = typed.tree({"name": "low", "inner": {"ratio": 0.1, "count": 1}}, "low")
    high = typed.tree({"inner": {"ratio": 0.9}}, "high")
    merged = typed.build(Everything, typed.merged(low, high))
    assert merged == Everything(name="low", inner=Inner(0.9, 1))


def test_docstrings_below_fields_are_found():
    assert documented(Inner) == {"ratio": "Between nothing and all.", "count": ""}


def test_a_late_field_has_the_type_it_names():
    late = dataclasses.make_dataclass(
        "Late", [("spec", "Model", field(default_factory=Late("s2s.models.manifest:HubPart")))]
    )
    from s2s.models.manifest import HubPart

    assert typed.field_types(late) == {"spec": HubPart}


@pytest.mark.parametrize("old", ["nods", "noises"])
def test_a_former_name_is_read_with_a_hint(old: str, caplog: pytest.LogCaptureFixture):
    built = typed.build(Renamed, typed.tree({old: 3}, "my.yaml"), "turns")
    assert built == Renamed(3)
    assert f"my.yaml: turns.{old} is now called turns.backchannels" in caplog.text


@given(st.lists(st.sampled_from(["backchannels", "nods", "noises"]), min_size=1, max_size=5))
def test_of_former_and_todays_names_the_highest_layer_wins(names: list[str]):
    layers = [typed.tree({name: at}, f"layer {at}") for at, name in enumerate(names)]
    built = typed.build(Renamed, functools.reduce(typed.merged, layers))
    assert built == Renamed(len(names) - 1)
