"""Settings say what they mean, wherever they run."""

from __future__ import annotations

from dataclasses import dataclass

from s2s.core.setting import documented, made_setting, setting


def test_what_a_setting_means_is_known_where_no_source_is_shipped():
    namespace: dict[str, object] = {"setting": setting, "dataclass": dataclass}
    exec("@dataclass\nclass Shipped:\n    a: int = setting(1, 'What it is.')", namespace)
    shipped = namespace["Shipped"]
    assert isinstance(shipped, type)
    assert documented(shipped) == {"a": "What it is."}


def test_a_default_that_is_made_is_made_for_each_object():
    @dataclass(frozen=True, slots=True)
    class Listed:
        items: list[int] = made_setting(list[int], "Some numbers.")

    first, second = Listed(), Listed()
    assert first.items == []
    assert first.items is not second.items
    assert documented(Listed) == {"items": "Some numbers."}
