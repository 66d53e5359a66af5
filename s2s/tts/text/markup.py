"""Takes out what is written for the eye: markdown, HTML, code, tables, emoji, citations. Pure.

Works the same in every language, and leaves numbers and words alone.
"""

from __future__ import annotations

import re

from s2s.tts.text.plain_forms import squeeze
from s2s.tts.text.tracked import Edit, Tracked

_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t>]*\1[`~]*[ \t]*$|\Z)", re.M | re.S)
_OPEN_FENCE = re.compile(r"`{3,}[^\n`]*(?:\Z|`{3,})")
_BLOCKS = (
    "p|li|h[1-6]|tr|td|th|div|ul|ol|dl|dt|dd|details|summary|section|article|header|footer|main|nav"
    "|aside|table|thead|tbody|caption|blockquote|pre|figure|figcaption|option|select|button|label"
    "|form|legend|fieldset|hr|br|title"
)
_BREAK = re.compile(rf"</?(?:{_BLOCKS})(?:\s[^<>\n]*)?/?>", re.I)
"""Tags at which words end; others ("<b>") may stand within a word."""
_RAISED = re.compile(r"<sup>([-+−]?\d{1,9}|n)</sup>", re.I)
_LOWERED = re.compile(r"<sub>(\w{1,9})</sub>", re.I)
_SUPERSCRIPTS = str.maketrans("0123456789-+−n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺⁻ⁿ")
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^<>\s]+)>")
_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>\n]*)?/?>")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")

_IMAGE = re.compile(
    r"!\[([^\[\]\n]{0,300})\]\([^()\s]{0,2000}(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)"
)
_LINK = re.compile(r"\[([^\[\]]+)\]\(<?[^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)")
_REFERENCE_LINK = re.compile(r"\[([^\[\]\n]+)\]\[[^\[\]\n]*\]")
_LINK_DEFINITION = re.compile(r"^ {0,3}\[[^\]\n]+\]:[ \t]*\S+.*$", re.M)
_FOOTNOTE = re.compile(r"\[\^[^\]\n]+\]:?")
_CITATION = re.compile(
    r"[ \t]?(?:\[(?!0)\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*\]|【[^】\n]*†[^】\n]*】)(?!\()"
)

_TABLE_RULE = re.compile(
    r"^[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*$", re.M
)
_TABLE_ROW = re.compile(r"^[ \t]*\|.*$", re.M)
_CELL_EDGE = re.compile(r"(?<!\\)[ \t]*\|[ \t]*")
_PIPE = re.compile(r"[ \t]+\|[ \t]+")
_RULER = re.compile(
    r"^[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|[=\u2500-\u257f]{3,})$", re.M
)
_HEADING = re.compile(r"^[ \t>]*#{1,6}(?:[ \t]+|$)(.*?)(?:[ \t]#+)?[ \t]*$", re.M)
_QUOTE = re.compile(r"^(?:[ \t]*>)+(?![\d=])[ \t]?", re.M)
_BULLET = re.compile(r"^[ \t]*[-*+•‣◦▪●–][ \t]+(?:\[[ xX]\][ \t]+)?", re.M)
_GERMAN_ORDINAL = (
    "Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember"
    "|Jan|Feb|Mär|Apr|Jun|Jul|Aug|Sept?|Okt|Nov|Dez"
    "|Jahrhunderts?|Weltkrieg|Geburtstag|Platz|Stock|Klasse|Runde|Spieltag|Etage|Jahrestag|Quartal"
)
_NUMBERED = re.compile(
    rf"^([ \t]*(?:\*\*)?\d{{1,2}})[.)](?=[ \t]+\S)(?![ \t]+(?:{_GERMAN_ORDINAL})\b)", re.M
)
"""Of a list; "25. Dezember" at the start of a line is none."""

_CODE = re.compile(r"(`{1,2})(?!`)([^`\n]+)\1")
_BACKTICKS = re.compile(r"`+")
_CALL = re.compile(r"\(\)")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ESCAPE = re.compile(r"\\(?=[*_#`\[\](){}+\-.!|~>$])")
_STARS = re.compile(r"\*+")
_PRODUCT = re.compile(r"(?<=[\w)] )\*(?= [\w(])|(?<=\d)\*{1,2}(?=\d)")
_TILDES = re.compile(r"~~+")
_UNDERSCORE_EDGE = re.compile(r"(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])")

_TRADEMARK = re.compile("[®™℠]")
_EMOJI = re.compile(
    "(?:[0-9#*]\ufe0f?\u20e3"
    "|(?:[\u231a-\u231b\u23e9-\u23f3\u25fb-\u25fe\u2600-\u27bf\u2934-\u2935\u2b05-\u2b55"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff\U000e0020-\U000e007f\ufe0f\ufffc\ue000-\uf8ff]"
    "\u200d?)+)"
)
_SHORTCODE = re.compile(r"(?<![\w:]):[a-z][a-z0-9_+-]+:(?![\w:])")
_EMOTICON = re.compile(
    r"(?<!\S)(?:[:;][-'^]?[()DPpOo3/|*\]]|=[)(D]|<3|\^_?\^|XD|:'\(|¯\\_\(ツ\)_/¯)(?![^\s.,!?])"
)

_LINE_END = re.compile(r"[ \t]*\n\s*")
_SENTENCE_ENDS = frozenset(".!?:;,…。！？：；，、।؟،؛")


def strip_markup(text: Tracked) -> None:
    """Remove markup in place; line ends become sentence ends."""
    _strip_code_and_tags(text)
    _strip_links(text)
    _strip_lines(text)
    _strip_inline(text)
    text.sub(_TRADEMARK, "")
    text.sub(_EMOTICON, "")
    text.sub(_EMOJI, "")
    squeeze(text)
    text.edit(_line_end_edits(text.text))


def _strip_code_and_tags(text: Tracked) -> None:
    text.sub(_FENCE, "\n")
    text.sub(_OPEN_FENCE, "\n")
    if "<" in text.text:
        text.sub(_RAISED, lambda m: m[1].translate(_SUPERSCRIPTS))
        text.keep(_LOWERED)
        text.sub(_BREAK, "\n")
        text.keep(_AUTOLINK)
        text.sub(_TAG, "")
    if "&" in text.text:
        from html import unescape  # its table of 2,000 entities is rarely needed

        text.sub(_ENTITY, lambda match: unescape(match.group()).replace("\u00a0", " "))


def _strip_links(text: Tracked) -> None:
    if "[" not in text.text and "【" not in text.text:
        return
    text.keep(_IMAGE)
    text.sub(_LINK_DEFINITION, "")
    text.keep(_LINK)
    text.sub(_FOOTNOTE, "")
    text.sub(_CITATION, "")
    text.keep(_REFERENCE_LINK)


def _strip_lines(text: Tracked) -> None:
    if "|" in text.text:
        text.sub(_TABLE_RULE, "")
        text.edit(_table_edits(text.text))
        text.sub(_PIPE, ", ")
    text.sub(_RULER, "")
    text.keep(_HEADING)
    text.sub(_QUOTE, "")
    text.sub(_BULLET, "\n")
    text.sub(_NUMBERED, lambda match: match.group(1) + ",")


def _table_edits(text: str) -> list[Edit]:
    """Cells become phrases with commas between them, a row becomes a sentence."""
    edits: list[Edit] = []
    for row in _TABLE_ROW.finditer(text):
        edges = list(_CELL_EDGE.finditer(text, row.start(), row.end()))
        for edge in edges:
            first, last = edge.start() == row.start(), edge.end() == row.end()
            edits.append((edge.start(), edge.end(), "\n" if first else "" if last else ", "))
    return edits


def _strip_inline(text: Tracked) -> None:
    if "`" in text.text:
        text.edit(_code_edits(text.text))
        text.sub(_BACKTICKS, "")
    text.sub(_ESCAPE, "")
    text.sub(_SHORTCODE, "")
    text.sub(
        _STARS, lambda stars: stars.group() if _PRODUCT.match(stars.string, stars.start()) else ""
    )
    text.sub(_TILDES, "")
    text.sub(_UNDERSCORE_EDGE, "")


def _code_edits(text: str) -> list[Edit]:
    """Names in inline code are read word by word and calls without their brackets."""
    edits: list[Edit] = []
    for code in _CODE.finditer(text):
        start, end = code.span(2)
        inner: list[Edit] = [(m.start(), m.end(), "") for m in _CALL.finditer(text, start, end)]
        inner += [(m.start(), m.end(), " ") for m in _HUMP.finditer(text, start, end)]
        edits += sorted(inner)
    return edits


def _line_end_edits(text: str) -> list[Edit]:
    """A line end becomes a full stop where the line has none, unless the sentence goes on."""
    edits: list[Edit] = []
    for end in _LINE_END.finditer(text):
        last = text[max(0, end.start() - 80) : end.start()].rstrip("\"')]}»” ")[-1:]
        following = text[end.end() : end.end() + 1]
        goes_on = following.islower() and end.group().count("\n") == 1
        if not last or last in _SENTENCE_ENDS or goes_on:
            new = " "
        else:
            new = "。" if "\u3040" <= last <= "\u9fff" else ". "
        edits.append((end.start(), end.end(), new))
    return edits
