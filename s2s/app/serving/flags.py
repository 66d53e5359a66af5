"""Flags of `serve`. What they set is in `s2s.transport.server.config`."""

from __future__ import annotations

import argparse

from s2s.app.record_flag import add_record, given_record

VALUES = {
    "host": ("serve.host", "address to listen on (0.0.0.0: every network of this machine)"),
    "port": ("serve.port", "port to listen on"),
    "max-sessions": ("serve.max_sessions", "conversations at a time"),
}
"""Flags that set one key: flag -> (key, help)."""


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Describe them."""
    for flag, (_, text) in VALUES.items():
        parser.add_argument(f"--{flag}", metavar=flag.rpartition("-")[2].upper(), help=text)
    add_record(parser)
    parser.add_argument(
        "--api-key",
        metavar="KEY",
        help="what clients must send; others on this machine can read it here, and not in the "
        "environment variable S2S_API_KEY",
    )
    parser.add_argument(
        "--insecure", action="store_true", help="serve other machines without a key"
    )
    parser.add_argument(
        "--codec-stream",
        action="store_true",
        help="give codes in place of sound to devices that decode them (with --tts qwen3)",
    )
    parser.add_argument(
        "--wyoming",
        action="store_true",
        help="serve Home Assistant too (who is let in: --wyoming.allow)",
    )
    parser.add_argument(
        "--tls",
        nargs="*",
        metavar="FILE",
        help="serve https: with a certificate and its key (two PEM files), or with one made here",
    )


def given_settings(options: argparse.Namespace) -> list[tuple[str, str, str]]:
    """(flag, key, value) of each that was given.

    Raises:
        SettingError: a number of files with --tls that makes no sense.
    """
    from s2s.config.typed import SettingError

    given = [
        (f"--{flag}", key, value)
        for flag, (key, _) in VALUES.items()
        if (value := getattr(options, flag.replace("-", "_"))) is not None
    ]
    given += given_record(options)
    if options.insecure:
        given.append(("--insecure", "serve.insecure", "true"))
    if options.codec_stream:
        given.append(("--codec-stream", "serve.codec_stream", "true"))
    if options.wyoming:
        given.append(("--wyoming", "wyoming.enabled", "true"))
    files: list[str] | None = options.tls
    if files is not None:
        given.append(("--tls", "serve.tls", "true"))
    if files:
        if len(files) != 2:
            raise SettingError(
                f"--tls takes a certificate and its key, or nothing; got {len(files)} files"
            )
        given += [("--tls", "serve.tls_cert", files[0]), ("--tls", "serve.tls_key", files[1])]
    return given
