"""The figures of several servers as one text of Prometheus: each sample with the server's name."""

from __future__ import annotations

import re
from collections.abc import Mapping

LABEL = "replica"

_SAMPLE = re.compile(r"([A-Za-z_:][A-Za-z0-9_:]*)(?:\{(.*)\})? (\S+)")
_PARTS = ("_bucket", "_sum", "_count")
"""Ends of the samples of a histogram."""


def together(reports: Mapping[str, str]) -> str:
    """One text of those of all servers, by name of the server. What is no sample is left out."""
    about: dict[str, list[str]] = {}
    samples: dict[str, list[str]] = {}
    for replica, text in sorted(reports.items()):
        own = f'{LABEL}="{_escaped(replica)}"'
        for line in text.splitlines():
            if line.startswith("# "):
                _, _, name, *_ = [*line.split(" ", 3), "", ""]
                told = about.setdefault(name, [])
                if line not in told:
                    told.append(line)
            elif (found := _SAMPLE.fullmatch(line)) is not None:
                name, labels, value = found.groups()
                inside = f"{own},{labels}" if labels else own
                family = _family(name, about)
                samples.setdefault(family, []).append(f"{name}{{{inside}}} {value}")
    lines: list[str] = []
    for family, each in samples.items():
        lines += about.get(family, [])
        lines += each
    return "\n".join(lines) + "\n"


def _family(name: str, about: Mapping[str, object]) -> str:
    """What a sample belongs to: that of a histogram has another name."""
    for part in _PARTS:
        if name.endswith(part) and name.removesuffix(part) in about and name not in about:
            return name.removesuffix(part)
    return name


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
