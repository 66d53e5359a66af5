"""Reads English abbreviations, acronyms, Roman numerals and signs. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from s2s.tts.text.english.numerals import cardinal, ordinal, roman
from s2s.tts.text.tracked import Tracked

# --- abbreviations -----------------------------------------------------------------------------

_TITLES = {
    "Mr": "Mister", "Mrs": "Missus", "Ms": "Miz", "Messrs": "Messieurs", "Prof": "Professor",
    "Gen": "General", "Col": "Colonel", "Maj": "Major", "Capt": "Captain", "Cmdr": "Commander",
    "Sgt": "Sergeant", "Lt": "Lieutenant", "Gov": "Governor", "Sen": "Senator",
    "Rep": "Representative", "Rev": "Reverend", "Hon": "Honorable", "Mt": "Mount", "Ft": "Fort",
    "Dr": "Doctor", "St": "Saint",
}  # fmt: skip
_STREETS = {
    "St": "Street", "Dr": "Drive", "Ave": "Avenue", "Blvd": "Boulevard", "Rd": "Road",
    "Ln": "Lane", "Ct": "Court", "Hwy": "Highway", "Pkwy": "Parkway", "Sq": "Square",
    "Pl": "Place",
}  # fmt: skip
_DOTTED_WORDS = {
    "vs": "versus", "etc": "et cetera", "e.g": "for example", "i.e": "that is",
    "approx": "approximately", "dept": "department", "govt": "government", "est": "established",
    "max": "maximum", "min": "minimum", "avg": "average", "incl": "including",
    "excl": "excluding", "misc": "miscellaneous", "cf": "compare", "ca": "circa",
    "viz": "namely", "al": "others", "jr": "Junior", "sr": "Senior", "inc": "Incorporated",
    "ltd": "Limited", "corp": "Corporation", "co": "Company", "bros": "Brothers",
    "assn": "Association", "univ": "University", "apt": "apartment", "appt": "appointment",
    "tel": "telephone", "ext": "extension", "fig": "figure", "figs": "figures", "eq": "equation",
    "vol": "volume", "vols": "volumes", "chs": "chapters", "ch": "chapter", "sec": "section",
    "ed": "edition", "pp": "pages", "ft": "feet", "lbs": "pounds", "oz": "ounces",
    "ave": "Avenue", "blvd": "Boulevard", "rd": "Road", "jan": "January", "feb": "February",
    "mar": "March", "apr": "April", "aug": "August", "sept": "September", "sep": "September",
    "oct": "October", "nov": "November", "dec": "December", "rm": "Room", "mr": "Mister",
    "mrs": "Missus", "ms": "Miz", "prof": "Professor", "tues": "Tuesday", "thurs": "Thursday",
    "fri": "Friday",
}  # fmt: skip
_CAPITAL_ONLY = frozenset({"mr", "ms", "mrs", "prof", "rm"})
_UNIT_ABBREVIATIONS = frozenset({"min", "sec", "ft", "lbs", "oz"})
"""After a number they are units."""
_BARE_WORDS = {
    "vs": "versus", "etc": "et cetera", "approx": "approximately", "w/o": "without",
    "w/": "with", "b/c": "because", "aka": "also known as", "a.k.a": "also known as",
    "Blvd": "Boulevard", "Mr": "Mister", "Mrs": "Missus", "Ph.D": "P H D", "PhD": "P H D",
    "iOS": "i O S", "macOS": "mac O S", "OK": "okay", "et al": "and others", "R&D": "R and D",
    "Q&A": "Q and A", "AT&T": "A T and T", "P&L": "P and L", "C++": "C plus plus",
    "C#": "C sharp", "F#": "F sharp", ".NET": "dot net", "and/or": "and or",
    "he/she": "he or she", "she/he": "she or he", "his/her": "his or her",
    "him/her": "him or her", "s/he": "he or she", "yes/no": "yes or no",
    "his/hers": "his or hers", "mmHg": "millimeters of mercury", "401(k)": "four oh one K",
    "401k": "four oh one K", "tsp": "teaspoon", "tbsp": "tablespoon", "Wi-Fi": "Wi-Fi",
    "wifi": "Wi-Fi", "Jr": "Junior", "TCP/IP": "T C P I P", "I/O": "I O",
    "n/a": "not applicable", "N/A": "not applicable",
}  # fmt: skip
_AFTER_NUMBER_WORDS = {
    "p": "page",
    "pp": "pages",
    "No": "number",
    "Nos": "numbers",
    "Nr": "number",
    "c": "circa",
}


def _any_of(words: Iterable[str]) -> str:
    """Alternatives of a pattern, the longest first."""
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


_SENTENCE_STARTS = (
    "The|Then|It|He|She|We|They|I|You|This|That|If|In|On|But|And|So|There|What|When|How|Why|Is|Are"
)
_INITIAL = re.compile(rf"(?<![\w.])([A-Z])\.(?= [A-Z])(?! (?:{_SENTENCE_STARTS})\b)")
_ET_AL = re.compile(r"\bet al\b\.?")
_TITLE = re.compile(rf"\b({'|'.join(_TITLES)})\.? (?=[A-Z][\w.'-]|[A-Z]\.)")
_STREET = re.compile(
    rf"(?<![\w.])(?!Mount|Port|Fort)([A-Z0-9][\w']* )({'|'.join(_STREETS)})"
    r"(?:\.|\b(?=[,;:!?]|\s|$))"
)
_DOTTED_WORD = re.compile(rf"(?<![\w.])({_any_of(_DOTTED_WORDS)})\.(?![\w-])", re.I)
_BARE_WORD = re.compile(rf"(?<![\w./&+-])({_any_of(_BARE_WORDS)})(?![\w/&+#])")
_PAGE = re.compile(rf"\b({'|'.join(_AFTER_NUMBER_WORDS)})\. ?(?=\d)")
_SENTENCE_STOP = re.compile(r"\s*$|\s+[\"'(]?[A-Z]")


def read_initials(text: Tracked) -> None:
    """Drop the full stops of initials, which would sound like ends of sentences."""
    text.sub(_INITIAL, lambda match: match[1])


def read_abbreviations(text: Tracked) -> None:
    """Write abbreviations out in place. A full stop that also ends the sentence stays."""
    text.sub(_ET_AL, "and others")
    text.sub(_PAGE, lambda m: _AFTER_NUMBER_WORDS[m[1]] + " ")
    text.sub(_STREET, _read_street)
    text.sub(_TITLE, lambda m: _TITLES[m[1]] + " ")
    text.sub(_DOTTED_WORD, _read_dotted_word)
    text.sub(_BARE_WORD, lambda m: _BARE_WORDS[m[1]])


def _read_street(match: re.Match[str]) -> str:
    """A street ("Elm St."), but no drive in "Thanks Dr. Jones"."""
    rest = match.string[match.end() :]
    if match[2] in {"Dr", "Ct", "Pl", "Sq"} and re.match(r"\s+[A-Z]", rest):
        return match.group()
    stop = match.group().endswith(".") and _SENTENCE_STOP.match(rest)
    return match[1] + _STREETS[match[2]] + ("." if stop else "")


def _read_dotted_word(match: re.Match[str]) -> str:
    word = match[1]
    known = _DOTTED_WORDS[word.lower()]
    after_number = match.string[: match.start()].rstrip()[-1:].isdigit()
    if word in _CAPITAL_ONLY or (after_number and word.lower() in _UNIT_ABBREVIATIONS):
        return match.group()
    if word.isupper() and len(word) > 1:
        return match.group()  # "EST" is a time zone
    is_word_itself = word.lower() in {
        "fig",
        "min",
        "max",
        "sec",
        "ed",
        "co",
        "mar",
        "fri",
        "al",
        "dec",
    }
    if is_word_itself and word.islower() and _SENTENCE_STOP.match(match.string, match.end()):
        return match.group()
    stays = _SENTENCE_STOP.match(match.string, match.end()) and word.lower() not in {
        "e.g",
        "i.e",
        "vs",
    }
    at_end = not match.string[match.end() :].strip()
    return known + (
        "." if at_end or (stays and word.lower() in {"etc", "inc", "ltd", "corp", "co"}) else ""
    )


# --- Roman numerals ----------------------------------------------------------------------------

_ROMAN_WORD = r"(?=[IVXLCDM])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
_COUNTED = (
    "Chapter|Part|Act|Scene|Volume|Vol|Book|Section|War|Phase|Type|Class|Grade|Level|Stage|Title|Article"
    "|Appendix|Figure|Table|Bowl|Tier|Category|Group|Unit|Apollo|Gemini|Saturn|Fantasy|Rocky|Mark|Schedule"
    "|Episode|Season|Round|Division|Corps|Module|Lesson|Step|Era|Factor|Annex|Amendment|Canto|Movement"
)
_RULERS = (
    "King|Queen|Pope|Tsar|Czar|Emperor|Kaiser|Henry|Louis|George|Elizabeth|Charles|Edward|James|William"
    "|Richard|Paul|Benedict|Pius|Napoleon|Philip|Frederick|Catherine|Alexander|Nicholas|Leo|Gregory"
    "|Francis|Ivan|Peter|Innocent|Clement|Urban|Ramesses|Ramses|Thutmose|Cleopatra|Ptolemy|Ferdinand"
    "|Alfonso|Wilhelm|Carlos|Felipe|Gustav|Christian|Leopold|Mehmed|Murad|Selim|Suleiman|Darius|Xerxes"
    "|Harald|Olaf|Haakon|Umberto|Joseph|Otto|Margaret|Mary|Robert|David|John|Stephen|Sixtus|Julius"
)
_COUNTED_ROMAN = re.compile(rf"\b({_COUNTED})s? ({_ROMAN_WORD})\b(?!['’])", re.I)
_RULER_ROMAN = re.compile(rf"\b({_RULERS}) ({_ROMAN_WORD})\b(?!\.[A-Z])")
_CENTURY_ROMAN = re.compile(rf"\b({_ROMAN_WORD})(?:th)?(?= centur(?:y|ies)\b)")
_OTHER_ROMAN = re.compile(
    r"(?<=[a-z] )(I{2,3}|I[VX]|VI{1,3}|XI{1,3}|XI?V|XVI{0,3})\b(?! [a-z]+ (?:drip|line))"
)


def read_romans(text: Tracked) -> None:
    """Read Roman numerals in place where their neighbours say that they are some."""
    text.sub(_COUNTED_ROMAN, lambda m: _counted(m, cardinal))
    text.sub(_RULER_ROMAN, lambda m: _counted(m, lambda n: f"the {ordinal(n).capitalize()}"))
    text.sub(_CENTURY_ROMAN, lambda m: _roman_or_same(m[1], ordinal))
    text.sub(_OTHER_ROMAN, _read_other_roman)


def _counted(match: re.Match[str], read: Callable[[int], str]) -> str:
    if not match[2].isupper():
        return match.group()
    start = match.start(2) - match.start()
    return match.group()[:start] + _roman_or_same(match[2], read)


def _roman_or_same(numeral: str, read: Callable[[int], str]) -> str:
    value = roman(numeral)
    return numeral if value is None else read(value)


def _read_other_roman(match: re.Match[str]) -> str:
    """After a capitalised name ("Elden Ring II"), not after a plain word ("an IV")."""
    before = match.string[: match.start()].split()
    if before and before[-1][:1].isupper():
        return _roman_or_same(match[1], cardinal)
    return match.group()


# --- acronyms ----------------------------------------------------------------------------------

_WORDS_TEXT = """
NASA NATO UNESCO UNICEF OPEC RAM ROM LAN WAN GIF PIN SIM LASER RADAR SONAR SCUBA AIDS SARS COVID
FIFA UEFA NASDAQ ASCII JPEG MPEG BIOS CAPTCHA DOS SWAT FOMO YOLO IKEA LEGO OSHA FEMA HIPAA NAFTA
POTUS SCOTUS FLOTUS NAND AWOL ZIP CAD MIDI GNOME BASIC COBOL FORTRAN YAML JSON TOML LAMP CRUD
REST SOAP AJAX ACID BERT LIDAR NIMBY TASER WASP DARPA NOAA NORAD ASEAN EBITDA FAFSA GAAP IMAX
MENSA PETA VISA VOIP WIFI HEPA ECMO LLAMA
"""
_SAID_AS_WORDS = frozenset(_WORDS_TEXT.split())
_SHOUTED_TEXT = """
A I AM AN AND ANY ARE AS ASK AT BAD BE BIG BUT BY CAN DAY DID DO END FAR FEW FOR GET GO GOD GOT
HAD HAS HE HER HEY HIM HIS HOT HOW IF IN IS ITS LET LOT LOW MAN MAY ME MEN MY NEW NO NOT NOW OF
OFF OH OLD ON ONE OR OUR OUT OWN PUT RED RUN SAD SAY SEE SET SHE SIX SO TEN THE TO TOO TOP TRY
TWO UP USE WAR WAS WAY WE WHO WHY WIN WON YES YET YOU
"""
_ALSO_WORDS = frozenset(_SHOUTED_TEXT.split())
_SPELLED_TEXT = """
ASAP YMCA YWCA ISBN IEEE UCLA AARP ACLU ADHD ATMS AAPL HTTP HTTPS UEFI UUID GUID ISSN IATA ICAO
EULA URI AUD EUR USD CEO IOT NAACP OECD UAE USSR IELTS OLED APIS RSVP GPU CPU TPU
"""
_SPELLED = frozenset(_SPELLED_TEXT.split())
_RESPELLED = {"JSON": "Jason", "JPEG": "jay peg", "MPEG": "em peg"}
_ACRONYM = re.compile(r"(?<![\w.'])([A-Z]{2,})(s|'s)?(?![\w'])")
_DOTTED_ACRONYM = re.compile(r"(?<![\w.])((?:[A-Za-z]\.){2,})(?!\w)")
_CAPITAL_WORD = re.compile(r"\b[A-Z]{2,}\b")
_WORD = re.compile(r"\b[^\W\d_]{2,}\b")


def read_acronyms(text: Tracked, knows: Callable[[str], bool]) -> None:
    """Spell acronyms in place, but not those that are said as a word or that the lexicon knows.

    A word in capitals gets small letters: many voices spell what is in capitals.
    """
    text.sub(_DOTTED_ACRONYM, _spell_dotted)
    capitals = _CAPITAL_WORD.findall(text.text)
    if not capitals:
        return
    mostly = len(capitals) >= 3 and len(capitals) * 2 > len(_WORD.findall(text.text))
    shouting = mostly and any(word in _ALSO_WORDS for word in capitals)
    text.sub(_ACRONYM, lambda m: m.group() if knows(m[1]) else _read_acronym(m, shouting=shouting))


def _read_acronym(match: re.Match[str], *, shouting: bool) -> str:
    word, ending = match[1], match[2] or ""
    has_vowel = any(char in "AEIOUY" for char in word)
    no_word = not has_vowel and len(word) <= 6
    if word in _SPELLED or no_word or (len(word) <= 3 and not shouting and _is_acronym(word)):
        return " ".join(word) + ("'s" if ending else "")
    return _RESPELLED.get(word, word.capitalize()) + ending


def _is_acronym(word: str) -> bool:
    return word not in _SAID_AS_WORDS and word not in _ALSO_WORDS


def _spell_dotted(match: re.Match[str]) -> str:
    """Read "U.S." as "U S"; at the end of the text its last stop also ends the sentence."""
    letters = " ".join(match[1].replace(".", "").upper())
    return letters + ("" if match.string[match.end() :].strip() else ".")


# --- signs -------------------------------------------------------------------------------------

_GREEK_TEXT = """
α alpha β beta γ gamma δ delta ε epsilon ζ zeta η eta θ theta ι iota κ kappa λ lambda μ mu ν nu
ξ xi π pi ρ rho σ sigma τ tau υ upsilon φ phi χ chi ψ psi ω omega Γ gamma Δ delta Θ theta Λ
lambda Ξ xi Π pi Σ sigma Φ phi Ψ psi Ω omega
"""
_GREEK = _GREEK_TEXT.split()
_SIGNS = dict(zip(_GREEK[::2], _GREEK[1::2], strict=True)) | {
    "×": "times", "÷": "divided by", "±": "plus or minus", "√": "the square root of",
    "∞": "infinity", "≠": "is not equal to", "≤": "is at most", "≥": "is at least",
    "≈": "is about", "≡": "is identical to", "∑": "the sum of", "∫": "the integral of",
    "∂": "partial", "∆": "delta", "∇": "nabla", "∈": "in", "→": "to", "⇒": "implies",
    "↔": "if and only if", "⇔": "if and only if", "←": "from", "⟶": "to", "©": "copyright",
    "§": "section", "&": "and", "@": "at", "°": "degrees", "∅": "the empty set", "∪": "union",
    "∩": "intersection", "∀": "for all", "∃": "there exists", "∝": "is proportional to",
    "µ": "micro", "%": "percent", "€": "euros", "£": "pounds", "$": "dollars", "¥": "yen",
    "₹": "rupees", "∕": "over", "+": "plus", "=": "equals",
}  # fmt: skip
_SIGN_WORD = re.compile(f" ?([{''.join(map(re.escape, _SIGNS))}]) ?")
_LONE_GREEK = frozenset(_GREEK[::2])
_OPERATORS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r" ?(?:!=|=/=|<>) ?"), " is not equal to "),
    (re.compile(r" ?(?:<-+>|<=+>) ?"), " to and from "),
    (re.compile(r" ?(?:-+>|=+>) ?"), " to "),
    (re.compile(r"(?<!\w) ?(?:<=|≤) ?(?=\d)"), " at most "),
    (re.compile(r"(?<!\w) ?(?:>=|≥) ?(?=\d)"), " at least "),
    (re.compile(r" ?<= ?"), " is at most "),
    (re.compile(r" ?>= ?"), " is at least "),
    (re.compile(r" ?={2,3} ?"), " equals "),
    (re.compile(r"(?<=[\w)]) < (?=[\w(])"), " is less than "),
    (re.compile(r"(?<=[\w)]) > (?=[\w(])"), " is greater than "),
    (re.compile(r"(?:^|(?<=[\s(]))< ?(?=\.?\d)"), "less than "),
    (re.compile(r"(?:^|(?<=[\s(]))> ?(?=\.?\d)"), "more than "),
    (re.compile(r"(?:^|(?<=[\s(]))~ ?(?=[\d$€£.])|(?:^|(?<=\())≈ ?(?=\d)"), "about "),
    (re.compile(r"(?<=[\w)]) \* (?=[\w(])|(?<=\d)\*(?=\d)"), " times "),
    (re.compile(r"(?<=\d)\*\*(?=\d)"), " to the power of "),
    (re.compile(r"(?:(?<=[\d)])|(?<=\b[A-Za-z])) / (?=[\d(]|[A-Za-z]\b)"), " over "),
    (re.compile(r"(?<=[\w.]) / (?=\w)"), ", "),
    (re.compile(r"(?<=\d)!(?= ?[=+*/-])"), " factorial"),
    (re.compile(r"(?<=\b[A-MO-Z])/(?=[A-Z]\b)"), " "),
    (re.compile(r"(?<=[²³⁴)]) - (?=[\w(])"), " minus "),
    (re.compile(r"(?:^|(?<=[\s(=]))-(?=[a-z]\b)"), "minus "),
    (re.compile(r"(?<=\d) ?[x×] ?(?=\d[\d.,]* ?=)"), " times "),
    (re.compile(r"(?<![\w/])@(?=[A-Za-z_])"), "at "),
    (re.compile(r"(?<![\w&])#(?=[A-Za-z])"), "hashtag "),
    (re.compile(r"(?<=[a-z)])\+(?!\w)"), " plus"),
)
_WORD_SLASH = re.compile(r"(?<=[^\W\d_])/(?=[^\W\d_])")


def read_operators(text: Tracked) -> None:
    """Read signs of several characters and signs before numbers, while those are digits."""
    for pattern, words in _OPERATORS:
        text.sub(pattern, words)


def read_signs(text: Tracked) -> None:
    """Read what single signs are left; runs after the numbers were read."""
    text.sub(_WORD_SLASH, " slash ")
    text.sub(_SIGN_WORD, _read_sign)


def _read_sign(match: re.Match[str]) -> str:
    sign = match[1]
    if sign in _LONE_GREEK:
        around = (
            match.string[max(0, match.start(1) - 1) : match.start(1)]
            + match.string[match.end(1) : match.end(1) + 1]
        )
        if any("\u0370" <= char <= "\u03ff" for char in around):
            return match.group()  # a Greek word
    return f" {_SIGNS[sign]} "
