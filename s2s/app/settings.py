"""The settings of all layers, and the flags that each set one of them."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from s2s.app.commands.table import COMMANDS
from s2s.app.streams import LEVELS

if TYPE_CHECKING:
    from s2s.config.schema import Config

SHORTCUTS = {
    "stt": ("stt.backend", "speech-to-text backend"),
    "llm": ("llm.backend", "language-model backend"),
    "tts": ("tts.backend", "text-to-speech backend"),
    "voice": ("tts.voice", "voice of the text-to-speech backend"),
    "language": ("session.language", "ISO 639-1 code of what is spoken, such as en"),
    "input-device": ("audio.input_device", "microphone: number or part of its name"),
    "output-device": ("audio.output_device", "loudspeaker: number or part of its name"),
    "wake-word": ("models.wake_word", "listen only after this: okay_nabu, hey_jarvis, alexa"),
    "metrics": ("metrics.file", "add one JSON line for each response to this file"),
}
"""Flags that set one key: flag -> (key, help)."""
VOICE_SHORTCUTS = {
    "model": ("tts.model", "model of the text-to-speech backend"),
    "quant": ("tts.quant", "quantisation of the text-to-speech model, such as q4_k_m"),
    "instruct": ("tts.instruct", "how to speak, or what voice to make (Qwen3-TTS 1.7b)"),
    "speed": ("tts.speed", "pace of the voice: 1 is its own, 2 twice as fast"),
    "volume": ("tts.volume_db", "louder by so many dB, or quieter below 0"),
}
"""The same, for the commands that speak."""


def settings(options: argparse.Namespace) -> Config:
    """The settings of all layers; the environment may name the profile and the file too.

    Args:
        options: the arguments of a command by their names, as `cli.parse` gives them.

    Raises:
        SettingError: one that there is not, or of a wrong kind.
    """
    from s2s.config import loader

    return loader.load(
        profile=options.profile or os.environ.get("S2S_PROFILE") or None,
        file=options.config or os.environ.get("S2S_CONFIG") or None,
        flags=given_flags(options),
    )


def given_flags(options: argparse.Namespace) -> list[tuple[str, str, str]]:
    """(flag, key, value) of each setting that the command line gives.

    Raises:
        SettingError: one that is none.
    """
    from s2s.config.typed import SettingError

    command = COMMANDS[options.command]
    flags: list[tuple[str, str, str]] = []
    for text in options.set or ():
        key, equals, value = text.partition("=")
        if not equals:
            raise SettingError(f"--set {text}: name a setting as section.key=value")
        flags.append((f"--set {key}", key, value))
    for flag, (key, _) in (SHORTCUTS | (VOICE_SHORTCUTS if command.speaks else {})).items():
        value = getattr(options, flag.replace("-", "_"))
        if value is not None:
            flags.append((f"--{flag}", key, value))
    return flags + command.given_settings(options)


def common_flags() -> argparse.ArgumentParser:
    """A parser with the flags that all commands share, to be the parent of theirs."""
    common = argparse.ArgumentParser(add_help=False)
    group = common.add_argument_group("settings")
    group.add_argument("--profile", metavar="NAME", help="settings that come with the program")
    group.add_argument("--config", type=Path, metavar="FILE", help="a YAML file of settings")
    group.add_argument(
        "--set", action="append", metavar="KEY=VALUE", help="one setting; may be given often"
    )
    add_shortcuts(group.add_argument, SHORTCUTS)
    group.add_argument("--log-level", choices=LEVELS, help="how much is told (default: warning)")
    return common


def add_shortcuts(add: Callable[..., object], shortcuts: dict[str, tuple[str, str]]) -> None:
    """Describe flags that set one key. add: the `add_argument` of a parser or of a group."""
    for flag, (_, text) in shortcuts.items():
        add(f"--{flag}", metavar=flag.rpartition("-")[2].upper(), help=text)
