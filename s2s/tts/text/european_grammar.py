"""How German, French, Spanish, Italian and Portuguese say numbers, dates and money. Data only."""

from __future__ import annotations

from dataclasses import dataclass

Currency = tuple[str, str, str]
""""one euro", "euros", "cents"; no name for the parts is "".
"""


@dataclass(frozen=True, slots=True)
class Grammar:
    """One language."""

    month_names: str
    date_joint: str
    """Between day, month and year."""
    first_day: str
    """Word for the first of a month; "" where it is no exception."""
    point: str
    minus: str
    percent: str
    until: str
    money_joint: str
    """Between whole and parts: "zwölf Euro fünfzig"."""
    clock_joint: str
    full_hour: str
    one_hour: str
    one_before_noun: tuple[str, str]
    """Ending of "one" and its form before a noun: ("uno", "un"); ("", "") where it stays."""
    currencies: dict[str, Currency]
    units: dict[str, str]
    """Unit sign -> plural name."""
    abbreviations: dict[str, str]
    signs: dict[str, str]

    @property
    def months(self) -> list[str]:
        """The twelve months, January first."""
        return self.month_names.split()


GRAMMARS = {
    "de": Grammar(
        month_names="Januar Februar März April Mai Juni Juli August September Oktober November"
        " Dezember",
        date_joint=" ",
        first_day="",
        point="Komma",
        minus="minus",
        percent="Prozent",
        until="bis",
        money_joint=" ",
        clock_joint=" Uhr ",
        full_hour=" Uhr",
        one_hour="ein",
        one_before_noun=("eins", "ein"),
        currencies={
            "€": ("ein Euro", "Euro", "Cent"),
            "$": ("ein Dollar", "Dollar", "Cent"),
            "£": ("ein Pfund", "Pfund", "Pence"),
            "¥": ("ein Yen", "Yen", ""),
            "R$": ("ein Real", "Real", "Centavos"),
        },
        units={
            "km/h": "Kilometer pro Stunde",
            "km": "Kilometer",
            "cm": "Zentimeter",
            "mm": "Millimeter",
            "kg": "Kilogramm",
            "GB": "Gigabyte",
            "MB": "Megabyte",
            "°C": "Grad Celsius",
            "°": "Grad",
        },
        abbreviations={
            "z.B.": "zum Beispiel",
            "z. B.": "zum Beispiel",
            "d.h.": "das heißt",
            "d. h.": "das heißt",
            "usw.": "und so weiter",
            "bzw.": "beziehungsweise",
            "ca.": "circa",
            "Mio.": "Millionen",
            "Mrd.": "Milliarden",
            "Tel.": "Telefon",
            "inkl.": "inklusive",
            "Nr.": "Nummer",
            "Dr.": "Doktor",
            "Prof.": "Professor",
            "Hr.": "Herr",
            "Fr.": "Frau",
        },
        signs={"&": "und", "+": "plus", "=": "gleich"},
    ),
    "fr": Grammar(
        month_names="janvier février mars avril mai juin juillet août septembre octobre novembre"
        " décembre",
        date_joint=" ",
        first_day="premier",
        point="virgule",
        minus="moins",
        percent="pour cent",
        until="à",
        money_joint=" ",
        clock_joint=" heures ",
        full_hour=" heures",
        one_hour="une",
        one_before_noun=("", ""),
        currencies={
            "€": ("un euro", "euros", "centimes"),
            "$": ("un dollar", "dollars", "cents"),
            "£": ("une livre", "livres", "pence"),
            "¥": ("un yen", "yens", ""),
            "R$": ("un réal", "réaux", "centavos"),
        },
        units={
            "km/h": "kilomètres heure",
            "km": "kilomètres",
            "cm": "centimètres",
            "mm": "millimètres",
            "kg": "kilogrammes",
            "GB": "gigaoctets",
            "MB": "mégaoctets",
            "°C": "degrés Celsius",
            "°": "degrés",
        },
        abbreviations={
            "p. ex.": "par exemple",
            "etc.": "et cetera",
            "M.": "Monsieur",
            "Mme": "Madame",
            "Mlle": "Mademoiselle",
            "Dr": "Docteur",
            "n°": "numéro",
            "env.": "environ",
        },
        signs={"&": "et", "+": "plus", "=": "égale"},
    ),
    "es": Grammar(
        month_names="enero febrero marzo abril mayo junio julio agosto septiembre octubre"
        " noviembre diciembre",
        date_joint=" de ",
        first_day="",
        point="coma",
        minus="menos",
        percent="por ciento",
        until="a",
        money_joint=" con ",
        clock_joint=" y ",
        full_hour=" en punto",
        one_hour="una",
        one_before_noun=("uno", "un"),
        currencies={
            "€": ("un euro", "euros", "céntimos"),
            "$": ("un dólar", "dólares", "centavos"),
            "£": ("una libra", "libras", "peniques"),
            "¥": ("un yen", "yenes", ""),
            "R$": ("un real", "reales", "centavos"),
        },
        units={
            "km/h": "kilómetros por hora",
            "km": "kilómetros",
            "cm": "centímetros",
            "mm": "milímetros",
            "kg": "kilogramos",
            "GB": "gigabytes",
            "MB": "megabytes",
            "°C": "grados Celsius",
            "°": "grados",
        },
        abbreviations={
            "p. ej.": "por ejemplo",
            "etc.": "etcétera",
            "Sr.": "señor",
            "Sra.": "señora",
            "Srta.": "señorita",
            "Dr.": "doctor",
            "Dra.": "doctora",
            "EE. UU.": "Estados Unidos",
            "EE.UU.": "Estados Unidos",
            "núm.": "número",
            "Ud.": "usted",
            "Uds.": "ustedes",
        },
        signs={"&": "y", "+": "más", "=": "igual a"},
    ),
    "it": Grammar(
        month_names="gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre"
        " novembre dicembre",
        date_joint=" ",
        first_day="primo",
        point="virgola",
        minus="meno",
        percent="per cento",
        until="a",
        money_joint=" e ",
        clock_joint=" e ",
        full_hour=" in punto",
        one_hour="una",
        one_before_noun=("uno", "un"),
        currencies={
            "€": ("un euro", "euro", "centesimi"),
            "$": ("un dollaro", "dollari", "centesimi"),
            "£": ("una sterlina", "sterline", "pence"),
            "¥": ("uno yen", "yen", ""),
            "R$": ("un real", "real", "centavos"),
        },
        units={
            "km/h": "chilometri all'ora",
            "km": "chilometri",
            "cm": "centimetri",
            "mm": "millimetri",
            "kg": "chilogrammi",
            "GB": "gigabyte",
            "MB": "megabyte",
            "°C": "gradi Celsius",
            "°": "gradi",
        },
        abbreviations={
            "p. es.": "per esempio",
            "ecc.": "eccetera",
            "Sig.": "signor",
            "Sig.ra": "signora",
            "Dott.": "dottor",
            "Dott.ssa": "dottoressa",
            "n.": "numero",
            "ca.": "circa",
        },
        signs={"&": "e", "+": "più", "=": "uguale"},
    ),
    "pt": Grammar(
        month_names="janeiro fevereiro março abril maio junho julho agosto setembro outubro"
        " novembro dezembro",
        date_joint=" de ",
        first_day="primeiro",
        point="vírgula",
        minus="menos",
        percent="por cento",
        until="a",
        money_joint=" e ",
        clock_joint=" e ",
        full_hour=" horas",
        one_hour="uma",
        one_before_noun=("", ""),
        currencies={
            "€": ("um euro", "euros", "cêntimos"),
            "$": ("um dólar", "dólares", "centavos"),
            "£": ("uma libra", "libras", "pence"),
            "¥": ("um iene", "ienes", ""),
            "R$": ("um real", "reais", "centavos"),
        },
        units={
            "km/h": "quilômetros por hora",
            "km": "quilômetros",
            "cm": "centímetros",
            "mm": "milímetros",
            "kg": "quilogramas",
            "GB": "gigabytes",
            "MB": "megabytes",
            "°C": "graus Celsius",
            "°": "graus",
        },
        abbreviations={
            "p. ex.": "por exemplo",
            "etc.": "et cetera",
            "Sr.": "senhor",
            "Sra.": "senhora",
            "Dr.": "doutor",
            "Dra.": "doutora",
            "n.º": "número",
        },
        signs={"&": "e", "+": "mais", "=": "igual a"},
    ),
}
