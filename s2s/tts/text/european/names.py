"""Names and nouns that have ordinals and Roman numerals beside them. Data only."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_RULERS_TEXT = """
Ludwig Friedrich Wilhelm Karl Heinrich Otto Leopold Franz Joseph Ferdinand Maximilian Georg Jakob
Albert
Eduard Philipp Johannes Papst Pius Leo Benedikt Innozenz Gregor Urban Katharina Elisabeth Zar
Nikolaus
Alexander Peter Iwan Napoleon Ramses Gustav Christian Christina Margarethe Louis François Henri
Charles
Philippe Napoléon Jean Paul Benoît Pie Léon Grégoire Élisabeth Elizabeth Catherine Nicolas Alexandre
Pierre Édouard Jacques Guillaume Frédéric Georges Léopold Albert Felipe Alfonso Carlos Fernando Juan
Isabel Luis Enrique Jorge Guillermo Eduardo Jacobo Pablo Benedicto Pío León Gregorio Catalina
Nicolás
Alejandro Pedro Sancho Ramiro Vittorio Emanuele Umberto Giovanni Paolo Benedetto Pio Leone Luigi
Enrico
Carlo Filippo Ferdinando Elisabetta Caterina Nicola Alessandro Pietro Guglielmo Federico Giorgio
Francesco Amedeo Manuel João José Dom Henrique Afonso Maria Luís Filipe Isabel Catarina Nicolau
Alexandre
Pedro Guilherme Frederico Jorge Bento Duarte Sebastião
"""
RULERS = frozenset(_RULERS_TEXT.split())
WOMEN = _words(
    "Katharina Elisabeth Christina Margarethe Élisabeth Elizabeth Catherine Isabel Catalina"
    " Elisabetta Caterina Catarina Maria Cristina Juana Vittoria"
)


def _short(text: str) -> dict[str, int]:
    """Abbreviation -> number of its month; "sep/sept" are two of one."""
    return {
        short: number
        for number, shorts in enumerate(text.split(), start=1)
        for short in shorts.split("/")
    }


SHORT_MONTHS = {
    "de": _short("jan/jän feb mär apr mai jun jul aug sep/sept okt nov dez"),
    "fr": _short("janv févr/fév mars avr mai juin juil août sept oct nov déc"),
    "es": _short("ene feb mar abr may jun jul ago sep/sept oct nov dic"),
    "it": _short("gen/genn feb/febb mar apr mag giu lug ago set/sett ott nov dic"),
    "pt": _short("jan fev mar abr mai jun jul ago set out nov dez"),
}
CENTURY_CUES = {
    "es": "siglos?|s\\.",
    "it": "secolo|sec\\.",
    "pt": "séculos?|séc\\.",
}
"""Pattern of words before the numeral of a century."""
COUNTED = {
    "de": "Kapitel|Band|Teil|Akt|Szene|Buch|Phase|Typ|Klasse|Anhang|Artikel|Stufe|Weltkrieg"
    "|Abschnitt"
    "|Anlage|Tabelle|Abbildung|Gruppe|Satz|Folge|Staffel|Apollo|Generation|Grad",
    "fr": "[Cc]hapitre|[Tt]ome|[Aa]cte|[Ss]cène|[Ll]ivre|[Vv]olume|[Pp]artie|[Pp]hase|[Tt]ype"
    "|[Cc]lasse"
    "|[Aa]nnexe|[Aa]rticle|[Nn]iveau|[Tt]itre|[Ss]ection|[Gg]roupe|[Ss]aison|Apollo|[Éé]pisode",
    "es": "[Cc]apítulo|[Tt]omo|[Aa]cto|[Ee]scena|[Ll]ibro|[Vv]olumen|[Pp]arte|[Ff]ase|[Tt]ipo"
    "|[Cc]lase"
    "|[Aa]nexo|[Aa]rtículo|[Nn]ivel|[Tt]ítulo|[Ss]ección|[Gg]rupo|Apolo|[Ee]pisodio|Mundial",
    "it": "[Cc]apitolo|[Tt]omo|[Aa]tto|[Ss]cena|[Ll]ibro|[Vv]olume|[Pp]arte|[Ff]ase|[Tt]ipo"
    "|[Cc]lasse"
    "|[Aa]llegato|[Aa]rticolo|[Ll]ivello|[Tt]itolo|[Ss]ezione|[Gg]ruppo|Apollo|[Ee]pisodio",
    "pt": "[Cc]apítulo|[Tt]omo|[Aa]to|[Cc]ena|[Ll]ivro|[Vv]olume|[Pp]arte|[Ff]ase|[Tt]ipo|[Cc]lasse"
    "|[Aa]nexo|[Aa]rtigo|[Nn]ível|[Tt]ítulo|[Ss]eção|[Gg]rupo|Apolo|[Ee]pisódio|Mundial",
}
"""Pattern of words before a counting numeral."""
_GERMAN_NOUNS_TEXT = """
Jahrhundert Jahrhunderts Jahrhunderte Jahrtausend Geburtstag Mal Platz Rang Stock Stockwerk Klasse
Tag
Tage Tages Woche Monat Jahr Kapitel Auflage Runde Spieltag Minute Weltkrieg Weltkrieges Weltkriegs
Etage
Lebensjahr Schuljahr Jahrestag Januar Februar März April Mai Juni Juli August September Oktober
November
Dezember Quartal Halbjahr Semester Bezirk Bundesliga Liga Advent Akt Satz Teil Buch Band Stelle
Versuch
Schritt Punkt Ausgabe Folge Staffel Reihe Generation Parteitag Hochzeitstag Todestag Obergeschoss
Grad
Sinfonie Symphonie Halbzeit Stunde Sekunde Etappe Lauf Wahlgang Wahlperiode Person Ableitung Potenz
"""
GERMAN_ORDINAL_NOUNS = frozenset(_GERMAN_NOUNS_TEXT.split())
GERMAN_NEUTER = _words(
    "Jahrhundert Jahrtausend Mal Stockwerk Jahr Kapitel Lebensjahr Schuljahr Quartal Halbjahr"
    " Semester Buch Obergeschoss"
)
