"""The right value of every case that was listed as a fault of the spoken text."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from s2s.tts.text import speakable


@dataclass(frozen=True)
class Fault:
    """A listed case: its number, what is written, and what must or must not be said."""

    name: str
    language: str
    text: str
    exactly: str | None = None
    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()


FAULTS = (
    Fault("T16", "en", "It moved by -0.4 mm.", "It moved by minus zero point four millimeters."),
    Fault("T52", "de", "Draußen sind es -3,5 °C.",
    "Draußen sind es minus drei Komma fünf Grad Celsius."),
    Fault("T54", "de", "Veränderung: -2 % seit gestern", has=("minus zwei Prozent",)),
    Fault("T87", "en", "It changed by -5% today.", "It changed by minus five percent today."),
    Fault("T01", "en", "John D. Rockefeller gave it away.", "John D Rockefeller gave it away."),
    Fault("T03", "en", "Use the USB Type C port, then open Section D.",
          has=("Type C port", "Section D"), lacks=("hundred",)),
    Fault("T32", "en", "All done.<|im_end|>", "All done."),
    Fault("T34", "en", "<|channel|>analysis<|message|>They want the time.<|end|><|start|>assistant"
          "<|channel|>final<|message|>It is noon.", "It is noon."),
    Fault("T35", "en",
          '<tool_call>{"name": "lamp_on", "arguments": {"room": "hall"}}</tool_call>', ""),
    Fault("S18", "en", r"So this is the whole rule: $$a = b + c. \quad d = 2$$ That is it.",
          "So this is the whole rule: a equals b plus c. d equals two That is"
          " it."),
    Fault("T18", "en", "The station lies at 151.2093 degrees east.",
          has=("one hundred fifty-one point two zero nine three",)),
    Fault("T19", "en", "Call 136-2468-0135 today.",
          has=("one three six", "two four six eight", "zero one three five"), lacks=("thousand",
          "hundred")),
    Fault("T21", "en", "The request was 912e3456-a1b2-4c3d-8e9f-0123456789ab.",
          has=("nine one two E three four five six",), lacks=("times ten", "minus",
          " to the ")),
    Fault("T76", "zh", "比分是3:2。", "比分是三比二。"),
    Fault("T77", "zh", "9:00-10:00：晨练", has=("九点到十点",)),
    Fault("T82", "ja", "１，０００円です。", "千円です。"),
    Fault("T84", "en", "It is " + "9" * 5000 + ".5 units", has=("nine",
    "point five units")),
    Fault("T86", "de", "1" * 5000 + " € Schulden", has=("eins eins",
    "Euro Schulden")),
    Fault("T59", "de", "Wir treffen uns um 8.30 Uhr.",
    "Wir treffen uns um acht Uhr dreißig."),
    Fault("T62", "de", "Die Schulden: 2.300.000.000 CHF",
          has=("zwei Milliarden dreihundert Millionen Schweizer Franken",),
          lacks=("CHF",)),
    Fault("T63", "de", "eine 3D-Brille", has=("drei",),
    lacks=("dreiD",)),
    Fault("T64", "de", "Wir leben im 21. Jahrhundert.",
    "Wir leben im einundzwanzigsten"
    " Jahrhundert."),
    Fault("T45", "en", r"So \frac{3}{8} is left.", has=("three eighths",),
    lacks=("frac",)),
    Fault("T48", "en", r"Take $\left( \frac{a}{b} \right)^2$ first.", has=("a over b", "squared"),
          lacks=("left", "right", "frac")),
    Fault("T49", "en", r"Start with $\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}$ here.",
          has=("one, two; three, four",), lacks=("begin", "matrix",
          "end ")),
    Fault("T51", "zh", "面积是$n^2$。", has=("n的平方",), lacks=("美元",
    "$")),
    Fault("T06", "en", "See Act Ⅳ, Scene Ⅸ.", "See Act four, Scene nine."),
    Fault("T37", "en", "Press 1️⃣ for tea or 2️⃣ for cake.",
    "Press one for tea or two for cake."),
    Fault("T40", "en", "𝐇𝐞𝐥𝐥𝐨, 𝘄𝗼𝗿𝗹𝗱, it is 𝟏𝟐.", "Hello, world, it is twelve."),
    Fault("T07", "en", "It runs 8x faster on CPUs.",
    "It runs eight times faster on C P U's."),
    Fault("T30", "en", "<details><summary>Steps</summary>Mix it.</details>Done.",
          has=("Steps", "Mix it", "Done"), lacks=("details", "summary", "StepsMix",
          "it.Done")),
)  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_right_value_is_said(fault: Fault) -> None:
    spoken = speakable(fault.text, fault.language).text
    if fault.exactly is not None:
        assert spoken == fault.exactly
    assert [words for words in fault.has if words not in spoken] == []
    assert [words for words in fault.lacks if words in spoken] == []
    assert not re.search(r"[0-9<>|\\$]", spoken)
