"""Words for signs in addresses and sums, by language. Data only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SignNames:
    """How a language reads the signs in e-mail and web addresses and in file names."""

    dot: str
    at: str
    slash: str
    backslash: str
    dash: str
    underscore: str
    colon: str


SIGN_NAMES = {
    "en": SignNames(
        dot="dot",
        at="at",
        slash="slash",
        backslash="backslash",
        dash="dash",
        underscore="underscore",
        colon="colon",
    ),
    "de": SignNames(
        dot="Punkt",
        at="at",
        slash="Schrägstrich",
        backslash="Backslash",
        dash="Strich",
        underscore="Unterstrich",
        colon="Doppelpunkt",
    ),
    "fr": SignNames(
        dot="point",
        at="arobase",
        slash="barre oblique",
        backslash="antislash",
        dash="tiret",
        underscore="tiret bas",
        colon="deux-points",
    ),
    "es": SignNames(
        dot="punto",
        at="arroba",
        slash="barra",
        backslash="barra invertida",
        dash="guion",
        underscore="guion bajo",
        colon="dos puntos",
    ),
    "it": SignNames(
        dot="punto",
        at="chiocciola",
        slash="barra",
        backslash="barra inversa",
        dash="trattino",
        underscore="trattino basso",
        colon="due punti",
    ),
    "pt": SignNames(
        dot="ponto",
        at="arroba",
        slash="barra",
        backslash="barra invertida",
        dash="hífen",
        underscore="sublinhado",
        colon="dois pontos",
    ),
    "zh": SignNames(
        dot="点",
        at="艾特",
        slash="斜杠",
        backslash="反斜杠",
        dash="横杠",
        underscore="下划线",
        colon="冒号",
    ),
    "ja": SignNames(
        dot="ドット",
        at="アット",
        slash="スラッシュ",
        backslash="バックスラッシュ",
        dash="ハイフン",
        underscore="アンダーバー",
        colon="コロン",
    ),
    "ko": SignNames(
        dot="점",
        at="골뱅이",
        slash="슬래시",
        backslash="역슬래시",
        dash="대시",
        underscore="밑줄",
        colon="콜론",
    ),
    "ru": SignNames(
        dot="точка",
        at="собака",
        slash="слэш",
        backslash="обратный слэш",
        dash="дефис",
        underscore="подчёркивание",
        colon="двоеточие",
    ),
    "nl": SignNames(
        dot="punt",
        at="apenstaartje",
        slash="slash",
        backslash="backslash",
        dash="streepje",
        underscore="underscore",
        colon="dubbele punt",
    ),
}
