"""Reads what looks like a number and is none: identifiers, hashes, phone and card numbers. Pure.

They are spelled character by character, in groups with a pause between them, in any language.
Runs before the rules for numbers; also takes digit strings that are too long for these, so that
none of them ever sees more than `MAX_DIGITS` digits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from s2s.tts.text.names import SignNames
from s2s.tts.text.tracked import Tracked

MAX_DIGITS = 15
"""Longer digit strings are spelled; why: docs/decisions/identifiers-are-spelled.md."""
_GROUP_CHARS = 4
_W = "0-9A-Za-z_"
_UUID = re.compile(
    rf"(?<![{_W}-])[0-9a-fA-F]{{8}}(?:-[0-9a-fA-F]{{4}}){{3}}-[0-9a-fA-F]{{12}}(?![{_W}])"
)
_BYTES = re.compile(
    rf"(?<![{_W}:.-])(?:(?:[0-9a-fA-F]{{2}}-){{5}}[0-9a-fA-F]{{2}}"
    rf"|(?:[0-9a-fA-F]{{2}}:){{5,}}[0-9a-fA-F]{{2}}|(?=[0-9a-fA-F:]*::|(?:[0-9a-fA-F]+:){{7}})"
    rf"(?=[0-9a-fA-F:]*[0-9a-fA-F]:)[0-9a-fA-F]{{0,4}}(?::[0-9a-fA-F]{{0,4}}){{2,7}})(?![{_W}:])"
)
_HEX = re.compile(
    rf"(?<![{_W}])0x([0-9a-fA-F]+)(?![{_W}])|#((?=[0-9a-fA-F]*\d)[0-9a-fA-F]{{6}})(?![{_W}])"
)
_LONG_HEX = re.compile("(?<![0-9A-Za-z])(?:[0-9a-f]{16,}|[0-9A-F]{16,})(?![0-9A-Za-z])")
_IBAN = re.compile(
    rf"(?<![{_W}-])[A-Z]{{2}}\d{{2}}(?:(?: [A-Z0-9]{{4}}){{2,7}}(?: [A-Z0-9]{{1,3}})?"
    rf"|[A-Z0-9]{{11,30}})"
    rf"(?![{_W}-])"
)
_TOKEN = re.compile(
    rf"(?<![{_W}.,/:@#$€£¥-])(?=[A-Za-z-]*\d)[0-9A-Za-z]+(?:[-_][0-9A-Za-z]+)*(?![{_W}])"
)
_SECRET = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/_=-]{24,}(?![\w+/=-])")
_CARD = re.compile(rf"(?<![{_W}.,-])\d{{4}}([ -])\d{{4}}\1\d{{4}}\1\d{{3,4}}(?![{_W}-])")
_BOOK = re.compile(
    rf"(?<![{_W}.,-])(?:97[89]([ -])\d{{1,5}}\1\d{{1,7}}\1\d{{1,7}}\1\d"
    rf"|\d-\d{{2,7}}-\d{{1,7}}-[\dX])"
    rf"(?![{_W}-])"
)
_BOOK_CUE = re.compile(r"\b(IS[BS]N(?:-1[03])?:? ?)(\d[\d -]{6,17}[\dXx])(?![\w-])")
_PHONE = re.compile(
    rf"(?<![{_W}.,+-])(?<!\d )(?:"
    r"\+\d{1,3}[ ./-]?(?:\(\d{1,5}\)|\d{1,5})(?:[ ./-]?\(\d{1,5}\)|[ ./-]\d{1,8}"
    r"|(?<=\))\d{1,8}){1,5}"
    r"|\+\d{11,15}"
    r"|(?:1[- .])?\(0?\d{1,4}\)[ -]?\d{3,5}(?:[ -]\d{2,5}){1,3}|\(0\d{1,5}\) ?\d{4,9}"
    r"|0\d{1,5} \d{2,8}(?:[ -]\d{1,6}){0,4}|0\d-\d{8}|0\d{2,5}[/-] ?\d{3,9}(?:[ -]\d{1,6}){0,3}"
    r"|0\d(?:[ .-]\d\d){4}"
    r"|(?:1[-. ])?\d{3}[-. ]\d{3}[-. ]\d{4}|(?:1-)?\d{2,4}-\d{3,4}-\d{4}|\d{3}-\d{2}-\d{4}"
    r"|\d{3,4} \d{4} \d{4}|9\d{4}-\d{4}|\d{3}-\d{7,8}"
    r"|\d{2,3} \d{3} \d{2} \d{2}|\d{3} \d{2} \d{2} \d{2}"
    rf")(?![{_W}-]|[.,]\d| \d{{3}}(?!\d))"
)
_PHONE_CUE = re.compile(
    r"\b((?:tel(?:e(?:phone|fon|fono|fone))?|phone|call|dial|fax|mobile?|handy|ruf(?:nummer)?|telefonnummer"
    r"|téléphone|appele[zr]|teléfono|telefono|telefone|chiama(?:re)?|llam[ae]r?|ligue|whatsapp|hotline"
    r"|cell(?:ulare)?|celular|numéro|número|numero|number|nummer)\b[.:]? (?:at |is |ist |an "
    r"|unter |al |le |au )?"
    r"|(?:电话|電話|手机|热线|致电|拨打|番号)(?:号码|番号|は|是|[:：])? ?)"
    r"(\+?\(?\d(?:[\d()/]|[ .-](?=[\d(])){4,19}\d)(?![0-9A-Za-z_%°€$£¥]|[ .,:/-]\d| ?[€$£¥%])",
    re.I,
)
_CODE_CUE = re.compile(
    r"((?:\b(?:code|pin|passcode|password|otp|zip code|passwort|kennwort|plz|mot de passe|código"
    r"|codice"
    r"|contraseña|senha|postcode)\b|邮编|邮政编码|验证码|密码|编号|订单号|账号|卡号|学号|工号|QQ号?|コード|暗証番号|〒)"
    r"[:：]? ?(?:is |ist |lautet |est |es |è |é |是"
    r"|は)?)(\d{3,15}(?:-\d{3,5})?)(?![0-9A-Za-z_%°€$£¥]|[.,:/]\d)",
    re.I,
)
"""What is typed in is spelled."""
_ADDRESS = re.compile(
    r"(?<![\w.])((?:\d{1,3}\.){3}\d{1,3})(?::(\d{2,5})|/(\d{1,2}))?(?![\w]|[./]\d)"
)
_LONG = re.compile(rf"\d{{{MAX_DIGITS + 1},}}(?:[.,]\d+)*")
_LONG_GROUPS = re.compile(r"(?<![\d.,])\d{1,3}(?:([,.'])\d{3})(?:\1\d{3}){6,}(?!\d)(?:[.,]\d+)?")
_LONG_FRACTION = re.compile(rf"(?<=[.,])\d{{{MAX_DIGITS + 1},}}")
_RUN = re.compile("[0-9A-Za-z]+")
_CHANGE = re.compile("(?<=[0-9])(?=[A-Za-z])|(?<=[A-Za-z])(?=[0-9])")
_POWER_OF_TEN = re.compile(r"\d+[eE]\d{1,3}")
_MEASURES = re.compile(
    r"(?:\d+(?:st|nd|rd|th|x|h|hr|m|s|ms|min|d|ft|in|lb|oz|kg|g|km|cm|mm|er|am|pm|AM|PM|K|k|Uhr))+\d*"
)
_THOUSANDS = re.compile(r"\+?[1-9]\d{0,2}(?:\.\d{3})+")
"""A number with separators, "+1.000.000", is no phone number."""
_ISO_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d")
_HEX_ONLY = re.compile("[0-9a-f]+|[0-9A-F]+")


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a language says single characters."""

    digits: tuple[str, ...]
    names: SignNames
    plus: str
    joint: str = " "
    """Between two digits; Chinese and Japanese have none."""
    pause: str = ", "
    point: str = "point"

    def spell(self, text: str) -> str:
        """Every digit by name, every letter as a capital, nothing else."""
        words = ""
        after_letter = False
        for char in text:
            digit = self.digits[ord(char) - 48] if "0" <= char <= "9" else ""
            if not digit and not (char.isascii() and char.isalpha()):
                continue
            gap = self.joint if digit and not after_letter else " "
            words += (gap if words else "") + (digit or char.upper())
            after_letter = not digit
        return words

    def groups(self, text: str) -> str:
        """What is written in groups, each spelled, with a pause between them."""
        return self.pause.join(self.spell(run) for run in _RUN.findall(text))

    def in_fours(self, text: str) -> str:
        """A run of characters, with a pause after every four where it is long."""
        if len(text) <= 2 * _GROUP_CHARS:
            return self.spell(text)
        parts = [text[at : at + _GROUP_CHARS] for at in range(0, len(text), _GROUP_CHARS)]
        return self.pause.join(self.spell(part) for part in parts)


def read_identifiers(text: Tracked, spelling: Spelling, *, addresses: bool = True) -> None:
    """Spell identifiers in `text` in place. `addresses`: also IP addresses."""
    if not any(char in "0123456789" for char in text.text):
        return
    text.sub(_UUID, lambda m: spelling.groups(m.group()))
    text.sub(_BYTES, lambda m: spelling.groups(m.group()))
    text.sub(
        _HEX, lambda m: f"{spelling.spell('0x')} " * bool(m[1]) + _by_length(m[1] or m[2], spelling)
    )
    text.sub(_LONG_HEX, lambda m: spelling.in_fours(m.group()) if _mixed(m.group()) else m.group())
    text.sub(_IBAN, lambda m: _by_length(m.group(), spelling))
    text.sub(_SECRET, lambda m: _read_secret(m.group(), spelling))
    text.sub(_TOKEN, lambda m: _read_token(m.group(), spelling))
    text.sub(_CARD, lambda m: spelling.groups(m.group()))
    text.sub(_BOOK, lambda m: spelling.groups(m.group()))
    text.sub(_BOOK_CUE, lambda m: spelling.groups(m[2]), 2)
    if addresses:
        text.sub(_ADDRESS, lambda m: _read_address(m, spelling))
    text.sub(_CODE_CUE, lambda m: spelling.groups(m[2]), 2)
    text.sub(_PHONE_CUE, lambda m: _read_phone(m[2], spelling, shortest=5), 2)
    text.sub(_PHONE, lambda m: _read_phone(m.group(), spelling, shortest=7))
    text.sub(_LONG_GROUPS, lambda m: spelling.groups(m.group()))
    text.sub(_LONG, lambda m: _read_long(m.group(), spelling))
    text.sub(_LONG_FRACTION, lambda m: m.group()[:MAX_DIGITS])


def _mixed(text: str) -> bool:
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def _by_length(text: str, spelling: Spelling) -> str:
    return spelling.groups(text) if " " in text else spelling.in_fours(text)


def _read_phone(text: str, spelling: Spelling, shortest: int) -> str:
    if sum(char.isdigit() for char in text) < shortest or _THOUSANDS.fullmatch(text):
        return text
    plus = f"{spelling.plus}{spelling.joint}" if text.startswith("+") else ""
    parts = _RUN.findall(text)
    if len(parts) == 1 and len(text) > 12:
        return plus + spelling.in_fours(parts[0])
    return plus + spelling.groups(text)


def _read_address(match: re.Match[str], spelling: Spelling) -> str:
    parts = match[1].split(".")
    if any(int(part) > 255 for part in parts):
        return match.group()
    gap = "" if spelling.joint == "" else " "
    words = f"{gap}{spelling.names.dot}{gap}".join(spelling.spell(part) for part in parts)
    if match[2]:
        return f"{words}{gap}{spelling.names.colon}{gap}{spelling.spell(match[2])}"
    return (
        f"{words}{gap}{spelling.names.slash}{gap}{spelling.spell(match[3])}" if match[3] else words
    )


def _read_long(text: str, spelling: Spelling) -> str:
    """Decimals after a long whole number follow its point; more groups follow a pause."""
    runs = [spelling.in_fours(run) for run in _RUN.findall(text)]
    gap = "" if spelling.joint == "" else " "
    return f"{gap}{spelling.point}{gap}".join(runs) if len(runs) == 2 else spelling.pause.join(runs)


def _read_secret(text: str, spelling: Spelling) -> str:
    """Keys and tokens: a long mixture of small letters, capitals and digits."""
    mixed = (
        sum(char.isdigit() for char in text) >= 3
        and any(char.islower() for char in text)
        and any(char.isupper() for char in text)
        and len(_CHANGE.findall(text)) >= 4
    )
    if not mixed:
        return text
    return spelling.pause.join(spelling.in_fours(run) for run in _RUN.findall(text))


def _read_token(token: str, spelling: Spelling) -> str:
    """A hash or a serial number; other words with digits in them stay."""
    if not any(map(str.isalpha, token)) or _ISO_TIME.match(token) or not _is_identifier(token):
        return token
    return spelling.pause.join(spelling.in_fours(run) for run in _RUN.findall(token))


def _is_identifier(token: str) -> bool:
    for group in re.split("[-_]", token):
        changes = len(_CHANGE.findall(group))
        if _POWER_OF_TEN.fullmatch(group) or _MEASURES.fullmatch(group):
            continue
        digits = sum(char.isdigit() for char in group)
        if changes >= 1 and len(group) >= 7 and _HEX_ONLY.fullmatch(group) and digits >= 2:
            return changes >= 2 or len(group) >= 10 or "-" not in token
        if changes >= 2 and digits >= 2 and not re.search("[a-z]{3}", group):
            return True
    return False
