"""Words that seldom end a sentence: second evidence for the end of a turn. A table, and one lookup.

An article or a conjunction in the last place proves much. Prepositions end English questions ("what
is it for"), so they count less. Recognisers that punctuate write a full stop after nearly anything,
but leave it out after a fragment: the stop proves little, its absence something. All weights are
log-odds of "complete".
"""

from __future__ import annotations

import re

NEVER_LAST = -4.0
"""The last word is an article, a conjunction, a possessive or a hesitation."""
RARELY_LAST = -1.5
"""The last word is a preposition, an auxiliary or a determiner, which end a turn now and then."""
MAYBE_MORE = -1.0
"""The last word is a number, which may go on ("five five five ...")."""
TRAILS_OFF = -2.5
"""The text ends in an ellipsis or a dash."""
WHOLE_ANSWER = 2.0
"""The whole turn is a word that is a turn of its own: "yes", "stop"."""
STOP_WRITTEN = 0.35
"""The text ends in a full stop."""
QUESTION_WRITTEN = 1.0
"""The text ends in a question mark."""
NO_STOP_WRITTEN = -1.05
"""The text ends without either, from a recogniser that writes capitals and stops."""
EACH_MISSING_WORD = -0.3
"""For each word fewer than `FEW_WORDS`: people say little in one go, but rarely that little."""
FEW_WORDS = 5

_NEVER_LAST = {
    "en": "a an the my your our their and or but because so if when than that's i'm we're it's "
    "um uh er erm hmm like well plus minus point dot double triple",
    "de": "der das ein eine einen einem einer mein meine dein deine und oder aber weil dass wenn "
    "ob als denn sondern äh ähm hm also halt komma minus plus",
    "fr": "le la les un une des du mon ma mes ton ta tes son sa ses et ou mais parce car si que "
    "euh heu ben bah donc virgule moins plus",
    "es": "el la los las un una unos unas mi tu su mis tus sus y o pero porque si que eh em este "
    "pues entonces coma menos más",
    "it": "il lo la i gli le un uno una mio mia tuo tua e o ma perché se che ehm eh allora cioè "
    "quindi virgola meno più",
    "pt": "o a os as um uma uns umas meu minha teu tua seu sua e ou mas porque se que hum eh "
    "então tipo vírgula menos mais",
    "nl": "de het een mijn jouw zijn haar en of maar omdat dat als want eh ehm uhm dus nou komma "
    "min plus",
    "zh": "然后 因为 所以 但是 而且 或者 如果 和 跟 嗯 呃 那个 就是 还有 的话",
    "ja": "えーと えっと あの その で でも だから けど から それで そして または もし と が",
}
_RARELY_LAST = {
    "en": "of to for with at by from into about is are was were will would can could should do "
    "does did have has had be been being what which who how where very more most some any",
    "de": "von bei für in ist sind war wird kann soll hat habe",
    "fr": "de à pour avec chez par sur dans en est sont était peut doit a ai",
    "es": "de a para con en por sobre desde hasta es son era puede debe ha he",
    "it": "di a per con in da su tra fra è sono era può deve ha ho",
    "pt": "de a para com em por sobre desde até é são era pode deve tem tenho",
    "nl": "van naar voor met bij is zijn was kan moet heeft heb",
}
_NUMBERS = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty "
    "ninety hundred thousand million oh",
    "de": "null eins zwei zwo drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig "
    "dreißig vierzig fünfzig sechzig siebzig achtzig neunzig hundert tausend",
    "fr": "zéro deux trois quatre cinq six sept huit neuf dix vingt trente quarante cinquante "
    "soixante cent mille",
    "es": "cero uno dos tres cuatro cinco seis siete ocho nueve diez veinte treinta cuarenta "
    "cincuenta sesenta setenta ochenta noventa cien ciento mil",
    "it": "zero due tre quattro cinque sei sette otto nove dieci venti trenta quaranta cinquanta "
    "cento mille",
    "pt": "zero dois três quatro cinco seis sete oito nove dez vinte trinta quarenta cinquenta "
    "cem cento mil",
    "nl": "nul twee drie vier vijf zes zeven acht negen tien twintig dertig veertig vijftig "
    "honderd duizend",
}
_WHOLE_ANSWERS = {
    "en": "yes no yeah yep nope stop okay thanks sure right correct hello hi bye goodbye cancel",
    "de": "ja nein nö doch stopp halt okay danke genau richtig hallo tschüss",
    "fr": "oui non ouais stop merci d'accord exact bonjour salut",
    "es": "sí no vale para gracias claro correcto hola adiós",
    "it": "sì no ferma basta grazie certo esatto ciao",
    "pt": "sim não para obrigado obrigada claro certo olá tchau",
    "nl": "ja nee stop oké bedankt precies hallo doei",
    "zh": "是 是的 不 不是 好 好的 对 停 谢谢 你好",
    "ja": "はい いいえ うん ううん やめて ありがとう こんにちは",
}
LANGUAGES = tuple(_NEVER_LAST)
"""ISO 639-1 codes with a table."""

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d+", re.UNICODE)
_KANA = re.compile(r"[\u3040-\u30ff]")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_WITHOUT_SPACES = ("zh", "ja")


def _sets(table: dict[str, str]) -> dict[str, frozenset[str]]:
    return {language: frozenset(words.split()) for language, words in table.items()}


_TABLES = (
    (_sets(_NEVER_LAST), NEVER_LAST),
    (_sets(_RARELY_LAST), RARELY_LAST),
    (_sets(_NUMBERS), MAYBE_MORE),
)
_ANSWERS = _sets(_WHOLE_ANSWERS)


def log_odds(text: str, language: str | None = None) -> float:
    """How much `text` so far speaks for (+) or against (-) being a whole turn, in log-odds.

    Args:
        text: the transcript of the turn up to its pause; empty is no evidence.
        language: ISO 639-1 code; None goes by the script, Latin script being read as English.
            A language without a table gives no evidence from words.
    """
    stripped = text.strip().replace("’", "'")
    words = _WORD.findall(stripped.lower())
    if stripped.endswith(("...", "…", "-", "–", "—")):
        return TRAILS_OFF
    if not words:
        return 0.0
    language = language or _by_script(stripped)
    whole = "".join(words) if language in _WITHOUT_SPACES else " ".join(words)
    if whole in _ANSWERS.get(language, frozenset()):
        return WHOLE_ANSWER
    missing = 0 if language in _WITHOUT_SPACES else max(FEW_WORDS - len(words), 0)
    return _last_word(whole, words[-1], language) + _mark(stripped) + EACH_MISSING_WORD * missing


def _last_word(whole: str, last: str, language: str) -> float:
    for table, weight in _TABLES:
        if _ends_with(whole, last, table.get(language, frozenset()), language):
            return weight
    return MAYBE_MORE if last.isdigit() else 0.0


def _mark(text: str) -> float:
    """What the last mark proves, where marks are written at all."""
    bare = text.rstrip("\"'”»)")
    if bare.endswith(("?", "？")):
        return QUESTION_WRITTEN
    if bare.endswith((".", "!", "。", "！")):
        return STOP_WRITTEN
    punctuates = text != text.lower() or bare.endswith((",", "、", "，", ":", ";"))
    return NO_STOP_WRITTEN if punctuates else 0.0


def _ends_with(whole: str, last: str, entries: frozenset[str], language: str) -> bool:
    if language in _WITHOUT_SPACES:
        return whole.endswith(tuple(entries))
    return last in entries


def _by_script(text: str) -> str:
    if _KANA.search(text):
        return "ja"
    return "zh" if _HAN.search(text) else "en"
