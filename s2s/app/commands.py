"""What the commands do, but for talking, which is `talk.py`. Each returns the exit code."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator
from dataclasses import is_dataclass
from pathlib import Path

import numpy as np
import yaml

from s2s.app.terminal import megabytes, print_table
from s2s.config import registry, typed
from s2s.config.loader import as_dict
from s2s.config.schema import Config, sections
from s2s.core.audio import Block, check_output, empty, write_sound
from s2s.core.setting import documented
from s2s.core.untyped import is_mapping
from s2s.models.manifest import Model
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.system.cpu import cores
from s2s.system.encoding import decode_typed
from s2s.transport.local import list_devices, portaudio
from s2s.tts.speak import language_for, speak


def say(config: Config, store: Store, text: str, output: Path | None) -> int:
    """Speak `text` through the loudspeaker, or into a sound file; `-` reads it from stdin.

    It is read as in a conversation: "5 €" is "five euros", and markup is not spoken.
    """
    from s2s.app.loading import Threads

    if output is not None:
        check_output(output)
    if text == "-":
        text = decode_typed(sys.stdin.buffer.read())
    with contextlib.closing(
        registry.create_synthesizer(
            config.tts.backend, config.tts.options, Resources(store, Threads.of(config).tts)
        )
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


def devices() -> int:
    """Print the sound devices of this machine."""
    found = list_devices()
    if not found:
        print("no sound device on this machine", file=sys.stderr)
        return 1
    rows = [
        (
            str(device.index),
            device.name,
            f"{device.inputs}{' default' if device.default_input else ''}",
            f"{device.outputs}{' default' if device.default_output else ''}",
            f"{device.rate_hz} Hz",
        )
        for device in found
    ]
    print_table(("", "device", "inputs", "outputs", "rate"), rows)
    return 0


def models_list(store: Store) -> int:
    """Print every model: what it is, its size, its licence, whether it is here."""
    rows = [
        (model.name, megabytes(model.size_bytes), store.state(model), model.licence, model.about)
        for model in store.models
    ]
    print_table(("model", "size", "state", "licence", "what it is"), rows)
    return 0


def models_pull(store: Store, wanted: Iterable[Model]) -> int:
    """Fetch models and say where each lies."""
    for model in wanted:
        was = store.state(model)
        folder = store.pull(model)
        print(f"{model.name}: {'already in' if was == 'present' else 'fetched into'} {folder}")
    return 0


def models_path(store: Store, names: Iterable[str]) -> int:
    """Print the path of each model, fetching what is missing."""
    for name in names:
        print(store.path(name))
    return 0


def models_convert(store: Store, source: str, quant: str, predictor_quant: str | None) -> int:
    """Convert a Qwen3-TTS checkpoint, fetched if it is not here, and print the folder made."""
    from s2s.tts.qwen3 import convert_model

    folder = convert_model(
        source,
        store.root,
        quant,
        predictor_quant=predictor_quant,
        threads=cores(),
        progress=lambda name, done, total: store.progress(f"converting {name}", done, total),
    )
    print(folder)
    return 0


def needed_models(config: Config, store: Store) -> tuple[Model, ...]:
    """The models of the manifest that a session with this config loads."""
    known = {model.name for model in store.models}
    wanted = {config.models.vad, config.models.end_of_turn or ""} & known
    for stage in registry.STAGES:
        section = getattr(config, stage)
        backend = registry.find(stage, section.backend)
        options = typed.plain(section.options)
        values = options.values() if is_mapping(options) else ()
        texts = [value for value in values if isinstance(value, str)]
        wanted |= {name for text in texts for name in (text, backend.model_prefix + text)} & known
    return store.select(sorted(wanted))


def show_config(config: Config) -> int:
    """Print every setting as YAML, each with what it means: the form that --config reads."""
    values = as_dict(config)
    for name, section in sections().items():
        print(f"# {documented(Config)[name]}\n{name}:")
        for line in _described(section, getattr(config, name), values[name], 1):
            print(line)
        print()
    return 0


def _described(kind: type, instance: object, values: object, depth: int) -> Iterator[str]:
    """Lines of YAML for one dataclass, a comment before each field that has a docstring."""
    assert is_mapping(values)
    indent = "  " * depth
    texts = documented(kind)
    for key, value in values.items():
        if texts[key]:
            yield f"{indent}# {texts[key]}"
        part: object = getattr(instance, key)
        if is_mapping(value) and is_dataclass(part):
            yield f"{indent}{key}:"
            yield from _described(type(part), part, value, depth + 1)
        else:
            text = yaml.safe_dump({key: value}, allow_unicode=True, width=1_000)
            yield from (indent + line for line in text.rstrip("\n").splitlines())
