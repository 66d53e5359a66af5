"""Languages as people write them: one code for each. Pure.

Everything here goes by ISO 639-1; the languages of the table are those of MMS' voices, which go by
ISO 639-3. https://dl.fbaipublicfiles.com/mms/misc/language_coverage_mms.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from s2s.core.untyped import is_sequence

_TABLE = """
am amh amharic|ar ara arabic|as asm assamese|az aze azerbaijani|ba bak bashkir
be bel belarusian|bg bul bulgarian|bn ben bengali|ca cat catalan|cy cym welsh|de deu german
el ell greek|en eng english|es spa spanish|eu eus basque|fa fas persian|fi fin finnish|fr fra french
gu guj gujarati|ha hau hausa|he heb hebrew|hi hin hindi|hu hun hungarian|id ind indonesian
is isl icelandic|jv jav javanese|kk kaz kazakh|km khm khmer|kn kan kannada|ko kor korean
ky kir kyrgyz|lo lao lao|lv lav latvian|ml mal malayalam|mn mon mongolian|mr mar marathi
ms zlm malay|my mya burmese|nl nld dutch|or ory odia|pa pan punjabi|pl pol polish|pt por portuguese
ro ron romanian|ru rus russian|so som somali|sq sqi albanian|sv swe swedish|sw swh swahili
ta tam tamil|te tel telugu|th tha thai|tl tgl tagalog|tr tur turkish|tt tat tatar|uk ukr ukrainian
ur urd urdu|uz uzb uzbek|vi vie vietnamese|yo yor yoruba
"""
_ROWS = [entry.split() for entry in re.split(r"[|\n]", _TABLE.strip())]

LONG_CODES: dict[str, str] = {code: long for code, long, _ in _ROWS}
"""ISO 639-1 -> ISO 639-3."""
_OTHERS = ("it ita italian", "ja jpn japanese", "zh zho chinese", "zh cmn mandarin")
"""Languages that MMS has no voice of."""
_ALL_ROWS = [*_ROWS, *(each.split() for each in _OTHERS)]
_SHORT = frozenset(code for code, *_ in _ALL_ROWS)
_CODES = {name: code for code, long, english in _ALL_ROWS for name in (long, english)}


def language_code(written: str) -> str:
    """The code of a language as somebody writes it: `de`, `deu`, `de-DE`, `German` are `de`. What
    is in no table, such as the ISO 639-3 code of a language without a shorter one, stays."""
    plain = written.strip().lower()
    first = re.split(r"[-_]", plain)[0]
    return first if first in _SHORT else _CODES.get(first, plain)


def with_language_codes(options: Mapping[str, object]) -> dict[str, object]:
    """Options as a user may write them: `tts_language` is `language`, and every language a code."""
    found = dict(options)
    if "tts_language" in found:
        found.setdefault("language", found["tts_language"])
        del found["tts_language"]
    for key, value in found.items():
        if key == "language" and isinstance(value, str):
            found[key] = language_code(value)
        elif key == "languages" and isinstance(value, str):
            parts = (each for each in re.split(r"[,\s]+", value) if each)
            found[key] = ",".join(language_code(each) for each in parts)
        elif key == "languages" and is_sequence(value):
            found[key] = [language_code(str(each)) for each in value]
    return found
