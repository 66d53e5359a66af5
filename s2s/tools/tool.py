"""A tool: a function, what it is for, and which arguments it takes, read from its signature and
docstring. Arguments are checked by pydantic. Knows no model and no session.
"""

from __future__ import annotations

import inspect
import json
import logging
import re
import typing
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ParamSpec, TypeVar, overload

from s2s.core.answering import ToolSchema
from s2s.core.stop import StopSignal
from s2s.core.tooling import Alarms, ToolHints, ToolOutcome
from s2s.core.untyped import is_object

if TYPE_CHECKING:
    from pydantic import BaseModel

log = logging.getLogger(__name__)

MOST_CHARS = 4000
"""Of what a tool gives; more would fill a model's context."""
SAYABLE_CHARS = 300
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_\-]{0,63}")
"""What servers of language models take as a name."""

P = ParamSpec("P")
R = TypeVar("R")


class ToolError(Exception):
    """What a tool raises when it cannot do what was asked: the model is told its text."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may know of the conversation: a parameter of this type is filled in."""

    stopped: StopSignal = field(default_factory=lambda: StopSignal(lambda: False))
    """Asked, it says whether nobody waits for the outcome any more: end soon then. `listen` calls
    when that may have changed."""
    language: str | None = None
    """ISO 639-1 code of what the person speaks; None when unknown."""
    alarms: Alarms = field(default_factory=lambda: Alarms(lambda: 0.0))
    """What is to ring in the conversation."""


@dataclass(frozen=True, slots=True)
class Tool:
    """Something that a model may call.

    `run` is given the arguments that were checked. It runs in a thread of its own.
    """

    schema: ToolSchema
    check: Callable[[Mapping[str, object]], Mapping[str, object]]
    """Returns the arguments as `run` takes them.

    Raises:
        ToolError: they do not fit; says which and why.
    """
    run: Callable[[Mapping[str, object], ToolContext], object]
    hints: ToolHints
    origin: str = "s2s"

    @property
    def name(self) -> str:
        return self.schema.name

    def call(self, arguments: str, context: ToolContext) -> ToolOutcome:
        """Check the arguments, JSON as a model wrote it, and run; whatever goes wrong is an
        outcome that tells the model so."""
        try:
            given = self.run(self.check(read_arguments(arguments)), context)
        except ToolError as error:
            return ToolOutcome(f"Error: {error}", failed=True)
        except Exception as error:  # of a function of anybody's
            log.debug("the tool %s failed", self.name, exc_info=error)
            why = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            return ToolOutcome(bounded(f"Error: {self.name} failed: {why}"), failed=True)
        text = as_text(given)
        sayable = isinstance(given, str) and len(text) <= SAYABLE_CHARS and "\n" not in text
        return ToolOutcome(text, sayable=sayable)


def read_arguments(text: str) -> Mapping[str, object]:
    """The object of JSON that a model wrote; nothing at all means none.

    Raises:
        ToolError: it is none.
    """
    if not text.strip():
        return {}
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not is_object(found):
        raise ToolError(f"the arguments must be one JSON object, not: {text[:200]}")
    return found


def as_text(given: object) -> str:
    """What a tool gave, as a model is told it."""
    if given is None:
        return "Done."
    if isinstance(given, str):
        return bounded(given.strip() or "Nothing.")
    return bounded(json.dumps(given, ensure_ascii=False, default=str))


def bounded(text: str) -> str:
    """`text`, cut where it is too long, and saying so."""
    return text if len(text) <= MOST_CHARS else f"{text[:MOST_CHARS]}… (cut: it is longer)"


@overload
def tool(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def tool(
    *,
    name: str = "",
    wish: str = "",
    cues: tuple[str, ...] = (),
    examples: tuple[tuple[str, str], ...] = (),
    written: str = "",
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def tool(
    function: Callable[P, R] | None = None,
    /,
    *,
    name: str = "",
    wish: str = "",
    cues: tuple[str, ...] = (),
    examples: tuple[tuple[str, str], ...] = (),
    written: str = "",
) -> Callable[P, R] | Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a tool of a function, which stays what it is.

    Its docstring says what it is for; a section `Args:` what each parameter means. `wish`, `cues`,
    `examples` and `written` are for models that cannot call (`s2s.core.tooling.ToolHints`).

    Raises:
        ValueError: a model could not be told of it; says why.
    """

    def mark(given: Callable[P, R]) -> Callable[P, R]:
        made = made_of(given, name=name, wish=wish, cues=cues, examples=examples, written=written)
        _MADE[given] = made
        return given

    return mark if function is None else mark(function)


_MADE: dict[object, Tool] = {}
"""Function -> the tool that `@tool` made of it."""


def tool_of(thing: object) -> Tool | None:
    """The tool that `@tool` made of a function; a `Tool` is one itself."""
    if isinstance(thing, Tool):
        return thing
    return _MADE.get(thing) if inspect.isfunction(thing) else None


def made_of(
    function: Callable[..., object],
    *,
    name: str = "",
    wish: str = "",
    cues: tuple[str, ...] = (),
    examples: tuple[tuple[str, str], ...] = (),
    written: str = "",
) -> Tool:
    """The tool that a function is; see `tool`."""
    name = name or function.__name__
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} cannot be the name of a tool: letters, digits, _ and - alone")
    about, meanings = read_docstring(inspect.getdoc(function) or "")
    if not about:
        raise ValueError(f"the tool {name} has no docstring: a model is told by it what it does")
    arguments, context = _arguments_of(function, name, meanings)
    schema = ToolSchema(name, about, _schema_of(arguments))
    hints = ToolHints(schema, wish, cues, examples, written, _fitting(function, context))
    asynchronous = inspect.iscoroutinefunction(function)

    def check(given: Mapping[str, object]) -> Mapping[str, object]:
        return _checked(arguments, name, given)

    def run(given: Mapping[str, object], known: ToolContext) -> object:
        result = function(**given, **({context: known} if context else {}))
        if asynchronous:
            import asyncio  # its import takes longer than all else of this module

            return asyncio.run(typing.cast(Coroutine[object, object, object], result))
        return result

    return Tool(schema, check, run, hints)


def _arguments_of(
    function: Callable[..., object], name: str, meanings: Mapping[str, str]
) -> tuple[type[BaseModel], str]:
    """A model of pydantic of the parameters, and which of them takes the context."""
    from pydantic import ConfigDict, Field, create_model

    hints = typing.get_type_hints(function, include_extras=True)
    fields: dict[str, tuple[object, object]] = {}
    context = ""
    for each in inspect.signature(function).parameters.values():
        if each.kind not in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY):
            raise ValueError(f"the tool {name}: {each} has no name that a model could give")
        kind = hints.get(each.name)
        if kind is ToolContext:
            context = each.name
            continue
        if kind is None:
            raise ValueError(f"the tool {name}: the parameter {each.name} has no type")
        needed = each.default is inspect.Parameter.empty
        default = ... if needed else each.default
        about = Field(default=default, description=meanings.get(each.name))
        fields[each.name] = (kind, about)
    made: Callable[..., type[BaseModel]] = create_model
    return made(name, __config__=ConfigDict(extra="forbid"), **fields), context


def _fitting(function: Callable[..., object], context: str) -> Callable[[str, object], bool]:
    """Says whether a parameter can have a value."""
    from pydantic import TypeAdapter, ValidationError

    kinds = typing.get_type_hints(function, include_extras=True)
    adapters: dict[str, TypeAdapter[object]] = {
        name: TypeAdapter(kinds[name])
        for name in inspect.signature(function).parameters
        if name != context
    }

    def fits(name: str, value: object) -> bool:
        try:
            adapters[name].validate_python(value)
        except ValidationError:
            return False
        return True

    return fits


def _schema_of(arguments: type[BaseModel]) -> dict[str, object]:
    schema = arguments.model_json_schema()
    plain = _untitled(schema)
    assert is_object(plain)
    plain.setdefault("properties", {})
    return plain


def _untitled(value: object, *, names: bool = False) -> object:
    """A schema without titles, which only repeat names; `names`: the keys are names themselves."""
    if is_object(value):
        return {
            key: _untitled(each, names=key in ("properties", "$defs") and not names)
            for key, each in value.items()
            if names or key != "title"
        }
    if isinstance(value, list):
        return [_untitled(each) for each in typing.cast(list[object], value)]
    return value


def _checked(
    arguments: type[BaseModel], name: str, given: Mapping[str, object]
) -> Mapping[str, object]:
    from pydantic import ValidationError

    try:
        found = arguments.model_validate(dict(given))
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, each['loc'])) or 'arguments'}: {each['msg']}"
            for each in error.errors(include_url=False, include_context=False)
        )
        raise ToolError(f"{name} was not called. {bounded(wrong)}") from None
    return {
        key: getattr(found, key) for key in arguments.model_fields if key in found.model_fields_set
    }


_SECTION = re.compile(r"^(Args|Arguments|Parameters|Returns|Raises|Yields|Examples?):\s*$", re.M)
_ARGUMENT = re.compile(r"^(\w+)(?:\s*\([^)]*\))?:\s*(.*)$")


def read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """What a function is for, and what each parameter means by the section `Args:`."""
    parts = _SECTION.split(text)
    about = " ".join(parts[0].split())
    meanings: dict[str, str] = {}
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        if title not in ("Args", "Arguments", "Parameters"):
            continue
        lines = inspect.cleandoc(body).splitlines()
        last = ""
        for line in lines:
            found = _ARGUMENT.match(line)
            if found and not line[:1].isspace():
                last = found[1]
                meanings[last] = found[2].strip()
            elif last:
                meanings[last] = f"{meanings[last]} {line.strip()}".strip()
    return about, meanings
