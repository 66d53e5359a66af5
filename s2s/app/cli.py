"""The command line. Reads arguments, calls the command, and turns what went wrong into one line.

Exit codes: 0 well, 1 failed, 2 wrong usage. What a command needs is imported when it runs.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from s2s import __version__
from s2s.app.arguments import add_remote_flags, settings_as_flags, text_behind_flags
from s2s.app.serving.flags import add_flags, given_settings
from s2s.app.signals import Interrupted, handled, leave
from s2s.app.streams import LEVELS, forgiving_streams, start_logging
from s2s.bench.commands import add_actions

if TYPE_CHECKING:
    from s2s.config.schema import Config
    from s2s.models.store import Store

COMMANDS = {
    "talk": "talk to it (what happens without a command)",
    "say": "speak a text",
    "serve": "serve conversations: a web page, and the OpenAI Realtime API",
    "transcribe": "write down what is said in sound files",
    "devices": "list microphones and loudspeakers",
    "models": "list, fetch and find model files",
    "voices": "list, add, cut and check voices",
    "bench": "measure conversations and speech cores",
    "config": "print every setting with its meaning and value",
    "doctor": "check this machine and say what to do",
}
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
SWITCHES = {
    "push-to-talk": (
        "session.turns.input.push_to_talk",
        "only what is said while the talk key (Space) is down counts",
    ),
    "muted": ("session.turns.input.muted", "begin muted; the key m unmutes"),
}
"""Flags of `talk` that set one key to true: flag -> (key, help)."""
SPEAKING = ("talk", "say", "serve", "config", "doctor")


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
    return _parser().parse_args(_prepared(arguments))


def entry() -> int:
    """What the command `s2s` calls: `main`, then an end that no model's thread can crash."""
    return leave(main())


def _is_usage(error: Exception) -> bool:
    from s2s.config.registry import UnknownBackendError
    from s2s.config.typed import SettingError

    return isinstance(error, SettingError | UnknownBackendError)


def _run(options: argparse.Namespace) -> int:
    from s2s.app import commands
    from s2s.app.terminal import download_bars
    from s2s.models.store import Store

    if options.command == "devices":
        return commands.devices()
    with download_bars() as progress:
        store = Store(progress=progress)
        if options.command == "models":
            return _run_models(options, store)
        if options.command == "voices":
            return _run_voices(options, store)
        config = settings(options)
        match options.command:
            case "say":
                return commands.say(config, store, options.text, options.output)
            case "transcribe":
                from s2s.app.transcription import transcribe

                return transcribe(config, store, options.files)
            case "serve":
                from s2s.app.serving.command import serve

                return serve(config, store, options.api_key)
            case "config":
                return commands.show_config(config)
            case "bench":
                from s2s.bench.commands import run

                return run(options, config, store)
            case "doctor":
                from s2s.app.doctor import doctor

                if options.measure:
                    from s2s.app.measure import measure

                    return measure(config, store)
                return doctor(config, store)
            case _:
                return _run_talk(options, config, store)


def _run_talk(options: argparse.Namespace, config: Config, store: Store) -> int:
    if options.url is not None:
        from s2s.app.talk_remote import place_of, run_remote

        return run_remote(config, store, place_of(options), options.input, options.output)
    from s2s.app.talk import run_talk

    return run_talk(
        config,
        store,
        input_file=options.input,
        output_file=options.output,
        fast=options.fast,
        metrics_file=config.metrics.file,
    )


def _run_models(options: argparse.Namespace, store: Store) -> int:
    from s2s.app import commands

    match options.action:
        case "pull":
            names = options.names
            wanted = (
                store.select(names) if names else commands.needed_models(settings(options), store)
            )
            return commands.models_pull(store, wanted)
        case "path":
            return commands.models_path(store, options.names)
        case "convert":
            return commands.models_convert(
                store, options.source, options.quant, options.predictor_quant
            )
        case _:
            return commands.models_list(store)


def _run_voices(options: argparse.Namespace, store: Store) -> int:
    from s2s.app import voices

    match options.action:
        case "add" if options.audio is not None:
            return voices.voices_enrol(
                store, options.name, options.audio, options.text, options.model
            )
        case "add" if options.record is not None:
            return voices.voices_record(
                store, options.name, options.text, options.model, options.record,
                options.input_device,
            )  # fmt: skip
        case "add":
            return voices.voices_add(store, options.name)
        case "split":
            return voices.voices_split(store, options.name, anew=options.anew)
        case "me":
            return _run_me(options, store)
        case "verify":
            return voices.voices_verify(store, options.name, options.original)
        case _:
            return voices.voices_list(store)


def _run_me(options: argparse.Namespace, store: Store) -> int:
    from s2s.app import my_voice

    if options.erase:
        return my_voice.erase_me(store)
    if options.show:
        return my_voice.show_me(store)
    return my_voice.enrol_me(settings(options), store, options.from_file)


def settings(options: argparse.Namespace) -> Config:
    """The settings of all layers; the environment may name the profile and the file too."""
    from s2s.config import loader as config
    from s2s.config.typed import SettingError

    flags: list[tuple[str, str, str]] = []
    for text in options.set or ():
        key, equals, value = text.partition("=")
        if not equals:
            raise SettingError(f"--set {text}: name a setting as section.key=value")
        flags.append((f"--set {key}", key, value))
    shortcuts = SHORTCUTS | (VOICE_SHORTCUTS if options.command in SPEAKING else {})
    for flag, (key, _) in shortcuts.items():
        value = getattr(options, flag.replace("-", "_"))
        if value is not None:
            flags.append((f"--{flag}", key, value))
    if options.command == "talk":
        given = {flag: getattr(options, flag.replace("-", "_")) for flag in SWITCHES}
        flags += [(f"--{flag}", SWITCHES[flag][0], "true") for flag in given if given[flag]]
    if options.command == "serve":
        flags += given_settings(options)
    return config.load(
        profile=options.profile or os.environ.get("S2S_PROFILE") or None,
        file=options.config or os.environ.get("S2S_CONFIG") or None,
        flags=flags,
    )


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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="s2s",
        description="A local, real-time voice assistant: talk, be answered, interrupt.",
        epilog="Every setting is a flag as well: --session.language de. `s2s config` lists them.",
    )
    parser.add_argument("--version", action="version", version=f"s2s {__version__}")
    common = _common_flags()
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    subparsers = {
        name: commands.add_parser(name, help=text, description=text, parents=[common])
        for name, text in COMMANDS.items()
    }
    for name in SPEAKING:
        _add_shortcuts(subparsers[name].add_argument, VOICE_SHORTCUTS)
    talk = subparsers["talk"]
    talk.add_argument("--input", type=Path, help="talk to it with a sound file, not a microphone")
    talk.add_argument(
        "--output", type=Path, help="with --input: write both voices to this sound file"
    )
    talk.add_argument(
        "--fast", action="store_true", help="with --input: as fast as it can, not in real time"
    )
    for flag, (_, text) in SWITCHES.items():
        talk.add_argument(f"--{flag}", action="store_true", help=text)
    add_remote_flags(talk)
    say = subparsers["say"]
    say.add_argument("text", help="what to say; - reads it from the standard input")
    say.add_argument(
        "-o",
        "--output",
        type=Path,
        help="write a sound file (.wav, .flac, .ogg, .mp3; - is stdout), do not play",
    )
    transcribe = subparsers["transcribe"]
    transcribe.add_argument(
        "files", type=Path, nargs="+", metavar="FILE", help="WAV, FLAC, OGG or MP3; - is stdin"
    )
    add_flags(subparsers["serve"])
    subparsers["doctor"].add_argument(
        "--measure",
        action="store_true",
        help="measure Qwen3-TTS on this machine afresh, and print what was tried",
    )
    _add_model_actions(subparsers["models"], common)
    _add_voice_actions(subparsers["voices"], common)
    add_actions(subparsers["bench"], common)
    return parser


def _add_model_actions(models: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    actions = models.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser("list", help="what there is, and what of it is here", parents=[common])
    pull = actions.add_parser("pull", help="fetch models", parents=[common])
    pull.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="models, or groups (embedded, test); none: what the chosen profile needs",
    )
    convert = actions.add_parser(
        "convert", help="convert a Qwen3-TTS model ahead of time", parents=[common]
    )
    convert.add_argument("source", help="0.6b-base, another published name, a hub id, a folder")
    convert.add_argument("--quant", default="q4_k_m", help="of the talker (default: %(default)s)")
    convert.add_argument("--predictor-quant", help="of the code predictor (default: q8_0)")
    path = actions.add_parser("path", help="print where models lie", parents=[common])
    path.add_argument("names", nargs="+", metavar="NAME")


def _add_voice_actions(voices: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    actions = voices.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser("list", help="the voices on this machine", parents=[common])
    add = actions.add_parser("add", help="fetch a voice, or make one", parents=[common])
    add.add_argument("name", metavar="NAME", help="piper:en_US-joe-medium, or a name of your own")
    source = add.add_mutually_exclusive_group()
    source.add_argument("--audio", type=Path, help="clone it from this recording of 3 to 30 s")
    source.add_argument(
        "--record",
        type=float,
        nargs="?",
        const=14.0,  # the text that is shown takes twelve
        metavar="SECONDS",
        help="clone it from the microphone: read the text that is shown, or that of --text",
    )
    add.add_argument("--text", default="", help="every word that is said in the recording")
    add.add_argument("--model", default="0.6b-base", help="the Qwen3-TTS Base model it is for")
    me = actions.add_parser("me", help="answer only my voice: enrol it", parents=[common])
    me.add_argument(
        "--from", type=Path, dest="from_file", metavar="FILE", help="not from the microphone"
    )
    me.add_argument("--show", action="store_true", help="tell what is kept, and where")
    me.add_argument("--erase", action="store_true", help="forget my voice: everybody is answered")
    split = actions.add_parser("split", help="cut a Piper voice ahead of time", parents=[common])
    split.add_argument("name", metavar="VOICE", help="its .onnx file, or a model's name")
    split.add_argument("--anew", action="store_true", help="even if that was done before")
    verify = actions.add_parser("verify", help="check a voice's cut", parents=[common])
    verify.add_argument("name", metavar="VOICE", help="its .onnx file, or a model's name")
    verify.add_argument("--original", type=Path, help="the graph that a pair was made from")


def _common_flags() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    group = common.add_argument_group("settings")
    group.add_argument("--profile", metavar="NAME", help="settings that come with the program")
    group.add_argument("--config", type=Path, metavar="FILE", help="a YAML file of settings")
    group.add_argument(
        "--set", action="append", metavar="KEY=VALUE", help="one setting; may be given often"
    )
    _add_shortcuts(group.add_argument, SHORTCUTS)
    group.add_argument("--log-level", choices=LEVELS, help="how much is told (default: warning)")
    return common


def _add_shortcuts(add: Callable[..., object], shortcuts: dict[str, tuple[str, str]]) -> None:
    """Describe flags that set one key. add: the `add_argument` of a parser or of a group."""
    for flag, (_, text) in shortcuts.items():
        add(f"--{flag}", metavar=flag.rpartition("-")[2].upper(), help=text)
