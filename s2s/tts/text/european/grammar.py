"""How German, French, Spanish, Italian and Portuguese say numbers, dates and money. Data only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from s2s.tts.text.european import (
    french_nouns,
    german_nouns,
    italian_nouns,
    portuguese_nouns,
    spanish_nouns,
)

Noun = tuple[str, str, str]
"""The whole phrase for one ("one euro"), the noun for more, and of money the name of its parts."""


def _nouns(table: str) -> dict[str, Noun]:
    nouns: dict[str, Noun] = {}
    for line in table.strip().splitlines():
        sign, _, names = line.partition(" ")
        one, many, *parts = names.split("|")
        nouns[sign] = (one, many, parts[0] if parts else "")
    return nouns


def _pairs(text: str) -> dict[str, str]:
    """Signs and words, split by semicolons."""
    pairs = (entry.partition(" ") for entry in text.split(";"))
    return {sign: word for sign, _, word in pairs}


@dataclass(frozen=True, slots=True)
class Grammar:
    """One language."""

    months: tuple[str, ...]
    date_joint: str
    """Between day, month and year."""
    first_day: str
    """Word for the first of a month; "" where it is no exception."""
    point: str
    money_joint: str
    """Between whole and parts: "zwölf Euro fünfzig"."""
    clock_joint: str
    full_hour: str
    one_hour: str
    """The whole phrase, whose article tells the gender of hours."""
    one_before_noun: tuple[str, str]
    """Ending of "one" and its form before a noun: ("uno", "un"); ("", "") where it stays."""
    units: Mapping[str, Noun]
    currencies: Mapping[str, Noun]
    """ISO code, "$" or "¢" -> names."""
    abbreviations: Mapping[str, str]
    version: str
    dot: str
    """Between the parts of a version."""
    per: str
    """In rates: "Kilometer pro Stunde"."""
    ratio: str
    """3:2 is "drei zu zwei"."""
    multiple: str
    """3x is "drei mal"."""
    of_joint: str
    """Between millions and what they count."""
    mixed_joint: str
    """Between whole and fraction: "deux et trois quarts"."""
    half: str
    seconds: Noun
    minutes: Noun
    parts: Mapping[int, tuple[str, str]]
    """Denominator -> one part, more parts."""
    magnitudes: Mapping[str, str]
    """"Mio." -> "Millionen"."""
    scale_words: str
    """Pattern of written magnitudes, after which money is counted."""
    per_words: str
    """Pattern of words that stand after the slash of a rate."""
    ratio_cues: str
    """Pattern of words after which 16:10 is no time of day."""


def _months(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _parts(text: str) -> dict[int, tuple[str, str]]:
    entries = (entry.split() for entry in text.split(";"))
    return {int(number): (one, many) for number, one, many in entries}


GRAMMARS = {
    "de": Grammar(
        months=_months(
            "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
        ),
        date_joint=" ",
        first_day="",
        point="Komma",
        money_joint=" ",
        clock_joint=" Uhr ",
        full_hour=" Uhr",
        one_hour="eine Stunde",
        one_before_noun=("eins", "ein"),
        units=_nouns(german_nouns.UNITS),
        currencies=_nouns(german_nouns.CURRENCIES),
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
            "Jh.": "Jahrhundert",
            "Jhd.": "Jahrhundert",
            "ct": "Cent",
            "Art.": "Artikel",
            "Abs.": "Absatz",
            "Kap.": "Kapitel",
            "Abb.": "Abbildung",
            "St.": "Sankt",
        },
        version="Version",
        dot="Punkt",
        per="pro",
        ratio="zu",
        multiple="mal",
        of_joint=" ",
        mixed_joint=" ",
        half="ein halb",
        seconds=("eine Sekunde", "Sekunden", ""),
        minutes=("eine Minute", "Minuten", ""),
        parts=_parts(
            "2 Halbe Halbe;3 Drittel Drittel;4 Viertel Viertel;5 Fünftel Fünftel"
            ";6 Sechstel Sechstel;7 Siebtel Siebtel;8 Achtel Achtel;9 Neuntel Neuntel"
            ";10 Zehntel Zehntel;12 Zwölftel Zwölftel;16 Sechzehntel Sechzehntel"
            ";20 Zwanzigstel Zwanzigstel;100 Hundertstel Hundertstel"
        ),
        magnitudes=_pairs(
            "k tausend;K tausend;Tsd. Tausend;Tsd Tausend;M Millionen;Mio. Millionen"
            ";Mio Millionen;mio Millionen;Mill. Millionen;Mrd. Milliarden;Mrd Milliarden"
            ";mrd Milliarden;bn Milliarden;Bio. Billionen;Bio Billionen"
        ),
        scale_words=("Tausend|tausend|Millionen?|Milliarden?|Billionen?"),
        per_words=(
            "Monat|Tag|Jahr|Stunde|Woche|Person|Nacht|Minute|Sekunde|Einwohner|Stück"
            "|Kilo|Liter|Mitarbeiter|User|Nutzer"
        ),
        ratio_cues=(
            "Verhältnis|Seitenverhältnis|Maßstab|gewann|gewinnt|gewonnen|verlor|verloren"
            "|siegte|Endstand|Stand|Ergebnis|unentschieden|Quote"
        ),
    ),
    "fr": Grammar(
        months=_months(
            "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"
        ),
        date_joint=" ",
        first_day="premier",
        point="virgule",
        money_joint=" ",
        clock_joint=" heures ",
        full_hour=" heures",
        one_hour="une heure",
        one_before_noun=("", ""),
        units=_nouns(french_nouns.UNITS),
        currencies=_nouns(french_nouns.CURRENCIES),
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
        version="version",
        dot="point",
        per="par",
        ratio="à",
        multiple="fois",
        of_joint=" d'",
        mixed_joint=" et ",
        half="un demi",
        seconds=("une seconde", "secondes", ""),
        minutes=("une minute", "minutes", ""),
        parts=_parts(
            "2 demi demis;3 tiers tiers;4 quart quarts;5 cinquième cinquièmes"
            ";6 sixième sixièmes;7 septième septièmes;8 huitième huitièmes"
            ";9 neuvième neuvièmes;10 dixième dixièmes;12 douzième douzièmes"
            ";16 seizième seizièmes;20 vingtième vingtièmes;100 centième centièmes"
        ),
        magnitudes=_pairs(
            "k mille;K mille;M millions;Mio millions;Mrd milliards;Md milliards"
            ";Mds milliards;G milliards;bn milliards"
        ),
        scale_words=("mille|millions?|milliards?|billions?"),
        per_words=(
            "mois|jour|an|année|heure|semaine|personne|nuit|minute|seconde|habitant|kilo"
            "|litre|utilisateur"
        ),
        ratio_cues=("rapport|échelle|format|score|gagné|gagne|remporté|perdu|battu|ratio|cote"),
    ),
    "es": Grammar(
        months=_months(
            "enero febrero marzo abril mayo junio julio agosto"
            " septiembre octubre noviembre diciembre"
        ),
        date_joint=" de ",
        first_day="",
        point="coma",
        money_joint=" con ",
        clock_joint=" y ",
        full_hour=" en punto",
        one_hour="una hora",
        one_before_noun=("uno", "un"),
        units=_nouns(spanish_nouns.UNITS),
        currencies=_nouns(spanish_nouns.CURRENCIES),
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
        version="versión",
        dot="punto",
        per="por",
        ratio="a",
        multiple="veces",
        of_joint=" de ",
        mixed_joint=" y ",
        half="un medio",
        seconds=("un segundo", "segundos", ""),
        minutes=("un minuto", "minutos", ""),
        parts=_parts(
            "2 medio medios;3 tercio tercios;4 cuarto cuartos;5 quinto quintos"
            ";6 sexto sextos;7 séptimo séptimos;8 octavo octavos;9 noveno novenos"
            ";10 décimo décimos;12 doceavo doceavos;16 dieciseisavo dieciseisavos"
            ";20 veinteavo veinteavos;100 centésimo centésimos"
        ),
        magnitudes=_pairs("k mil;K mil;M millones;mill. millones;mdd millones;bn mil millones"),
        scale_words=("mil|mill[oó]n(?:es)?|billones|billón"),
        per_words=(
            "mes|día|año|hora|semana|persona|noche|minuto|segundo|habitante|kilo|litro|usuario"
        ),
        ratio_cues=(
            "proporción|relación|escala|formato|marcador|ganó|gana|ganaron|perdió|empate"
            "|ratio|resultado"
        ),
    ),
    "it": Grammar(
        months=_months(
            "gennaio febbraio marzo aprile maggio giugno luglio agosto"
            " settembre ottobre novembre dicembre"
        ),
        date_joint=" ",
        first_day="primo",
        point="virgola",
        money_joint=" e ",
        clock_joint=" e ",
        full_hour=" in punto",
        one_hour="una ora",
        one_before_noun=("uno", "un"),
        units=_nouns(italian_nouns.UNITS),
        currencies=_nouns(italian_nouns.CURRENCIES),
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
        version="versione",
        dot="punto",
        per="al",
        ratio="a",
        multiple="volte",
        of_joint=" di ",
        mixed_joint=" e ",
        half="un mezzo",
        seconds=("un secondo", "secondi", ""),
        minutes=("un minuto", "minuti", ""),
        parts=_parts(
            "2 mezzo mezzi;3 terzo terzi;4 quarto quarti;5 quinto quinti;6 sesto sesti"
            ";7 settimo settimi;8 ottavo ottavi;9 nono noni;10 decimo decimi"
            ";12 dodicesimo dodicesimi;16 sedicesimo sedicesimi;20 ventesimo ventesimi"
            ";100 centesimo centesimi"
        ),
        magnitudes=_pairs(
            "k mila;K mila;M milioni;Mln milioni;mln milioni;Mio milioni;mld miliardi"
            ";Mld miliardi;mrd miliardi;Mrd miliardi;bn miliardi"
        ),
        scale_words=("mila|milion[ei]|miliard[oi]|bilion[ei]"),
        per_words=(
            "mese|giorno|anno|ora|settimana|persona|notte|minuto|secondo|abitante|chilo"
            "|litro|utente"
        ),
        ratio_cues=(
            "rapporto|scala|formato|punteggio|vinto|vinse|vince|perso|battuto|risultato|quota"
        ),
    ),
    "pt": Grammar(
        months=_months(
            "janeiro fevereiro março abril maio junho julho agosto"
            " setembro outubro novembro dezembro"
        ),
        date_joint=" de ",
        first_day="primeiro",
        point="vírgula",
        money_joint=" e ",
        clock_joint=" e ",
        full_hour=" horas",
        one_hour="uma hora",
        one_before_noun=("", ""),
        units=_nouns(portuguese_nouns.UNITS),
        currencies=_nouns(portuguese_nouns.CURRENCIES),
        abbreviations={
            "p. ex.": "por exemplo",
            "etc.": "et cetera",
            "Sr.": "senhor",
            "Sra.": "senhora",
            "Dr.": "doutor",
            "Dra.": "doutora",
            "n.º": "número",
        },
        version="versão",
        dot="ponto",
        per="por",
        ratio="a",
        multiple="vezes",
        of_joint=" de ",
        mixed_joint=" e ",
        half="um meio",
        seconds=("um segundo", "segundos", ""),
        minutes=("um minuto", "minutos", ""),
        parts=_parts(
            "2 meio meios;3 terço terços;4 quarto quartos;5 quinto quintos"
            ";6 sexto sextos;7 sétimo sétimos;8 oitavo oitavos;9 nono nonos"
            ";10 décimo décimos;12 doze-avo doze-avos;16 dezesseis-avo dezesseis-avos"
            ";20 vinte-avo vinte-avos;100 centésimo centésimos"
        ),
        magnitudes=_pairs(
            "k mil;K mil;M milhões;mi milhões;bi bilhões;mln milhões;bn bilhões;tri trilhões"
        ),
        scale_words=("mil|milh(?:ão|ões)|bilh(?:ão|ões)|trilh(?:ão|ões)"),
        per_words=(
            "mês|dia|ano|hora|semana|pessoa|noite|minuto|segundo|habitante|quilo|litro|usuário"
        ),
        ratio_cues=("proporção|razão|escala|formato|placar|venceu|ganhou|perdeu|empate|resultado"),
    ),
}
