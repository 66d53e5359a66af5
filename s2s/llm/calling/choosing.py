"""A call chosen for a model that cannot write one: which tool, if any, and which of the person's
own words are its arguments.

Which tool: that under which the model finds the words more likely than as ordinary talk; only
those are asked about whose cues the words hold. Which words: a choice that the model is held to
(`constrained.py`). With a small model a wrong call is worse than none
(docs/decisions/chosen-calls.md).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from s2s.core.tooling import ToolHints
from s2s.core.untyped import is_list, is_mapping

MOST_WORDS = 40
"""Of the person; in longer ones nothing is looked for."""
LONGEST_SPAN = 12
"""Words that one argument is made of at most."""
SURE = 1.0
"""By so much the words must be likelier as what a tool is asked for than as ordinary talk: natural
logarithm (docs/decisions/chosen-calls.md)."""
MOST_EXAMPLES = 6

_WORD = re.compile(r"\S+")
_EDGE = " \t\n.,;:!?\"'“”‘’"
_CONTENT = re.compile(r"[^\W\d_]{4,}")
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "what when where which that this with from have does tell please could would should about "
        "there their they your mine some many much give make want need know like just then than "
        "into over will been were being such only also very more most other",
    )
)
"""Words that say nothing about what is wanted."""


@runtime_checkable
class HeldToChoices(Protocol):
    """A model that can be held to one of several texts."""

    @property
    def calls_tools(self) -> bool:
        """It was trained to call tools, by its template."""
        ...

    def choose(
        self, prompt: str, options: Sequence[str], *, stop: Callable[[], bool] = lambda: False
    ) -> tuple[int, float] | None:
        """Which of `options` it would write behind `prompt`, and how likely that is among them;
        None when it was stopped.

        Raises:
            LlmError: the prompt does not fit, or the model failed.
        """
        ...

    def log_probability(
        self, prompt: str, text: str, *, stop: Callable[[], bool] = lambda: False
    ) -> float | None:
        """Natural logarithm of how likely it writes `text` behind `prompt`; None when it was
        stopped.

        Raises:
            LlmError: as `choose`.
        """
        ...


@dataclass(frozen=True, slots=True)
class ChosenCall:
    """What is to be called."""

    name: str
    arguments: str
    """A JSON object."""


class CallChooser:
    """Chooses calls with one model."""

    def __init__(self, model: HeldToChoices, *, cued: bool = True) -> None:
        """`cued`: only tools are offered whose cues the words hold."""
        self._model = model
        self._cued = cued

    def choose(
        self, words: str, tools: Sequence[ToolHints], stop: Callable[[], bool]
    ) -> ChosenCall | None:
        """The call that `words` ask for; None for none.

        Raises:
            LlmError: the model failed.
        """
        said = " ".join(words.split())
        if not said or len(said.split()) > MOST_WORDS:
            return None
        offered = [tool for tool in tools if not self._cued or is_cued(tool, said)]
        if not offered:
            return None
        tool = self._which(said, offered, stop)
        return None if tool is None else self._call(said, tool, stop)

    def warm(self, tools: Sequence[ToolHints]) -> None:
        """Evaluate ahead of time what is the same whatever is said.

        Raises:
            LlmError: the model failed.
        """
        if tools:
            self._model.log_probability(ordinary_prompt(), " Hello.\n")

    def _which(
        self, said: str, offered: Sequence[ToolHints], stop: Callable[[], bool]
    ) -> ToolHints | None:
        """The tool that the words are likeliest asking for."""
        ordinary = self._model.log_probability(ordinary_prompt(), f" {said}\n", stop=stop)
        if ordinary is None:
            return None
        best, chosen = ordinary + SURE, None
        for tool in offered:
            found = self._model.log_probability(tool_prompt(tool), f" {said}\n", stop=stop)
            if found is None:
                return None
            if found > best:
                best, chosen = found, tool
        return chosen

    def _call(self, said: str, tool: ToolHints, stop: Callable[[], bool]) -> ChosenCall | None:
        arguments: dict[str, object] = {}
        for name, schema, needed in parameters(tool):
            if not needed and name != tool.written:
                continue
            options = fitting(tool, name, values(schema, said))
            if not needed:
                options = ["", *options]
            if not options:
                return None
            prompt = argument_prompt(said, tool, name)
            shown = [f" {shown_value(each)}\n" for each in options]
            chosen = self._model.choose(prompt, shown, stop=stop)
            if chosen is None:
                return None
            if options[chosen[0]] != "":
                arguments[name] = options[chosen[0]]
        return ChosenCall(tool.tool.name, json.dumps(arguments, ensure_ascii=False))


def is_cued(tool: ToolHints, said: str) -> bool:
    """Whether `said` can mean this tool: it holds a cue, or, where there are none, a word of its
    name or examples."""
    if tool.cues:
        return any(re.search(cue, said, re.IGNORECASE) for cue in tool.cues)
    own = content_words(" ".join([tool.tool.name, *(example for example, _ in tool.examples)]))
    return bool(own & content_words(said))


def content_words(text: str) -> set[str]:
    """Beginnings of the words that say what a text is about."""
    words = _CONTENT.findall(text.lower().replace("_", " "))
    return {word[:5] for word in words if word not in _COMMON}


ORDINARY = (
    "What is the highest mountain in the world?",
    "I had such a good time last night.",
    "How does a timer work?",
    "Thank you very much.",
    "She is twenty percent younger than me.",
    "I will be back in ten minutes.",
    "What is an alarm clock?",
    "One minus was the price.",
)
"""What asks for no tool, though words may be those of one."""


def ordinary_prompt() -> str:
    """What is said for no tool, up to one more."""
    return _said_to("chat, or ask about the world", ORDINARY)


def tool_prompt(tool: ToolHints) -> str:
    """What is said by who wants this tool, up to one more."""
    wish = tool.wish or f"have this done: {first_sentence(tool.tool.description)}"
    return _said_to(wish, [said for said, _ in tool.examples[:MOST_EXAMPLES]])


def _said_to(wish: str, examples: Sequence[str]) -> str:
    lines = [f"Things people say to a voice assistant to {wish}:", *(f"- {e}" for e in examples)]
    return "\n".join([*lines, "-"])


def argument_prompt(said: str, tool: ToolHints, name: str) -> str:
    """The question for one argument, up to the answer."""
    about = next((meaning for each, meaning in meanings(tool) if each == name), "")
    lines = [f"What the user says, and the {name} that is meant: {about}", ""]
    for example, written in tool.examples:
        given: object = json.loads(written)
        value = given.get(name, "") if is_mapping(given) else ""
        lines += [f"User: {example}", f"{name}: {shown_value(value)}".rstrip(), ""]
    lines += [f"User: {said}", f"{name}:"]
    return "\n".join(lines)


def parameters(tool: ToolHints) -> Iterator[tuple[str, Mapping[str, object], bool]]:
    """Name, schema, and whether it is needed, of each parameter."""
    properties = tool.tool.parameters.get("properties")
    required = tool.tool.parameters.get("required")
    needed = required if is_list(required) else []
    if is_mapping(properties):
        for name, schema in properties.items():
            if is_mapping(schema):
                yield name, schema, name in needed


def meanings(tool: ToolHints) -> Iterator[tuple[str, str]]:
    """Name and meaning of each parameter."""
    for name, schema, _ in parameters(tool):
        yield name, str(schema.get("description", ""))


def values(schema: Mapping[str, object], said: str) -> list[object]:
    """What an argument can be: one of its fixed values, a number of the words, or words."""
    fixed = schema.get("enum")
    if is_list(fixed):
        return list(fixed)
    match schema.get("type"):
        case "boolean":
            return [True, False]
        case "integer":
            return [int(each) for each in _unique(re.findall(r"-?\d+", said))]
        case "number":
            return [float(each) for each in _unique(re.findall(r"-?\d+(?:\.\d+)?", said))]
        case "string":
            return list[object](spans(said))
        case _:
            return []


def fitting(tool: ToolHints, name: str, found: Sequence[object]) -> list[object]:
    """Those that the argument can have. Where only some can, a piece of a longer one is left out:
    "an hour" of "an hour and a half"."""
    good = [each for each in found if tool.fits(name, each)]
    if len(good) == len(found):
        return good
    texts = [each for each in good if isinstance(each, str)]
    return [
        each
        for each in good
        if not (isinstance(each, str) and any(each != other and each in other for other in texts))
    ]


def spans(said: str) -> list[str]:
    """All that is said in one piece within `said`, without the marks around it."""
    words = [found.span() for found in _WORD.finditer(said)]
    found = (
        said[words[first][0] : words[last][1]].strip(_EDGE)
        for first in range(len(words))
        for last in range(first, min(len(words), first + LONGEST_SPAN))
    )
    return _unique(each for each in found if each)


def _unique(texts: Iterator[str] | Sequence[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def shown_value(value: object) -> str:
    """A value as it stands behind the name of its parameter."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def first_sentence(text: str) -> str:
    return re.split(r"(?<=[.!?])\s", text, maxsplit=1)[0]
