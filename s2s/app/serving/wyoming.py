"""What the Wyoming protocol is served with, alone or beside `serve`."""

from __future__ import annotations

import importlib.util
import ipaddress
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from s2s.app.serving.beside import running
from s2s.config.schema import Config
from s2s.session.client.session import ClientSessions
from s2s.session.models import Models
from s2s.stt.sherpa import SherpaConfig
from s2s.transport.server.tls import own_addresses
from s2s.transport.wyoming.admission import Admission
from s2s.transport.wyoming.config import WyomingConfig
from s2s.turns.base import WakeModel
from s2s.turns.orders.wake_word import MicroWakeModel, builtin_names

if TYPE_CHECKING:
    from s2s.transport.wyoming.server import WyomingServer
    from s2s.transport.wyoming.services import WyomingServices

NEEDED = ("wyoming", "zeroconf")
"""Modules of the extra `wyoming`."""

WHISPER = (
    "en", "zh", "de", "es", "ru", "ko", "fr", "ja", "pt", "tr", "pl", "ca", "nl", "ar", "sv",
    "it", "id", "hi", "fi", "vi", "he", "uk", "el", "ms", "cs", "ro", "da", "hu", "ta", "no",
    "th", "ur", "hr", "bg", "lt", "la", "mi", "ml", "cy", "sk", "te", "fa", "lv", "bn", "sr",
    "az", "sl", "kn", "et", "mk", "br", "eu", "is", "hy", "ne", "mn", "bs", "kk", "sq", "sw",
    "gl", "mr", "pa", "si", "km", "sn", "yo", "so", "af", "oc", "ka", "be", "tg", "sd", "gu",
    "am", "yi", "lo", "uz", "fo", "ht", "ps", "tk", "nn", "mt", "sa", "lb", "my", "bo", "tl",
    "mg", "as", "tt", "haw", "ln", "ha", "ba", "jw", "su",
)  # fmt: skip
"""Languages of Whisper, and of whatever else is asked through another server."""


class WyomingUnavailable(RuntimeError):
    """What the server needs is not installed. The message says what to do."""


@contextmanager
def beside(
    config: Config, models: Models, names: Mapping[str, str], console: Console
) -> Generator[None]:
    """Inside the Wyoming protocol is served too, where the settings want it.

    Args:
        names: of the models in use -> what each does.

    Raises:
        WyomingError: it cannot listen.
    """
    if not config.wyoming.enabled:
        yield
        return
    server = wyoming_server(config, models, names)
    with running(server, "s2s-wyoming-server"):
        tell_wyoming(console, config.wyoming, server.port)
        yield


def check_wyoming(settings: WyomingConfig) -> None:
    """
    Raises:
        WyomingUnavailable: something is not installed.
        ValueError: other machines could come in, and nothing says who may.
    """
    lacking = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if lacking:
        raise WyomingUnavailable(
            f"the Wyoming protocol needs {', '.join(lacking)}. Install it: "
            "pip install 's2s[wyoming]'"
        )
    Admission.of(settings)


def wyoming_server(config: Config, models: Models, names: Mapping[str, str]) -> WyomingServer:
    """A server on models that are loaded, which others may use too. names: as for `beside`."""
    from s2s.transport.wyoming.server import WyomingServer

    settings = config.wyoming
    return WyomingServer(
        settings, wyoming_services(config, models, names), lambda: addresses(settings.host)
    )


def wyoming_services(config: Config, models: Models, names: Mapping[str, str]) -> WyomingServices:
    """What the server works with. names: as for `beside`."""
    from s2s.transport.wyoming.services import WyomingServices

    of_stage = {stage: name for name, stage in names.items()}
    return WyomingServices(
        models.transcriber,
        models.synthesizer,
        models.vad,
        models.compute,
        ClientSessions(models, config.session),
        config.session.system_prompt,
        wake_words(config, models),
        config.session.language,
        of_stage["stt"],
        languages_heard(config),
        of_stage["llm"],
        of_stage["tts"],
    )


def wake_words(config: Config, models: Models) -> Mapping[str, WakeModel]:
    """The wake words that there are, by their names; none where they are not installed."""
    found: dict[str, WakeModel] = {name: MicroWakeModel(name) for name in builtin_names()}
    configured = config.models.wake_word
    if configured is not None and models.wake_word is not None:
        found[Path(configured).stem] = models.wake_word
    return found


def languages_heard(config: Config) -> tuple[str, ...]:
    """The languages that clients are told to be understood."""
    options = config.stt.options
    if isinstance(options, SherpaConfig):  # its model hears one, whatever is asked for
        return (options.language,)
    if config.session.language is not None:
        return (config.session.language,)
    return ("en",) if config.stt.backend == "moonshine" else WHISPER


def addresses(host: str) -> list[str]:
    """Where others reach this machine when it listens on `host`: nowhere on the loopback."""
    if host in ("0.0.0.0", "::", ""):
        return own_addresses()
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return []
    return [] if found.is_loopback else [host]


def tell_wyoming(console: Console, settings: WyomingConfig, port: int) -> None:
    """Say where it is, and what to do there."""
    found = addresses(settings.host)
    where = f"{found[0] if found else settings.host}:{port}"
    lines = [f"Wyoming protocol: tcp://{where}"]
    if found and settings.zeroconf:
        lines.append("Home Assistant finds it: Settings, Devices & services, Discovered.")
    elif not found:
        lines.append("Only this machine reaches it; --host 0.0.0.0 --allow private lets others in.")
    console.print("\n".join(lines), markup=False, soft_wrap=True)
