"""Words for the signs of numbers and sums, by language. Data only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SignWords:
    """How a language says the signs around numbers. `{n}` is the number."""

    minus: str
    plus: str
    times: str
    divided: str
    equals: str
    unequal: str
    about: str
    at_most: str
    at_least: str
    less: str
    more: str
    root: str
    cube_root: str
    infinity: str
    degrees: str
    percent: str
    per_mille: str
    over: str
    point: str
    until: str
    and_: str
    at: str
    section: str
    number: str
    squared: str
    cubed: str
    power: str
    sum: str
    integral: str
    pi: str

    @property
    def plus_minus(self) -> str:
        """For "±"."""
        return f"{self.plus} {self.minus}" if self.minus[0] < "\u3000" else self.plus + self.minus


_FIELDS_TEXT = """
minus plus times divided equals unequal about at_most at_least less more root cube_root infinity
degrees percent per_mille over point until and_ at section number squared cubed power sum integral
pi
"""
_FIELDS = _FIELDS_TEXT.split()


def _signs(line: str) -> SignWords:
    values = [value.strip() for value in line.split("|")]
    return SignWords(**dict(zip(_FIELDS, values, strict=True)))


SIGN_WORDS = {
    "en": _signs(
        "minus|plus|times|divided by|equals|is not equal to|about|at most|at least|less than"
        "|more than|the square root of|the cube root of|infinity|degrees|percent|per mille|over"
        "|point|to|and|at|section|number|squared|cubed|to the power of {n}|the sum of"
        "|the integral of|pi"
    ),
    "de": _signs(
        "minus|plus|mal|geteilt durch|gleich|ungleich|etwa|höchstens|mindestens|weniger als"
        "|mehr als|Wurzel aus|dritte Wurzel aus|unendlich|Grad|Prozent|Promille|durch|Komma|bis"
        "|und|at|Paragraph|Nummer|hoch zwei|hoch drei|hoch {n}|Summe|Integral|Pi"
    ),
    "fr": _signs(
        "moins|plus|fois|divisé par|égale|différent de|environ|au plus|au moins|moins de|plus de"
        "|racine carrée de|racine cubique de|infini|degrés|pour cent|pour mille|sur|virgule|à|et"
        "|arobase|paragraphe|numéro|au carré|au cube|puissance {n}|somme de|intégrale de|pi"
    ),
    "es": _signs(
        "menos|más|por|dividido entre|igual a|distinto de|aproximadamente|como máximo|como mínimo"
        "|menos de|más de|raíz cuadrada de|raíz cúbica de|infinito|grados|por ciento|por mil|sobre"
        "|coma|a|y|arroba|sección|número|al cuadrado|al cubo|elevado a {n}|suma de|integral de|pi"
    ),
    "it": _signs(
        "meno|più|per|diviso|uguale|diverso da|circa|al massimo|almeno|meno di|più di"
        "|radice quadrata di|radice cubica di|infinito|gradi|per cento|per mille|su|virgola|a|e"
        "|chiocciola|paragrafo|numero|al quadrato|al cubo|alla {n}|somma di|integrale di|pi greco"
    ),
    "pt": _signs(
        "menos|mais|vezes|dividido por|igual a|diferente de|cerca de|no máximo|no mínimo"
        "|menos de|mais de|raiz quadrada de|raiz cúbica de|infinito|graus|por cento|por mil|sobre"
        "|vírgula|a|e|arroba|seção|número|ao quadrado|ao cubo|elevado a {n}|soma de|integral de|pi"
    ),
    "zh": _signs(
        "负|正|乘|除以|等于|不等于|约|不超过|不少于|小于|大于|根号|三次根号|无穷大|度|百分之"
        "|千分之|除以|点|到|和|艾特|第|号|的平方|的立方|的{n}次方|总和|积分|派"
    ),
    "ja": _signs(
        "マイナス|プラス|かける|わる|イコール|ノットイコール|約|最大|最小|未満|以上|ルート"
        "|三乗根|無限大|度|パーセント|パーミル|わる|点|から|アンド|アット|セクション|番号|の二乗"
        "|の三乗|の{n}乗|総和|積分|パイ"
    ),
    "ko": _signs(
        "마이너스|플러스|곱하기|나누기|는|같지 않음|약|최대|최소|미만|초과|루트|세제곱근|무한대|도"
        "|퍼센트|퍼밀|나누기|점|에서|그리고|골뱅이|섹션|번호|제곱|세제곱|의 {n}제곱|합|적분|파이"
    ),
    "ru": _signs(
        "минус|плюс|умножить на|разделить на|равно|не равно|около|не более|не менее|меньше"
        "|больше|корень из|кубический корень из|бесконечность|градусов|процентов|промилле"
        "|делить на|запятая|до|и|собака|параграф|номер|в квадрате|в кубе|в степени {n}|сумма"
        "|интеграл|пи"
    ),
    "nl": _signs(
        "min|plus|keer|gedeeld door|is|is niet gelijk aan|ongeveer|hoogstens|minstens|minder dan"
        "|meer dan|wortel uit|derdemachtswortel uit|oneindig|graden|procent|promille|gedeeld door"
        "|komma|tot|en|apenstaartje|paragraaf|nummer|kwadraat|tot de derde|tot de macht {n}|som"
        "|integraal|pi"
    ),
    "pl": _signs(
        "minus|plus|razy|podzielić przez|równa się|nie równa się|około|najwyżej|co najmniej"
        "|mniej niż|więcej niż|pierwiastek z|pierwiastek sześcienny z|nieskończoność|stopni"
        "|procent|promil|przez|przecinek|do|i|małpa|paragraf|numer|do kwadratu|do sześcianu"
        "|do potęgi {n}|suma|całka|pi"
    ),
    "sv": _signs(
        "minus|plus|gånger|delat med|lika med|inte lika med|ungefär|högst|minst|mindre än|mer än"
        "|roten ur|kubikroten ur|oändligheten|grader|procent|promille|genom|komma|till|och"
        "|snabel-a|paragraf|nummer|i kvadrat|i kubik|upphöjt till {n}|summan av|integralen av|pi"
    ),
    "tr": _signs(
        "eksi|artı|çarpı|bölü|eşittir|eşit değil|yaklaşık|en fazla|en az|küçük|büyük|karekök"
        "|küpkök|sonsuz|derece|yüzde|binde|bölü|virgül|ile|ve|et|bölüm|numara|kare|küp"
        "|üzeri {n}|toplam|integral|pi"
    ),
}
"""Any other language gets the international words of `DEFAULT`."""

DEFAULT = _signs(
    "minus|plus|×|÷|=|≠|≈|≤|≥|<|>|√|∛|∞|°|procent|promille|/|,|–|&|@|§|no|²|³|^{n}|∑|∫|pi"
)
