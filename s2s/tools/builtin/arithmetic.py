"""Arithmetic as it is written or said: "17 * 23", "fifteen percent of eighty".

Read by hand, nothing is ever executed. Exact fractions, and floating point only behind a root that
has no exact one. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from s2s.tools.builtin.spoken_numbers import read_number, words_of

MOST_CHARS = 400
MOST_DEPTH = 40
"""Of brackets and signs within each other."""
MOST_BITS = 4096
"""Of a number on the way; a larger one is refused."""

Number = Fraction | float


class ArithmeticFault(ValueError):
    """It cannot be calculated. The message says why."""


@dataclass(frozen=True, slots=True)
class ArithmeticSign:
    """A sign or word between numbers, by its meaning."""

    text: str


Part = Fraction | ArithmeticSign

_SAID: tuple[tuple[tuple[str, ...], str], ...] = (
    (("multiplied", "by"), "*"),
    (("divided", "by"), "/"),
    (("to", "the", "power", "of"), "^"),
    (("raised", "to", "the"), "^"),
    (("raised", "to"), "^"),
    (("to", "the"), "^"),
    (("the", "square", "root", "of"), "root"),
    (("square", "root", "of"), "root"),
    (("square", "root"), "root"),
    (("root", "of"), "root"),
    (("percent", "of"), "% of"),
    (("per", "cent", "of"), "% of"),
    (("%", "of"), "% of"),
    (("per", "cent"), "%"),
    (("half", "of"), "half"),
    (("a", "third", "of"), "third"),
    (("a", "quarter", "of"), "quarter"),
    (("*", "*"), "^"),
    (("/", "/"), "?"),
)
"""Several words, and what they mean together; longer ones first where one begins another."""
_ONE_WORD = {
    "plus": "+", "add": "+", "minus": "-", "less": "-", "times": "*", "x": "*", "over": "/",
    "×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "squared": "²", "cubed": "³", "²": "²",
    "³": "³", "percent": "%", "sqrt": "root", "√": "root", "root": "root", "modulo": "mod",
    "mod": "mod", "factorial": "!", "pi": "pi", "π": "pi", "+": "+", "-": "-", "*": "*", "/": "/",
    ":": "/", "^": "^", "%": "%", "(": "(", ")": ")", "!": "!",
}  # fmt: skip
_BEFORE = {
    "what", "is", "what's", "whats", "how", "much", "many", "calculate", "compute", "work", "out",
    "the", "result", "of", "please", "tell", "me", "and", "so", "then", "value", "solve", "can",
    "you", "could", "give", "answer", "to", "does", "are", "hey", "okay", "ok", "i", "need", "know",
    "want", ",",
}  # fmt: skip
_BEHIND = {"please", "?", ".", "=", "equal", "equals", "is", "make", "makes", "then", "for", "me",
           ",", "worth", "be", "thanks"}  # fmt: skip
_BEFORE_BOTH = {
    "divide": ("by", "/"), "multiply": ("by", "*"), "add": ("and", "+"), "subtract": ("from", "-"),
    "sum": ("and", "+"), "product": ("and", "*"), "difference": ("and", "-"),
}  # fmt: skip
"""Words said before two numbers: what is said between these, and what it means."""
_POWERS = {"²": 2, "³": 3}
_SHARES = {"half": Fraction(1, 2), "third": Fraction(1, 3), "quarter": Fraction(1, 4)}
_INFIX = {"+": 10, "-": 10, "*": 20, "/": 20, "mod": 20, "% of": 45, "^": 50}
_WORDS = {
    "+": "plus", "-": "minus", "*": "times", "/": "divided by", "mod": "modulo", "%": "percent",
    "^": "to the power of", "% of": "percent of", "root": "the square root of", "²": "squared",
    "³": "cubed", "!": "factorial", "half": "half of", "third": "a third of",
    "quarter": "a quarter of",
}  # fmt: skip


def read_expression(text: str) -> list[Part]:
    """Numbers and signs of what was written or said, words around them left out.

    Raises:
        ArithmeticFault: it holds a word that is neither.
    """
    if len(text) > MOST_CHARS:
        raise ArithmeticFault(f"it has {len(text)} characters; {MOST_CHARS} are read")
    words = _turned(words_of(text))
    begin, end = 0, len(words)
    while begin < end and words[begin] in _BEFORE and not _starts(words[begin:]):
        begin += 1
    while end > begin and (words[end - 1] in _BEHIND or _exclaims(words, end)):
        end -= 1
    parts: list[Part] = []
    at = begin
    while at < end:
        part, used = _part(words[at:end], after_number=bool(parts) and _is_value(parts[-1]))
        parts.append(part)
        at += used
    return parts


def _turned(words: list[str]) -> list[str]:
    """With the sign between its numbers, where it is said before them: "divide 144 by 12"."""
    for at, word in enumerate(words):
        joint, sign = _BEFORE_BOTH.get(word, ("", ""))
        rest = words[at + 1 :]
        if word in ("sum", "product", "difference"):
            rest = rest[1:] if rest[:1] in (["of"], ["between"]) else rest
        if not joint or joint not in rest:
            continue
        middle = rest.index(joint)
        one, other = rest[:middle], rest[middle + 1 :]
        if word == "subtract":
            end = next((i for i, each in enumerate(other) if each in _BEHIND), len(other))
            one, other = other[:end], [*one, *other[end:]]
        return [*words[:at], *one, sign, *other]
    return words


def _starts(words: Sequence[str]) -> bool:
    """A number or a sign begins here, though its first word is one that is left out elsewhere."""
    said = any(tuple(words[: len(each)]) == each for each, _ in _SAID)
    return said or read_number(words) is not None


def _exclaims(words: Sequence[str], end: int) -> bool:
    """A "!" at the very end is no factorial, unless nothing else was to be calculated."""
    return words[end - 1] == "!" and end > 2


def _is_value(part: Part) -> bool:
    return isinstance(part, Fraction) or part.text in (")", "pi", "%", "²", "³", "!")


def _part(words: Sequence[str], *, after_number: bool) -> tuple[Part, int]:
    for said, meaning in _SAID:
        if tuple(words[: len(said)]) == said and meaning != "?":
            return ArithmeticSign(meaning), len(said)
    number = None if after_number and words[0] in ("a", "an") else read_number(words)
    if number is not None:
        return number
    word = words[0]
    if word in _ONE_WORD:
        return ArithmeticSign(_ONE_WORD[word]), 1
    raise ArithmeticFault(f"{word!r} is no number and no sign of arithmetic")


def evaluate(parts: Sequence[Part]) -> Number:
    """What it comes to.

    Raises:
        ArithmeticFault: it is no whole expression, divides by zero, or becomes too large.
    """
    reader = _Reader(parts)
    value = reader.expression(0, 0)
    if reader.left:
        raise ArithmeticFault(f"it does not go on behind {said_expression(parts[: reader.at])!r}")
    return value


class _Reader:
    """Reads by precedence: Pratt's parser."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.at = 0
        self._parts = parts

    @property
    def left(self) -> bool:
        return self.at < len(self._parts)

    def expression(self, binding: int, depth: int) -> Number:
        """What binds more strongly than `binding`."""
        if depth > MOST_DEPTH:
            raise ArithmeticFault("it has too many brackets within each other")
        value = self._postfix(self._prefix(depth))
        while (sign := self._sign()) is not None and _INFIX.get(sign, 0) > binding:
            self.at += 1
            strength = _INFIX[sign] - (1 if sign == "^" else 0)  # a power is read from the right
            begun = self.at
            other = self.expression(strength, depth + 1)
            last = self._parts[self.at - 1]
            if sign in ("+", "-") and self.at - begun == 2 and last == ArithmeticSign("%"):
                other = _joined("*", value, other)  # "80 plus 10 percent" is 10 percent of 80 more
            value = self._postfix(_joined(sign, value, other))
        return value

    def _prefix(self, depth: int) -> Number:
        part = self._parts[self.at] if self.left else None
        self.at += 1
        match part:
            case Fraction():
                return part
            case ArithmeticSign("-"):
                return _bounded(-self.expression(40, depth + 1))
            case ArithmeticSign("+"):
                return self.expression(40, depth + 1)
            case ArithmeticSign("pi"):
                return math.pi
            case ArithmeticSign("root"):
                return _root(self.expression(45, depth + 1))
            case ArithmeticSign("half" | "third" | "quarter" as share):
                return _joined("*", _SHARES[share], self.expression(20, depth + 1))
            case ArithmeticSign("("):
                value = self.expression(0, depth + 1)
                if self._sign() != ")":
                    raise ArithmeticFault("a bracket is not closed")
                self.at += 1
                return value
            case ArithmeticSign(text):
                raise ArithmeticFault(f"a number is missing before {_WORDS.get(text, text)!r}")
            case None:
                raise ArithmeticFault("a number is missing at the end")

    def _postfix(self, value: Number) -> Number:
        while (sign := self._sign()) in ("²", "³", "%", "!"):
            self.at += 1
            if sign == "%":
                value = _joined("/", value, Fraction(100))
            elif sign == "!":
                value = _factorial(value)
            else:
                value = _power(value, Fraction(_POWERS[sign]))
        return value

    def _sign(self) -> str | None:
        part = self._parts[self.at] if self.left else None
        return part.text if isinstance(part, ArithmeticSign) else None


def _joined(sign: str, one: Number, other: Number) -> Number:
    if sign in ("/", "mod") and other == 0:
        raise ArithmeticFault("nothing can be divided by zero")
    try:
        match sign:
            case "+":
                return _bounded(one + other)
            case "-":
                return _bounded(one - other)
            case "*":
                return _bounded(one * other)
            case "/":
                return _bounded(one / other)
            case "mod":
                return _bounded(one % other)
            case "% of":
                return _bounded(one * other / 100)
            case _:
                return _power(one, other)
    except OverflowError:
        raise ArithmeticFault("it becomes too large") from None


def _power(base: Number, exponent: Number) -> Number:
    if base == 0 and exponent < 0:
        raise ArithmeticFault("nothing can be divided by zero")
    if isinstance(base, Fraction) and isinstance(exponent, Fraction) and exponent.denominator == 1:
        size = max(abs(base.numerator), base.denominator).bit_length()
        if size * abs(exponent) > MOST_BITS:
            raise ArithmeticFault("it becomes too large")
        return base ** int(exponent)
    if base < 0:
        raise ArithmeticFault("a negative number has no such power")
    try:
        return _bounded(float(base) ** float(exponent))
    except OverflowError:
        raise ArithmeticFault("it becomes too large") from None


def _root(value: Number) -> Number:
    if value < 0:
        raise ArithmeticFault("a negative number has no square root")
    if isinstance(value, Fraction):
        above, below = math.isqrt(value.numerator), math.isqrt(value.denominator)
        if above**2 == value.numerator and below**2 == value.denominator:
            return Fraction(above, below)
    try:
        return math.sqrt(value)
    except OverflowError:
        raise ArithmeticFault("it becomes too large") from None


def _factorial(value: Number) -> Number:
    if not isinstance(value, Fraction) or value.denominator != 1 or not 0 <= value <= 400:
        raise ArithmeticFault("factorials are of whole numbers from 0 to 400")
    return _bounded(Fraction(math.factorial(int(value))))


def _bounded(value: Number) -> Number:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ArithmeticFault("it becomes too large")
    elif max(abs(value.numerator), value.denominator).bit_length() > MOST_BITS:
        raise ArithmeticFault("it becomes too large")
    return value


def said_expression(parts: Sequence[Part]) -> str:
    """The expression in words and digits, as it was understood."""
    said: list[str] = []
    for part in parts:
        text = _digits(part)[0] if isinstance(part, Fraction) else _WORDS.get(part.text, part.text)
        said.append(text)
    return " ".join(said).replace("( ", "(").replace(" )", ")")


def said_result(value: Number) -> str:
    """The result, with "about" before one that was rounded."""
    text, exact = _digits(value)
    return text if exact else f"about {text}"


def _digits(value: Number) -> tuple[str, bool]:
    """A number in digits, and whether that is all of it."""
    if isinstance(value, Fraction) and value.denominator == 1:
        text = str(value.numerator)
        return (text, True) if len(text) <= 21 else (f"{float_text(value)}", False)
    exact = value if isinstance(value, Fraction) else None
    if exact is not None and exact.denominator < 10**7 and (exact * 10**6).denominator == 1:
        sign, scaled = "-" if exact < 0 else "", abs(int(exact * 10**6))
        return f"{sign}{scaled // 10**6}.{scaled % 10**6:06d}".rstrip("0"), True
    return float_text(value), False


def float_text(value: Number) -> str:
    """A number rounded to six digits or a little more; very large ones as powers of ten."""
    try:
        near = float(value)
    except OverflowError:
        exponent = len(str(abs(int(value)))) - 1
        near = float(Fraction(value) / 10**exponent)
        return f"{near:.4g} times 10 to the power of {exponent}"
    if near and not 1e-4 <= abs(near) < 1e15:
        digits, _, exponent_text = f"{near:.4e}".partition("e")
        return f"{float(digits):g} times 10 to the power of {int(exponent_text)}"
    places = max(0, 6 - len(str(abs(int(near)))) + (1 if abs(near) < 1 else 0))
    return f"{near:.{max(2, places)}f}".rstrip("0").rstrip(".") or "0"
