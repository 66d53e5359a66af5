"""Writes checkpoints as PyTorch does: a zip archive with a pickle that names tensors' storages."""

from __future__ import annotations

import zipfile
from pathlib import Path


def checkpoint(path: Path, told: bytes, storages: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", told)
        for key, numbers in storages.items():
            archive.writestr(f"archive/data/{key}", numbers)
    return path


def tensor(
    kind: str, key: str, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]
) -> bytes:
    """The instructions of protocol 2 for a tensor."""
    persistent = (
        b"(" + text("storage") + f"ctorch\n{kind}\n".encode() + text(key) + text("cpu")
        + number(7) + b"tQ"
    )  # fmt: skip
    return (
        b"ctorch._utils\n_rebuild_tensor_v2\n(" + persistent + number(offset) + numbers(shape)
        + numbers(strides) + b"\x89" + b"ccollections\nOrderedDict\n)R" + b"tR"
    )  # fmt: skip


def text(value: str) -> bytes:
    return b"X" + len(value).to_bytes(4, "little") + value.encode()


def number(value: int) -> bytes:
    return b"J" + value.to_bytes(4, "little")


def numbers(values: tuple[int, ...]) -> bytes:
    return b"(" + b"".join(number(value) for value in values) + b"t"


def mapping(tensors: dict[str, bytes]) -> bytes:
    items = b"".join(text(name) + value for name, value in tensors.items())
    return b"\x80\x02}(" + items + b"u."
