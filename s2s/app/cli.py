"""The command line. Reads arguments, calls the command, and turns what went wrong into one line.

Exit codes: 0 well, 1 failed, 2 wrong usage. What a command needs is imported when it is given.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Sequence

from s2s import __version__
from s2s.app.arguments import settings_as_flags, text_behind_flags
from s2s.app.commands.table import COMMANDS, Invocation
from s2s.app.examples import show_examples
from s2s.app.settings import SHORTCUTS, VOICE_SHORTCUTS, add_shortcuts, common_flags, settings
from s2s.app.signals import Interrupted, handled, leave
from s2s.app.streams import forgiving_streams, start_logging


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit code."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    forgiving_streams()
    options = parse(arguments)
    level = options.log_level or os.environ.get("S2S_LOG_LEVEL", "").strip().lower() or "warning"
    debug = level == "debug"
    start_logging(level)
    try:
        with handled():
            return _run(options)
    except Interrupted as interrupted:
        return interrupted.code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except Exception as error:  # the edge of the program: a line for the user, never a traceback
        if debug:
            logging.getLogger(__name__).debug("failed", exc_info=error)
        message = " ".join(str(error).split()) or type(error).__name__
        print(f"s2s: {message}", file=sys.stderr)
        return 2 if _is_usage(error) else 1


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The arguments of a command line by their names. What is wrong ends the program with usage."""
    prepared = _prepared(arguments)
    return _parser(prepared[0]).parse_args(prepared)


def entry() -> int:
    """What the command `s2s` calls: `main`, then an end that no model's thread can crash."""
    return leave(main())


def _is_usage(error: Exception) -> bool:
    from s2s.config.registry import UnknownBackendError
    from s2s.config.typed import SettingError

    return isinstance(error, SettingError | UnknownBackendError)


def _run(options: argparse.Namespace) -> int:
    from s2s.app.terminal import download_bars
    from s2s.models.store import Store

    command = COMMANDS[options.command].load()
    with download_bars() as progress:
        return command.run(Invocation(options, Store(progress=progress), settings))


def _with_command(arguments: list[str]) -> list[str]:
    """The arguments with the command `talk` in front where there is none."""
    first = arguments[0] if arguments else ""
    if first in COMMANDS or first in ("-h", "--help", "--version"):
        return arguments
    return ["talk", *arguments]


def _prepared(arguments: Sequence[str]) -> list[str]:
    """The arguments as argparse can read them."""
    prepared = _with_command(settings_as_flags(arguments))
    if prepared[0] == "say":
        names = ["profile", "config", "set", "log-level", "output", *SHORTCUTS, *VOICE_SHORTCUTS]
        flags = {"-o", *(f"--{name}" for name in names)}
        prepared[1:] = text_behind_flags(prepared[1:], flags)
    return prepared


def whole_parser() -> argparse.ArgumentParser:
    """The parser of the program with the flags of every command: for who looks through them."""
    return _parser(None)


def _parser(given: str | None) -> argparse.ArgumentParser:
    """The parser of the program. given: the command whose flags are described; None: all."""
    parser = argparse.ArgumentParser(
        prog="s2s",
        description="A local, real-time voice assistant: talk, be answered, interrupt.",
        epilog="Every setting is a flag as well: --session.language de. `s2s config` lists them.",
    )
    parser.add_argument("--version", action="version", version=f"s2s {__version__}")
    common = common_flags()
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, command in COMMANDS.items():
        each = subparsers.add_parser(
            name, help=command.about, description=command.about, parents=[common]
        )
        if given in (name, None):
            if command.speaks:
                add_shortcuts(each.add_argument, VOICE_SHORTCUTS)
            command.load().add_flags(each, common)
    show_examples(parser)
    return parser
