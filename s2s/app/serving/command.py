"""The command `serve`: models loaded once, and a server that lends them to its clients."""

from __future__ import annotations

import importlib.util
import os
import time
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from s2s.app.loading import close_models, load_models
from s2s.app.signals import handled
from s2s.config import typed
from s2s.config.schema import Config
from s2s.core.untyped import is_mapping
from s2s.llm.llama import LlamaConfig
from s2s.models.store import Store
from s2s.session.models import Models
from s2s.transport.server.config import ServeConfig
from s2s.tts.qwen3_config import Qwen3Config
from s2s.tts.spare_voice import SpareVoice
from s2s.tts.voices_by_language import VoicesByLanguage

if TYPE_CHECKING:
    from s2s.transport.server.tls import TlsFiles
    from s2s.tts.codec_stream.source import CodecSource

NEEDED = ("starlette", "uvicorn", "websockets", "pydantic", "multipart")
"""Modules of the extra `serve` without which nothing is served."""
MOST_SLOTS = 4
"""Of the embedded language model, which answers one conversation at a time: each takes 52 MB."""


class ServeUnavailable(RuntimeError):
    """The server cannot be started. The message says what to do."""


def serve(config: Config, store: Store, given_key: str | None = None) -> int:
    """Serve until Ctrl-C; returns the exit code.

    Args:
        config: the settings.
        store: of the models.
        given_key: what clients must send; None: what the environment says.

    Raises:
        ServeUnavailable, ServerError, ValueError: it cannot be; told before models are loaded.
    """
    check_installed()
    from s2s.app.recording import check_recordable
    from s2s.app.serving.conversing import Conversing
    from s2s.app.serving.satellite import satellite_beside
    from s2s.app.serving.stores import make_store
    from s2s.app.serving.wyoming import beside, check_wyoming
    from s2s.transport.server.access import Access
    from s2s.transport.server.metrics import ServerMetrics
    from s2s.transport.server.run import WebServer, bind
    from s2s.transport.server.server import Server

    console = Console(highlight=False)
    settings = config.serve
    key = given_key or os.environ.get(settings.api_key_env) or None
    Access.of(settings, key)
    tls = tls_files(settings, store)
    check_recordable(config)
    if config.wyoming.enabled:
        check_wyoming(config.wyoming)
    check_codes(config)
    kept = make_store(settings)
    with handled() as signals, bind(settings) as bound:
        started_s = time.perf_counter()
        tell_recorded(console, config)
        models = load_models(
            for_several(config), store, lambda text: console.print(text, markup=False)
        )
        try:
            metrics = ServerMetrics()
            conversing = Conversing(config, models, metrics, (key,) if key else ())
            names = model_names(config)
            server = Server(
                settings, key, conversing.services(names, codes_of(config, models)), metrics, kept
            )
            web = WebServer(server, bound, tls)
            took_s = time.perf_counter() - started_s
            if settings.drain_s > 0:
                web.drain = partial(conversing.drain, server, settings.drain_s)
            web.ready = lambda: tell(console, settings, web.port, key, tls, took_s)
            with (
                closing(conversing),
                beside(config, models, names, console),
                satellite_beside(config, models.vad, console),
                signals.ending(web.stop),
            ):
                web.run()
        finally:
            close_models(models)
    return 0


def tell_recorded(console: Console, config: Config) -> None:
    """Say where conversations are recorded, if they are."""
    if (parent := config.record.folder) is not None:
        told = f"Every conversation is recorded in {parent}: tell those who talk to it."
        console.print(told, markup=False)


def check_codes(config: Config) -> None:
    """
    Raises:
        ServeUnavailable: codes are to be given, and the voice has none.
    """
    options = config.tts.options
    if not config.serve.codec_stream:
        return
    if not isinstance(options, Qwen3Config) or options.language_model is not None:
        raise ServeUnavailable(
            "--codec-stream gives the codes of Qwen3-TTS: serve with --tts qwen3, and without "
            "tts.language_model."
        )


def codes_of(config: Config, models: Models) -> CodecSource | None:
    """What gives codes to devices that decode them, where that is wanted."""
    if not config.serve.codec_stream:
        return None
    from s2s.tts.backends.qwen3.codes import Qwen3Codes
    from s2s.tts.qwen3_adapter import Qwen3

    voice = models.synthesizer
    if isinstance(voice, VoicesByLanguage):
        voice = voice.synthesizers[0]
    if isinstance(voice, SpareVoice):
        voice = voice.main
    return Qwen3Codes(voice) if isinstance(voice, Qwen3) else None


def for_several(config: Config) -> Config:
    """Settings with which the embedded language model keeps the beginnings of several
    conversations, unless they say how many."""
    options = config.llm.options
    if not isinstance(options, LlamaConfig) or options.slots:
        return config
    slots = min(config.serve.max_sessions, MOST_SLOTS)
    return replace(config, llm=replace(config.llm, options=replace(options, slots=slots)))


def check_installed() -> None:
    """
    Raises:
        ServeUnavailable: something that a server needs is not installed.
    """
    lacking = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if lacking:
        raise ServeUnavailable(
            f"serve needs {', '.join(lacking)}. Install it: pip install 's2s[serve]'"
        )


def tls_files(settings: ServeConfig, store: Store) -> TlsFiles | None:
    """What https is served with; None: http.

    Raises:
        ServeUnavailable: the files are no certificate and key, or none can be made.
    """
    import ssl

    from s2s.transport.server.tls import TlsFiles, self_made

    if not settings.secure:
        return None
    if settings.tls_cert is not None and settings.tls_key is not None:
        files = TlsFiles(Path(settings.tls_cert), Path(settings.tls_key))
    else:
        files = self_made(store.folder("tls"))
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(files.certificate, files.key)
    except (OSError, ssl.SSLError) as error:
        raise ServeUnavailable(
            f"{files.certificate} and {files.key} cannot be served with ({error}). Give a "
            "certificate chain and its private key, both PEM and without a password."
        ) from error
    return files


def model_names(config: Config) -> dict[str, str]:
    """Name of each model in use, without the folder it lies in -> what it does."""
    names: dict[str, str] = {}
    for stage, section in (("llm", config.llm), ("stt", config.stt), ("tts", config.tts)):
        options = typed.plain(section.options)
        model = options.get("model") if is_mapping(options) else None
        name = Path(model).name if isinstance(model, str) and model else section.backend
        names[name] = stage
    return names


def tell(
    console: Console,
    settings: ServeConfig,
    port: int,
    key: str | None,
    tls: TlsFiles | None,
    took_s: float,
) -> None:
    """Say where it is, and show the way in for a phone."""
    from s2s.transport.server.access import is_loopback
    from s2s.transport.server.qr import qr_text
    from s2s.transport.server.tls import fingerprint, own_addresses

    scheme = "https" if tls is not None else "http"
    here = "localhost" if is_loopback(settings.host) or _is_any(settings.host) else settings.host
    lines = [
        f"Ready after {took_s:.1f} s: {scheme}://{here}:{port}/",
        f"Realtime API: {scheme.replace('http', 'ws')}://{here}:{port}/v1/realtime; "
        f"{settings.max_sessions} conversations at a time; Ctrl-C ends it.",
    ]
    if settings.codec_stream:
        lines.append("Codes for devices: --tts qwen3 --tts.language_model with that address there.")
    if tls is not None:
        lines.append(f"Certificate: SHA-256 {fingerprint(tls.certificate)}")
    if is_loopback(settings.host):
        console.print("\n".join(lines), markup=False, soft_wrap=True)
        return
    addresses = own_addresses() if _is_any(settings.host) else [settings.host]
    if addresses:
        address = f"{scheme}://{addresses[0]}:{port}/"
        code = qr_text(f"{address}#key={key}" if key else address)
        lines.append(f"From other machines: {address}{' with the key' if key else ''}")
        if tls is None:
            lines.append("Without --tls a browser elsewhere gives no microphone.")
        if code is not None and console.is_terminal:
            lines.append(f"{code}\nThe code holds the key." if key else code)
    console.print("\n".join(lines), markup=False, soft_wrap=True)


def _is_any(host: str) -> bool:
    return host in ("0.0.0.0", "::", "")
