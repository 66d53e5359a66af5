"""The command `wyoming`: models loaded once, and lent to Home Assistant."""

from __future__ import annotations

import time

from rich.console import Console

from s2s.app.loading import close_models, load_models
from s2s.app.serving.command import for_several, model_names
from s2s.app.serving.satellite import satellite_beside, satellite_words, serve_satellite
from s2s.app.serving.wyoming import check_wyoming, tell_wyoming, wyoming_server
from s2s.app.signals import handled
from s2s.config.schema import Config
from s2s.models.store import Store


def serve_wyoming(config: Config, store: Store) -> int:
    """Serve until Ctrl-C; returns the exit code.

    Raises:
        WyomingUnavailable, WyomingError, ValueError: it cannot be.
        As `satellite_beside`, where a satellite is wanted.
    """
    check_wyoming(config.wyoming)
    if config.wyoming.satellite.mode == "alone":
        return serve_satellite(config, store)
    if config.wyoming.satellite.mode != "off":
        satellite_words(config)  # what is missing is told before models are loaded
    console = Console(highlight=False)
    with handled() as signals:
        started_s = time.perf_counter()
        models = load_models(
            for_several(config), store, lambda text: console.print(text, markup=False)
        )
        try:
            server = wyoming_server(config, models, model_names(config))
            took_s = time.perf_counter() - started_s

            def ready() -> None:
                console.print(f"Ready after {took_s:.1f} s.", markup=False)
                tell_wyoming(console, config.wyoming, server.port)

            server.ready = ready
            with satellite_beside(config, models.vad, console), signals.ending(server.stop):
                server.run()
        finally:
            close_models(models)
    return 0
