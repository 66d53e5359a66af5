"""The main command: talk to it, at the machine's microphone or with recordings."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from s2s.app.loading import close_models, load_models
from s2s.app.memory import with_memory
from s2s.app.recording import check_recordable, recorded
from s2s.app.signals import Signals, handled
from s2s.app.talking.cues import ListeningCues
from s2s.app.talking.keys import STEERING, Conversation, Keys, keys_read, usable
from s2s.app.talking.typed_line import TypedLine
from s2s.app.talking.typed_transport import TypedScript, TypedTransport
from s2s.app.talking.view import View
from s2s.config.schema import Config
from s2s.core.audio import PIPELINE_HZ, check_output, check_writable, read_wav, write_sound
from s2s.core.audio.gain import level_hint, raised
from s2s.core.clock import Clock, ManualClock, SystemClock
from s2s.core.events import EventSink, to_all
from s2s.core.metrics import Metrics
from s2s.models.store import Store
from s2s.records.ends import SessionEnds
from s2s.session.models import Models
from s2s.session.session import Session
from s2s.transport.base import DeviceError
from s2s.transport.local import ECHO_RECORD, LocalTransport
from s2s.transport.playback import Playback
from s2s.transport.wav import Line, Script, WavTransport

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
    typed: bool = False,
) -> int:
    """Converse until the recordings end, Ctrl-C, or the device is gone; returns the exit code.

    Without an input file the machine's microphone and loudspeaker are used; where there is none,
    it says so and takes what is typed, or holds the conversation with the recordings that come
    with the program. `typed`: it is typed from the start.
    """
    with handled() as signals:
        view = View(Console(highlight=False))
        silent = input_file is not None or (typed and output_file is not None and not usable())
        clock: Clock = ManualClock() if fast and silent else SystemClock()
        started_s = time.perf_counter()
        if metrics_file is not None:
            check_writable(metrics_file)
        check_recordable(config)
        given = GivenFiles(input_file, output_file, typed=typed)
        opened = opened_transport(config, given, clock, view)
        transport, output_file = opened.transport, opened.output_file
        models = load_models(config, store, view.notice)
        sink: EventSink = view
        if config.audio.listening_sound:
            cues = ListeningCues(transport.playback.cue, transport.playback.rate_hz)
            sink = to_all(view, cues.on_event)
        told, events = with_memory(config, store, models, sink)
        metrics = Metrics(metrics_file)
        try:
            if isinstance(transport, LocalTransport):
                transport.listen()
            view.ready(config, transport, time.perf_counter() - started_s)
            view.times = not isinstance(clock, ManualClock)
            try:
                _converse(config, told, opened, view, events, clock, metrics, signals)
            finally:
                if isinstance(transport, WavTransport) and output_file is not None:
                    save_output(transport, output_file, view)
        finally:
            if isinstance(transport, LocalTransport):
                transport.close()
            close_models(models)
            metrics.close()
        if isinstance(transport, LocalTransport):
            tell_about_devices(transport, store, view)
        if view.times:
            view.summarise(metrics.finished())
        return 1 if view.failed else 0


@dataclass(frozen=True, slots=True)
class GivenFiles:
    """What a conversation is held with in place of devices."""

    input_file: Path | None = None
    output_file: Path | None = None
    typed: bool = False
    """Lines are typed; nothing is heard."""


@dataclass(frozen=True, slots=True)
class OpenedTransport:
    """What a conversation is held over."""

    transport: LocalTransport | WavTransport | TypedTransport
    output_file: Path | None = None
    """What is to be written of it."""
    typed: TypedScript | None = None
    """What sends the lines that are typed, where nothing else is heard."""

    def lines_to(self, send: Callable[[str], None]) -> None:
        """The conversation takes lines from now on."""
        if self.typed is not None:
            self.typed.send = send

    @contextmanager
    def keys(
        self, conversation: Conversation, view: View, *, push_to_talk: bool
    ) -> Generator[None, None, None]:
        """Inside, keys steer `conversation`, and what is typed is shown and sent to it."""
        self.lines_to(conversation.type_line)
        if isinstance(self.transport, WavTransport):
            yield
            return
        line = TypedLine(
            conversation.type_line,
            view.typing,
            steering=STEERING,
            always=self.typed is not None,
            end=self.transport.stop,
        )
        with keys_read(Keys(conversation, push_to_talk=push_to_talk, line=line)):
            yield


def opened_transport(
    config: Config, given: GivenFiles, clock: Clock, view: View
) -> OpenedTransport:
    """The transport, and the file to write. What cannot work is an error here, before the work."""
    output_file = given.output_file
    if output_file is not None:
        check_output(output_file)
    if given.typed:
        return _typed_transport(config, output_file, clock, view)
    script = None if given.input_file is None else _file_script(given.input_file, view)
    if script is None:
        try:
            local = LocalTransport(config.audio, clock, view.notice)
        except DeviceError as error:
            view.notice(f"{error}.")
            if usable():
                view.notice("Type instead: nothing is heard here.")
                return _typed_transport(config, output_file, clock, view)
            view.notice("No one to talk to here: holding the conversation with recordings instead.")
            script = _demo_script()
            output_file = output_file or DEMO_OUTPUT
            check_output(output_file)
        else:
            if output_file is not None:
                view.notice(f"{output_file} is not written: --output goes with --input.")
            return OpenedTransport(local)
    return OpenedTransport(WavTransport(script, Playback(clock, FILE_HZ), clock), output_file)


def _typed_transport(
    config: Config, output_file: Path | None, clock: Clock, view: View
) -> OpenedTransport:
    """Lines of the keyboard, or of the standard input; the answers aloud, or into a file."""
    keyboard = usable()
    script = TypedScript(None if keyboard else typed_lines())
    if output_file is None:
        transport = TypedTransport(script, clock, config.audio, view.notice)
        return OpenedTransport(transport, typed=script)
    if keyboard:
        view.notice(f"{output_file} is not written: --output goes with --input, or typed lines.")
        return _typed_transport(config, None, clock, view)
    wav = WavTransport(script, Playback(clock, FILE_HZ), clock)
    return OpenedTransport(wav, output_file, script)


def typed_lines() -> list[str]:
    """The lines of the standard input, which is no keyboard of ours; none where there is none."""
    return [] if sys.stdin is None or sys.stdin.closed else sys.stdin.read().splitlines()


def save_output(transport: WavTransport, output_file: Path, view: View) -> None:
    write_sound(output_file, transport.stereo(), FILE_HZ)
    view.notice(f"Wrote {output_file}: you on the left, the assistant on the right.")


def tell_about_devices(transport: LocalTransport, store: Store, view: View) -> None:
    if transport.erle_db is not None:
        (store.folder("audio") / ECHO_RECORD).write_text(
            f"{transport.erle_db:.0f} dB of echo cancelled between {transport.output.name} and "
            f"{transport.input.name}",
            encoding="utf-8",
        )
    if transport.overruns or transport.underruns:
        view.notice(
            f"The microphone was late {transport.overruns} times, the loudspeaker ran dry "
            f"{transport.underruns} times: this machine is busy, or a backend too slow for it."
        )


def _converse(
    config: Config,
    models: Models,
    opened: OpenedTransport,
    view: View,
    events: EventSink,
    clock: Clock,
    metrics: Metrics,
    signals: Signals,
) -> None:
    transport = opened.transport
    ends = SessionEnds(models, transport, events)
    with recorded(ends, transport.playback, config, clock, metrics, view.notice) as made:
        session = Session(
            made.models,
            made.transport,
            config.session,
            events=made.events,
            clock=clock,
            metrics=metrics,
        )
        view.timelines = metrics.finished
        reading = opened.keys(session, view, push_to_talk=config.session.turns.input.push_to_talk)
        with signals.ending(transport.stop), reading:
            session.run()


def _file_script(path: Path, view: View) -> Script:
    heard = raised(read_wav(path, PIPELINE_HZ)[0], PIPELINE_HZ)
    if heard.gain_db:
        view.notice(f"{path.name} is quiet: {level_hint(heard.level_db, heard.gain_db)}")
    return Script([Line(heard.samples, None, path.name)])


def _demo_script() -> Script:
    folder = Path(__file__).parent / "demo"
    recordings = sorted(folder.glob("*.flac"))
    said = [Line(read_wav(path, PIPELINE_HZ)[0], 0.6, path.stem) for path in recordings]
    return Script(said)
