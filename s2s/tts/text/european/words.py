"""Number words of German, French, Spanish, Italian and Portuguese, from num2words. Pure."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# The package num2words has no types.
from __future__ import annotations

import logging
import re
from functools import lru_cache

from s2s.tts.text.digit_words import DIGIT_WORDS
from s2s.tts.text.european.grammar import Grammar

log = logging.getLogger(__name__)

MAX_CARDINAL_DIGITS = 12
"""A longer number without separators is an account or an id: it is read digit by digit."""
MAX_GROUPED_DIGITS = 18
NUMBER = (
    r"(?:\d{1,3}(?:,\d{3})+\.\d+|\d{1,3}(?:[.' ]\d{3})+(?![\d])(?:,\d+)?|\d+(?:[.,]\d+)?"
    r"|(?<![\d.,])[.,]\d+)"
)
"""A number as the five languages write it, the English way included."""


@lru_cache(maxsize=4096)
def words_of(number: int, language: str, kind: str = "cardinal") -> str | None:
    """Words from num2words; None when it is not installed or does not know language or number."""
    try:
        from num2words import num2words
    except ImportError:
        log.warning(
            "num2words is not installed: numbers in %r stay digits. Install it with "
            "`pip install num2words`.",
            language,
        )
        return None
    try:
        return " ".join(str(num2words(number, lang=language, to=kind)).replace(",", "").split())
    except (NotImplementedError, ArithmeticError, LookupError, TypeError, ValueError):
        return None


class Words:
    """Numbers of one language in words."""

    def __init__(self, language: str, grammar: Grammar) -> None:
        self.language = language
        self.grammar = grammar
        self._digits = DIGIT_WORDS[language]

    def cardinal(self, number: int) -> str:
        """1234 -> "eintausendzweihundertvierunddreißig"."""
        words = words_of(number, self.language) or str(number)
        if self.language == "es" and number >= 1000:
            words = re.sub("veintiuno(?= m| b)", "veintiún", words)
            words = re.sub(r"\buno(?= mil| bill)", "un", words)
        return words

    def digits(self, text: str) -> str:
        """Each ASCII digit by name."""
        return " ".join(self._digits[ord(char) - 48] for char in text if "0" <= char <= "9")

    def number(self, text: str) -> str:
        """Read "1.234,5". A comma is decimal; a point is, unless three digits follow it."""
        whole, fraction = split_number(text)
        has_zero = not fraction and len(whole) > 1 and whole[0] == "0"
        longest = MAX_GROUPED_DIGITS if len(text) > len(whole) + len(fraction) + 1 else 12
        if has_zero or len(whole) > longest:
            words = self.digits(whole)
        else:
            words = self.cardinal(int(whole or "0"))
        return f"{words} {self.grammar.point} {self._fraction(fraction)}" if fraction else words

    def _fraction(self, digits: str) -> str:
        """German reads digits; the others read up to three as a number ("tres coma catorce")."""
        zeros = len(digits) - len(digits.lstrip("0"))
        rest = digits[zeros:]
        if self.language == "de" or len(rest) > 3:
            return self.digits(digits)
        parts = [self.digits(digits[:zeros])] if zeros else []
        return " ".join([*parts, self.cardinal(int(rest))] if rest else parts)

    def year(self, text: str) -> str:
        """1989: German counts hundreds ("neunzehnhundertneunundachtzig")."""
        number = int(text)
        kind = "year" if self.language == "de" and 1100 <= number < 2000 else "cardinal"
        return words_of(number, self.language, kind) or text

    def ordinal(self, number: int, *, feminine: bool = False) -> str:
        """21 -> "einundzwanzigste", "vigésimo primero"; of a long number the cardinal."""
        words = words_of(number, self.language, "ordinal") if number < 10**9 else None
        if words is None:
            return self.cardinal(number)
        if feminine and self.language in {"es", "it", "pt"}:
            return re.sub(r"o\b", "a", words)
        if feminine and words == "premier":
            return "première"
        return words

    def counted(self, number: int, one: str, many: str, *, joint: str = "") -> str:
        """A number and what it counts: "ein Euro", "veintiún euros", "deux heures".

        Args:
            number: zero or more.
            one: the whole phrase for one: "une heure".
            many: the noun for more.
            joint: between a number of millions and its noun: " d'", " de ".
        """
        if number == 1:
            return one
        words = self.before_noun(self.cardinal(number), one)
        counts_millions = joint and number >= 10**6 and number % 10**6 == 0
        return words + (of(joint, many) if counts_millions else f" {many}")

    def before_noun(self, words: str, one: str) -> str:
        """The form of "one" that ends `words`, as in `one`: "ventuno" -> "veintiún"."""
        ending, short = self.grammar.one_before_noun
        feminine = one.split(" ")[0] in {"una", "uma", "une", "eine"}
        if self.language == "de":
            return words[:-1] + ("e" if feminine else "") if words.endswith("eins") else words
        if self.language == "fr":
            return words + "e" if feminine and words.endswith("un") else words
        if feminine and self.language in {"es", "pt"}:
            words = re.sub(r"(cient|quinient|zent|cent)os\b", r"\1as", words)
        if self.language == "pt":
            return _feminine_pt(words) if feminine else words
        if not words.endswith(ending):
            return words
        stem = words[: -len(ending)]
        if feminine:
            return stem + "una"
        return stem + ("ún" if self.language == "es" and stem.endswith("i") else short)


def of(joint: str, noun: str) -> str:
    """Put `joint` before a noun: " de " loses its vowel before another in French."""
    if joint == " d'" and noun[0].lower() not in "aeiouéèhœ":
        return f" de {noun}"
    return joint + noun


def _feminine_pt(words: str) -> str:
    words = re.sub(r"\bum\Z", "uma", words)
    return re.sub(r"\bdois\Z", "duas", words)


def split_number(text: str) -> tuple[str, str]:
    """Whole part and fraction: "1.234,5" -> ("1234", "5")."""
    text = text.replace("'", "").replace(" ", "")
    if 0 <= text.rfind(",") < text.rfind("."):
        text = text.replace(",", "").replace(".", ",")  # written as in English: 1,234.50
    if text.count(",") > 1:
        return text.replace(",", "").replace(".", ""), ""
    if "," in text:
        whole, _, fraction = text.replace(".", "").partition(",")
        return whole, fraction
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+", text) and text[0] != "0":
        return text.replace(".", ""), ""
    whole, _, fraction = text.partition(".")
    return whole, fraction
