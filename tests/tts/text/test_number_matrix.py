"""Every kind of number × sign × language × position, judged by a reader written apart.

`tests.support.heard_numbers` turns what is said back into value, sign and unit: a number that was
left out, or said with another sign, is not found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import pytest

from s2s.tts.text import speakable
from tests.support.heard_numbers import Heard, characters, han_whole, hear, values
from tests.support.heard_tables import (
    AGAINST,
    LANGUAGES,
    MONTHS,
    ORDINALS,
    OVER,
    PARTS,
    UNTIL,
    fold,
)
from tests.support.number_sentences import CARRIERS

SIGNS = {"": "", "-": "-", "−": "-", "–": "-", "+": "+", "±": "±"}
SPACED = ("en", "de", "fr", "es", "it", "pt")
DECIMAL = {"en": ".", "zh": ".", "ja": "."}
THOUSANDS = {"en": ",", "zh": ",", "ja": ",", "fr": "\u202f"}
INTEGERS = (0, 1, 2, 5, 12, 21, 31, 71, 80, 99, 100, 101, 180, 581, 999, 1000, 2001, 21000,
    34567, 100000,
            1000000, 21000000, 2300000000)  # fmt: skip
DECIMALS = ("0.4", "3.5", "12.75", "0.05", "100.25", "1234.5")
COUNTED = ("1", "2", "5", "21", "3.5", "1200")

walked: dict[str, int] = {}


def write(number: str | int, language: str) -> str:
    """As the language writes it, with separators of thousands from five digits on."""
    whole, _, fraction = str(number).partition(".")
    if len(whole) > 4:
        whole = f"{int(whole):,}".replace(",", THOUSANDS.get(language, "."))
    return whole + (DECIMAL.get(language, ",") + fraction if fraction else "")


def said(text: str, language: str, positions: int = 8) -> Iterator[tuple[str, str]]:
    """`text` in every position of a sentence, or in some, taken in turn; and what is said."""
    first = sum(walked.values())
    for at in range(positions):
        carrier = CARRIERS[language][(first + at) % 8]
        sentence = carrier.format(text)
        yield sentence, speakable(sentence, language).text


def must_hear(kind: str, language: str, text: str, *expected: Heard, positions: int = 8) -> None:
    for sentence, spoken in said(text, language, positions):
        walked[kind] = walked.get(kind, 0) + 1
        heard = hear(spoken, language)
        assert heard == list(expected), f"{language} {kind}: {sentence!r} -> {spoken!r}"


def number(value: str | int, sign: str = "", unit: str = "") -> Heard:
    return Heard(Fraction(str(value)), sign, unit)


@pytest.mark.parametrize("language", LANGUAGES)
def test_integers_and_decimals(language: str) -> None:
    for (written, sign), value in product(SIGNS.items(), (*INTEGERS, *DECIMALS)):
        kind = "decimal" if "." in str(value) else "integer"
        text = written + write(value, language)
        must_hear(kind, language, text, number(value, sign), positions=3)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "gap", ["", " ", "\u00a0", "\u202f"], ids=["tight", "space", "hard", "thin"]
)
def test_percent_and_units(language: str, gap: str) -> None:
    for (written, sign), value in product(SIGNS.items(), COUNTED):
        for mark, unit in (("%", "percent"), ("km", "km"), ("kg", "kg"), ("mm", "mm"), ("GB", "GB"),
                           ("kWh", "kWh"), ("m²", "m²"), ("m³", "m³"), ("km/h", "km/h"),
                           ("m/s", "m/s")):  # fmt: skip
            if language == "zh" and unit == "kWh":
                continue  # 二千瓦时 are two kilowatt-hours and two thousand watt-hours alike
            kind = "percent" if mark == "%" else "unit"
            text = written + write(value, language) + gap + mark
            must_hear(kind, language, text, number(value, sign, unit), positions=1)


@pytest.mark.parametrize("language", LANGUAGES)
def test_temperatures(language: str) -> None:
    for (written, sign), value, gap, scale in product(
        SIGNS.items(), ("2", "21", "3.5", "40"), ("", " "), ("°C", "℃", "°F")
    ):
        unit = "°F" if scale == "°F" else "°C"
        text = written + write(value, language) + gap + scale
        if language == "ja":
            unit = "°F"  # both are 度; the reader knows it by one name
        must_hear("temperature", language, text, number(value, sign, unit), positions=3)


MONEY = {"€": "EUR", "$": "USD", "£": "GBP", "CHF": "CHF", "SEK": "SEK", "PLN": "PLN", "INR": "INR"}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("mark", MONEY)
def test_money(language: str, mark: str) -> None:
    gap = " " if mark.isalpha() else ""
    for (written, sign), value in product(
        SIGNS.items(), ("2", "5", "21", "100", "1200", "2300000000")
    ):
        amount = write(value, language)
        expected = number(value, sign, MONEY[mark])
        forms = [f"{written}{mark}{gap}{amount}", f"{written}{amount} {mark}"]
        if sign == "-":
            forms.append(f"{mark}{gap}{written}{amount}")
        if not mark.isalpha():
            forms.append(f"{written}{amount}{mark}")
        for form in forms:
            must_hear("money", language, form, expected, positions=3)


@pytest.mark.parametrize("language", LANGUAGES)
def test_ranges(language: str) -> None:
    for dash in ("–", "-", " – ", "—"):
        for low, high, mark, unit in ((3, 5, " km", "km"), (10, 20, " %", "percent"),
                                      (5, 10, " kg", "kg"), (10, 20, "", ""), (5, 21, " €", "EUR"),
                                      (7, 12, "%", "percent")):  # fmt: skip
            must_hear_range(
                language, f"{low}{dash}{high}{mark}", number(low), number(high, "", unit)
            )
    word = {
        "en": "to",
        "de": "bis",
        "fr": "à",
        "es": "a",
        "it": "a",
        "pt": "a",
        "zh": "到",
        "ja": "から",
    }
    for sign in ("-", "−"):
        text = f"{sign}5 {word[language]} {sign}3 °C"
        scale = "°F" if language == "ja" else "°C"
        must_hear_range(language, text, number(5, "-"), number(3, "-", scale))
        text = f"{sign}5–{sign}3 °C"
        must_hear_range(language, text, number(5, "-"), number(3, "-", scale))


def must_hear_range(language: str, text: str, low: Heard, high: Heard) -> None:
    for sentence, spoken in said(text, language):
        walked["range"] = walked.get("range", 0) + 1
        heard = hear(spoken, language)
        percent = Heard(low.value, low.sign, "percent")
        first = [low, percent] if high.unit == "percent" else [low]
        about = f"{language}: {sentence!r} -> {spoken!r}"
        assert len(heard) == 2, about
        assert heard[0] in first, about
        assert (
            heard[1] in (high, Heard(high.value, high.sign))
            if language == "zh"
            else heard[1] == high
        ), about
        assert UNTIL[language] in (fold(spoken).split() if language in SPACED else spoken), about


@pytest.mark.parametrize("language", LANGUAGES)
def test_ratios(language: str) -> None:
    for first, second in ((3, 2), (16, 9), (1, 100), (4, 3), (21, 9)):
        for sentence, spoken in said(f"{first}:{second}", language):
            walked["ratio"] = walked.get("ratio", 0) + 1
            assert values(spoken, language) == [first, second], f"{sentence!r} -> {spoken!r}"
            joined = fold(spoken).split() if language in SPACED else spoken
            assert AGAINST[language] in joined
            assert ":" not in re.sub(r"^\w+ ?:", "", spoken)


FRACTIONS = {"1/2": (1, 2), "½": (1, 2), "3/4": (3, 4), "¾": (3, 4), "3/8": (3, 8), "⅜": (3, 8),
             "2/3": (2, 3), "⅔": (2, 3), "3/5": (3, 5), "4/13": (4, 13)}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_fractions(language: str) -> None:
    for (written, sign), (text, (top, bottom)) in product(SIGNS.items(), FRACTIONS.items()):
        for sentence, spoken in said(written + text, language):
            walked["fraction"] = walked.get("fraction", 0) + 1
            about = f"{language}: {sentence!r} -> {spoken!r}"
            heard = hear(spoken, language)
            if language not in SPACED:
                assert [one.value for one in heard] == [bottom, top], about
                assert heard[0].sign == sign, about
                assert {"zh": "分之", "ja": "分の"}[language] in spoken, about
                continue
            folded = fold(spoken)
            tops = [one for one in heard if one.value == top]
            if (top, bottom) == (1, 2) and not tops:
                assert PARTS[language][2] in folded, about
                continue
            assert [one.sign for one in tops[:1]] == [sign], about
            if bottom in PARTS[language]:
                assert PARTS[language][bottom] in folded, about
            else:
                assert OVER[language] in folded.split(), about
                assert [one.value for one in heard] == [top, bottom], about


WRITTEN_ORDINALS = {
    "en": {1: "1st", 2: "2nd", 3: "3rd", 5: "5th", 12: "12th", 21: "21st"},
    "de": {n: f"am {n}. Tag" for n in (1, 2, 3, 5, 12, 21)},
    "fr": {1: "1er", 2: "2e", 3: "3ème", 5: "5e", 12: "12e", 21: "21e"},
    "es": {1: "1.º", 2: "2ª", 3: "3.er", 5: "5º", 12: "12º", 21: "21.º"},
    "it": {1: "1º", 2: "2ª", 3: "3º", 5: "5º", 12: "12º", 21: "21ª"},
    "pt": {1: "1º", 2: "2ª", 3: "3.º", 5: "5ª", 12: "12º", 21: "21º"},
}


@pytest.mark.parametrize("language", SPACED)
def test_ordinals(language: str) -> None:
    for value, text in WRITTEN_ORDINALS[language].items():
        for sentence, spoken in said(text, language):
            walked["ordinal"] = walked.get("ordinal", 0) + 1
            assert ORDINALS[language][value] in fold(spoken), f"{sentence!r} -> {spoken!r}"
            assert not re.search(r"[0-9ºª]", spoken)


@pytest.mark.parametrize(
    ("language", "text"), [("zh", "第{}章"), ("ja", "第{}回"), ("ja", "{}番目")]
)
def test_han_ordinals(language: str, text: str) -> None:
    for value in (1, 2, 3, 5, 12, 21):
        for sentence, spoken in said(text.format(value), language):
            walked["ordinal"] = walked.get("ordinal", 0) + 1
            assert values(spoken, language) == [value], f"{sentence!r} -> {spoken!r}"
            assert text[:1] in spoken or text[-1:] in spoken


YEAR_CUES = {"en": "in {}", "de": "im Jahr {}", "fr": "en {}", "es": "en {}", "it": "nel {}",
    "pt": "em {}",
             "zh": "{}年", "ja": "{}年"}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_years(language: str) -> None:
    for year in (1066, 1500, 1789, 1905, 1989, 2000, 2009, 2024):
        for sentence, spoken in said(YEAR_CUES[language].format(year), language):
            walked["year"] = walked.get("year", 0) + 1
            heard = [int(value) for value in values(spoken.replace(" oh ", " zero "), language)]
            if language == "en" and len(heard) > 1:
                heard = [heard[0] * 100 + sum(heard[1:])]
            assert heard == [year], f"{language}: {sentence!r} -> {spoken!r}"


TIMES = {
    "en": ("9:05", "20:15", "3:30", "12:45"), "de": ("9:05 Uhr", "20:15", "8.30 Uhr",
    "20.15 Uhr", "3:30 Uhr"),
    "fr": ("9h05", "20:15", "8 h 30", "8h30"), "es": ("9:05", "20:15", "3:30 h"), "it": ("9:05",
    "20:15", "ore 8.30"),
    "pt": ("9:05", "20:15", "8h30", "15h45"), "zh": ("9:05", "20:15", "３：３０"), "ja": ("9:05",
    "20:15", "3:30"),
}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_times(language: str) -> None:
    for text in TIMES[language]:
        plain = text.translate({0xFF10 + n: 48 + n for n in range(10)} | {0xFF1A: ":"})
        hour, minute = (int(part) for part in re.findall(r"\d+", plain))
        for sentence, spoken in said(text, language):
            walked["time"] = walked.get("time", 0) + 1
            if language in SPACED:
                heard = values(spoken.replace(" oh ", " "), language)
            else:
                found = re.search(
                    r"([一二三四五六七八九十]+)[点時]零?([一二三四五六七八九十]+)分", spoken
                )
                assert found, f"{sentence!r} -> {spoken!r}"
                heard = [Fraction(han_whole(part)) for part in found.groups()]
            assert heard == [hour, minute], f"{language}: {sentence!r} -> {spoken!r}"


DATES = {
    "en": ("2024-12-25", "12/25/2024", "December 25, 2024", "25 December 2024", "25.12.2024"),
    "de": ("2024-12-25", "25.12.2024", "25. Dezember 2024", "25.12.24"),
    "fr": ("2024-12-25", "25/12/2024", "25 décembre 2024"), "es": ("2024-12-25", "25/12/2024",
    "25 de diciembre de 2024"),
    "it": ("2024-12-25", "25/12/2024", "25 dicembre 2024"), "pt": ("2024-12-25", "25/12/2024",
    "25 de dezembro de 2024"),
    "zh": ("2024-12-25", "2024年12月25日", "2024/12/25", "2024.12.25"), "ja": ("2024-12-25",
    "2024年12月25日", "2024/12/25"),
}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_dates(language: str) -> None:
    for text in DATES[language]:
        for sentence, spoken in said(text, language):
            walked["date"] = walked.get("date", 0) + 1
            about = f"{language}: {sentence!r} -> {spoken!r}"
            heard = values(spoken, language)
            if language in ("zh", "ja"):
                assert heard == [2024, 12, 25], about
                continue
            assert MONTHS[language].split()[11] in fold(spoken), about
            if language in ("en", "de"):
                day = {"en": "twenty fifth", "de": "funfundzwanzigste"}[language]
                assert day in fold(spoken), about
            else:
                assert 25 in heard, about
            assert 2024 in heard or heard[-2:] == [20, 24], about


def test_versions() -> None:
    for language, (text, parts) in product(LANGUAGES, {
        "v2.10.1": [2, 10, 1], "2.10.1": [2, 10, 1], "v3.5": [3, 5], "v1.2.3": [1, 2,
        3]}.items()):  # fmt: skip
        for sentence, spoken in said(text, language):
            walked["version"] = walked.get("version", 0) + 1
            spoken = re.sub(r"点", " ", spoken) if language in ("zh", "ja") else spoken
            heard = values(re.sub(r"\bpoint\b", "dot", spoken), language)
            assert heard == parts, f"{language}: {sentence!r} -> {spoken!r}"


PHONES = ("136-2468-0135", "+49 30 1234567", "+44 20 7946 0958", "+33 1 23 45 67 89",
    "(555) 123-4567",
          "030 1234567", "0170-1234567", "+86 138 0013 8000", "03-1234-5678", "+1 555 123 4567",
          "1-800-555-0199", "+351 912 345 678", "01 23 45 67 89", "+39 06 1234 5678")  # fmt: skip
CODES = ("912e3456-a1b2-4c3d-8e9f-0123456789ab", "3cb8e5d0452b074db22aeb06e9e0f20464c329f0",
    "9e107d9d372bb682",
         "DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432", "4111 1111 1111 1111",
         "00:1A:2B:3C:4D:5E",
         "SN-48A7-K2291", "12345678901234567890", "7" * 40, "978-3-16-148410-0",
         "AB12CD34")  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_phones_and_identifiers(language: str) -> None:
    carriers = {"en": "It is {} here.", "de": "Hier {} bitte.", "fr": "Voici {} ici.",
    "es": "Aquí {} dicen.",
                "it": "Ecco {} qui.", "pt": "Aqui {} dizem.", "zh": "号码{}。",
                "ja": "番号は{}です。"}  # fmt: skip
    for text in (*PHONES, *CODES):
        walked["phone" if text in PHONES else "identifier"] = walked.get(
            "phone" if text in PHONES else "identifier", 0) + 1  # fmt: skip
        spoken = speakable(carriers[language].format(text), language).text
        expected = re.sub("[^0-9A-Z]", "", text.upper())
        assert characters(spoken, language) == expected, f"{language}: {text!r} -> {spoken!r}"


ROMANS = {
    "en": {"Chapter IV": 4, "World War II": 2, "Part I": 1, "Super Bowl LVIII": 58,
    "Volume XII": 12, "Act Ⅳ": 4},
    "de": {"Kapitel IV": 4, "Band XII": 12, "Teil I": 1, "Akt Ⅳ": 4}, "fr": {"chapitre IV": 4,
    "tome XII": 12, "acte Ⅳ": 4},
    "es": {"capítulo IV": 4, "siglo XXI": 21, "tomo XII": 12, "acto Ⅳ": 4},
    "it": {"capitolo IV": 4, "tomo XII": 12},
    "pt": {"capítulo IV": 4, "século XXI": 21, "tomo XII": 12}, "zh": {"第IV章": 4, "第XII卷": 12,
    "第Ⅳ章": 4},
    "ja": {"第IV章": 4, "第XII巻": 12, "第Ⅳ章": 4},
}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_roman_numerals(language: str) -> None:
    for text, value in ROMANS[language].items():
        for sentence, spoken in said(text, language):
            walked["Roman numeral"] = walked.get("Roman numeral", 0) + 1
            assert values(spoken, language) == [value], f"{language}: {sentence!r} -> {spoken!r}"


@pytest.mark.parametrize("language", ["ko", "ru", "nl"])
def test_without_rules_nothing_stays_bare(language: str) -> None:
    texts = [f"{sign}{value}{mark}" for sign, value, mark in product(
        SIGNS, ("0", "5", "3,5", "3.5", "1.234", "12", "2024", "1,234.5", "007"),
        ("", "%", " %", " €", "€", "$", " £", "¥", " °C", "°", " km", "₽", "₩", " CHF",
        "‰"))]  # fmt: skip
    texts += [f"${sign}5" for sign in SIGNS] + ["3–5", "3:2", "1/2", "½", "10:30", "2024-12-25",
    "v2.10.1", "5x", "x²",
              "10⁻⁶", "+7 912 345-67-89", *CODES, "<5", ">5", "≤5", "~5", "≈5", "5+3=8",
              "5 - 3 = 2", "A-5", "3D", "№5", "#5"]  # fmt: skip
    for text in texts:
        walked["without rules"] = walked.get("without rules", 0) + 1
        for sentence in (text, f"x {text} x", f"({text})"):
            spoken = speakable(sentence, language).text
            assert not re.search(r"[0-9+−±<>=%‰€$£¥₽₩°½²⁻]|(?<!\w)[-–]|[-–](?!\w)|CHF", spoken), (
                f"{sentence!r} -> {spoken!r}"
            )
