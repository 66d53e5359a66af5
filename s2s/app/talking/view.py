"""A conversation on a terminal: what is heard, what is said, how long it took."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import assert_never

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from s2s.app.loading import Threads
from s2s.app.talking.keys import TAKE_UP, Keys, usable
from s2s.app.talking.typed_transport import TypedScript, TypedTransport
from s2s.config.schema import Config
from s2s.core.events import (
    AnswerText,
    Event,
    Heard,
    Interruption,
    Listening,
    MicrophoneState,
    NothingHeard,
    NothingSpoken,
    Notice,
    ProvisionalStart,
    ResponseDone,
    ResponseStarted,
    SpeechDropped,
    SpeechStarted,
    SpeechStopped,
    StopHeard,
    TakenBack,
    ToolCalled,
    ToolUsed,
    TurnBegan,
    TurnCommitted,
    TurnEnded,
    TurnTranscript,
    TurnTranscriptFailed,
)
from s2s.core.items import ToolItem
from s2s.core.metrics import Timeline, summary
from s2s.transport.base import Transport
from s2s.transport.local import LocalTransport
from s2s.transport.wav import WavTransport

MICROPHONE: dict[Listening, str] = {
    "open": "(listening)",
    "muted": "(muted: m unmutes)",
    "asleep": "(waiting for the wake word)",
    "awake": "(awake)",
    "waiting": "(not listening: Space talks)",
    "talking": "(listening: Space sends it)",
}
SHOWN_OUTPUT = 120
"""Characters of what a tool gave that are shown."""
TAKE_UP_HINT = f"{TAKE_UP} answers it"


REMARKS = {
    NothingSpoken: "nothing of this can be spoken",
    TakenBack: "began too early: go on",
}


class View:
    """Takes a session's events. Model text is never read as markup."""

    def __init__(self, console: Console) -> None:
        self.failed = False
        self.times = True
        self.timelines: Callable[[], list[Timeline]] = list
        self._console = console
        self._lock = threading.Lock()
        self._partial = False
        self._typed: str | None = None
        """The line that is being typed."""

    def __call__(self, event: Event) -> None:  # noqa: C901  (a case for each event)
        with self._lock:
            match event:
                case Heard(final=False, text=text) if self._shows_partials and text:
                    self._over(Text(f"you  … {text}", style="bright_black"))
                case Heard(final=True, text=text):
                    self._line(Text.assemble(("you  ", "bold cyan"), text))
                case NothingHeard() | SpeechDropped():
                    self._line(_unanswered(event))
                case StopHeard(text=text):
                    self._line(Text.assemble(("you  ", "bold cyan"), text))
                    self._line(Text("     (stopped)", style="bright_black"))
                case MicrophoneState(state=state):
                    self._line(Text(f"     {MICROPHONE[state]}", style="bright_black"))
                case AnswerText(text=text) if text.strip():
                    self._line(Text.assemble(("s2s  ", "bold green"), " ".join(text.split())))
                case ToolCalled(name=name, arguments=arguments):
                    call = f"     (wants to call {name or 'a tool'}: {arguments})"
                    self._line(Text(call, style="bright_black"))
                case ToolUsed(item=item):
                    self._line(Text(_used(item), style="red" if item.failed else "bright_black"))
                case NothingSpoken() | TakenBack():
                    self._line(Text(f"     ({REMARKS[type(event)]})", style="bright_black"))
                case ResponseDone():
                    self._done(event)
                case Interruption(action="cancel" | "pause", reason=reason):
                    self._line(Text(f"     (interrupted: {reason})", style="bright_black"))
                case Notice(text=text):
                    self._line(Text(text, style="yellow"), whole=True)
                case (
                    Heard() | AnswerText() | Interruption()
                    | SpeechStarted() | SpeechStopped() | ProvisionalStart() | ResponseStarted()
                    | TurnBegan() | TurnEnded() | TurnCommitted()
                    | TurnTranscript() | TurnTranscriptFailed()
                ):  # fmt: skip
                    pass
                case _:
                    assert_never(event)

    def notice(self, text: str) -> None:
        """Tell the person something about the program."""
        self(Notice(text))

    def typing(self, line: str | None) -> None:
        """Show the line that is being typed, as it is by now, below all else; None: there is none
        any more. From any thread."""
        with self._lock:
            self._typed = line
            self._clear_partial()
            self._show_typed()

    def ready(self, config: Config, transport: Transport, took_s: float) -> None:
        """The start line: devices, models, threads, ready."""
        threads = Threads.of(config)
        models = {
            "stt": f"{config.stt.backend}/{threads.stt}",
            "llm": f"{config.llm.backend}/{threads.llm}",
            "tts": f"{config.tts.backend}/{threads.tts} threads",
        }
        self._ready(transport, models, took_s, talk=config.session.turns.input.push_to_talk)

    def ready_remote(self, place: str, transport: Transport, took_s: float, *, talk: bool) -> None:
        """The start line where a server at `place` answers; `talk`: only while a key is down."""
        self._ready(transport, {"answers": place}, took_s, talk=talk)

    def _ready(
        self, transport: Transport, who: Mapping[str, str], took_s: float, *, talk: bool
    ) -> None:
        ears, mouth, hint = "recordings", "a file", "listening"
        if isinstance(transport, LocalTransport):
            ears, mouth = transport.input.name, transport.output.name
            hint = Keys.help(push_to_talk=talk) if usable() else Keys.without
        elif isinstance(transport, WavTransport) and isinstance(transport.script, TypedScript):
            ears, hint = "typed lines", ""
        elif isinstance(transport, TypedTransport):
            ears, hint = ("the keyboard", Keys.typing) if usable() else ("typed lines", "")
            mouth = "in writing alone" if transport.output is None else transport.output.name
        line = Text()
        for name, what in {"hears": ears, "speaks": mouth, **who}.items():
            line.append(f"{name} ", "bright_black").append(what).append(" · ", "bright_black")
        line.append(f"ready in {took_s:.1f} s", "bold")
        if hint:
            line.append(f" · {hint}", "bright_black")
        self._line(line)

    def summarise(self, timelines: list[Timeline]) -> None:
        """p50 and p95 of the conversation's latencies."""
        latency = summary(timelines).get("first_played")
        if latency is not None:
            self._console.print(
                f"{latency['n']} answers; from the end of speech to the first sound: "
                f"p50 {latency['p50']:.0f} ms, p95 {latency['p95']:.0f} ms"
            )

    def _done(self, event: ResponseDone) -> None:
        if event.status == "failed":
            self.failed = True
            self._line(Text(f"     failed: {event.error}", style="red"))
        elif event.status == "completed" and self.times:
            for timeline in reversed(self.timelines()):
                if timeline.turn == event.response.turn and timeline.latency_ms is not None:
                    self._line(Text(_parts(timeline), style="bright_black"))
                    return

    def _line(self, text: Text, *, whole: bool = False) -> None:
        """Show one line. It is broken at the terminal's width unless `whole`, for what is to be
        copied, or there is no terminal."""
        self._clear_partial()
        self._console.print(text, soft_wrap=whole or not self._console.is_terminal)
        self._show_typed()

    @property
    def _shows_partials(self) -> bool:
        return self._console.is_terminal and self._typed is None

    def _show_typed(self) -> None:
        """The line that is being typed: the end of it, where it is longer than the terminal."""
        if self._typed is None or not self._console.is_terminal:
            return
        room = max(10, self._console.width - len("type ") - 2)
        shown = self._typed
        while cell_len(shown) > room:
            shown = shown[1:]
        self._over(Text.assemble(("type ", "bold yellow"), shown, ("▏", "yellow")))

    def _over(self, text: Text) -> None:
        self._clear_partial()
        text.truncate(max(10, self._console.width - 1), overflow="ellipsis")
        self._console.print(text, end="\r")
        self._partial = True

    def _clear_partial(self) -> None:
        if self._partial:
            self._console.print(" " * (self._console.width - 1), end="\r")
            self._partial = False


def _unanswered(event: NothingHeard | SpeechDropped) -> Text:
    """That nothing answers; why, and what to do if it was meant after all."""
    if isinstance(event, NothingHeard):
        return Text("     (no words were heard)", style="bright_black")
    said = f" “{' '.join(event.text.split())}”" if event.text.strip() else ""
    return Text(f"     (not answered:{said} {event.reason}; {TAKE_UP_HINT})", style="bright_black")


def _used(item: ToolItem) -> str:
    """A tool that was called, and what it gave, in one line."""
    output = " ".join(item.output.split())
    shown = output if len(output) <= SHOWN_OUTPUT else f"{output[:SHOWN_OUTPUT]}…"
    given = "" if item.arguments.strip() in ("", "{}") else f" {item.arguments}"
    return f"     ({item.name}{given}: {shown})"


def _parts(timeline: Timeline) -> str:
    """A turn's latency and where it came from, for people."""
    ms = timeline.since_speech_ms()
    parts = [
        f"{name} {ms[point]:.0f}"
        for name, point in (
            ("transcript", "transcript"),
            ("first token", "first_token"),
            ("sound", "first_audio"),
        )
        if point in ms
    ]
    return f"     {timeline.latency_ms:.0f} ms after you stopped ({', '.join(parts)})"
