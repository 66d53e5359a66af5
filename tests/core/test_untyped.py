"""What JSON gives, told apart."""

from __future__ import annotations

import json

import pytest

from s2s.core.untyped import is_list, is_mapping


@pytest.mark.parametrize(
    ("text", "kind"),
    [("{}", "mapping"), ('{"a": [1]}', "mapping"), ("[]", "list"), ("3", ""), ('"{}"', "")],
)
def test_objects_and_lists_are_told_apart(text: str, kind: str) -> None:
    value: object = json.loads(text)
    assert is_mapping(value) == (kind == "mapping")
    assert is_list(value) == (kind == "list")
