"""English number words. Pure.

British "and" is left out ("one hundred five"), as American voices expect.
"""

from __future__ import annotations

NUMBER = r"(?:\d{1,3}(?:,\d{2})*(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|(?<![\d.])\.\d+)"
"""Pattern of a number as English writes it, Indian groups (1,00,000) included."""

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
_ONES = _SMALL.split()
_TENS_WORDS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = _TENS_WORDS.split()
_SCALE_WORDS = "_ thousand million billion trillion quadrillion quintillion sextillion"
_SCALES = _SCALE_WORDS.split()
_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
MAX_CARDINAL_DIGITS = 3 * len(_SCALES)


def cardinal(number: int) -> str:
    """1234 -> "one thousand two hundred thirty-four"; too long ones digit by digit."""
    if number < 0:
        return "minus " + cardinal(-number)
    if number < 1000:
        return _below_thousand(number)
    if number >= 10**MAX_CARDINAL_DIGITS:
        return digits(str(number))
    words: list[str] = []
    scale = 0
    while number:
        number, group = divmod(number, 1000)
        if group:
            name = _below_thousand(group)
            words.insert(0, f"{name} {_SCALES[scale]}" if scale else name)
        scale += 1
    return " ".join(words)


def _below_thousand(number: int) -> str:
    hundreds, rest = divmod(number, 100)
    parts = [f"{_ONES[hundreds]} hundred"] if hundreds else []
    if rest >= 20:
        tens, ones = divmod(rest, 10)
        parts.append(_TENS[tens] + (f"-{_ONES[ones]}" if ones else ""))
    elif rest or not hundreds:
        parts.append(_ONES[rest])
    return " ".join(parts)


def ordinal(number: int) -> str:
    """21 -> "twenty-first"."""
    words = cardinal(number)
    cut = max(words.rfind(" "), words.rfind("-")) + 1
    head, last = words[:cut], words[cut:]
    if last in _ORDINALS:
        return head + _ORDINALS[last]
    if last.endswith("y"):
        return f"{head}{last[:-1]}ieth"
    return f"{head}{last}th"


def year(number: int) -> str:
    """1905 -> "nineteen oh five", 2024 -> "twenty twenty-four", 2005 -> "two thousand five"."""
    high, low = divmod(number, 100)
    if number < 1000 or number > 9999 or (high % 10 == 0 and low < 10):
        return cardinal(number)
    if low == 0:
        return f"{cardinal(high)} hundred"
    return f"{cardinal(high)} {f'oh {_ONES[low]}' if low < 10 else cardinal(low)}"


def digits(text: str) -> str:
    """Read "407" as "four zero seven"; anything that is no ASCII digit is left out."""
    return " ".join(_ONES[int(char)] for char in text if char in "0123456789")


def decimal(text: str) -> str:
    """Read "-1,234.50": "minus one thousand two hundred thirty-four point five zero".

    Args:
        text: digits with optional sign, thousands commas and decimal point.
    """
    sign = "minus " if text[:1] in "-−" and text else ""
    whole, _, fraction = text.lstrip("-−+").replace(",", "").partition(".")
    words = cardinal(int(whole)) if whole else "zero"
    return sign + words + (f" point {digits(fraction)}" if fraction else "")
