"""The command `models`: what there is, fetched, found, converted."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from s2s.app.commands.table import Invocation
from s2s.app.terminal import megabytes, print_table
from s2s.config import registry, typed
from s2s.config.schema import Config
from s2s.core.untyped import is_mapping
from s2s.models.manifest import Model
from s2s.models.store import Store
from s2s.system.cpu import cores


def add_flags(parser: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    """Describe its actions."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
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


def run(call: Invocation) -> int:
    """Do the action that was given."""
    options, store = call.options, call.store
    match options.action:
        case "pull":
            names = options.names
            wanted = store.select(names) if names else needed_models(call.config(), store)
            return models_pull(store, wanted)
        case "path":
            return models_path(store, options.names)
        case "convert":
            return models_convert(store, options.source, options.quant, options.predictor_quant)
        case _:
            return models_list(store)


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
