"""Completion of the command line in bash, zsh and fish, written from the parser's own tables.

The scripts hold all words: completing starts no program.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from s2s.app.parser_tables import Follows, TakenFlag, parsers, subparsers, taken_flags
from s2s.core.untyped import is_mapping
from s2s.models.store import Store

Shell = Literal["bash", "zsh", "fish"]
SHELLS: tuple[Shell, ...] = get_args(Shell)


@dataclass(frozen=True, slots=True)
class CompletedFlag:
    """A flag, and what is offered behind it."""

    names: tuple[str, ...]
    help: str
    follows: Follows
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CompletedPlace:
    """What may be typed at one place: behind `s2s`, behind `s2s models`, behind `s2s models rm`."""

    commands: Mapping[str, str]
    """Name -> what it is."""
    flags: tuple[CompletedFlag, ...]
    words: tuple[str, ...] = ()
    """For an argument without a flag."""
    files: bool = False
    """Such an argument is a file."""


@dataclass(frozen=True, slots=True)
class Completions:
    """All places by path, such as "/models/rm"; and the flags that set one setting each."""

    places: Mapping[str, CompletedPlace]
    settings: tuple[str, ...]


def completions(parser: argparse.ArgumentParser, store: Store) -> Completions:
    """What `parser`, with the flags of every command, takes on this machine."""
    words = _known_words(store)
    places: dict[str, CompletedPlace] = {}
    for path, each in parsers(parser):
        taken = taken_flags(each)
        bare = [flag for flag in taken if not flag.names]
        places["".join(f"/{name}" for name in path)] = CompletedPlace(
            {name: sub.description or "" for name, sub in subparsers(each).items()},
            tuple(_completed(flag, words) for flag in taken if flag.names),
            tuple(word for flag in bare for word in _offered(flag, words, " ".join(path))),
            any(flag.follows == "file" for flag in bare),
        )
    talk = places["/talk"]
    here = places[""]
    names = {name for flag in here.flags for name in flag.names}
    flags = [flag for flag in talk.flags if not names & set(flag.names)]
    places[""] = CompletedPlace(here.commands, (*here.flags, *flags))
    return Completions(places, _settings())


def script(shell: Shell, found: Completions) -> str:
    """The script for a shell, to be sourced by it."""
    match shell:
        case "bash":
            return _bash(found)
        case "zsh":
            return _zsh(found)
        case "fish":
            return _fish(found)


def _completed(flag: TakenFlag, words: Mapping[str, tuple[str, ...]]) -> CompletedFlag:
    return CompletedFlag(flag.names, flag.help, flag.follows, _offered(flag, words, ""))


def _offered(flag: TakenFlag, words: Mapping[str, tuple[str, ...]], path: str) -> tuple[str, ...]:
    return flag.choices or words.get(f"{path} {flag.dest}".strip(), ())


def _known_words(store: Store) -> dict[str, tuple[str, ...]]:
    """What may stand behind flags and arguments whose parser leaves that open, by name."""
    from s2s.config import registry
    from s2s.config.loader import profiles

    models = tuple(model.name for model in store.models)
    groups = tuple(dict.fromkeys(group for model in store.models for group in model.groups))
    stages: tuple[registry.StageName, ...] = ("stt", "llm", "tts")
    backends = {
        stage: tuple(backend.name for backend in registry.backends(stage)) for stage in stages
    }
    return {
        **backends,
        "profile": tuple(profiles()),
        "models pull names": models + groups,
        "models rm names": models + groups,
        "models path names": models,
    }


def _settings() -> tuple[str, ...]:
    """`--section.key` of each setting that is one value, with the options of every backend that is
    installed."""
    from s2s.config import registry
    from s2s.config.loader import as_dict, from_tree
    from s2s.config.typed import field_types

    keys = {key.replace(".options.", "."): None for key in _keys(as_dict(from_tree({})))}
    for backend in registry.BACKENDS:
        if registry.missing(backend):
            continue
        options = field_types(registry.config_class(backend))
        keys |= {f"{backend.stage}.{key}": None for key in options}
    return tuple(f"--{key}" for key in keys)


def _keys(tree: Mapping[str, object], before: str = "") -> Iterator[str]:
    for key, value in tree.items():
        if is_mapping(value):
            yield from _keys(value, f"{before}{key}.")
        else:
            yield f"{before}{key}"


def _words(place: CompletedPlace) -> list[str]:
    flags = [name for flag in place.flags for name in flag.names]
    return [*place.commands, *place.words, *flags]


def _patterns(found: Completions) -> str:
    return "|".join(shlex.quote(path) for path in found.places if path)


def _values(found: Completions, files: str, words: str) -> list[str]:
    """Lines of a `case` in bash or zsh on "PLACE FLAG": what comes behind each flag."""
    lines: list[str] = []
    for path, place in found.places.items():
        for flag in place.flags:
            if flag.follows == "nothing":
                continue
            patterns = "|".join(shlex.quote(f"{path} {name}") for name in flag.names)
            does = files if flag.follows == "file" else words.format(" ".join(flag.words))
            lines.append(f"        {patterns}) {does}; return ;;")
    return lines


def _places(found: Completions, files: str, words: str) -> list[str]:
    """Lines of a `case` on the place: what may be typed there."""
    return [
        f"        {shlex.quote(path)}) {words.format(' '.join(_words(place)))}"
        f"{f'; {files}' if place.files else ''} ;;"
        for path, place in found.places.items()
    ]


def _cases(found: Completions, files: str, words: str) -> list[str]:
    """The rest of the function in bash or zsh, from inside of its loop over `$word`: finds the
    place, and completes `$now` there."""
    return [
        '        case "$place/$word" in',
        f'            {_patterns(found)}) place="$place/$word" ;;',
        "        esac",
        "    done",
        '    case "$place $before" in',
        *_values(found, files, words),
        "    esac",
        '    case "$now" in',
        f"        --*.*) {words.format(' '.join(found.settings))}; return ;;",
        "    esac",
        '    case "$place" in',
        *_places(found, files, words),
        "    esac",
        "}",
    ]


def _bash(found: Completions) -> str:
    files = 'COMPREPLY+=($(compgen -f -- "$now")); compopt -o filenames'
    words = 'COMPREPLY+=($(compgen -W "{}" -- "$now"))'
    lines = [
        "# bash completion for s2s, written by: python -m s2s completion bash",
        "_s2s() {",
        "    local now=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} place= word",
        "    COMPREPLY=()",
        '    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
        *_cases(found, files, words),
        "complete -F _s2s s2s",
    ]
    return "\n".join(lines) + "\n"


def _zsh(found: Completions) -> str:
    lines = [
        "#compdef s2s",
        "# zsh completion for s2s, written by: python -m s2s completion zsh",
        "_s2s() {",
        '    local now="${words[CURRENT]}" before="${words[CURRENT-1]}" place="" word',
        '    for word in "${(@)words[2,CURRENT-1]}"; do',
        *_cases(found, "_files", "compadd -- {}"),
        'if [ "${funcstack[1]}" = "_s2s" ]; then _s2s "$@"; else compdef _s2s s2s; fi',
    ]
    return "\n".join(lines) + "\n"


def _fish(found: Completions) -> str:
    paths = " ".join(shlex.quote(path) for path in found.places if path)
    lines = [
        "# fish completion for s2s, written by: python -m s2s completion fish",
        "function __s2s_at",
        "    set -l place ''",
        "    for word in (commandline -opc)[2..-1]",
        f'        if contains -- "$place/$word" {paths}',
        '            set place "$place/$word"',
        "        end",
        "    end",
        '    test "$place" = "$argv[1]"',
        "end",
        "complete -c s2s -f",
    ]
    for path, place in found.places.items():
        at = f'complete -c s2s -n "__s2s_at {shlex.quote(path)}"'
        lines += [f"{at} -a {name} -d {_told(about)}" for name, about in place.commands.items()]
        if place.words:
            lines.append(f"{at} -a {shlex.quote(' '.join(place.words))}")
        if place.files:
            lines.append(f"{at} -F")
        lines += [f"{at} {_fish_flag(flag)}" for flag in place.flags]
    keys = [key.removeprefix("--") for key in found.settings]
    lines += [f"complete -c s2s -l {key} -x" for key in keys]
    return "\n".join(lines) + "\n"


def _fish_flag(flag: CompletedFlag) -> str:
    names = [f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in flag.names]
    match flag.follows:
        case "nothing":
            value = ""
        case "file":
            value = " -r -F"
        case "word":
            value = f" -x -a {shlex.quote(' '.join(flag.words))}" if flag.words else " -x"
    return f"{' '.join(names)}{value} -d {_told(flag.help)}"


def _told(text: str) -> str:
    """A line of help as one word of a shell, without what argparse replaces."""
    return shlex.quote(re.sub(r"%\(\w+\)s", "...", text).replace("%%", "%"))
