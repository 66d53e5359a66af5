"""Gives characters that come in several forms their plain one. Pure; knows no language.

Styled letters (bold, script, circled, fullwidth), keycap digits, ligatures and squared units are
what NFKC says they are; quotes, spaces and hyphens become the ones of ASCII. What has a meaning of
its own stays: superscripts, fractions, Roman numerals, the true minus, wide punctuation.
"""

from __future__ import annotations

import re
import unicodedata

from s2s.tts.text.tracked import Tracked

_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
"""Soft hyphens, zero-width spaces, direction marks. Joiners (ZWJ, ZWNJ) are spelling: kept."""

_SMALL_CAPITALS = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ"
_FLAT = str.maketrans(
    {
        "’": "'", "‘": "'", "ʼ": "'", "‛": "'", "“": '"', "”": '"', "„": '"', "‟": '"',
        "\u00a0": " ", "\u2002": " ", "\u2003": " ", "\u2009": " ", "\u200a": " ", "\u202f": " ",
        "\u2004": " ", "\u2005": " ", "\u2006": " ", "\u2007": " ", "\u2008": " ", "\u205f": " ",
        "\u2028": "\n", "\u2029": "\n", "\r": "\n", "\t": " ", "\v": "\n", "\f": "\n",
        "‐": "-", "‑": "-", "‒": "–", "％": "%", "＄": "$", "＋": "+", "＝": "=", "﹪": "%",
        "٪": "%",
        "￥": "¥", "￡": "£", "￠": "¢", "￦": "₩", "﹩": "$", "﹣": "-", "－": "-", "．": ".",
        "＠": "@", "＃": "#", "＆": "&", "⁄": "/", "➖": "−", "➕": "+", "˗": "-", "﹢": "+",
    }
    | {chr(0xFF10 + n): chr(0x30 + n) for n in range(10)}
    | {chr(0xFF21 + n): chr(0x41 + n) for n in range(26)}
    | {chr(0xFF41 + n): chr(0x61 + n) for n in range(26)}
    | {chr(0x2080 + n): chr(0x30 + n) for n in range(10)}
    | {"₊": "+", "₋": "−"}
    | {chr(0x1F150 + n): chr(0x41 + n) for n in range(26)}
    | {chr(0x1F170 + n): chr(0x41 + n) for n in range(26)}
)  # fmt: skip
_THIN_GROUPS = re.compile("(?<=\\d)[\u00a0\u2009\u202f](?=\\d{3}(?!\\d))")
_MAX_SPACES = 6
_MUCH_SPACE = re.compile(f" {{{_MAX_SPACES + 1},}}|\n{{{_MAX_SPACES + 1},}}")
"""More says no more, and each of many rules would look at all of it again and again."""
_WIDE_GROUPS = re.compile("(?<![0-9.:])[0-9]{1,3}(?:，[0-9]{3})+(?![0-9]|\\.[0-9]+\\.)")
"""A number with wide commas as separators of thousands, which are no clauses."""
_WIDE_BETWEEN_DIGITS = re.compile("(?<=[0-9])[：／](?=[0-9])")
_KEYCAP = re.compile("([0-9])\ufe0f?\u20e3|\U0001f51f")
_STYLED = re.compile(
    "[\U0001d400-\U0001d7ff\ufb00-\ufb06\u2100-\u2115\u2117-\u2121\u2124-\u214d\u3250-\u33ff"
    "\uff3f\uff5e\U0001fbf0-\U0001fbf9]"
)
_KEPT = frozenset("№™℠ ℗℘℞℟℣℥℧Ω℩℮℺⅁⅂⅃⅄⅋⅊⅌")
_ENCLOSED = re.compile(
    "[\u2460-\u24ff\u2776-\u2793\u3220-\u3247\u3280-\u32bf\U0001f100-\U0001f10c"
    "\U0001f110-\U0001f12b\U0001f130-\U0001f149]"
)
_SMALL_WORD = re.compile(
    f"(?<!\\w)[{_SMALL_CAPITALS}xsqf]*[{_SMALL_CAPITALS}]{{2}}[{_SMALL_CAPITALS}xsqf]*(?!\\w)"
)
_SMALL_PLAIN = str.maketrans(_SMALL_CAPITALS, "abcdefghijklmnoprstuvwyz")
_ROOT = re.compile("(?<![\\w)])([²³⁴-⁹ⁿ])√")
_LONE_RAISED = re.compile("(?<![\\w)\\]°%⁻⁺])[⁻⁺]?[⁰¹²³⁴-⁹]+(?!√)")
"""Superscripts that stand on nothing are no powers."""
_ALL_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789−+")
_RAISED_DIGITS = str.maketrans("²³⁴⁵⁶⁷⁸⁹ⁿ", "23456789n")
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")


def plain_forms(text: Tracked) -> None:
    """Give every character one form in place; drop what has no form at all."""
    text.sub(_THIN_GROUPS, "")
    text.translate(_FLAT)
    squeeze(text)
    if text.text.isascii():
        return
    text.sub(_INVISIBLE, "")
    text.sub(_KEYCAP, lambda m: _apart(m, m[1] or "10"))
    text.sub(_STYLED, lambda m: m.group() if m.group() in _KEPT else _compatible(m.group()))
    text.sub(_ENCLOSED, lambda m: _apart(m, _enclosed(m.group())))
    text.sub(_SMALL_WORD, lambda m: m.group().translate(_SMALL_PLAIN))
    text.sub(_LONE_RAISED, lambda m: m.group().translate(_ALL_RAISED))
    text.sub(_ROOT, lambda m: "∛" if m[1] == "³" else f" {m[1].translate(_RAISED_DIGITS)}√")
    text.sub(_WIDE_GROUPS, lambda m: m.group().replace("，", ","))
    text.sub(_WIDE_BETWEEN_DIGITS, lambda m: ":" if m.group() == "：" else "/")


def squeeze(text: Tracked) -> None:
    """Shorten long rows of spaces and empty lines in place, also those that removing leaves."""
    text.sub(_MUCH_SPACE, lambda m: m.group()[:_MAX_SPACES])


def plain_digits(text: Tracked) -> None:
    """Write the digits of other scripts (٣, ३) as ours, for a language whose rules read ours."""
    text.sub(_OTHER_DIGIT, lambda m: str(unicodedata.digit(m.group())))


def _compatible(char: str) -> str:
    return unicodedata.normalize("NFKC", char)


def _enclosed(char: str) -> str:
    """ "①" and "❶" are 1, "Ⓐ" is A, "⒈" is 1 as well."""
    number = unicodedata.numeric(char, None)
    if number is not None and number == int(number):
        return str(int(number))
    return _compatible(char).strip("().,")


def _apart(match: re.Match[str], plain: str) -> str:
    """Two signs side by side are two numbers: "①②" is "1 2"."""
    before = match.string[match.start() - 1 : match.start()]
    after = match.string[match.end() : match.end() + 1]
    left = " " if before and (before.isalnum() or before == "\u20e3" or before == "\ufe0f") else ""
    return left + plain + (" " if after.isalnum() and after.isascii() else "")
