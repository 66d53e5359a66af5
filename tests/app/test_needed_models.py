"""Which models a configuration needs."""

from __future__ import annotations

import pytest

from s2s.app import cli
from s2s.app.needed_models import needed_models
from s2s.app.settings import settings
from s2s.config import registry
from s2s.models import store


@pytest.mark.parametrize(
    ("flags", "model"),
    [
        (["--stt", "faster-whisper"], "whisper-base"),
        (["--stt", "faster-whisper", "--stt.model", "tiny.en"], "whisper-tiny.en"),
        (["--tts", "piper"], "piper-joe"),
    ],
)
def test_the_models_a_config_needs_follow_its_backends(flags: list[str], model: str):
    options = cli.parse(["models", "pull", *flags])
    try:
        made = settings(options)
    except registry.RegistryError as error:
        pytest.skip(str(error))
    names = {found.name for found in needed_models(made, store.Store())}
    assert model in names
    assert "smollm2-135m" in names
    assert len(names) == 5 - ("--stt" in flags)
