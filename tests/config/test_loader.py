"""Settings in layers: who wins, what is refused, and that nothing is lost on the way out and in."""

from __future__ import annotations

import dataclasses
import math
import typing
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from s2s.config import loader as config
from s2s.config import registry, typed
from s2s.config.schema import Config, LanguageVoiceConfig
from s2s.config.typed import SettingError
from s2s.core.setting import documented


def loaded(
    *flags: str, file: Path | None = None, environment: dict[str, str] | None = None
) -> Config:
    keys = [("--set", *flag.split("=", 1)) for flag in flags]
    return config.load(
        file=file,
        environment=environment or {},
        flags=[(origin, key, value) for origin, key, value in keys],
    )


def leaves(kind: type, path: str = "") -> typing.Iterator[tuple[str, object]]:
    """(dotted key, type) of every setting below a dataclass."""
    for name, hint in typed.field_types(kind).items():
        key = f"{path}.{name}" if path else name
        if dataclasses.is_dataclass(hint) and isinstance(hint, type):
            yield from leaves(hint, key)
        elif name != "options":
            yield key, hint


def value_at(instance: object, key: str) -> object:
    for name in key.split("."):
        instance = getattr(instance, name)
    return instance


def changed(value: object) -> st.SearchStrategy[object]:
    """Values near the one a setting has, so that the checks of its class let most of them pass."""
    if isinstance(value, bool):
        return st.booleans()
    if isinstance(value, int):
        return st.integers(value, value + 100)
    if isinstance(value, float):
        return st.floats(*sorted((value * 0.9, value))) if value else st.just(value)
    if value is None:
        return st.none()
    return st.just(value)


DEFAULTS = loaded()
LEAVES = dict(leaves(Config))
NUMBERS = [key for key in LEAVES if isinstance(value_at(DEFAULTS, key), int | float)]


@given(st.data())
def test_a_config_written_as_yaml_is_read_back_the_same(data: st.DataObject):
    keys = data.draw(st.lists(st.sampled_from(NUMBERS), unique=True, max_size=5))
    drawn = {key: data.draw(changed(value_at(DEFAULTS, key)), label=key) for key in keys}
    try:
        before = loaded(*(f"{key}={value}" for key, value in drawn.items()))
    except SettingError:
        return  # a combination that its class refuses
    for key, value in drawn.items():
        now = value_at(before, key)
        assert now == value or (isinstance(now, float) and math.isclose(now, float(str(value))))
    written = yaml.safe_load(yaml.safe_dump(config.as_dict(before)))
    assert config.from_tree(typed.tree(written, "written")) == before


@pytest.mark.parametrize("name", config.profiles())
def test_every_profile_loads(name: str):
    backends = [
        registry.find(stage, name) for stage, name in profile_backends(config.profile_path(name))
    ]
    if lacking := [lack for backend in backends for lack in registry.missing(backend)]:
        pytest.skip(f"not installed: {', '.join(lacking)}")
    assert isinstance(config.load(name, environment={}), Config)


def profile_backends(path: Path) -> list[tuple[registry.StageName, str]]:
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    return [(stage, document[stage]["backend"]) for stage in registry.STAGES]


def test_a_profile_says_in_its_first_line_what_it_is():
    for name in config.profiles():
        assert config.profile_path(name).read_text(encoding="utf-8").startswith("# ")


def test_a_voice_by_language_has_the_options_of_its_backend(tmp_path: Path):
    file = tmp_path / "voices.yaml"
    file.write_text(
        "tts: {by_language: {de: {backend: mms, options: {language: deu}}, fr: {voice: x}}}",
        encoding="utf-8",
    )
    voices = loaded(file=file).tts.by_language
    assert (voices["de"].backend, voices["fr"]) == ("mms", LanguageVoiceConfig(voice="x"))
    assert value_at(loaded(file=file), "tts.by_language")["de"].options.language == "de"
    written = yaml.safe_load(yaml.safe_dump(config.as_dict(loaded(file=file))))
    assert config.from_tree(typed.tree(written, "written")) == loaded(file=file)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            "{de: {backend: mms, options: {langage: de}}}",
            "Did you mean tts.by_language.de.language",
        ),
        ("{de: {options: {language: de}}}", "options are of a backend"),
        ("{de: {backend: nobody}}", "no tts backend named nobody"),
    ],
)
def test_a_voice_by_language_that_makes_no_sense(given: str, words: str):
    with pytest.raises((SettingError, registry.RegistryError), match=words):
        config.load(environment={}, flags=[("--set", "tts.by_language", given)])


def test_profile_below_file_below_environment_below_flags(tmp_path: Path):
    key, variable = "session.history_turns", "S2S_SESSION_HISTORY_TURNS"
    file = tmp_path / "mine.yaml"
    file.write_text("session: {history_turns: 21, history_tokens: 99}", encoding="utf-8")
    default = loaded().session.history_turns
    assert default != 21
    assert loaded(file=file).session.history_turns == 21
    assert loaded(file=file, environment={variable: "22"}).session.history_turns == 22
    top = loaded(f"{key}=23", f"{key}=24", file=file, environment={variable: "22"})
    assert top.session.history_turns == 24
    assert top.session.history_tokens == 99


def test_a_variable_names_deeper_keys_with_two_underscores():
    variables = {"S2S_SESSION_TURNS__SEGMENTER__THRESHOLD": "0.7", "S2S_HOME": "/x", "PATH": "/y"}
    assert loaded(environment=variables).session.turns.segmenter.threshold == 0.7


def test_a_key_that_a_stage_has_not_is_an_option_of_its_backend():
    made = loaded("stt.threads=3", "stt.model=x", environment={"S2S_LLM_MODEL": "y"})
    assert made.stt.threads == 3
    assert value_at(made, "stt.options.model") == "x"
    assert value_at(made, "llm.options.model") == "y"


def test_an_options_former_name_is_read_with_a_hint(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    file = tmp_path / "mine.yaml"
    file.write_text("tts: {backend: qwen3, options: {guesses: 1}}", encoding="utf-8")
    key, today = "tts.options.draft_tokens", {"S2S_TTS_DRAFT_TOKENS": "2"}
    assert value_at(loaded(file=file), key) == 1
    assert f"{file}: tts.guesses is now called tts.draft_tokens" in caplog.text
    assert value_at(loaded(file=file, environment=today), key) == 2
    assert value_at(loaded("tts.guesses=3", file=file, environment=today), key) == 3


def test_another_backend_forgets_the_options_of_the_one_below(tmp_path: Path):
    file = tmp_path / "mine.yaml"
    file.write_text("stt: {backend: moonshine, options: {window_s: 9.0}}", encoding="utf-8")
    assert value_at(loaded(file=file), "stt.options.window_s") == 9.0
    same = loaded("stt.backend=moonshine", file=file)
    assert value_at(same, "stt.options.window_s") == 9.0
    other = config.laid_over(
        config.read_file(file), config.from_keys([("--stt", "stt.backend", "other")])
    )
    assert "options" not in typed.section(other["stt"], "stt")


@pytest.mark.parametrize(
    ("flags", "environment", "said"),
    [
        (["sesion.language=de"], {}, r"--set: unknown key sesion. Did you mean session\?"),
        (["stt.modle=x"], {}, r"--set: unknown key stt.modle. Did you mean stt.model\?"),
        (["stt.thread=2"], {}, r"--set: unknown key stt.thread. Did you mean stt.threads\?"),
        (["session.histroy_turns=1"], {}, "Did you mean session.history_turns"),
        (["session.history_turns=many"], {}, "must be a whole number, got 'many'"),
        (["session.history_turns=0"], {}, "--set: session: .*at least 1"),
        (["session"], {}, "name a setting as section.key, got session"),
        (["session.turns.segmenter.threshold=2"], {}, "session.turns.segmenter: .*threshold"),
        ([], {"S2S_SESION_LANGUAGE": "de"}, "S2S_SESION_LANGUAGE: unknown key sesion"),
        ([], {"S2S_LANGUAGE_X": "de"}, "S2S_LANGUAGE_X: unknown key language"),
        ([], {"S2S_LANGUAGE": "de"}, "S2S_LANGUAGE: name a setting as section.key"),
    ],
)
def test_what_is_wrong_is_refused_with_its_origin_and_the_nearest_key(
    flags: list[str], environment: dict[str, str], said: str
):
    parts = [flag.partition("=") for flag in flags]
    keys = [("--set", key, value) for key, _, value in parts]
    with pytest.raises(SettingError, match=said):
        config.load(environment=environment, flags=keys)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- a list", "must hold sections"),
        ("stt: [", "is not YAML"),
        ("stt: moonshine", "stt must be a section with keys, got 'moonshine'"),
        ("stt: {options: 3}", "stt.options must be a section"),
        ("sessions: {}", "unknown key sessions"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, text: str, said: str):
    file = tmp_path / "broken.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingError, match=said) as failure:
        loaded(file=file)
    assert "broken.yaml" in str(failure.value) or "empty section" in str(failure.value)


def test_a_file_or_profile_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(SettingError, match="cannot be read"):
        loaded(file=tmp_path / "none.yaml")
    with pytest.raises(SettingError, match="Did you mean embedded"):
        config.load("embeded", environment={})


def test_an_unknown_backend_is_named_with_those_there_are():
    with pytest.raises(registry.UnknownBackendError, match=r"moonshine.*Did you mean moonshine"):
        loaded("stt.backend=monshine")


def test_the_default_profile_is_the_defaults():
    bare = config.from_tree({})
    assert loaded() == bare


def test_every_setting_has_a_docstring():
    undocumented = [
        f"{kind.__name__}.{name}"
        for kind in [Config, *config.sections().values()]
        for name, text in documented(kind).items()
        if not text
    ]
    assert not undocumented
