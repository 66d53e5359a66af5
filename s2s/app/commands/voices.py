"""The command `voices`: what there is, add or enrol one, cut a Piper voice for streaming, check."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from s2s.app.commands.table import Invocation
from s2s.app.terminal import print_table
from s2s.core.audio import Block
from s2s.models.store import Store
from s2s.tts.trim import trimmed

if TYPE_CHECKING:
    from s2s.tts.vits import Comparison


def add_flags(parser: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    """Describe its actions."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
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
    gone = actions.add_parser("rm", help="delete voices from this machine", parents=[common])
    gone.add_argument("names", nargs="+", metavar="VOICE", help="as `voices list` shows it")
    gone.add_argument("--yes", action="store_true", help="do not ask")
    split = actions.add_parser("split", help="cut a Piper voice ahead of time", parents=[common])
    split.add_argument("name", metavar="VOICE", help="its .onnx file, or a model's name")
    split.add_argument("--anew", action="store_true", help="even if that was done before")
    verify = actions.add_parser("verify", help="check a voice's cut", parents=[common])
    verify.add_argument("name", metavar="VOICE", help="its .onnx file, or a model's name")
    verify.add_argument("--original", type=Path, help="the graph that a pair was made from")


def run(call: Invocation) -> int:
    """Do the action that was given."""
    options, store = call.options, call.store
    match options.action:
        case "add" if options.audio is not None:
            return voices_enrol(store, options.name, options.audio, options.text, options.model)
        case "add" if options.record is not None:
            return voices_record(
                store, options.name, options.text, options.model, options.record,
                options.input_device,
            )  # fmt: skip
        case "add":
            return voices_add(store, options.name)
        case "rm":
            return voices_rm(store, options.names, sure=options.yes)
        case "split":
            return voices_split(store, options.name, anew=options.anew)
        case "me":
            return _run_me(call)
        case "verify":
            return voices_verify(store, options.name, options.original)
        case _:
            return voices_list(store)


def _run_me(call: Invocation) -> int:
    from s2s.app.voices import my_voice

    if call.options.erase:
        return my_voice.erase_me(call.store)
    if call.options.show:
        return my_voice.show_me(call.store)
    return my_voice.enrol_me(call.config(), call.store, call.options.from_file)


def voices_list(store: Store) -> int:
    """Print the voices of every backend that is installed."""
    from s2s.app.voices.listed import voices_here

    rows = [(voice.flags, backend, voice.about) for backend, voice in voices_here(store)]
    print_table(("use it with", "backend", "what it is"), rows)
    if not any(backend == "piper" for _, backend, _ in rows):
        print("a Piper voice of some 50 languages: python -m s2s voices add piper:en_US-joe-medium")
    return 0


def voices_rm(store: Store, names: list[str], *, sure: bool) -> int:
    """Delete voices, once that is confirmed.

    Raises:
        KeptError: no such voice, one that came with a package or a model or is used, nobody
            confirms, or it cannot be deleted.
    """
    from s2s.app.keeping.removal import remove
    from s2s.app.voices.removed import voice_removal

    return remove(store.root, [voice_removal(store, name) for name in names], sure=sure)


def voices_add(store: Store, name: str) -> int:
    """Fetch a published Piper voice, such as `piper:en_US-joe-medium`, and cut it."""
    from s2s.app.voices.piper_voices import add_voice

    path = add_voice(name, store)
    print(f"{name}: {path}")
    return voices_split(store, str(path), anew=False)


TO_READ = (
    "The old lighthouse stood alone above the quiet harbour, and every evening, just before the "
    "ships came home, a small boy climbed its ninety-nine steps to light the lamp. He never once "
    "complained about the wind."
)
"""Read aloud in about twelve seconds, with most sounds of English in it."""


def voices_enrol(store: Store, name: str, audio: Path, text: str, model: str) -> int:
    """Make a voice of that name for Qwen3-TTS from a recording and, if given, its transcript."""
    from s2s.core.audio import read_wav
    from s2s.tts.qwen3 import VOICE_RATE_HZ

    pcm, _ = read_wav(audio, VOICE_RATE_HZ)
    return _enrol(store, name, pcm, text, model, str(audio))


def voices_record(
    store: Store, name: str, text: str, model: str, seconds: float, device: str | None
) -> int:
    """Make a voice from the microphone: the person reads `text`, or the one that is shown."""
    from s2s.core.clock import SystemClock
    from s2s.transport.record import record
    from s2s.tts.qwen3 import VOICE_RATE_HZ

    text = text or TO_READ
    print(f"Read this aloud, at your own pace; {seconds:g} s are recorded:\n\n    {text}\n")

    def told(done_s: float) -> None:
        print(f"\r  {seconds - done_s:4.1f} s left ", end="", file=sys.stderr, flush=True)

    pcm = record(device, seconds, VOICE_RATE_HZ, SystemClock(), told)
    print(file=sys.stderr)
    return _enrol(store, name, trimmed(pcm, VOICE_RATE_HZ), text, model, "the recording")


def _enrol(store: Store, name: str, pcm: Block, text: str, model: str, source: str) -> int:
    from s2s.system.cpu import cores
    from s2s.tts.qwen3 import enrol_voice

    made = enrol_voice(name, pcm, text, model=model, home=store.root, threads=cores())
    for warning in made.warnings:
        print(f"note: {source}: {warning}", file=sys.stderr)
    print(f"{name}: {made.path}")
    print(f"speak with it: python -m s2s say --tts qwen3 --voice '{name}' 'Hello.'")
    if not text:
        print("without --text it is cloned by its timbre alone; the transcript makes it closer")
    return 0


def voices_split(store: Store, name: str, *, anew: bool) -> int:
    """Cut a Piper voice, by path or model name, so that it streams from its first use on."""
    from s2s.tts.vits import prepare_voice

    split = prepare_voice(store.path(name), anew=anew)
    way = "in steps" if split.steps else f"in windows with {split.context.left} frames of context"
    print(f"cut into {split.folder}: decodes {way}")
    return 0


def voices_verify(store: Store, name: str, original: Path | None) -> int:
    """Check that a voice loses nothing by streaming; 1 when it does."""
    from s2s.tts.vits import verify_voice

    verdict = verify_voice(store.path(name), original=original)
    print(f"{verdict.path}")
    context = f"{verdict.context_frames} frames of context"
    print(f"cut {verdict.cut}, decodes in {verdict.decoding}, {context}")
    lossless = "pass" if verdict.lossless else "FAIL"
    print(f"{lossless}  lossless: in pieces against at once, {_told(verdict.pieces)}")
    if verdict.whole is not None:
        faithful = {True: "pass", False: "FAIL", None: "----"}[verdict.faithful]
        print(f"{faithful}  faithful: against the original graph, {_told(verdict.whole)}")
    if verdict.prosody_kept is None:
        print("----  prosody: give the graph it was made from with --original to compare")
    else:
        kept = "pass" if verdict.prosody_kept else "FAIL"
        print(f"{kept}  prosody: {verdict.frames} frames, original {verdict.original_frames}")
    return 0 if verdict.passed else 1


def _told(found: Comparison) -> str:
    return f"max abs {found.error:.1e} where {found.allowed:.1e} is rounding"
