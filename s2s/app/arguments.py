"""The command line before argparse sees it: settings as flags, and texts that look like flags."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

_SETTING = re.compile(r"--[a-z]+(\.[\w-]+)+(=.*)?", re.DOTALL)


def settings_as_flags(arguments: Sequence[str]) -> list[str]:
    """`--section.key value` and `--section.key=value` as `--set section.key=value`."""
    result: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if not _SETTING.fullmatch(argument):
            result.append(argument)
            if argument == "--":
                result.extend(rest)
            continue
        name, equals, value = argument.partition("=")
        result += ["--set", f"{name[2:]}={value if equals else next(rest, '')}"]
    return result


def text_behind_flags(arguments: Sequence[str], flags: Collection[str]) -> list[str]:
    """`say`'s arguments with a text that begins with `-` moved behind `--`, where argparse takes it
    for what it is.

    Args:
        arguments: what follows `say`.
        flags: the flags that take a value, such as `--voice` and `-o`.
    """
    kept: list[str] = []
    texts: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        name = argument.partition("=")[0]
        if argument == "--":
            texts += rest
        elif argument in flags:
            kept += _with_value(argument, next(rest, None))
        elif _is_text(argument, name, flags):
            texts.append(argument)
        else:
            kept.append(argument)
    return [*kept, "--", *texts] if texts else kept


def _with_value(flag: str, value: str | None) -> list[str]:
    """A flag and what follows it, also if that begins with `-`."""
    if value is None:
        return [flag]
    if value.startswith("-") and flag.startswith("--"):
        return [f"{flag}={value}"]
    return [flag, value]


def _is_text(argument: str, name: str, flags: Collection[str]) -> bool:
    """Whether an argument that is no whole flag is a text: it begins with `-`, and is neither the
    beginning of a flag, nor a flag with its value, nor a call for help."""
    if not argument.startswith("-") or argument in ("-", "-h", "--help"):
        return False
    if argument.startswith("--"):
        return name not in flags and not any(flag.startswith(argument) for flag in flags)
    if argument[:2] not in flags:
        return True
    from s2s.core.audio import FORMATS  # brings numpy, which `--help` does not wait for

    return Path(argument[2:]).suffix.lower() not in FORMATS
