"""Money, units, percent, fractions, ratios and powers in the five European languages. Pure.

No rule here looks at the sign of a number: "−" stays in front of what is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from s2s.tts.text.currencies import BEFORE_ONLY_AFTER, CODES, SYMBOL, code_of
from s2s.tts.text.european.grammar import Grammar, Noun
from s2s.tts.text.european.words import NUMBER, Words, of, split_number
from s2s.tts.text.sign_words import SIGN_WORDS, SignWords
from s2s.tts.text.tracked import Tracked

VULGAR = {
    "½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅖": (2, 5),
    "⅗": (3, 5), "⅘": (4, 5), "⅙": (1, 6), "⅚": (5, 6), "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8),
    "⅞": (7, 8), "⅐": (1, 7), "⅑": (1, 9), "⅒": (1, 10),
}  # fmt: skip
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿ", "0123456789−+n")
_CODE = "|".join(CODES)
_CODE_BEFORE = "|".join(code for code in CODES if code not in BEFORE_ONLY_AFTER)
_PRICE_DASH = re.compile(r"(?<=\d)[.,](?:--|[-–—])(?!\d)")
_VULGAR = re.compile(rf"(?:(\d{{1,9}}) ?)?([{''.join(VULGAR)}])")
_FRACTION = re.compile(r"(?<![\w/.,])(?:(\d{1,9}) )?(\d{1,4})/(\d{1,4})(?![\w/]|[.,]\d)")
_RATIO = re.compile(
    r"(?<![\w:.,])(\d{1,6}) ?: ?(\d{1,3}(?:[. ]\d{3})+|\d{1,6})(?: ?: ?(\d{1,6}))?(?![\w:]|[.,]\d)"
)
_MULTIPLE = re.compile(rf"(?<![\w.,])({NUMBER}) ?(?:x|×|✕)(?!\w| ?\d)")
_BY = re.compile(r"(?<=\d) ?[x×✕] ?(?=[\d−])")
_POWER = re.compile(r"(?<=[\w)])(?:\^\(?([+−-]?\w+)\)?|([⁻⁺]?[⁰¹²³⁴-⁹ⁿ]+))(?![A-Za-z_])")
_SCIENTIFIC = re.compile(rf"(?<![\w.])({NUMBER})[eE]([+−-]?\d{{1,3}})(?!\w)")
_SQUARES = {"²": 2, "2": 2, "^2": 2, "³": 3, "3": 3, "^3": 3}
_METRES = frozenset({"km", "m", "dm", "cm", "mm", "µm", "mi", "ft", "in"})
_ALIASES = {"μm": "µm", "μg": "µg", "μs": "µs", "L": "l", "mL": "ml", "dL": "dl", "cL": "cl",
    "kB": "KB",
            "℃": "°C", "℉": "°F", "Std.": "h", "Min.": "min", "Sek.": "s", "sec": "s",
            "hrs": "h"}  # fmt: skip
_ATTACHED_ONLY = frozenset({"B", "N", "J", "in", "mi", "ft", "lb"})
"""Letters that are also words or names: units only directly after the number."""
_BITRATES = {"kbps": "kbit", "Mbps": "Mbit", "Gbps": "Gbit"}


class Amounts:
    """Reads amounts of one language."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._grammar: Grammar = words.grammar
        self._signs: SignWords = SIGN_WORDS[words.language]
        self._magnitudes = self._magnitude_pattern("")
        self._before = re.compile(
            rf"(?<![\w/])({SYMBOL}|(?:{_CODE_BEFORE})(?!\w)) ?({NUMBER})(?![\d.,]*(?:\d| ?%))"
            rf"{self._magnitudes}"
        )
        self._after = re.compile(
            rf"(?<![\w.,])({NUMBER}){self._magnitude_pattern(' ?')} ?({SYMBOL}|(?:{_CODE})(?!\w))"
        )
        self._scaled = re.compile(rf"({self._grammar.scale_words}) ?({SYMBOL}|(?:{_CODE})(?!\w))")
        self._alone = re.compile(rf"({SYMBOL})|(?<![\w])({_CODE_BEFORE})(?!\w)")
        signs = sorted({*self._grammar.units, *_ALIASES, *_BITRATES}, key=len, reverse=True)
        self._unit_signs = "|".join(map(re.escape, signs))
        self._unit = re.compile(
            rf"(?<![\w.,])({NUMBER})( ?-?)({self._unit_signs})(²|³|\^2|\^3|[23])?"
            rf"(?: ?/ ?({self._unit_signs})(²|³|[23])?)?(?![\w']|\.\d)(?<!\d ha(?= [a-zà]))"
        )
        self._after_word = re.compile(
            r"(?<=[^\W\d_] )(km/h|km|kg|mg|cm|mm|ml|kWh|kHz|MHz|GHz|GB|MB|TB|°C|°F)"
            r"(²|³)?(?![\w/])"
        )
        self._rate = re.compile(
            rf"(?<=[^\W\d_])(\)?) ?/ ?(?:({self._grammar.per_words})|({self._unit_signs})(²"
            rf"|³)?)(?!\w)"
        )
        self._part_of_unit = re.compile(
            rf"(?<![\w/.,])(?:(\d{{1,9}}) ?)?(?:([{''.join(VULGAR)}])"
            rf"|(?<!\d)(\d{{1,2}})/(\d{{1,2}}))"
            rf" ?({self._unit_signs})(?![\w'/]|\.\d)"
        )
        self._percent = re.compile(rf"(?<![\w.,])({NUMBER}) ?([%‰])")
        self._ratio_cue = re.compile(rf"\b(?:{self._grammar.ratio_cues})\b[^.:;\d]{{0,20}}\Z", re.I)
        self._magnitude = re.compile(rf"(?<![\w.,])({NUMBER}){self._magnitudes}(?<=[^\d\s])(?!\w)")

    def _magnitude_pattern(self, gap: str) -> str:
        """Groups: a written one, a sign right after the number (or `gap`), a longer sign."""
        signs = sorted(self._grammar.magnitudes, key=len, reverse=True)
        short = "|".join(map(re.escape, signs))
        long = "|".join(re.escape(sign) for sign in signs if len(sign) > 1)
        return rf"(?: ?({self._grammar.scale_words}\b)|{gap}({short})(?!\w)| ?({long})(?!\w))?"

    def read_ratios(self, text: Tracked) -> None:
        """Ratios after words that announce one, before times of day are read."""
        text.sub(_RATIO, lambda m: self._ratio(m, cued=True))

    def read(self, text: Tracked) -> None:
        """Replace amounts in `text` in place; dates, times and ranges were read before."""
        text.sub(_PRICE_DASH, "")
        text.sub(self._part_of_unit, self._read_part_of_unit)
        text.sub(_VULGAR, lambda m: self._part(m[1], *VULGAR[m[2]]))
        text.sub(_FRACTION, lambda m: self._part(m[1], int(m[2]), int(m[3])))
        text.sub(_RATIO, lambda m: self._ratio(m, cued=False))
        text.sub(self._before, lambda m: self._money(m[2], m.group(3, 4, 5), m[1]))
        text.sub(self._after, lambda m: self._money(m[1], m.group(2, 3, 4), m[5]))
        text.sub(self._scaled, lambda m: m[1] + self._of(m[1], self._noun(m[2])[1]))
        text.sub(self._unit, self._read_unit)
        text.sub(self._after_word, lambda m: self._unit_noun(m[1], m[2])[1])
        text.sub(self._percent, self._read_percent)
        text.sub(_SCIENTIFIC, self._read_scientific)
        text.sub(self._magnitude, self._read_magnitude)
        text.sub(_MULTIPLE, self._read_multiple)
        text.sub(_BY, f" {self._signs.times} ")
        text.sub(_POWER, self._read_power)
        text.sub(self._rate, self._read_rate)

    def read_alone(self, text: Tracked) -> None:
        """Signs of currencies without a number."""
        text.sub(self._alone, lambda m: self._noun(m[1] or m[2])[1])

    def _read_percent(self, match: re.Match[str]) -> str:
        sign = self._signs.percent if match[2] == "%" else self._signs.per_mille
        return f"{self._number(match[1], 'un ')} {sign}"

    def _read_scientific(self, match: re.Match[str]) -> str:
        ten = self._words.cardinal(10)
        power = self._power(match[2].replace("-", "−"))
        return f"{self._words.number(match[1])} {self._signs.times} {ten} {power}"

    def _read_multiple(self, match: re.Match[str]) -> str:
        multiple = self._grammar.multiple
        if match[1] == "1":
            one = {"es": "una vez", "it": "una volta", "pt": "uma vez", "fr": "une fois"}
            return one.get(self._words.language, f"ein{multiple}")
        return f"{self._number(match[1], 'una ')} {multiple}"

    def _read_power(self, match: re.Match[str]) -> str:
        return " " + self._power((match[1] or match[2]).translate(SUPERSCRIPTS).replace("-", "−"))

    def _power(self, exponent: str) -> str:
        if exponent == "2":
            return self._signs.squared
        if exponent == "3":
            return self._signs.cubed
        sign = self._signs.minus + " " if exponent[0] == "−" else ""
        digits = exponent.lstrip("+−")
        words = self._words.number(digits) if digits.isdecimal() else digits
        return self._signs.power.format(n=sign + words)

    def _number(self, text: str, one: str) -> str:
        """A number before a noun; `one` starts with the article whose gender it takes."""
        whole, fraction = split_number(text)
        words = self._words.number(text)
        return words if fraction or len(whole) > 12 else self._words.before_noun(words, one)

    def _part(self, whole: str | None, top: int, bottom: int) -> str:
        """(1, 3, 4) -> "ein drei Viertel", "un et trois quarts"."""
        words, grammar = self._words, self._grammar
        if bottom not in grammar.parts or (top > bottom and not whole):
            over = f"{words.cardinal(top)} {self._signs.over} {words.cardinal(bottom)}"
            return f"{words.cardinal(int(whole))} {over}" if whole else over
        one, many = grammar.parts[bottom]
        if whole and (top, bottom) == (1, 2):
            if words.language == "de":
                return f"{words.before_noun(words.cardinal(int(whole)), 'ein ')}einhalb"
            return f"{words.cardinal(int(whole))}{grammar.mixed_joint}{one}"
        if (top, bottom) == (1, 2):
            return grammar.half
        name = one if top == 1 else many
        count = words.before_noun(words.cardinal(top), "ein " if words.language == "de" else "un ")
        joint = grammar.mixed_joint if whole else ""
        return f"{words.cardinal(int(whole)) if whole else ''}{joint}{count} {name}"

    def _read_part_of_unit(self, match: re.Match[str]) -> str:
        """ "¾ l" is "drei Viertel Liter", "trois quarts de litre"."""
        whole, sign, top, bottom, unit = match.groups()
        if unit in _ATTACHED_ONLY or (unit == "h" and self._words.language == "es"):
            return match.group()
        part = self._part(whole, *(VULGAR[sign] if sign else (int(top), int(bottom))))
        one, many, _ = self._unit_noun(unit, None)
        if whole or self._words.language == "de":
            return f"{part} {many}"
        joint = {"fr": " d'", "it": " di "}.get(self._words.language, " de ")
        return part + of(joint, one.partition(" ")[2])

    def _ratio(self, match: re.Match[str], *, cued: bool) -> str:
        if cued and not self._ratio_cue.search(
            match.string[max(0, match.start() - 50) : match.start()]
        ):
            return match.group()
        numbers = [self._words.number(part) for part in match.groups() if part]
        return f" {self._grammar.ratio} ".join(numbers)

    def _of(self, scale: str, many: str) -> str:
        """What millions count, with the word before it; "mil euros" has none."""
        if scale.lower() in {"mil", "mille", "tausend", "mila"}:
            return f" {many}"
        return of(self._grammar.of_joint, many)

    def _noun(self, sign: str) -> Noun:
        return self._grammar.currencies[code_of(sign)]

    def _money(self, number: str, scales: tuple[str | None, ...], sign: str) -> str:
        one, many, parts = self._noun(sign)
        written, *short = scales
        scale = written or next((self._grammar.magnitudes[s] for s in short if s), "")
        if scale:
            return self._scaled_number(number, scale) + self._of(scale, many)
        whole, fraction = split_number(number)
        if fraction and len(fraction) != 2:
            return f"{self._words.number(number)} {many}"
        if len(whole) > 18:
            return f"{self._words.digits(whole)} {many}"
        units, cents = int(whole or "0"), int(fraction or 0)
        part_one = "ein " if self._words.language == "de" else "un "
        cent_words = self._words.before_noun(self._words.cardinal(cents), part_one)
        if units == 0 and cents and parts:
            if cents == 1:
                return f"{_ONE[self._words.language]} {_singular(parts)}"
            return f"{cent_words} {parts}"
        joint = self._grammar.of_joint if self._words.language != "de" else ""
        said = self._words.counted(units, one, many, joint=joint)
        if not fraction or not cents:
            return said
        return f"{said}{self._grammar.money_joint}{self._words.cardinal(cents)}"

    def _scaled_number(self, number: str, scale: str) -> str:
        words = self._words.number(number)
        if number == "1" and self._words.language == "de" and scale[0] == "M":
            return (
                f"eine {scale.removesuffix('en')}"
                if "illion" in scale
                else f"eine {scale.removesuffix('n')}"
            )
        if (scale.startswith("mil") and scale in {"mil", "mila", "mille"}) or scale in {
            "tausend",
            "Tausend",
        }:
            whole, fraction = split_number(number)
            if not fraction and len(whole) <= 6:
                return self._words.cardinal(int(whole) * 1000)
        if number == "1":
            return _ONE_SCALE.get(scale, f"{words} {scale}")
        return f"{self._words.before_noun(words, 'un ')} {scale}"

    def _read_magnitude(self, match: re.Match[str]) -> str:
        written, *short = match.group(2, 3, 4)
        if written is not None or match.group()[-1] in "KG":
            return match.group()  # "4K" and "5G" are names
        return self._scaled_number(match[1], next(self._grammar.magnitudes[s] for s in short if s))

    def _unit_noun(self, sign: str, power: str | None) -> Noun:
        sign = _ALIASES.get(sign, sign)
        if sign == "km/h":
            return (*self._per_hour(), "")
        if sign in _BITRATES:
            one, many, _ = self._unit_noun(_BITRATES[sign].replace("kbit", "Mbit"), None)
            prefix = ("Mega", "Kilo") if _BITRATES[sign] == "kbit" else ("", "")
            per = f" {self._per(self._grammar.seconds[0])}"
            return one.replace(*prefix) + per, many.replace(*prefix) + per, ""
        noun = self._grammar.units[sign]
        return _powered(noun, _SQUARES[power], self._words.language) if power else noun

    def _per_hour(self) -> tuple[str, str]:
        one, many, _ = self._grammar.units["km"]
        if self._words.language == "fr":
            return f"{one} heure", f"{many} heure"
        if self._words.language == "it":
            return f"{one} all'ora", f"{many} all'ora"
        per = self._per(self._grammar.units["h"][0])
        return f"{one} {per}", f"{many} {per}"

    def _per(self, one: str) -> str:
        """ "eine Sekunde" -> "pro Sekunde"; "un'ora" -> "all'ora"."""
        if one.startswith("un'"):
            return f"all'{one[3:]}"
        article, _, noun = one.partition(" ")
        per = self._grammar.per
        if self._words.language == "it":
            per = "alla" if article == "una" else "al"
        return f"{per} {noun}"

    def _read_unit(self, match: re.Match[str]) -> str:
        number, gap, sign, power, per, per_power = match.groups()
        if (gap and sign in _ATTACHED_ONLY and self._words.language != "de") or (
            gap.endswith("-") and len(sign) < 2
        ):
            return match.group()
        if sign == "h" and gap and self._words.language in {"es"}:
            return match.group()
        plain = _ALIASES.get(sign, sign)
        if power in {"2", "3"} and plain not in _METRES:
            return match.group()
        if plain + "/" + (per or "") == "km/h":
            one, many = self._per_hour()
            tail = ""
        else:
            one, many, _ = self._unit_noun(sign, power)
            tail = f" {self._per_unit(per, per_power)}" if per else ""
        whole, fraction = split_number(number)
        if not fraction and len(whole) <= 15 and (whole[0] != "0" or whole == "0"):
            joint = "" if self._words.language == "de" else self._grammar.of_joint
            return self._words.counted(int(whole), one, many, joint=joint) + tail
        return f"{self._words.number(number)} {many}{tail}"

    def _per_unit(self, sign: str, power: str | None) -> str:
        """ "pro Quadratmeter", but "pro Sekunde hoch zwei"."""
        if power and _ALIASES.get(sign, sign) not in _METRES:
            per = self._per(self._unit_noun(sign, None)[0])
            return f"{per} {self._signs.squared if _SQUARES[power] == 2 else self._signs.cubed}"
        return self._per(self._unit_noun(sign, power)[0])

    def _read_rate(self, match: re.Match[str]) -> str:
        if match[2]:
            if self._words.language == "it":
                per = "all'" if match[2] == "ora" else "alla " if match[2][-1] == "a" else "al "
                return f"{match[1]} {per}{match[2]}"
            return f"{match[1]} {self._grammar.per} {match[2]}"
        return f"{match[1]} {self._per_unit(match[3], match[4])}"


_ONE_SCALE = {
    "millions": "un million", "milliards": "un milliard", "millones": "un millón",
    "milioni": "un milione", "miliardi": "un miliardo", "milhões": "um milhão",
    "bilhões": "um bilhão", "trilhões": "um trilhão", "mil millones": "mil millones",
    "Millionen": "eine Million", "Milliarden": "eine Milliarde", "Billionen": "eine Billion",
}  # fmt: skip


_ONE = {"de": "ein", "fr": "un", "es": "un", "it": "un", "pt": "um"}


def _singular(parts: str) -> str:
    """ "centimes" -> "centime", "centesimi" -> "centesimo"."""
    if parts == "centesimi":
        return "centesimo"
    return parts[:-1] if parts.endswith("s") else parts


def _powered(noun: Noun, power: int, language: str) -> Noun:
    one, many, _ = noun
    if language == "de":
        prefix = "Quadrat" if power == 2 else "Kubik"
        article, _, name = one.partition(" ")
        return f"{article} {prefix}{name.lower()}", prefix + many.lower(), ""
    stems: Mapping[str, tuple[str, str]] = {
        "fr": ("carré", "cube"), "es": ("cuadrad", "cúbic"), "it": ("quadrat", "cub"),
        "pt": ("quadrad", "cúbic"),
    }  # fmt: skip
    stem = stems[language][power - 2]
    if language == "fr":
        return f"{one} {stem}", f"{many} {stem}s", ""
    feminine = one.startswith(("una ", "uma "))
    if language == "it":
        return (
            f"{one} {stem}{'a' if feminine else 'o'}",
            f"{many} {stem}{'e' if feminine else 'i'}",
            "",
        )
    ending = "a" if feminine else "o"
    return f"{one} {stem}{ending}", f"{many} {stem}{ending}s", ""
