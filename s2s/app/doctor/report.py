"""What the doctor found: told to people line by line, and to programs as JSON of one shape."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from s2s import __version__

SCHEMA = 1
"""Of the JSON. It goes up when a name or a meaning changes, not when something is added."""

State = Literal["ok", "warning", "failure"]
Value = str | float | bool | None

AREAS = (
    "python", "machine", "packages", "pip", "stt", "llm", "tts", "choices", "servers", "wake_word",
    "qwen3", "cache", "models", "network", "devices", "level", "echo", "speed",
)  # fmt: skip
"""What a finding is about."""

_SIGNS: dict[State, str] = {"ok": "ok  ", "warning": "!   ", "failure": "FAIL"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    state: State
    what: str
    remedy: str = ""
    """What to do about it; "" when there is nothing to do."""
    area: str = ""
    """One of `AREAS`."""
    values: Mapping[str, Value] = field(default_factory=dict[str, Value])
    """Figures and names, for programs."""


def about(area: str, findings: Iterable[Finding]) -> Iterable[Finding]:
    """The findings as those of an area, where they do not say theirs."""
    return (replace(each, area=each.area or area) for each in findings)


def told(findings: Iterable[Finding], *, as_json: bool) -> int:
    """Print each finding as it comes, or all as one JSON object; 1 when one is a failure."""
    seen: list[Finding] = []
    for finding in findings:
        seen.append(finding)
        if not as_json:
            print(f"{_SIGNS[finding.state]} {finding.what}", flush=True)
            if finding.remedy:
                print(f"       -> {finding.remedy}")
    failed = any(each.state == "failure" for each in seen)
    if as_json:
        print(json.dumps(as_object(seen), indent=1, ensure_ascii=False))
    return 1 if failed else 0


def as_object(findings: Iterable[Finding]) -> dict[str, object]:
    """The findings in the form of the JSON."""
    rows = [
        {
            "area": each.area,
            "state": each.state,
            "what": each.what,
            "remedy": each.remedy,
            "values": dict(each.values),
        }
        for each in findings
    ]
    works = not any(row["state"] == "failure" for row in rows)
    return {"schema": SCHEMA, "version": __version__, "works": works, "findings": rows}
