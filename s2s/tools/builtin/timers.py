"""Timers that ring in the conversation: set, listed, cancelled."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from s2s.core.tooling import Alarm
from s2s.tools.builtin.durations import in_words, read_duration
from s2s.tools.tool import ToolContext, ToolError, tool


def known_duration(text: str) -> str:
    """`text`, which says a duration.

    Raises:
        ValueError: it says none.
    """
    if read_duration(text) is None:
        raise ValueError(f"{text!r} is no duration. Say it with its unit, such as 5 minutes")
    return text


Duration = Annotated[str, AfterValidator(known_duration)]
LONGEST_S = 24 * 3600.0
MOST = 20
"""Timers at a time."""
_UNITS = r"(?:seconds?|secs?|minutes?|mins?|hours?|hrs?)"
_NUMBER = (
    r"(?:\d+|a|an|one|two|three|four|five|six|seven|eight|nine|ten|\w+teen|\w+ty|half|quarter)"
)


@tool(
    wish="set a timer",
    cues=(
        r"\b(?:set|start|put|make|create|give|begin|add|need|want|run)\b.{0,40}\b(?:timer|alarm|countdown)\b",
        rf"\b(?:timer|alarm|countdown)\b.{{0,30}}\b{_UNITS}\b",
        rf"\b(?:wake|remind|alert|tell|ring|call|notify|beep)\b.{{0,40}}\b(?:in|after)\b.{{0,20}}\b{_UNITS}\b",
        rf"\b(?:put|give)\b.{{0,20}}\b{_UNITS}\b.{{0,15}}\bclock\b",
        rf"^\W*(?:time|count down)\b.{{0,10}}\b{_NUMBER}\b.{{0,20}}\b{_UNITS}\b",
    ),
    examples=(
        ("Set a timer for ten minutes.", '{"duration": "ten minutes"}'),
        ("Wake me in half an hour, please.", '{"duration": "half an hour"}'),
    ),
    written="duration",
)
def set_timer(duration: Duration, context: ToolContext, name: str = "") -> str:
    """Sets a timer that rings when the time is over.

    Args:
        duration: how long, with its unit, such as "5 minutes" or "1 hour 30 minutes".
        name: what it is for, if the person says so, such as "pasta".
    """
    seconds = read_duration(duration) or 0.0
    if not 1 <= seconds <= LONGEST_S:
        raise ToolError(f"a timer runs from one second to {in_words(LONGEST_S)}, not {duration}.")
    if len(context.alarms.all()) >= MOST:
        raise ToolError(f"{MOST} timers run already. Cancel one first.")
    alarm = context.alarms.set(seconds, name.strip())
    named = f"{alarm.name} timer" if alarm.name else "timer"
    return f"The {named} is set for {in_words(seconds)}."


@tool(
    wish="ask about the timers that are running",
    cues=(
        r"\b(?:how (?:long|much)|what(?:'s| is)?)\b.{0,30}\b(?:left|remaining|remain)\b",
        r"\b(?:which|what|list|show|any|are there|how many|how are|check)\b.{0,25}\btimers?\b",
        r"\btimers?\b.{0,20}\b(?:left|remaining|running|set|active)\b",
        r"\bhow long\b.{0,30}\btimer\b",
    ),
    examples=(
        ("How much time is left on the timer?", "{}"),
        ("Which timers are running?", "{}"),
    ),
)
def list_timers(context: ToolContext) -> str:
    """Tells which timers run and how much time is left on each."""
    running = context.alarms.all()
    if not running:
        return "No timer is running."
    now_s = context.alarms.now()
    parts = [f"the {_called(each)} has {in_words(each.due_s - now_s)} left" for each in running]
    said = ", ".join(parts)
    return f"{said[0].upper()}{said[1:]}."


@tool(
    wish="cancel a timer",
    cues=(
        r"\b(?:cancel|stop|delete|remove|clear|kill|end|turn off|switch off|drop|abort|forget)\b"
        r".{0,30}\b(?:timers?|alarms?|countdown)\b",
        r"\b(?:timer|alarm)\b.{0,15}\b(?:off|cancel(?:led)?|any ?more)\b",
    ),
    examples=(
        ("Cancel the timer.", "{}"),
        ("Please turn off the alarm.", "{}"),
    ),
)
def cancel_timer(context: ToolContext, which: str = "") -> str:
    """Cancels a timer.

    Args:
        which: its name or how long it was set for; "all" for all of them; empty for the only one.
    """
    running = context.alarms.all()
    if not running:
        return "No timer is running."
    chosen = running if which.strip().lower() == "all" else _meant(running, which.strip())
    for alarm in chosen:
        context.alarms.cancel(alarm)
    if len(chosen) > 1:
        return f"All {len(chosen)} timers are cancelled."
    return f"The {_called(chosen[0])} is cancelled."


def _meant(running: list[Alarm], which: str) -> list[Alarm]:
    """The one that is meant."""
    if not which and len(running) == 1:
        return running
    seconds = read_duration(which)
    found = [
        each
        for each in running
        if (which and each.name.casefold() == which.casefold()) or each.seconds == seconds
    ]
    if len(found) == 1:
        return found
    names = ", ".join(f"the {_called(each)}" for each in running)
    raise ToolError(f"it is not clear which timer is meant. There are: {names}.")


def _called(alarm: Alarm) -> str:
    """A timer as it is spoken of."""
    named = f"{alarm.name} " if alarm.name else ""
    return f"{named}timer" if named else f"timer of {in_words(alarm.seconds)}"
