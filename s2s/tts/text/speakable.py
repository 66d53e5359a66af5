"""From the text a client sees to the text a voice says. Pure."""

from __future__ import annotations

import re
import unicodedata

from s2s.core.markup import hidden_edits
from s2s.tts.text.addresses import read_addresses
from s2s.tts.text.latex import read_formulas
from s2s.tts.text.lexicon import Lexicon
from s2s.tts.text.markup import strip_markup
from s2s.tts.text.names import SIGN_NAMES
from s2s.tts.text.number_signs import mark_signs
from s2s.tts.text.plain_forms import plain_forms, squeeze
from s2s.tts.text.tracked import Spoken, Tracked

_KANA = re.compile("[\u3040-\u30ff]")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_LETTER = re.compile(r"[^\W\d_]")

_ELLIPSIS = re.compile(r"\.(?: ?\.){2,}|…+")
_REPEATED = re.compile(r"([!?,;:])(?:\s*\1)+")
_MIXED_ENDS = re.compile(r"[!?]{2,}")
_DASH = re.compile(r"\s*(?:—+|――+|(?<!-)--+(?!-))\s*|\s+[-–]+\s+")
_LEFTOVER = re.compile(r"[|\\{}\[\]<>^~_`#*=•·†‡¶¦\u2190-\u21ff\u2500-\u25ff]+")
_EMPTY_BRACKETS = re.compile(r"\(\s*\)|\"\"")
_STRAY_COMMA = re.compile(r"\s*,(?:\s*,)+|,\s*(?=[.!?;:])")
_LEADING_MARK = re.compile(r"(^|[.!?]\s)\s*[,;:.]+(?!\d)\s*")
_SPACE_BEFORE_MARK = re.compile(r"[ \t]+(?=[,.!?;:)](?:\s|$))")
_SPACE_AFTER_OPENING = re.compile(r"\( +")
_SPACE_BEFORE_CLOSING = re.compile(r"(?<=\w) \)")
_DOUBLE_STOP = re.compile(r"(?<=[!?:;])\s*\.(?=\s|$)|(?<=[.])\s+\.(?=\s|$)")
_SPACES = re.compile(r"\s{2,}|[\n\t]")
_PART_CHARS = 1500
"""Rules look at a part of this length at a time: what they cost then grows with the text alone."""
_NO_LEXICON = Lexicon({})


def speakable(text: str, language: str | None = None, lexicon: Lexicon | None = None) -> Spoken:
    """What a voice should say for `text`.

    Args:
        text: as the client sees it: markdown, numbers, emoji and all.
        language: ISO 639-1 code, region ignored; None is told from the script, else English.
        lexicon: the user's respellings, applied last.

    Returns:
        The spoken text, empty when there is nothing to say, with its way back to `text`.
    """
    lexicon = lexicon or _NO_LEXICON
    code = language.split("-")[0].split("_")[0].lower() if language else guess_language(text)
    tracked = Tracked(text)
    tracked.edit(hidden_edits(text, start=False))
    plain_forms(tracked)
    read_formulas(tracked)
    squeeze(tracked)
    strip_markup(tracked)
    squeeze(tracked)
    read_addresses(tracked, SIGN_NAMES.get(code, SIGN_NAMES["en"]))
    mark_signs(tracked)
    parts = tracked.parts(_PART_CHARS)
    for part in parts:
        _read_language(part, code, lexicon)
    tracked.join(parts)
    _tidy(tracked)
    lexicon.apply(tracked)
    if not any(unicodedata.category(char)[0] in "LN" for char in tracked.text):
        tracked.edit([(0, len(tracked.text), "")])
    return tracked.finish()


def _read_language(text: Tracked, code: str, lexicon: Lexicon) -> None:
    """Numbers, dates and the like. Rules are imported at first use: compiling them takes 50 ms."""
    match code:
        case "en":
            from s2s.tts.text.english.rules import read_english

            read_english(text, lexicon.knows)
        case "de" | "fr" | "es" | "it" | "pt":
            from s2s.tts.text.european.rules import read_european

            read_european(text, code)
        case "zh" | "ja":
            from s2s.tts.text.han.rules import read_han

            read_han(text, code)
        case _:
            from s2s.tts.text.other import read_other

            read_other(text, code)


def guess_language(text: str) -> str:
    """Tell Japanese by its kana, Chinese by Han letters without; anything else is English."""
    if _KANA.search(text):
        return "ja"
    han = len(_HAN.findall(text))
    return "zh" if han and han * 2 >= len(_LETTER.findall(text)) else "en"


def _tidy(text: Tracked) -> None:
    """Leave nothing that a voice would read as a sign, and no doubled marks or spaces."""
    squeeze(text)
    text.sub(_ELLIPSIS, "...")
    text.sub(_DASH, ", ")
    text.sub(_LEFTOVER, " ")
    text.sub(_EMPTY_BRACKETS, "")
    text.sub(_MIXED_ENDS, lambda m: "?" if "?" in m.group() else "!")
    text.sub(_REPEATED, lambda m: m[1])
    text.sub(_SPACE_BEFORE_MARK, "")
    text.sub(_SPACE_AFTER_OPENING, "(")
    text.sub(_SPACE_BEFORE_CLOSING, ")")
    text.sub(_STRAY_COMMA, lambda m: "," if m.group().strip(" ").count(",") > 1 else "")
    text.sub(_DOUBLE_STOP, "")
    text.sub(_LEADING_MARK, lambda m: m[1])
    text.sub(_SPACES, " ")
