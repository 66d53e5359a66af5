"""Number words, units and signs of eight languages, for the reader in `heard_numbers`.

Written apart from `s2s.tts.text`, whose words it judges: no table and no code is shared.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator


def _words(text: str) -> list[str]:
    return text.split()


def fold(text: str) -> str:
    """Small letters without accents, hyphens as spaces."""
    decomposed = unicodedata.normalize("NFD", text.lower())
    plain = "".join(char for char in decomposed if not "\u0300" <= char <= "\u036f")
    return plain.replace("-", " ").replace("ß", "ss")


def _english() -> Iterator[tuple[str, int]]:
    ones = _words(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
        " fifteen"
        " sixteen seventeen eighteen nineteen"
    )
    tens = _words("twenty thirty forty fifty sixty seventy eighty ninety")
    below = dict(enumerate(ones))
    for at, ten in enumerate(tens):
        for one in range(10):
            below[20 + 10 * at + one] = ten + (f" {ones[one]}" if one else "")
    for number, words in below.items():
        yield words, number
        for hundred in (*range(1, 10), *range(11, 20)):
            yield (
                f"{ones[hundred]} hundred" + (f" {words}" if number else ""),
                hundred * 100 + number,
            )


def _german() -> Iterator[tuple[str, int]]:
    ones = _words(
        "null ein zwei drei vier funf sechs sieben acht neun zehn elf zwolf dreizehn vierzehn"
        " funfzehn"
        " sechzehn siebzehn achtzehn neunzehn"
    )
    tens = _words("zwanzig dreissig vierzig funfzig sechzig siebzig achtzig neunzig")
    below = dict(enumerate(ones))
    for at, ten in enumerate(tens):
        for one in range(10):
            below[20 + 10 * at + one] = (f"{ones[one]}und" if one else "") + ten
    for number, words in below.items():
        forms = [words, "eins", "eine"] if words == "ein" else [words]
        for form in forms:
            yield form, number
            for hundred in range(1, 10):
                rest = form if number else ""
                yield f"{ones[hundred]}hundert{rest}", hundred * 100 + number
                if hundred == 1:
                    yield f"hundert{rest}", 100 + number
        for teen in range(11, 20):
            yield f"{ones[teen]}hundert{words if number else ''}", teen * 100 + number


def _french() -> Iterator[tuple[str, int]]:
    ones = _words(
        "zero un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze"
        " seize"
    )
    small = [*ones, "dix sept", "dix huit", "dix neuf"]
    below = dict(enumerate(small))
    for start, ten in (
        (20, "vingt"),
        (30, "trente"),
        (40, "quarante"),
        (50, "cinquante"),
        (60, "soixante"),
    ):
        for one in range(20 if start == 60 else 10):
            joint = " et " if one in {1, 11} else " "
            below[start + one] = ten + (f"{joint}{small[one]}" if one else "")
    for one in range(20):
        below[80 + one] = "quatre vingts" if not one else f"quatre vingt {small[one]}"
    for number, words in below.items():
        yield words, number
        yield words.removesuffix("s") if words.endswith("vingts") else f"{words}e", number
        for hundred in range(1, 10):
            head = "cent" if hundred == 1 else f"{small[hundred]} cent"
            yield head + (f" {words}" if number else ""), hundred * 100 + number
            if not number:
                yield f"{head}s", hundred * 100


def _spanish() -> Iterator[tuple[str, int]]:
    small = _words(
        "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince"
        " dieciseis diecisiete dieciocho diecinueve veinte veintiuno veintidos veintitres"
        " veinticuatro"
        " veinticinco veintiseis veintisiete veintiocho veintinueve"
    )
    below = dict(enumerate(small))
    tens = _words("treinta cuarenta cincuenta sesenta setenta ochenta noventa")
    for at, ten in enumerate(tens):
        for one in range(10):
            below[30 + 10 * at + one] = ten + (f" y {small[one]}" if one else "")
    hundreds = _words(
        "ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos"
        " novecientos"
    )
    yield "cien", 100
    for number, words in below.items():
        forms = [words, words[:-1], f"{words[:-1]}a"] if words.endswith("uno") else [words]
        for form in forms:
            yield form, number
            for at, hundred in enumerate(hundreds):
                said = hundred + (f" {form}" if number else "")
                yield said, 100 * (at + 1) + number
                yield said.replace("tos", "tas"), 100 * (at + 1) + number


def _italian() -> Iterator[tuple[str, int]]:
    small = _words(
        "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici"
        " quattordici"
        " quindici sedici diciassette diciotto diciannove"
    )
    below = dict(enumerate(small))
    tens = _words("venti trenta quaranta cinquanta sessanta settanta ottanta novanta")
    for at, ten in enumerate(tens):
        for one in range(10):
            stem = ten[:-1] if one in {1, 8} else ten
            below[20 + 10 * at + one] = stem + (small[one] if one else "")
    for number, words in below.items():
        forms = [words, words[:-1], f"{words[:-1]}a"] if words.endswith("uno") else [words]
        for form in forms:
            yield form, number
            for hundred in range(1, 10):
                head = "cento" if hundred == 1 else f"{small[hundred]}cento"
                yield head + (form if number else ""), hundred * 100 + number
                if form.startswith(("otto", "uno", "ottant")):
                    yield head[:-1] + form, hundred * 100 + number


def _portuguese() -> Iterator[tuple[str, int]]:
    small = _words(
        "zero um dois tres quatro cinco seis sete oito nove dez onze doze treze catorze quinze"
        " dezasseis"
        " dezassete dezoito dezanove"
    )
    below = dict(enumerate(small))
    tens = _words("vinte trinta quarenta cinquenta sessenta setenta oitenta noventa")
    for at, ten in enumerate(tens):
        for one in range(10):
            below[20 + 10 * at + one] = ten + (f" e {small[one]}" if one else "")
    hundreds = _words(
        "cento duzentos trezentos quatrocentos quinhentos seiscentos setecentos oitocentos"
        " novecentos"
    )
    yield "cem", 100
    other = {"um": ["uma"], "dois": ["duas"], "dezasseis": ["dezesseis"],
    "dezassete": ["dezessete"],
             "dezanove": ["dezenove"]}  # fmt: skip
    for number, words in below.items():
        last = words.split()[-1]
        head = words[: len(words) - len(last)]
        forms = [words, *(head + form for form in other.get(last, []))]
        for form in forms:
            yield form, number
            for at, hundred in enumerate(hundreds):
                said = hundred + (f" e {form}" if number else "")
                yield said, 100 * (at + 1) + number
                yield said.replace("tos", "tas"), 100 * (at + 1) + number


BELOW_THOUSAND = {
    language: dict(make())
    for language, make in {
        "en": _english, "de": _german, "fr": _french, "es": _spanish, "it": _italian,
        "pt": _portuguese,
    }.items()
}  # fmt: skip
SCALES = {
    "en": {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12},
    "de": {"tausend": 10**3, "million": 10**6, "millionen": 10**6, "milliarde": 10**9,
           "milliarden": 10**9, "billionen": 10**12},
    "fr": {"mille": 10**3, "million": 10**6, "millions": 10**6, "milliard": 10**9,
           "milliards": 10**9, "billions": 10**12},
    "es": {"mil": 10**3, "millon": 10**6, "millones": 10**6, "billon": 10**12, "billones": 10**12},
    "it": {"mille": 10**3, "mila": 10**3, "milione": 10**6, "milioni": 10**6, "miliardo": 10**9,
           "miliardi": 10**9},
    "pt": {"mil": 10**3, "milhao": 10**6, "milhoes": 10**6, "bilhao": 10**9, "bilhoes": 10**9},
}  # fmt: skip
POINT = {
    "en": "point",
    "de": "komma",
    "fr": "virgule",
    "es": "coma",
    "it": "virgola",
    "pt": "virgula",
}
JOINS = {"en": set(), "de": set(), "fr": set(), "es": set(), "it": {"e"}, "pt": {"e"}}
"""Words between the groups of one number."""
MINUS = {"en": "minus", "de": "minus", "fr": "moins", "es": "menos", "it": "meno", "pt": "menos",
         "zh": "负", "ja": "マイナス"}  # fmt: skip
PLUS = {"en": "plus", "de": "plus", "fr": "plus", "es": "mas", "it": "piu", "pt": "mais",
        "zh": "正", "ja": "プラス"}  # fmt: skip
BOTH = {"en": "plus or minus", "de": "plus minus", "fr": "plus moins", "es": "mas menos",
        "it": "piu meno", "pt": "mais menos", "zh": "正负", "ja": "プラスマイナス"}  # fmt: skip
_UNITS = {
    "en": (
        "percent=percent;km=kilometers,kilometer;kg=kilograms,kilogram"
        ";mm=millimeters,millimeter;GB=gigabytes,gigabyte;kWh=kilowatt hours,kilowatt hour"
        ";m²=square meters,square meter;m³=cubic meters,cubic meter"
        ";km/h=kilometers per hour,kilometer per hour;m/s=meters per second,meter per second"
        ";°C=degrees celsius,degree celsius;°F=degrees fahrenheit;EUR=euros,euro"
        ";USD=dollars,dollar;GBP=pounds,pound;CHF=swiss francs;SEK=swedish kronor;PLN=zlotys"
        ";INR=rupees"
    ),
    "de": (
        "percent=prozent;km=kilometer;kg=kilogramm;mm=millimeter;GB=gigabyte"
        ";kWh=kilowattstunden,kilowattstunde;m²=quadratmeter;m³=kubikmeter"
        ";km/h=kilometer pro stunde;m/s=meter pro sekunde;°C=grad celsius;°F=grad fahrenheit"
        ";EUR=euro;USD=dollar;GBP=pfund;CHF=schweizer franken;SEK=schwedische kronen;PLN=zloty"
        ";INR=rupien"
    ),
    "fr": (
        "percent=pour cent;km=kilometres,kilometre;kg=kilogrammes,kilogramme"
        ";mm=millimetres,millimetre;GB=gigaoctets,gigaoctet;kWh=kilowattheures,kilowattheure"
        ";m²=metres carres,metre carre;m³=metres cubes,metre cube"
        ";km/h=kilometres heure,kilometre heure;m/s=metres par seconde,metre par seconde"
        ";°C=degres celsius,degre celsius;°F=degres fahrenheit;EUR=euros,euro"
        ";USD=dollars,dollar;GBP=livres,livre;CHF=francs suisses;SEK=couronnes suedoises"
        ";PLN=zlotys;INR=roupies"
    ),
    "es": (
        "percent=por ciento;km=kilometros,kilometro;kg=kilogramos,kilogramo"
        ";mm=milimetros,milimetro;GB=gigabytes,gigabyte;kWh=kilovatios hora,kilovatio hora"
        ";m²=metros cuadrados,metro cuadrado;m³=metros cubicos,metro cubico"
        ";km/h=kilometros por hora,kilometro por hora;m/s=metros por segundo,metro por segundo"
        ";°C=grados celsius,grado celsius;°F=grados fahrenheit;EUR=euros,euro"
        ";USD=dolares,dolar;GBP=libras,libra;CHF=francos suizos;SEK=coronas suecas;PLN=zlotys"
        ";INR=rupias"
    ),
    "it": (
        "percent=per cento;km=chilometri,chilometro;kg=chilogrammi,chilogrammo"
        ";mm=millimetri,millimetro;GB=gigabyte;kWh=chilowattora"
        ";m²=metri quadrati,metro quadrato;m³=metri cubi,metro cubo"
        ";km/h=chilometri all'ora,chilometro all'ora;m/s=metri al secondo,metro al secondo"
        ";°C=gradi celsius,grado celsius;°F=gradi fahrenheit;EUR=euro;USD=dollari,dollaro"
        ";GBP=sterline,sterlina;CHF=franchi svizzeri;SEK=corone svedesi;PLN=zloty;INR=rupie"
    ),
    "pt": (
        "percent=por cento;km=quilometros,quilometro;kg=quilogramas,quilograma"
        ";mm=milimetros,milimetro;GB=gigabytes,gigabyte;kWh=quilowatts hora,quilowatt hora"
        ";m²=metros quadrados,metro quadrado;m³=metros cubicos,metro cubico"
        ";km/h=quilometros por hora,quilometro por hora"
        ";m/s=metros por segundo,metro por segundo;°C=graus celsius,grau celsius"
        ";°F=graus fahrenheit;EUR=euros,euro;USD=dolares,dolar;GBP=libras,libra"
        ";CHF=francos suicos;SEK=coroas suecas;PLN=zlotys;INR=rupias"
    ),
    "zh": (
        "percent=百分之;km=公里;kg=公斤;mm=毫米;GB=吉字节;kWh=千瓦时;m²=平方米;m³=立方米"
        ";km/h=公里每小时;m/s=米每秒;°C=摄氏度;°F=华氏度;EUR=欧元;USD=美元;GBP=英镑"
        ";CHF=瑞士法郎;SEK=瑞典克朗;PLN=兹罗提;INR=卢比"
    ),
    "ja": (
        "percent=パーセント;km=キロメートル;kg=キログラム;mm=ミリメートル;GB=ギガバイト"
        ";kWh=キロワット時;m²=平方メートル;m³=立方メートル;km/h=キロメートル毎時"
        ";m/s=メートル毎秒;°C=度;°F=度;EUR=ユーロ;USD=ドル;GBP=ポンド;CHF=スイスフラン"
        ";SEK=スウェーデンクローナ;PLN=ズウォティ;INR=ルピー"
    ),
}
LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "zh", "ja")


def _units(table: str) -> dict[str, str]:
    rows = (row.split("=") for row in table.split(";"))
    return {phrase: sign for sign, phrases in rows for phrase in phrases.split(",")}


UNITS = {language: _units(table) for language, table in _UNITS.items()}
"""Language -> folded phrase -> sign."""
UNTIL = {
    "en": "to",
    "de": "bis",
    "fr": "a",
    "es": "a",
    "it": "a",
    "pt": "a",
    "zh": "到",
    "ja": "から",
}
AGAINST = {
    "en": "to",
    "de": "zu",
    "fr": "a",
    "es": "a",
    "it": "a",
    "pt": "a",
    "zh": "比",
    "ja": "対",
}
PARTS = {
    "en": {2: "hal", 3: "third", 4: "quarter", 5: "fifth", 8: "eighth"},
    "de": {2: "halb", 3: "drittel", 4: "viertel", 5: "funftel", 8: "achtel"},
    "fr": {2: "demi", 3: "tiers", 4: "quart", 5: "cinquieme", 8: "huitieme"},
    "es": {2: "medio", 3: "tercio", 4: "cuarto", 5: "quinto", 8: "octavo"},
    "it": {2: "mezzo", 3: "terz", 4: "quart", 5: "quint", 8: "ottav"},
    "pt": {2: "meio", 3: "terco", 4: "quarto", 5: "quinto", 8: "oitavo"},
}
"""Denominator -> how its word begins."""
OVER = {"en": "over", "de": "durch", "fr": "sur", "es": "sobre", "it": "su", "pt": "sobre"}
ORDINALS = {
    "en": {1: "first", 2: "second", 3: "third", 5: "fifth", 12: "twelfth", 21: "twenty first"},
    "de": {1: "erste", 2: "zweite", 3: "dritte", 5: "funfte", 12: "zwolfte",
    21: "einundzwanzigste"},
    "fr": {1: "premier", 2: "deuxieme", 3: "troisieme", 5: "cinquieme", 12: "douzieme",
           21: "vingt et unieme"},
    "es": {1: "primer", 2: "segund", 3: "tercer", 5: "quint", 12: "decimosegund",
    21: "vigesimo primer"},
    "it": {1: "prim", 2: "second", 3: "terz", 5: "quint", 12: "dodicesim", 21: "ventunesim"},
    "pt": {1: "primeir", 2: "segund", 3: "terceir", 5: "quint", 12: "decimo segund",
           21: "vigesimo primeir"},
}  # fmt: skip
"""How each ordinal begins; its ending depends on what it stands by."""
MONTHS = {
    "en": "january february march april may june july august september october november december",
    "de": "januar februar marz april mai juni juli august september oktober november dezember",
    "fr": "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre"
    " diciembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre"
    " dicembre",
    "pt": "janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro"
    " dezembro",
}
