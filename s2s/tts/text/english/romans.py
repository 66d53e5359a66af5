"""Reads English Roman numerals where their neighbours say that they are some. Pure.

A single letter above X is a letter ("Type C", "John D. Rockefeller"), so is one with a full stop
before another name ("George V. Smith"), and "I" before a verb is the speaker ("the book I read").
"""

from __future__ import annotations

import re
from collections.abc import Callable

from s2s.tts.text.english.numerals import cardinal, ordinal, year
from s2s.tts.text.romans import roman
from s2s.tts.text.tracked import Tracked


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SMALL = r"(?=[IVX])X{0,3}(?:IX|IV|V?I{0,3})"
"""Up to 39: what rulers, wars and sequels need."""
_LARGE = r"(?=[IVXLCDM]{2})M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
_COUNTED = (
    "Part|Act|Scene|War|Phase|Type|Class|Grade|Level|Stage|Title|Appendix|Figure|Table|Tier|Category"
    "|Group|Unit|Apollo|Gemini|Saturn|Fantasy|Rocky|Mark|Schedule|Episode|Season|Round|Division|Corps"
    "|Module|Lesson|Step|Era|Factor|Annex|Amendment|Movement|Generation|Quest|Vatican|Rank|Wave|Game"
    r"|Sec\.|Fig\.|Art\.|Cranial Nerve|Windows|Symphony|Sonata"
)
_NUMBERED = (
    r"Chapter|Ch\.|Volume|Vol\.?|Book|Section|Bowl|Article|Canto|Psalm|Sonnet|Olympiad|Games|Homage"
)
"""Counted far enough that fifty and a hundred are meant."""
_LETTERS = _words("CD DC MC MD CC MM CM ML DL CL DM MI DI LI CI DVI MIX DIM MILD DIV CV MV")
"""What looks like a large numeral, but is an abbreviation or a word."""
_RULERS = (
    "King|Queen|Pope|Tsar|Czar|Emperor|Kaiser|Henry|Louis|George|Elizabeth|Charles|Edward|James|William"
    "|Richard|Paul|Benedict|Pius|Napoleon|Philip|Frederick|Catherine|Alexander|Nicholas|Leo|Gregory"
    "|Francis|Ivan|Peter|Innocent|Clement|Urban|Ramesses|Ramses|Thutmose|Cleopatra|Ptolemy|Ferdinand"
    "|Alfonso|Wilhelm|Carlos|Felipe|Gustav|Christian|Leopold|Mehmed|Murad|Selim|Suleiman|Darius|Xerxes"
    "|Harald|Olaf|Haakon|Umberto|Joseph|Otto|Margaret|Margrethe|Mary|Robert|David|John|Stephen|Sixtus"
    "|Julius|Boniface|Celestine|Eugene|Martin|Pedro|Juan|Isabella|Ludwig|Friedrich"
    "|Tutankhamun|Seti|Amenhotep|Psamtik|Akbar|Theodosius|Constantine|Justinian|Basil|Michael|Manuel"
)
_PRONOUN_VERBS = (
    "am|think|know|have|do|don't|want|need|believe|guess|hope|love|like|see|say|mean|agree|suggest"
    "|recommend|was told|had|would|will|can|could|should|must|may|might|did|cannot|can't|won't"
    "|took|saw|read|went|got|made|gave|found|bought|wrote|said|knew"
    "|felt|left|chose|came|built|sold|sent|kept|met|heard|held|began|thought|brought|taught|was"
    " in|was at"
)
_SURE_VERBS = "am|think|know|have|do|don't|want|need|believe|guess|hope|agree|suggest|recommend"
_MEDICAL = (
    "errors?|diabetes|diabetic|cancers?|tumou?rs?|trials?|stud(?:y|ies)|drugs?|devices?|supernovae?"
    "|collagen|fractures?|recalls?|civili[sz]ations?|obesity|malocclusion|hypersensitivity|interferons?"
    "|clinical|patients?|disease|reactions?|superconductors?|survey|railroads?|felon(?:y|ies)|hearing"
)
_INITIAL_FOLLOWS = (
    r"(?!\. [A-Z][a-z]+\b(?<!The)(?<!He)(?<!She)(?<!It)(?<!They)(?<!We)(?<!In)(?<!His))"
)
_SHORT_VERB = "['’](?:m|d|ll|ve|re)\\b"
"""After "I" in "I'm"; "Elizabeth II's" is a numeral."""
_YEAR_ROMAN = re.compile(r"\b(M{1,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))\b")
_COUNTED_ROMAN = re.compile(rf"\b({_COUNTED}|{_NUMBERED})s? ({_SMALL})\b(?!{_SHORT_VERB})")
_NUMBERED_ROMAN = re.compile(rf"\b({_NUMBERED})s? ({_LARGE})\b(?!['’-])")
_LOWER_ROMAN = re.compile(
    rf"\b((?i:{_COUNTED}|{_NUMBERED}))s? ((?=[VX]|I[IVX]){_SMALL}|I(?= (?:{_MEDICAL})\b))\b(?!['’])"
)
_RULER_ROMAN = re.compile(
    rf"\b({_RULERS}) ({_SMALL})\b(?!\.[A-Z]|-|{_SHORT_VERB}){_INITIAL_FOLLOWS}(?!"
    rf" (?:{_SURE_VERBS})\b)"
)
_SPEAKER = re.compile(rf" (?:{_PRONOUN_VERBS}|[a-z]+ed)\b(?! by)")
_CENTURY_ROMAN = re.compile(rf"\b({_SMALL})(?:th|st|nd|rd)?(?= centur(?:y|ies)\b)")
_OTHER_ROMAN = re.compile(
    r"(?<=[a-z] )(I{2,3}|I[VX]|VI{1,3}|XI{1,3}|XI?V|XVI{0,3}|XI?X|XXI{0,3})\b(?!['’-])"
    r"(?! (?:drips?|lines?|fluids?|antibiotics?|bags?|poles?|catheters?|access|therapy|push"
    r"|infusions?"
    r"|medications?|needles?|pumps?|treatments?|doses?|injections?|drugs?|sites?|was|is|in|has)\b)"
)
_PLAIN_WORDS = _words(
    "The An A This That Her His My Our Their Your Start Starting Give Giving Via With Use Using"
    " Insert"
    " Need Get Through By And Or Of An No Some Any Your Each Every Another Hospital Place"
)
LETTERS_AFTER = re.compile(rf"\b(?:{_RULERS}) \Z")
"""A Unicode numeral after a ruler is read by the rule for letters."""


def read_romans(text: Tracked) -> None:
    """Replace Roman numerals in place by words."""
    text.sub(_NUMBERED_ROMAN, _read_numbered, 2)
    text.sub(_COUNTED_ROMAN, _read_counted, 2)
    text.sub(_LOWER_ROMAN, lambda m: _or_same(m[2], cardinal), 2)
    text.sub(_RULER_ROMAN, lambda m: _or_same(m[2], _title), 2)
    text.sub(_CENTURY_ROMAN, lambda m: _or_same(m[1], ordinal))
    text.sub(_OTHER_ROMAN, _read_other)
    text.sub(_YEAR_ROMAN, lambda m: m[1] if len(m[1]) < 4 else _or_same(m[1], year))


def _title(number: int) -> str:
    return f"the {ordinal(number).capitalize()}"


def _read_numbered(match: re.Match[str]) -> str:
    return match[2] if match[2] in _LETTERS else _or_same(match[2], cardinal)


def _read_counted(match: re.Match[str]) -> str:
    """ "Part I" is one, but "Class I took" and "Book I read" have a speaker."""
    following = match.string[match.end() :]
    if match[2] == "I" and _SPEAKER.match(following) and match[1] != "War":
        return match[2]
    return _or_same(match[2], cardinal)


def _or_same(numeral: str, read: Callable[[int], str]) -> str:
    value = roman(numeral)
    return numeral if value is None else read(value)


def _read_other(match: re.Match[str]) -> str:
    """After a capitalised name ("Elden Ring II"), not after a plain word ("an IV")."""
    before = match.string[: match.start()].split()
    if before and before[-1][:1].isupper() and before[-1] not in _PLAIN_WORDS:
        return _or_same(match[1], cardinal)
    return match.group()
