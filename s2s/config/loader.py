"""Reads a configuration (`schema.Config`) from its layers.

    profile < --config file < environment (S2S_...) < flags (--set, --section.key, --tts NAME)

Unknown keys are errors; a former name of a setting is read, with a hint.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import yaml

from s2s.config import registry, settings_yaml, typed
from s2s.config.schema import Config, LanguageVoiceConfig, StageConfig, TtsConfig, sections
from s2s.config.typed import Given, SettingError, Tree
from s2s.core.setting import former_names
from s2s.core.untyped import is_mapping
from s2s.system.encoding import EncodingError

DEFAULT_PROFILE = "embedded"
RESERVED = (
    "S2S_HOME",
    "S2S_PROFILE",
    "S2S_CONFIG",
    "S2S_LOG_LEVEL",
    "S2S_API_KEY",
    "S2S_REDIS_URL",
)
"""Environment variables of this program that are not settings of a session."""

_ENVIRONMENT = "S2S_"


def load(
    profile: str | None = None,
    file: str | Path | None = None,
    environment: Mapping[str, str] | None = None,
    flags: Iterable[tuple[str, str, str]] = (),
) -> Config:
    """Read a session's settings from its layers, lowest first.

    Args:
        profile: name of a file in `configs/`, without `.yaml`.
        file: a YAML file of the same form.
        environment: `S2S_TTS_VOICE` is `tts.voice`; `__` stands for a further dot. None is the
            environment of this process.
        flags: (flag as given, key, text), the last of a key wins.

    Raises:
        SettingError: a file that is not there or not YAML, an unknown key, a wrong value.
        registry.RegistryError: an unknown backend, or one that is not installed.
    """
    return from_tree(laid_over(lower_layers(profile, file, environment), from_keys(flags)))


def lower_layers(
    profile: str | None = None,
    file: str | Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Tree:
    """The layers of `load` below the flags.

    Raises:
        SettingError: as `load`.
    """
    layers = [read_file(profile_path(profile or DEFAULT_PROFILE))]
    if file is not None:
        layers.append(read_file(Path(file)))
    variables = os.environ if environment is None else environment
    layers.append(from_keys(_environment_keys(variables)))
    return functools.reduce(laid_over, layers)


def from_tree(tree: Tree) -> Config:
    """Make a config from a tree of values by section.

    Raises:
        SettingError, registry.RegistryError: as `load`.
    """
    built: dict[str, object] = {}
    for name, node in tree.items():
        if name not in sections():
            raise SettingError(f"{typed.origin_of(node)}: {typed.unknown_key(name, sections())}")
        if name not in registry.STAGES:
            built[name] = typed.convert(node, sections()[name], name)
    for stage in registry.STAGES:
        built[stage] = _stage(stage, tree.get(stage, {}))
    return Config(**cast(dict[str, Any], built))


def as_dict(config: Config) -> dict[str, object]:
    """The config as nested dictionaries that YAML can hold; `from_tree(typed.tree())` undoes it."""
    return cast(dict[str, object], typed.plain(config))


def profiles() -> tuple[str, ...]:
    """Names of the profiles that come with the program."""
    return tuple(sorted(path.stem for path in _profile_folder().glob("*.yaml")))


def profile_path(name: str) -> Path:
    """The file of a profile.

    Raises:
        SettingError: there is no such profile.
    """
    path = _profile_folder() / f"{name}.yaml"
    if name not in profiles():
        raise SettingError(f"--profile: {typed.unknown_key(name, profiles())}")
    return path


def read_file(path: Path) -> Tree:
    """A YAML file as a tree.

    Raises:
        SettingError: not there, not YAML, or not sections of settings.
    """
    try:
        document: object = settings_yaml.read(path.read_bytes()) or {}
        if is_mapping(document):
            return typed.tree(document, str(path))
    except OSError as error:
        raise SettingError(f"{path}: cannot be read ({error.strerror or error}).") from error
    except EncodingError as error:
        raise SettingError(f"{path}: {error}.") from error
    except (yaml.YAMLError, ValueError) as error:
        raise SettingError(f"{path}: is not YAML ({error}).") from error
    except RecursionError as error:
        raise SettingError(f"{path}: is nested without end, or too deeply.") from error
    raise SettingError(f"{path}: must hold sections such as `tts:`, got {document!r}")


def _profile_folder() -> Path:
    """`configs/`: inside the package where it was installed, beside it in a checkout."""
    package = Path(__file__).parents[1]
    inside = package / "configs"
    return inside if inside.is_dir() else package.parent / "configs"


def _stage(stage: registry.StageName, node: Tree | Given) -> StageConfig:
    """A stage's section, with its backend's options as the backend's own dataclass."""
    section = typed.section(node, stage)
    section = typed.renamed(sections()[stage], section, stage)
    own = {key: value for key, value in section.items() if key != "options"}
    built = cast(StageConfig, typed.build(sections()[stage], own, stage))
    options = typed.section(section.get("options", {}), f"{stage}.options")
    built = dataclasses.replace(built, options=_options(stage, built.backend, options, stage))
    return _with_voices(built) if isinstance(built, TtsConfig) else built


def _options(stage: registry.StageName, name: str, options: Tree, where: str) -> object:
    """The options of a backend as its own dataclass; `where` names them in messages."""
    backend = registry.find(stage, name)
    wanted = registry.config_class(backend)
    known = typed.field_types(wanted)
    given = _normalised(backend, typed.renamed(wanted, options, where))
    for key, value in given.items():
        if key not in known:
            unknown = typed.unknown_key(f"{where}.{key}", [*known, "backend", "threads"])
            raise SettingError(f"{typed.origin_of(value)}: {unknown} (backend {backend.name})")
    return typed.build(wanted, given, f"{where}.options")


def _with_voices(tts: TtsConfig) -> TtsConfig:
    """The voices by language, each with its backend's name and options.

    Raises:
        SettingError: options without a backend.
    """
    voices: dict[str, LanguageVoiceConfig] = {}
    for code, voice in tts.by_language.items():
        where = f"tts.by_language.{code}"
        options = voice.options
        if not voice.backend and options is not None:
            raise SettingError(f"{where}: options are of a backend; name it.")
        if voice.backend and not dataclasses.is_dataclass(options):
            node = typed.section(Given(options, where), where)
            options = _options("tts", voice.backend, node, where)
        voices[code] = dataclasses.replace(voice, options=options)
    return dataclasses.replace(tts, by_language=voices)


def _normalised(backend: registry.StageBackend, given: Tree) -> Tree:
    """The options with the backend's hook applied to them; origins are kept."""
    leaves = {key: node.value for key, node in given.items() if isinstance(node, Given)}
    origin = typed.origin_of(given)
    result: Tree = {key: node for key, node in given.items() if isinstance(node, dict)}
    for key, value in backend.normalise(leaves).items():
        before = given.get(key)
        source = before if isinstance(before, Given) else Given(value, origin, is_text=True)
        result[key] = dataclasses.replace(source, value=value)
    return result


def laid_over(low: Tree, high: Tree) -> Tree:
    """`high` over `low`; a stage whose backend changes forgets the options of the other one."""
    low = dict(low)
    for stage in registry.STAGES:
        below, above = low.get(stage), high.get(stage)
        if isinstance(below, dict) and isinstance(above, dict) and "backend" in above:
            old, new = below.get("backend"), above["backend"]
            default = sections()[stage]().backend
            old_name = old.value if isinstance(old, Given) else default
            if isinstance(new, Given) and new.value != old_name:
                low[stage] = {key: node for key, node in below.items() if key != "options"}
    return typed.merged(low, high)


def _environment_keys(environment: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """(variable, key, text) for every variable that is a setting. An empty one is not given: so
    compose files and scripts pass on what was not set."""
    keys: list[tuple[str, str, str]] = []
    for name, text in sorted(environment.items()):
        if not name.startswith(_ENVIRONMENT) or name in RESERVED or not text.strip():
            continue
        section, _, key = name.removeprefix(_ENVIRONMENT).lower().partition("_")
        keys.append((name, f"{section}.{key.replace('__', '.')}" if key else section, text))
    return keys


def from_keys(keys: Iterable[tuple[str, str, str]]) -> Tree:
    """A tree of (origin, dotted key, text). A key that a stage has not is its backend's option."""
    result: Tree = {}
    for origin, key, text in keys:
        names = key.split(".")
        if len(names) < 2 or not all(names):
            raise SettingError(f"{origin}: name a setting as section.key, got {key}")
        if names[0] not in sections():
            raise SettingError(f"{origin}: {typed.unknown_key(names[0], sections())}")
        fields = typed.field_types(sections()[names[0]])
        names[1] = names[1].replace("-", "_")  # deeper, a key may be of a user's own: pt-BR
        former = former_names(sections()[names[0]])
        if names[0] in registry.STAGES and names[1] not in (*fields, *former):
            names.insert(1, "options")
        node: Tree | Given = Given(text, origin, is_text=True)
        for name in reversed(names):
            node = {name: node}
        result = typed.merged(result, cast(Tree, node))
    return result
