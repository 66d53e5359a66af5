"""Every entry of the registry is real, and what is missing says how to get it."""

from __future__ import annotations

import ast
import dataclasses
import importlib.util
import inspect
import tomllib
from functools import cache
from pathlib import Path

import pytest

from s2s.config import registry, typed
from s2s.config.registry import BACKENDS, RegistryError, StageBackend
from s2s.llm.base import ChatModel
from s2s.models.manifest import read_manifest
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.stt.base import Transcriber
from s2s.tts.base import Synthesizer
from tests.support.sources import parsed

ROOT = Path(__file__).parents[2]
PROTOCOLS: dict[str, type] = {"stt": Transcriber, "llm": ChatModel, "tts": Synthesizer}
IDS = [f"{backend.stage}-{backend.name}" for backend in BACKENDS]


@pytest.fixture(params=BACKENDS, ids=IDS)
def backend(request: pytest.FixtureRequest) -> StageBackend:
    return request.param


def test_names_are_unique_within_a_stage():
    assert len({(backend.stage, backend.name) for backend in BACKENDS}) == len(BACKENDS)


def test_every_stage_has_a_default_that_works_offline():
    for stage in registry.STAGES:
        assert registry.backends(stage)[0].local


def test_its_module_is_there(backend: StageBackend):
    for reference in (backend.factory, backend.config):
        assert importlib.util.find_spec(reference.partition(":")[0]) is not None


def test_its_extra_is_in_the_project_file(backend: StageBackend):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert backend.extra in project["project"]["optional-dependencies"]


def test_its_models_are_in_the_manifest(backend: StageBackend):
    assert set(backend.models) <= set(read_manifest())


def test_its_models_are_those_of_its_default_options(backend: StageBackend):
    options = typed.plain(_options(backend)())
    assert isinstance(options, dict)
    named = {name for name in options.values() if isinstance(name, str)}
    named |= {backend.model_prefix + name for name in named}
    assert named & set(read_manifest()) == set(backend.models)


def test_it_has_a_config_and_the_methods_of_its_stage(backend: StageBackend):
    options = _options(backend)
    assert dataclasses.is_dataclass(options)
    assert options.__dataclass_params__.frozen  # pyright: ignore[reportAttributeAccessIssue]
    assert options.__doc__
    options()
    factory = typed.load_reference(backend.factory)
    assert isinstance(factory, type)
    assert len(inspect.signature(factory).parameters) == 2
    protocol = PROTOCOLS[backend.stage]
    wanted = {name for name in vars(protocol) if not name.startswith("_")}
    assert wanted <= set(dir(factory))


def test_what_works_with_a_server_has_the_same_methods(backend: StageBackend):
    assert bool(backend.server_option) == bool(backend.with_server)
    if not backend.server_option:
        return
    assert backend.server_option in {each.name for each in dataclasses.fields(_options(backend))}
    factory = typed.load_reference(backend.with_server)
    assert isinstance(factory, type)
    wanted = {name for name in vars(PROTOCOLS[backend.stage]) if not name.startswith("_")}
    assert wanted <= set(dir(factory))


def test_no_option_is_hidden_behind_a_setting_of_its_stage(backend: StageBackend):
    """`tts.backend` is the stage's own, so a backend cannot have an option of that name."""
    options = {field.name for field in dataclasses.fields(_options(backend))}
    assert not options & {"backend", "options"}


def test_a_missing_package_says_which_extra_to_install(tmp_path: Path):
    absent = StageBackend("stt", "x", "", "x:X", "x:C", "embedded", ("no_such_package|nor_this",))
    with pytest.raises(RegistryError, match=r"no_such_package or nor_this.*pip install 's2s\[emb"):
        registry.config_class(absent)


def test_a_module_that_cannot_be_imported_says_so(monkeypatch: pytest.MonkeyPatch):
    broken = StageBackend("stt", "x", "", "s2s.stt.nowhere:X", "s2s.stt.nowhere:C", "embedded")
    with pytest.raises(RegistryError, match="cannot be imported"):
        registry.config_class(broken)


def test_options_of_another_backend_are_refused(tmp_path: Path):
    if registry.missing(registry.find("stt", "moonshine")):
        pytest.skip("not installed")
    with pytest.raises(RegistryError, match="takes options of MoonshineConfig, not str"):
        registry.create_transcriber("moonshine", "options", Resources(Store(tmp_path)))


def test_one_of_two_packages_is_enough():
    either = StageBackend("stt", "x", "", "x:X", "x:C", "embedded", ("no_such_package|json",))
    assert registry.missing(either) == ()


def test_it_is_local_unless_it_asks_a_server(backend: StageBackend) -> None:
    fields = {field.name for field in dataclasses.fields(_options(backend))}
    assert backend.local == ("base_url" not in fields)


def test_each_of_its_options_is_used(backend: StageBackend) -> None:
    """Read somewhere in what it is made of, or listed with the reason."""
    without_effect = {"codec_left_context_frames"}  # a server's, read so that its files can be used
    files = [*(ROOT / "s2s" / "system").rglob("*.py")]
    for reference in filter(None, (backend.config, backend.with_server)):
        module = reference.partition(":")[0].replace(".", "/")
        files += (ROOT / module).parent.glob("*.py")
    read = set[str]().union(*map(attributes_read, files))
    options = {field.name for field in dataclasses.fields(_options(backend))}
    assert options - read <= without_effect


@cache
def attributes_read(path: Path) -> frozenset[str]:
    """Names of attributes that a module reads, of anything."""
    return frozenset(
        node.attr
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    )


def _options(backend: StageBackend) -> type:
    """The class of its options, whether or not what it needs is installed."""
    found = typed.load_reference(backend.config)
    assert isinstance(found, type)
    return found


def test_every_voice_has_a_pace_and_a_volume(backend: StageBackend) -> None:
    options = {field.name for field in dataclasses.fields(_options(backend))}
    assert backend.stage != "tts" or {"speed", "volume_db"} <= options
