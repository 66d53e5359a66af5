"""The main command: talk to it, at the machine's microphone or with recordings."""

from __future__ import annotations

import logging
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from s2s.app.loading import close_models, load_models
from s2s.app.view import View
from s2s.config.schema import Config
from s2s.core.audio import PIPELINE_HZ, read_wav
from s2s.core.clock import Clock, ManualClock, SystemClock
from s2s.core.metrics import Metrics
from s2s.models.store import Store
from s2s.session.models import Models
from s2s.session.session import Session
from s2s.transport.base import DeviceError, Transport
from s2s.transport.local import ECHO_RECORD, LocalTransport
from s2s.transport.playback import Playback
from s2s.transport.wav import Script, Utterance, WavTransport

log = logging.getLogger(__name__)

FILE_HZ = 24_000
"""Rate of the sound written to a file."""

DEMO_OUTPUT = Path("reply.wav")


def run_talk(
    config: Config,
    store: Store,
    *,
    input_file: Path | None = None,
    output_file: Path | None = None,
    fast: bool = False,
    metrics_file: Path | None = None,
) -> int:
    """Converse until the recordings end, Ctrl-C, or the device is gone; returns the exit code.

    Without an input file the machine's microphone and loudspeaker are used; where there are none,
    it says so and holds the conversation with the recordings that come with the program.
    """
    view = View(Console(highlight=False))
    clock: Clock = ManualClock() if fast and input_file is not None else SystemClock()
    started_s = time.perf_counter()
    script = None if input_file is None else _file_script(input_file)
    transport: Transport | None = None
    if script is None:
        try:
            transport = LocalTransport(config.audio, clock, view.notice)
        except DeviceError as error:
            view.notice(f"{error}.")
            view.notice("No one to talk to here: holding the conversation with recordings instead.")
            script = _demo_script()
            output_file = output_file or DEMO_OUTPUT
    models = load_models(config, store, view.notice)
    try:
        if script is not None:
            transport = WavTransport(script, Playback(clock, FILE_HZ), clock)
        assert transport is not None
        metrics = Metrics(metrics_file)
        view.ready(config, transport, time.perf_counter() - started_s)
        view.times = not isinstance(clock, ManualClock)
        code = _converse(config, models, transport, view, clock, metrics)
    finally:
        close_models(models)
    if isinstance(transport, WavTransport) and output_file is not None:
        transport.save(output_file)
        view.notice(f"Wrote {output_file}: you on the left, the assistant on the right.")
    if isinstance(transport, LocalTransport) and transport.erle_db is not None:
        (store.folder("audio") / ECHO_RECORD).write_text(
            f"{transport.erle_db:.0f} dB of echo cancelled between {transport.output.name} and "
            f"{transport.input.name}"
        )
    if isinstance(transport, LocalTransport) and (transport.overruns or transport.underruns):
        view.notice(
            f"The microphone was late {transport.overruns} times, the loudspeaker ran dry "
            f"{transport.underruns} times: this machine is busy, or a backend too slow for it."
        )
    if view.times:
        view.summarise(metrics.finished())
    metrics.close()
    return code


def _converse(
    config: Config,
    models: Models,
    transport: Transport,
    view: View,
    clock: Clock,
    metrics: Metrics,
) -> int:
    session = Session(models, transport, config.session, events=view, clock=clock, metrics=metrics)
    view.timelines = metrics.finished
    with _stops_on_interrupt(transport.stop):
        if isinstance(transport, LocalTransport) and sys.stdin.isatty():
            _interrupt_on_enter(session)
        session.run()
    return 1 if view.failed else 0


@contextmanager
def _stops_on_interrupt(stop: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C ends the conversation in order, the second at once."""

    def on_signal(number: int, frame: object) -> None:
        del number, frame
        signal.signal(signal.SIGINT, signal.default_int_handler)
        stop()

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, on_signal)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _interrupt_on_enter(session: Session) -> None:
    """Enter stops the assistant. The thread waits on the terminal and ends with the program."""

    def watch() -> None:
        for _ in sys.stdin:
            session.interrupt()

    threading.Thread(target=watch, name="s2s-keys", daemon=True).start()


def _file_script(path: Path) -> Script:
    samples, _ = read_wav(path, PIPELINE_HZ)
    return Script([Utterance(samples, None, path.name)])


def _demo_script() -> Script:
    folder = Path(__file__).parent / "demo"
    recordings = sorted(folder.glob("*.flac"))
    said = [Utterance(read_wav(path, PIPELINE_HZ)[0], 0.6, path.stem) for path in recordings]
    return Script(said)
