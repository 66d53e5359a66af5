"""What is said, and the call that is meant by it.

The first twenty are what the figure of docs/tools.md is of: they were written before anything was
tried on them. The others were written to find faults with.
"""

from __future__ import annotations

from dataclasses import dataclass

from s2s.llm.calling.choosing import ChosenCall
from s2s.tools.builtin.arithmetic import ArithmeticFault, evaluate, read_expression, said_result
from s2s.tools.builtin.durations import read_duration
from s2s.tools.builtin.wall_clock import zone_of
from s2s.tools.tool import read_arguments


@dataclass(frozen=True, slots=True)
class Question:
    """What is said, and what is meant."""

    said: str
    tool: str = ""
    """"" where none is to be called."""
    means: str = ""
    """Of the arguments: seconds of a timer, the result of a calculation, a time zone."""


TWENTY = (
    Question("What time is it?", "current_time"),
    Question("Could you tell me what day it is today?", "current_time"),
    Question("What's the time in London right now?", "current_time", "Europe/London"),
    Question("Set a timer for five minutes.", "set_timer", "300"),
    Question("Please start a timer for an hour and a half.", "set_timer", "5400"),
    Question("Wake me up in twenty minutes.", "set_timer", "1200"),
    Question("I need a timer for ninety seconds.", "set_timer", "90"),
    Question("How much time is left on my timer?", "list_timers"),
    Question("Cancel the timer, please.", "cancel_timer"),
    Question("What is seventeen times twenty three?", "calculate", "391"),
    Question("How much is 15 percent of 80?", "calculate", "12"),
    Question("Can you divide 144 by 12 for me?", "calculate", "12"),
    Question("What's the square root of 169?", "calculate", "13"),
    Question("What is 2 to the power of 10?", "calculate", "1024"),
    Question("What is the capital of France?"),
    Question("I had a great time at the party yesterday."),
    Question("Tell me a story about a clock."),
    Question("How do timers in washing machines work?"),
    Question("Who invented the calculator?"),
    Question("What do you think of the number seven?"),
)

OTHERS = (
    Question("Do you know what time it is?", "current_time"),
    Question("What's today's date?", "current_time"),
    Question("Which day of the week is it?", "current_time"),
    Question("What time is it in New York?", "current_time", "America/New_York"),
    Question("Tell me the time, please.", "current_time"),
    Question("Start a ten minute timer.", "set_timer", "600"),
    Question("Remind me in half an hour to call my mother.", "set_timer", "1800"),
    Question("Set an alarm for two minutes and thirty seconds.", "set_timer", "150"),
    Question("Can you put three minutes on the clock for my eggs?", "set_timer", "180"),
    Question("Timer, fifteen minutes.", "set_timer", "900"),
    Question("Are there any timers running?", "list_timers"),
    Question("How long does my timer still have?", "list_timers"),
    Question("Stop the timer.", "cancel_timer"),
    Question("Turn off the alarm, please.", "cancel_timer"),
    Question("What's 12 times 12?", "calculate", "144"),
    Question("Calculate 3.5 plus 4.25.", "calculate", "7.75"),
    Question("How much is a hundred minus thirty seven?", "calculate", "63"),
    Question("What is half of ninety?", "calculate", "45"),
    Question("What's 8 squared?", "calculate", "64"),
    Question("Multiply six by seven.", "calculate", "42"),
    Question("How are you today?"),
    Question("What was the best day of your life?"),
    Question("Tell me about the history of time zones."),
    Question("Why do people set alarms at night?"),
    Question("I will call you in five minutes."),
    Question("One plus of this phone is its battery."),
    Question("The train leaves in twenty minutes."),
    Question("What time do cats usually sleep?"),
    Question("Who wrote a brief history of time?"),
    Question("It took me three hours to cook dinner."),
    Question("My brother has two times more books than me."),
    Question("I am ninety percent sure that it will rain."),
    Question("Is there a good time to visit Rome?"),
    Question("How long does it take to boil an egg?"),
    Question("What is a timer?"),
    Question("Nothing, thank you."),
    Question("Could you sing a song for me?"),
    Question("Give me one more reason to stay."),
    Question("What day did the war end?"),
    Question("Tell me a joke about mathematics."),
)


def is_right(question: Question, call: ChosenCall | None) -> bool:
    """Whether `call` is what is meant."""
    if call is None or not question.tool:
        return call is None and not question.tool
    return call.name == question.tool and meaning(call) == question.means


def meaning(call: ChosenCall) -> str:
    """What the arguments of a call mean; "?" where they mean nothing."""
    arguments = read_arguments(call.arguments)
    if call.name == "set_timer":
        seconds = read_duration(str(arguments.get("duration", "")))
        return "?" if seconds is None else f"{seconds:g}"
    if call.name == "calculate":
        try:
            return said_result(evaluate(read_expression(str(arguments.get("expression", "")))))
        except ArithmeticFault:
            return "?"
    place = str(arguments.get("place", ""))
    if call.name == "current_time" and place:
        zone = zone_of(place)
        return "?" if zone is None else zone.key
    return ""
