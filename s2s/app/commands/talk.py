"""The command `talk`: at this machine's microphone, with recordings, or with a server's models."""

from __future__ import annotations

import argparse
from pathlib import Path

from s2s.app.commands.table import Invocation
from s2s.app.memory import default_folder
from s2s.app.record_flag import add_record, given_record

SWITCHES = {
    "push-to-talk": (
        "session.turns.input.push_to_talk",
        "only what is said while the talk key (Space) is down counts",
    ),
    "sounds": ("audio.listening_sound", "a short sound when it begins and ends to listen"),
    "muted": ("session.turns.input.muted", "begin muted; the key m unmutes"),
}
"""Flags that set one key to true: flag -> (key, help)."""


def add_flags(parser: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    del common
    parser.add_argument("--input", type=Path, help="talk to it with a sound file, not a microphone")
    parser.add_argument(
        "--output", type=Path, help="with --input: write both voices to this sound file"
    )
    parser.add_argument(
        "--fast", action="store_true", help="with --input: as fast as it can, not in real time"
    )
    parser.add_argument(
        "--type",
        action="store_true",
        dest="typed",
        help="type instead of talking: at the keyboard, or from the standard input",
    )
    parser.add_argument(
        "--memory",
        nargs="?",
        const="",
        metavar="FOLDER",
        help="remember what is asked for, in Markdown files (none given: in the user's data)",
    )
    for flag, (_, text) in SWITCHES.items():
        parser.add_argument(f"--{flag}", action="store_true", help=text)
    add_record(parser)
    parser.add_argument(
        "--url", help="talk to a Realtime server, such as ws://kitchen:8765, with its models"
    )
    parser.add_argument("--api-key", metavar="KEY", help="with --url; better in S2S_API_KEY")
    parser.add_argument(
        "--fingerprint", metavar="SHA256", help="with --url: of the certificate to be trusted"
    )


def given_settings(options: argparse.Namespace) -> list[tuple[str, str, str]]:
    """(flag, key, value) of each that was given."""
    given = {flag: getattr(options, flag.replace("-", "_")) for flag in SWITCHES}
    found = [(f"--{flag}", SWITCHES[flag][0], "true") for flag in given if given[flag]]
    if options.memory is not None:
        found.append(("--memory", "memory.folder", options.memory or str(default_folder())))
    return found + given_record(options)


def run(call: Invocation) -> int:
    """Converse until it ends."""
    options, config = call.options, call.config()
    if options.url is not None:
        from s2s.app.talking.talk import GivenFiles
        from s2s.app.talking.talk_remote import place_of, run_remote
        from s2s.config.typed import SettingError

        if config.record.folder is not None:
            raise SettingError("--record: with --url it is the server that records; give it there")
        given = GivenFiles(options.input, options.output, typed=options.typed)
        return run_remote(config, call.store, place_of(options), given)
    from s2s.app.talking.talk import run_talk

    return run_talk(
        config,
        call.store,
        input_file=options.input,
        output_file=options.output,
        fast=options.fast,
        metrics_file=config.metrics.file,
        typed=options.typed,
    )
