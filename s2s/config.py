"""Every setting of a session in one frozen tree, read from layers.

    profile < --config file < environment (S2S_...) < flags (--set, --section.key, --tts NAME)

A setting's default is written once, in the dataclass it belongs to. Unknown keys are errors.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import yaml

from s2s import registry, typed
from s2s.typed import Given, Late, SettingError, Tree

if TYPE_CHECKING:
    from s2s.turns.endpoint import GraceConfig
    from s2s.turns.segmenter import SegmenterConfig

DEFAULT_PROFILE = "embedded"
RESERVED = ("S2S_HOME", "S2S_PROFILE", "S2S_CONFIG", "S2S_LOG_LEVEL")
"""Environment variables of this program that are not settings of a session."""

_ENVIRONMENT = "S2S_"


@dataclass(frozen=True, slots=True)
class TurnsConfig:
    """When the person's turn begins and ends."""

    vad_model: str = "silero-vad"
    """Voice activity model: a name of the model list, or a path."""
    end_of_turn_model: str | None = "smart-turn-v3"
    """Model that hears whether a pause ends the turn; none: silence alone decides."""
    segmenter: SegmenterConfig = field(default_factory=Late("s2s.turns.segmenter:SegmenterConfig"))
    """Speech from sound."""
    grace: GraceConfig = field(default_factory=Late("s2s.turns.endpoint:GraceConfig"))
    """How long a pause may last before the turn is over."""
    unanswered_reopen_ms: int = 7000
    """Speech that comes back within this time, while nothing was answered yet, reopens the turn."""
    stalled_input_ms: int = 1000
    """A turn whose audio stops coming (muted, unplugged) ends after this time."""

    def __post_init__(self) -> None:
        if self.unanswered_reopen_ms < 0 or self.stalled_input_ms <= 0:
            raise ValueError(
                f"need unanswered_reopen_ms >= 0 and stalled_input_ms > 0, got "
                f"{self.unanswered_reopen_ms} and {self.stalled_input_ms}"
            )


@dataclass(frozen=True, slots=True)
class SttConfig:
    """Who writes down what the person says."""

    backend: str = "moonshine"
    """`s2s doctor` lists the backends."""
    language: str | None = None
    """ISO 639-1 code of what is spoken; none: heard, where the backend can."""
    partials: bool = True
    """Write down while the person speaks."""
    threads: int | None = None
    """Threads of the backend; none: chosen for this machine."""
    options: object = None
    """Options of the backend."""


@dataclass(frozen=True, slots=True)
class LlmConfig:
    """Who answers."""

    backend: str = "llama"
    """`s2s doctor` lists the backends."""
    system_prompt: str = (
        "You are a friendly voice assistant. Answer in one or two short spoken sentences, "
        "without lists or markdown."
    )
    """What the model is told before the conversation."""
    max_history_turns: int = 12
    """Exchanges the model is shown; older ones are forgotten."""
    max_history_tokens: int = 1024
    """Tokens of the conversation the model is shown, system prompt included."""
    threads: int | None = None
    """Threads of the backend; none: chosen for this machine."""
    options: object = None
    """Options of the backend."""

    def __post_init__(self) -> None:
        if self.max_history_turns < 1 or self.max_history_tokens < 1:
            raise ValueError(
                f"max_history_turns and max_history_tokens must be at least 1, got "
                f"{self.max_history_turns} and {self.max_history_tokens}"
            )


@dataclass(frozen=True, slots=True)
class TtsConfig:
    """Who speaks the answer."""

    backend: str = "hibari"
    """`s2s doctor` lists the backends."""
    voice: str | None = None
    """One of the backend's voices; none: its own default."""
    language: str | None = None
    """ISO 639-1 code of the answer; none: the voice's own."""
    speculative: bool = True
    """Make the sound of an answer before it is certain that the turn is over."""
    threads: int | None = None
    """Threads of the backend; none: chosen for this machine."""
    options: object = None
    """Options of the backend."""


@dataclass(frozen=True, slots=True)
class AudioConfig:
    """Microphone and speaker."""

    input_device: str | None = None
    """Number or part of the name, as `s2s devices` shows it; none: the system's default."""
    output_device: str | None = None
    """Number or part of the name, as `s2s devices` shows it; none: the system's default."""
    output_hz: int = 24_000
    """Rate of the sound before it goes to the device, whose own rate may be another."""
    echo: Literal["auto", "on", "off"] = "auto"
    """Cancel the assistant's own voice in the microphone; auto: where the wheel is installed."""
    on_device_lost: Literal["wait", "end"] = "wait"
    """What to do when a device disappears."""

    def __post_init__(self) -> None:
        if not 8_000 <= self.output_hz <= 192_000:
            raise ValueError(f"output_hz must be 8000 to 192000, got {self.output_hz}")


@dataclass(frozen=True, slots=True)
class MetricsConfig:
    """What is measured, and where it goes."""

    file: Path | None = None
    """One JSON line for every response is added to this file."""


@dataclass(frozen=True, slots=True)
class Config:
    """A whole session."""

    turns: TurnsConfig = field(default_factory=TurnsConfig)
    stt: SttConfig = field(default_factory=SttConfig)
    llm: LlmConfig = field(default_factory=LlmConfig)
    tts: TtsConfig = field(default_factory=TtsConfig)
    audio: AudioConfig = field(default_factory=AudioConfig)
    metrics: MetricsConfig = field(default_factory=MetricsConfig)


SECTIONS: dict[str, type] = {
    name: cast(type, kind) for name, kind in typed.field_types(Config).items()
}


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
    layers = [read_file(profile_path(profile or DEFAULT_PROFILE))]
    if file is not None:
        layers.append(read_file(Path(file)))
    variables = os.environ if environment is None else environment
    layers.append(_from_keys(_environment_keys(variables)))
    layers.append(_from_keys(flags))
    return from_tree(functools.reduce(_laid_over, layers))


def from_tree(tree: Tree) -> Config:
    """Make a config from a tree of values by section.

    Raises:
        SettingError, registry.RegistryError: as `load`.
    """
    sections: dict[str, object] = {}
    for name, node in tree.items():
        if name not in SECTIONS:
            raise SettingError(f"{typed.origin_of(node)}: {typed.unknown_key(name, SECTIONS)}")
        if isinstance(node, Given) and node.value is None:
            continue
        section = node if isinstance(node, dict) else {}
        if isinstance(node, Given):
            raise SettingError(f"{node.origin}: {name} must be a section, got {node.value!r}")
        sections[name] = section
    for stage in registry.STAGES:
        sections[stage] = _with_options(stage, cast(Tree, sections.get(stage, {})))
    for name, section in sections.items():
        if name not in registry.STAGES:
            sections[name] = typed.build(SECTIONS[name], cast(Tree, section), name)
    return Config(**cast(dict[str, Any], sections))


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
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingError(f"{path}: cannot be read ({error.strerror or error}).") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SettingError(f"{path}: is not YAML ({error}).") from error
    if not isinstance(document or {}, dict):
        raise SettingError(f"{path}: must hold sections such as `tts:`, got {document!r}")
    return typed.tree(document or {}, str(path))


def _profile_folder() -> Path:
    """`configs/`: inside the package where it was installed, beside it in a checkout."""
    package = Path(__file__).parent
    inside = package / "configs"
    return inside if inside.is_dir() else package.parent / "configs"


def _with_options(stage: registry.Stage, section: Tree) -> object:
    """A stage's section with its backend's options as the backend's own dataclass."""
    own = {key: node for key, node in section.items() if key != "options"}
    own_fields = [name for name in typed.field_types(SECTIONS[stage]) if name != "options"]
    built = typed.build(SECTIONS[stage], own, stage)
    backend = registry.find(stage, cast(SttConfig | LlmConfig | TtsConfig, built).backend)
    wanted = registry.config_class(backend)
    given = section.get("options", {})
    if isinstance(given, Given):
        if given.value is not None:
            raise SettingError(f"{given.origin}: {stage}.options must be a section of options")
        given = {}
    known = typed.field_types(wanted)
    for key, node in given.items():
        if key not in known:
            near = typed.unknown_key(f"{stage}.{key}", [*known, *own_fields])
            raise SettingError(f"{typed.origin_of(node)}: {near} (backend {backend.name})")
    options = typed.build(wanted, _normalised(backend, given), f"{stage}.options")
    return dataclasses.replace(cast(Any, built), options=options)


def _normalised(backend: registry.Backend, given: Tree) -> Tree:
    """The options with the backend's hook applied to them; origins are kept."""
    leaves = {key: node.value for key, node in given.items() if isinstance(node, Given)}
    origin = typed.origin_of(given)
    result: Tree = {key: node for key, node in given.items() if isinstance(node, dict)}
    for key, value in backend.normalise(leaves).items():
        before = given.get(key)
        source = before if isinstance(before, Given) else Given(value, origin, is_text=True)
        result[key] = dataclasses.replace(source, value=value)
    return result


def _laid_over(low: Tree, high: Tree) -> Tree:
    """`high` over `low`; a stage whose backend changes forgets the options of the other one."""
    low = dict(low)
    for stage in registry.STAGES:
        below, above = low.get(stage), high.get(stage)
        if isinstance(below, dict) and isinstance(above, dict) and "backend" in above:
            old, new = below.get("backend"), above["backend"]
            default = SECTIONS[stage]().backend
            old_name = old.value if isinstance(old, Given) else default
            if isinstance(new, Given) and new.value != old_name:
                low[stage] = {key: node for key, node in below.items() if key != "options"}
    return typed.merged(low, high)


def _environment_keys(environment: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """(variable, key, text) for every variable that is a setting."""
    keys: list[tuple[str, str, str]] = []
    for name, text in sorted(environment.items()):
        if not name.startswith(_ENVIRONMENT) or name in RESERVED:
            continue
        section, _, key = name.removeprefix(_ENVIRONMENT).lower().partition("_")
        keys.append((name, f"{section}.{key.replace('__', '.')}" if key else section, text))
    return keys


def _from_keys(keys: Iterable[tuple[str, str, str]]) -> Tree:
    """A tree of (origin, dotted key, text). A key that a stage has not is its backend's option."""
    result: Tree = {}
    for origin, key, text in keys:
        names = key.replace("-", "_").split(".")
        if names[0] not in SECTIONS:
            raise SettingError(f"{origin}: {typed.unknown_key(names[0], SECTIONS)}")
        if len(names) < 2 or not all(names):
            raise SettingError(f"{origin}: name a setting as section.key=value, got {key}={text}")
        fields = typed.field_types(SECTIONS[names[0]])
        if names[0] in registry.STAGES and names[1] not in fields:
            names.insert(1, "options")
        node: Tree | Given = Given(text, origin, is_text=True)
        for name in reversed(names):
            node = {name: node}
        result = typed.merged(result, cast(Tree, node))
    return result
