"""The doctor: each thing that can be wrong is found, and comes with what to do."""

from __future__ import annotations

import json
import os
import shutil
import sys
import types
from dataclasses import replace
from pathlib import Path

import onnxruntime
import pytest

from s2s.app.doctor import findings as doctor
from s2s.app.doctor.findings import DoctorWishes
from s2s.app.doctor.report import AREAS, Finding
from s2s.config import loader as config
from s2s.config import registry
from s2s.config.schema import Config
from s2s.models.store import Store
from s2s.transport.base import DeviceError
from s2s.transport.local import Device


@pytest.fixture
def settings() -> Config:
    return config.load(environment={})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "cache")


@pytest.fixture(autouse=True)
def a_good_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    devices = [Device(0, "Headset", 1, 2, 48_000, True, True)]
    monkeypatch.setattr(doctor, "list_devices", lambda: devices)
    monkeypatch.setattr(doctor, "local_servers", lambda: iter(()))
    monkeypatch.setattr(Store, "state", lambda *_: "present")
    monkeypatch.setattr(registry, "missing", lambda _: ())
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)


def problems(settings: Config, store: Store) -> list[Finding]:
    return [f for f in doctor.findings(settings, store) if f.state != "ok"]


def test_a_good_machine_has_no_problem(
    settings: Config, store: Store, capsys: pytest.CaptureFixture[str]
):
    assert problems(settings, store) == []
    assert doctor.doctor(settings, store) == 0
    shown = capsys.readouterr().out
    assert "microphone: Headset, 48000 Hz" in shown
    assert "model smollm2-135m, 98.4 MB: present" in shown


def test_an_old_python(settings: Config, store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(doctor, "sys", types.SimpleNamespace(version_info=(3, 9), executable="x"))
    assert "Python 3.11 or newer" in problems(settings, store)[0].remedy
    assert sys.version_info >= (3, 11)


def test_a_missing_extra(
    settings: Config,
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setattr(
        registry, "missing", lambda backend: ("hibari",) if backend.name == "hibari" else ()
    )
    (found,) = problems(settings, store)
    assert found.state == "failure"
    assert "needs hibari" in found.what
    assert found.remedy == "pip install 's2s[embedded]'"
    assert doctor.doctor(settings, store) == 1
    assert "FAIL tts: hibari" in capsys.readouterr().out


def test_a_backend_that_is_not_chosen_is_no_problem(
    settings: Config, store: Store, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(
        registry, "missing", lambda backend: ("piper",) if backend.name == "piper" else ()
    )
    assert problems(settings, store) == []
    texts = [finding.what for finding in doctor.findings(settings, store)]
    assert any("piper (pip install 's2s[piper]')" in text for text in texts)


def test_models_that_are_missing_damaged_or_out_of_reach(
    settings: Config, store: Store, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Store, "state", lambda *_: "missing")
    assert {finding.state for finding in problems(settings, store)} == {"warning"}
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    found = problems(settings, store)
    assert {finding.state for finding in found} == {"failure"}
    assert found[0].remedy.startswith("unset HF_HUB_OFFLINE, then python -m s2s models pull")
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setattr(Store, "state", lambda *_: "damaged")
    assert problems(settings, store)[0].state == "failure"


def test_a_cache_that_is_full(settings: Config, store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: types.SimpleNamespace(free=1_000_000))
    (found,) = problems(settings, store)
    assert "1.0 MB free" in found.what
    assert "S2S_HOME" in found.remedy


def test_a_cache_that_cannot_be_written(
    settings: Config, store: Store, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(doctor.os, "access", lambda *_: False)
    (found,) = problems(settings, store)
    assert "cannot be written" in found.what


def test_no_pip(settings: Config, store: Store, monkeypatch: pytest.MonkeyPatch):
    find = doctor.importlib.util.find_spec
    monkeypatch.setattr(
        doctor.importlib.util, "find_spec", lambda name: None if name == "pip" else find(name)
    )
    (found,) = problems(settings, store)
    assert "ensurepip" in found.remedy


def test_no_sound(settings: Config, store: Store, monkeypatch: pytest.MonkeyPatch):
    def missing() -> list[Device]:
        raise DeviceError("PortAudio is missing: sudo apt-get install libportaudio2")

    monkeypatch.setattr(doctor, "list_devices", missing)
    (found,) = problems(settings, store)
    assert "libportaudio2" in found.what
    assert "--input FILE" in found.remedy
    monkeypatch.setattr(doctor, "list_devices", list)
    assert [finding.what for finding in problems(settings, store)] == [
        "no microphone found on this machine",
        "no loudspeaker found on this machine",
    ]


def test_the_echo_of_the_last_conversation_is_shown(settings: Config, store: Store) -> None:
    (store.folder("audio") / "echo.txt").write_text("23 dB of echo cancelled between A and B")
    shown = [finding.what for finding in doctor.findings(settings, store)]
    assert any("23 dB of echo cancelled" in what for what in shown)


@pytest.mark.skipif(os.name == "nt", reason="Windows compiles no kernel")
def test_qwen3_says_what_computes_it(
    settings: Config, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from s2s.tts import qwen3

    chosen = replace(settings, tts=replace(settings.tts, backend="qwen3"))
    monkeypatch.setattr(registry, "missing", lambda _: ())
    compiler = tmp_path / "my-cc"
    compiler.write_text("#!/bin/sh\n")
    compiler.chmod(0o700)
    monkeypatch.setenv("CC", str(compiler))
    monkeypatch.setenv("S2S_BUILD_KERNEL", "1")  # whether a wheel is installed or not
    speed = qwen3.Speed(2, 0, 40.0, 0.0, 22.4)
    conditions = replace(speed.conditions, measured="2026-11-30 09:10 UTC")
    speed = replace(speed, conditions=conditions)
    qwen3.CalibrationCache(store.root / qwen3.CALIBRATION_FILE).keep_speed("0.6b q4_k_m", speed)
    (found,) = [f for f in doctor.findings(chosen, store) if "qwen3: kernel" in f.what]
    assert found.what == (
        f"qwen3: kernel to be compiled at the first start by {compiler} for this very processor "
        "(of real time here: 0.6b q4_k_m: 0.78, measured 2026-11-30 09:10 UTC, nothing else "
        "computed)"
    )
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", "")
    (found,) = [f for f in problems(chosen, store) if "kernel" in f.what]
    assert found.state == "warning"
    assert "install one" in found.remedy
    mlx = next(backend for backend in qwen3.BACKENDS if backend.name == "mlx")
    monkeypatch.setattr(type(mlx), "missing", lambda _: None)
    (found,) = [f for f in doctor.findings(chosen, store) if "by MLX" in f.what]
    assert (found.state, found.what.partition(" (")[0]) == ("ok", "qwen3: computed by MLX")
    names = ["TensorrtExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: names)
    (found,) = [f for f in doctor.findings(chosen, store) if "ONNX Runtime computes" in f.what]
    assert found.what.startswith(
        "qwen3: ONNX Runtime computes on cpu, tensorrt (tts.core fixed@NAME); not here: "
    )
    mnn = next(backend for backend in qwen3.BACKENDS if backend.name == "mnn")
    monkeypatch.setattr(type(mnn), "missing", lambda _: None)
    (found,) = [f for f in doctor.findings(chosen, store) if "by name" in f.what]
    assert found.what == "qwen3: computed by mnn too, by name (tts.core NAME)"


def test_every_finding_is_of_an_area(settings: Config, store: Store):
    areas = [finding.area for finding in doctor.findings(settings, store)]
    assert set(areas) <= set(AREAS)
    assert {"python", "machine", "stt", "llm", "tts", "choices", "cache", "models"} <= set(areas)


def test_level_echo_and_network_are_looked_at_where_that_is_wanted(
    settings: Config, store: Store, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(doctor, "listen", lambda *given: Finding("ok", f"level of {given[1]}"))
    monkeypatch.setattr(doctor, "measured", lambda _: Finding("ok", "sweep"))
    monkeypatch.setattr(doctor, "network", lambda: Finding("ok", "hub"))

    def found(wishes: DoctorWishes) -> set[str]:
        wanted = {"level of Headset", "sweep", "hub"}
        return wanted & {each.what for each in doctor.findings(settings, store, wishes)}

    assert found(DoctorWishes()) == set()
    assert found(DoctorWishes(level=True)) == {"level of Headset"}
    assert found(DoctorWishes(sound=True)) == {"sweep"}
    assert found(DoctorWishes(network=True)) == {"hub"}
    monkeypatch.setattr(doctor, "list_devices", list)
    assert found(DoctorWishes(level=True)) == set(), "there is no microphone"


def test_the_json_of_a_good_machine(
    settings: Config, store: Store, capsys: pytest.CaptureFixture[str]
):
    assert doctor.doctor(settings, store, DoctorWishes(as_json=True)) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["works"] is True
    [microphone] = [f for f in told["findings"] if f["values"].get("kind") == "microphone"]
    assert microphone["values"] == {"kind": "microphone", "device": "Headset", "rate_hz": 48_000}
