"""YAML as people write it: a plain scalar is text, and the setting's type decides how to read it.

YAML 1.1 makes a boolean of `no`, 750 of `12:30`, 8 of `010` and text of `2e-1`. None of that is
wanted where a language, a time, a number or the word itself is; the types are known here.
"""

from __future__ import annotations

from collections.abc import Hashable

import yaml

from s2s.core.untyped import is_mapping, is_sequence
from s2s.system.encoding import decode

_NULL = "tag:yaml.org,2002:null"
_MERGE = "tag:yaml.org,2002:merge"


class Plain(str):
    """A scalar without quotes, as it was written."""

    __slots__ = ()

    @property
    def meaning(self) -> object:
        """What YAML 1.1 takes it for: a number, a boolean, a date, or the text itself."""
        return yaml.safe_load(self)


class _Loader(yaml.SafeLoader):
    """Leaves plain scalars as they were written; a key that is given twice is an error."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> object:
        if isinstance(node, yaml.ScalarNode) and node.style is None and node.tag != _NULL:
            implied = self.resolve(yaml.ScalarNode, node.value, (True, False))  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
            if implied == node.tag:  # else it has a tag of its own, as `!!str 3`
                return Plain(node.value)
        return super().construct_object(  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
            node, deep
        )

    def construct_mapping(
        self, node: yaml.MappingNode, deep: bool = False
    ) -> dict[Hashable, object]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag == _MERGE:
                continue
            if key.value in seen:
                problem = f"the key {key.value} is given twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def read(data: bytes) -> object:
    """The document in a file's bytes: mappings, lists, `Plain` and quoted text, None.

    Raises:
        yaml.YAMLError, EncodingError, RecursionError: it is no YAML.
    """
    return yaml.load(decode(data), _Loader)


def meaning(value: object) -> object:
    """`value` with what YAML takes each plain scalar in it for; for settings of any type."""
    if isinstance(value, Plain):
        return value.meaning
    if is_mapping(value):
        return {str(key): meaning(item) for key, item in value.items()}
    if is_sequence(value):
        return [meaning(item) for item in value]
    return value
