"""Looks at this machine and says, line by line, what works and what to do where it does not."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from s2s import __version__
from s2s.app.doctor.echo import measured
from s2s.app.doctor.levels import listen
from s2s.app.doctor.network import network
from s2s.app.doctor.report import Finding, about, told
from s2s.app.doctor.servers import USUAL, local_servers
from s2s.app.needed_models import needed_models
from s2s.app.terminal import megabytes
from s2s.config import registry
from s2s.config.schema import Config
from s2s.models.fetch import offline
from s2s.models.store import Store
from s2s.system.cpu import cores
from s2s.transport.base import DeviceError
from s2s.transport.local import ECHO_RECORD, choose, list_devices

MIN_PYTHON = (3, 11)
MIN_FREE_BYTES = 1_000_000_000
"""Space that a fresh download of the embedded models and their scratch files may need."""

PACKAGES = ("numpy", "onnxruntime", "soxr", "soundfile", "sounddevice", "xllamacpp", "hibari-tts")


@dataclass(frozen=True, slots=True)
class DoctorWishes:
    """What is looked at beside the rest."""

    level: bool = False
    """What the microphone delivers, for two seconds."""
    sound: bool = False
    """What of the loudspeaker the microphone hears: a sound is played."""
    network: bool = False
    as_json: bool = False


def doctor(config: Config, store: Store, wishes: DoctorWishes = DoctorWishes()) -> int:
    """Tell what was found for a session with this config; 1 when something makes it impossible."""
    return told(findings(config, store, wishes), as_json=wishes.as_json)


def findings(
    config: Config, store: Store, wishes: DoctorWishes = DoctorWishes()
) -> Iterator[Finding]:
    """Look at Python, the machine, the packages, the chosen backends, their models, the devices."""
    yield from about("python", [_python()])
    yield from about(
        "machine", [Finding("ok", f"s2s {__version__}, {platform.platform()}, {cores()} cores")]
    )
    yield from about("packages", [_packages()])
    if importlib.util.find_spec("pip") is None:
        remedy = "python -m ensurepip --upgrade"
        yield Finding("warning", "no pip, which fetches models", remedy, "pip")
    for stage in registry.STAGES:
        yield from about(stage, [_backend(config, stage)])
    yield from about("choices", _others(config))
    yield from about("servers", _servers())
    yield from about("wake_word", _wake_word(config))
    if config.tts.backend == "qwen3":
        yield from about("qwen3", _qwen3(store))
    yield from about("cache", [_cache(store)])
    yield from about("models", _models(config, store))
    if wishes.network:
        yield network()
    devices = list(_devices(config))
    yield from about("devices", devices)
    if wishes.level and devices and devices[0].state == "ok":
        yield listen(config.audio.input_device, str(devices[0].values.get("device", "")))
    yield from about("echo", [_echo(store)])
    if wishes.sound:
        yield measured(config.audio)


def _python() -> Finding:
    version = platform.python_version()
    if sys.version_info < MIN_PYTHON:
        return Finding("failure", f"Python {version}", "install Python 3.11 or newer")
    return Finding("ok", f"Python {version} at {sys.executable}")


def _packages() -> Finding:
    versions: list[str] = []
    for name in PACKAGES:
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"no {name}")
    return Finding("ok", ", ".join(versions))


def _backend(config: Config, stage: registry.StageName) -> Finding:
    backend = registry.find(stage, getattr(config, stage).backend)
    what = f"{stage}: {backend.name} ({backend.about})"
    if lacking := registry.missing(backend):
        return Finding(
            "failure", f"{what} needs {', '.join(lacking)}", f"pip install 's2s[{backend.extra}]'"
        )
    return Finding("ok", what, values={"backend": backend.name, "extra": backend.extra})


def _wake_word(config: Config) -> Iterator[Finding]:
    from s2s.turns.orders.wake_word import MicroWakeModel, WakeWordError

    name = config.models.wake_word
    if name is None:
        return
    try:
        phrase = MicroWakeModel(name).open().phrase
    except WakeWordError as error:
        what, _, remedy = str(error).partition(": ")
        yield Finding("failure", what, remedy)
    else:
        yield Finding("ok", f"wake word: {phrase}")


def _qwen3(store: Store) -> Iterator[Finding]:
    """What computes Qwen3-TTS, and how fast, where that was measured."""
    from s2s.tts.qwen3 import diagnose

    found = diagnose(store.root)
    speeds = "; ".join(
        f"{name}: {speed.real_time:.2f}, {speed.conditions}" for name, speed in found.speeds.items()
    )
    measured = f" (of real time here: {speeds})" if speeds else ""
    if found.kernel:
        yield Finding("ok", f"qwen3: {found.kernel}{measured}")
    elif "mlx" in found.cores:
        yield Finding("ok", f"qwen3: computed by MLX{measured}")
    else:
        what = f"qwen3 speaks without its own kernel, up to twice as slow{measured}"
        yield Finding("warning", what, found.remedy)
    here, missing = found.providers
    if here:
        what = f"qwen3: ONNX Runtime computes on {', '.join(here)} (tts.core fixed@NAME)"
        yield Finding("ok", f"{what}; not here: {', '.join(missing)}" if missing else what)
    named = [name for name in found.named if name != "fixed"]
    if named:
        yield Finding("ok", f"qwen3: computed by {', '.join(named)} too, by name (tts.core NAME)")


def _others(config: Config) -> Iterator[Finding]:
    """The backends that are not chosen: what there is to choose, and how to get it."""
    for stage in registry.STAGES:
        chosen = getattr(config, stage).backend
        texts: list[str] = []
        for backend in registry.backends(stage):
            if backend.name != chosen:
                lacking = registry.missing(backend)
                note = f" (pip install 's2s[{backend.extra}]')" if lacking else ""
                texts.append(f"{backend.name}{note}")
        if texts:
            yield Finding("ok", f"{stage} can also be {', '.join(texts)}: --{stage} NAME")


def _servers() -> Iterator[Finding]:
    """Language servers on this machine, and how to use them."""
    found = list(local_servers())
    for server in found:
        values = {"name": server.server.name, "port": server.server.port}
        state = "ok" if server.models else "warning"
        yield Finding(state, server.told, server.remedy, values=values)
    if not found:
        ports = ", ".join(f"{usual.name} {usual.port}" for usual in USUAL)
        yield Finding("ok", f"no language server listens on the usual ports ({ports})")


def _cache(store: Store) -> Finding:
    folder = store.root
    while not folder.exists():
        folder = folder.parent
    if not os.access(folder, os.W_OK):
        return Finding(
            "warning",
            f"cache {store.root} cannot be written",
            "set S2S_HOME to a folder that can",
        )
    free = shutil.disk_usage(folder).free
    what = f"cache {store.root}, {megabytes(free)} free"
    if free < MIN_FREE_BYTES:
        return Finding("warning", what, "make room, or set S2S_HOME to a folder on another disk")
    return Finding("ok", what)


def _models(config: Config, store: Store) -> Iterator[Finding]:
    for model in needed_models(config, store):
        state = store.state(model)
        what = f"model {model.name}, {megabytes(model.size_bytes)}: {state}"
        remedy = f"python -m s2s models pull {model.name}"
        if state == "present":
            yield Finding("ok", what, values={"model": model.name, "present": True})
        elif state == "damaged" or offline():
            unset = "unset HF_HUB_OFFLINE, then " if offline() else ""
            yield Finding("failure", what, unset + remedy)
        else:
            yield Finding("warning", what, f"it is fetched when it is needed, or now: {remedy}")


def _echo(store: Store) -> Finding:
    if importlib.util.find_spec("pywebrtc_audio") is None:
        return Finding("warning", "no echo canceller", "pip install 's2s[echo]', or use headphones")
    measured = store.root / "audio" / ECHO_RECORD
    if not measured.is_file():
        return Finding("ok", "echo canceller: installed, not measured in a conversation yet")
    record = measured.read_text(encoding="utf-8", errors="replace")
    return Finding("ok", f"echo: {record}, in the last conversation with echo")


def _devices(config: Config) -> Iterator[Finding]:
    hint = "or talk to it with a file: python -m s2s --input FILE --output FILE"
    try:
        found = list_devices()
    except DeviceError as error:
        yield Finding("warning", str(error), hint)
        return
    for output, kind, wanted in (
        (False, "microphone", config.audio.input_device),
        (True, "loudspeaker", config.audio.output_device),
    ):
        try:
            device = choose(found, wanted, output=output)
        except DeviceError as error:
            yield Finding("warning", str(error), f"plug one in, {hint}")
        else:
            yield Finding(
                "ok",
                f"{kind}: {device.name}, {device.rate_hz} Hz",
                values={"kind": kind, "device": device.name, "rate_hz": device.rate_hz},
            )
