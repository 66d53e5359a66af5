"""The command `say`: a text through the loudspeaker, or into a sound file."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from s2s.app.commands.table import Invocation
from s2s.config.schema import Config
from s2s.core.audio import Block, check_output, empty, write_sound
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.system.encoding import decode_typed
from s2s.transport.local import portaudio
from s2s.tts.speak import language_for, speak


def add_flags(parser: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    """Describe its arguments."""
    del common
    parser.add_argument("text", help="what to say; - reads it from the standard input")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        help="write a sound file (.wav, .flac, .ogg, .mp3; - is stdout), do not play",
    )


def run(call: Invocation) -> int:
    """Speak the text that was given."""
    return say(call.config(), call.store, call.options.text, call.options.output)


def say(config: Config, store: Store, text: str, output: Path | None) -> int:
    """Speak `text` through the loudspeaker, or into a sound file; `-` reads it from stdin.

    It is read as in a conversation: "5 €" is "five euros", and markup is not spoken.
    """
    from s2s.app.loading import Threads, create_voice

    if output is not None:
        check_output(output)
    if text == "-":
        text = decode_typed(sys.stdin.buffer.read())
    with contextlib.closing(
        create_voice(config.tts, Resources(store, Threads.of(config).tts))
    ) as synthesizer:
        rate_hz = synthesizer.capabilities.sample_rate_hz
        supported = synthesizer.capabilities.languages
        language = language_for(text, supported, config.session.language)
        blocks = (chunk.samples for chunk in speak(text, synthesizer, language).chunks)
        if output is None:
            return _play(blocks, rate_hz)
        samples = np.concatenate([empty(), *blocks])
    if not len(samples):
        print("nothing to say in that text", file=sys.stderr)
        return 1
    write_sound(output, samples, rate_hz)
    where = sys.stderr if str(output) == "-" else sys.stdout
    print(f"{output}: {len(samples) / rate_hz:.2f} s at {rate_hz} Hz", file=where)
    return 0


def _play(blocks: Iterable[Block], rate_hz: int) -> int:
    """Play blocks float32 [samples] as they come; returns when the last was heard."""
    device = portaudio()
    heard = False
    with device.OutputStream(samplerate=rate_hz, channels=1, dtype="float32") as stream:
        for block in blocks:
            stream.write(block[:, np.newaxis])
            heard = True
    if not heard:
        print("nothing to say in that text", file=sys.stderr)
    return 0 if heard else 1
