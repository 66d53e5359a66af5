"""`python -m s2s.bench.calling`: twenty questions to a model that cannot call tools by itself.

    python -m s2s.bench.calling
    python -m s2s.bench.calling --others --without-cues

Prints what was called for each and, last, one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict

from s2s.bench.calling.questions import OTHERS, TWENTY, Question, is_right
from s2s.bench.conditions import Conditions
from s2s.bench.entry import run_measurement
from s2s.core.clock import SystemClock
from s2s.core.tooling import ToolHints
from s2s.llm.calling.choosing import CallChooser, ChosenCall, HeldToChoices, ordinary_prompt
from s2s.llm.llama import LlamaChat, LlamaConfig
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.system.cpu import cores
from s2s.tools.config import ToolsConfig
from s2s.tools.loading import load_tools

Choosing = Callable[[str, Sequence[ToolHints]], ChosenCall | None]


class FirstOption:
    """In place of a model: always takes the first that is offered."""

    calls_tools = False

    def choose(
        self, prompt: str, options: Sequence[str], *, stop: Callable[[], bool] = lambda: False
    ) -> tuple[int, float] | None:
        return 0, 1.0

    def log_probability(
        self, prompt: str, text: str, *, stop: Callable[[], bool] = lambda: False
    ) -> float | None:
        return -10.0 if prompt == ordinary_prompt() else 0.0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m s2s.bench.calling", description=__doc__)
    parser.add_argument("--model", default=LlamaConfig().model, help="a GGUF file or its name")
    parser.add_argument("--others", action="store_true", help="ask the other questions instead")
    parser.add_argument("--without-cues", action="store_true", help="offer every tool every time")
    parser.add_argument(
        "--without-model", action="store_true", help="the first that is offered is called"
    )
    options = parser.parse_args(arguments)
    tools = load_tools(ToolsConfig())
    assert tools is not None
    hints = tools.open(SystemClock()).hints
    asked = OTHERS if options.others else TWENTY
    with ExitStack() as stack:
        held: HeldToChoices = FirstOption()
        if not options.without_model:
            chat = LlamaChat(LlamaConfig(model=options.model), Resources(Store(), threads=cores()))
            stack.callback(chat.close)
            held = chat
        chooser = CallChooser(held, cued=not options.without_cues)
        chooser.warm(hints)
        rows = [_ask(each, chooser, hints) for each in asked]
    right = sum(row["right"] is True for row in rows)
    wrong_calls = sum(row["right"] is False and row["called"] != "" for row in rows)
    print(f"{right} of {len(rows)} are right; {wrong_calls} wrong calls")
    told = {
        "benchmark": "calling",
        "model": options.model,
        "cues": not options.without_cues,
        "right": right,
        "wrong_calls": wrong_calls,
        "of": len(rows),
    }
    print(json.dumps(told | asdict(Conditions.here())))
    return 0


def _ask(question: Question, chooser: CallChooser, hints: Sequence[ToolHints]) -> dict[str, object]:
    began_s = time.perf_counter()
    call = chooser.choose(question.said, hints, lambda: False)
    took_ms = 1000 * (time.perf_counter() - began_s)
    called = "" if call is None else f"{call.name} {call.arguments}"
    right = is_right(question, call)
    print(f"{'  ' if right else '! '}{question.said:52} {took_ms:5.0f} ms  {called}")
    return {"right": right, "called": called}


if __name__ == "__main__":
    sys.exit(run_measurement(main))
