"""Settings of a cluster that cannot be are refused by name and value."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from s2s.config import loader
from s2s.config.typed import SettingError
from s2s.transport.cluster.config import ClusterConfig, ClusterModelConfig


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("replicas", 0),
        ("max_replicas", 1),
        ("target_sessions", 0.0),
        ("scale_down_s", -1.0),
        ("cpus", -0.5),
        ("gpus", 1.5),
        ("drain_s", -2.0),
        ("start_s", 0.0),
        ("model_wait_s", -3.0),
    ],
)
def test_a_value_that_cannot_be_is_refused(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"(?s){name}.*{value}"):
        replace(ClusterConfig(), **{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [("replicas", -1), ("cpus", -1.0), ("gpus", 2.5), ("at_once", 0), ("waiting", 0)],
)
def test_so_is_one_of_a_models_processes(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"(?s){name}.*{value}"):
        replace(ClusterModelConfig(), **{name: value})


def test_an_empty_address_is_refused_with_what_to_do() -> None:
    with pytest.raises(ValueError, match="leave it out"):
        ClusterConfig(address=" ")


@pytest.mark.parametrize("gpus", [0.0, 0.25, 1.0, 2.0])
def test_shares_and_whole_cards_may_be_set_aside(gpus: float) -> None:
    assert ClusterModelConfig(gpus=gpus).gpus == gpus


def test_it_is_a_section_of_the_settings(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(
        "cluster:\n  replicas: 3\n  max_replicas: 8\n  tts:\n    replicas: 1\n    gpus: 0.25\n"
        "serve:\n  max_sessions: 16\n",
        encoding="utf-8",
    )
    config = loader.load(file=file, environment={"S2S_CLUSTER_PROXY": "python"})
    assert (config.cluster.replicas, config.cluster.max_replicas) == (3, 8)
    assert config.cluster.tts == ClusterModelConfig(replicas=1, gpus=0.25)
    assert config.cluster.proxy == "python"
    assert config.serve.max_sessions == 16


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("cluster: {replicsa: 3}", "replicas"),
        ("cluster: {replicas: many}", "many"),
        ("cluster: {proxy: nginx}", "haproxy"),
        ("cluster: {tts: {gpus: 1.5}}", "1.5"),
    ],
)
def test_a_wrong_file_is_told_with_its_name_and_value(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingError) as error:
        loader.load(file=file, environment={})
    assert told in str(error.value)
    assert "cluster" in str(error.value)
