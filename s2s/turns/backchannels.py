"""What words said during playback mean: a backchannel, "stop", or something to say.

Tables, and one look-up in them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Literal

Words = Literal["none", "backchannel", "stop", "content"]
"""Nothing understood; only listening noises; an order to be quiet; words that mean something."""

_SOUNDS = re.compile(
    r"(?:m+|h+m+|m+\s?h+m+|a+h+|o+h*|u+h+|e+h+|u+h\s?h+u+h|a+h?a+h?|u+m+|a\s?ha|h+a+h*"
    r"|n\s?h[nu]+h?)+"
)
"""Spellings of listening noises in Latin script, "mm-hmm" and "uh-huh", however long."""

BACKCHANNELS: dict[str, str] = {
    "en": "yeah,yes,yep,yup,right,okay,ok,sure,alright,all right,i see,got it,of course,cool,nice,"
    "great,good,wow,really,exactly,true,indeed,totally,absolutely,definitely,makes sense,go on,"
    "interesting,fine,oh yeah,no way,oh wow,oh okay,thank you,thanks,huh,mhm,mm hm,uh huh,"
    "i c,so okay",  # how recognisers write "I see" and "oh, okay"
    "de": "ja,jaja,jo,okay,ok,genau,stimmt,klar,gut,schön,aha,achso,ach so,ach,verstehe,richtig,"
    "natürlich,eben,na klar,alles klar,echt,wirklich,super,toll,mhm,danke",
    "fr": "oui,ouais,d'accord,ok,okay,bien,très bien,bien sûr,voilà,exact,exactement,ah bon,"
    "je vois,super,c'est vrai,tout à fait,hum,mouais,merci,ah oui",
    "es": "sí,si,vale,ok,okay,claro,ya,ajá,bien,muy bien,exacto,cierto,entiendo,ya veo,"
    "por supuesto,de acuerdo,de verdad,bueno,genial,gracias",
    "it": "sì,si,ok,okay,certo,esatto,giusto,bene,va bene,capisco,capito,ho capito,davvero,già,"
    "d'accordo,ecco,perfetto,grazie",
    "pt": "sim,ok,okay,certo,claro,isso,exato,exatamente,tá,tá bom,está bem,pois,pois é,entendi,"
    "sei,verdade,beleza,legal,obrigado,obrigada",
    "nl": "ja,jaja,oké,ok,okay,precies,klopt,goed,inderdaad,snap ik,natuurlijk,echt,zeker,mooi,"
    "dank je",
    "pl": "tak,aha,dobrze,ok,okay,jasne,rozumiem,racja,dokładnie,właśnie,pewnie,naprawdę,super,"
    "dzięki",
    "ru": "да,ага,угу,так,хорошо,ладно,понятно,ясно,точно,конечно,верно,правда,окей,ок,ну да,"
    "спасибо,хм,мм",
    "zh": "嗯,嗯嗯,对,对对,对对对,好,好的,是,是的,是啊,哦,噢,行,没错,明白,知道了,当然,真的,可以,"
    "谢谢",
    "ja": "うん,うんうん,はい,はいはい,ええ,そう,そうですね,そうです,そうか,なるほど,へえ,ほう,"
    "わかりました,確かに,本当,オーケー,ありがとう",
    "ko": "응,네,예,네네,그래,그렇죠,맞아,맞아요,알겠어요,아,음,정말,좋아요,그렇군요",
}
"""Words of a listener that ask for nothing, by language (ISO 639-1)."""

STOPS: dict[str, str] = {
    "en": "stop,stop it,stop talking,please stop,okay stop,wait,wait a minute,wait a second,"
    "hold on,hang on,pause,quiet,be quiet,shut up,enough,that's enough,cancel,never mind,"
    "nevermind,halt,"
    "silence,no stop,stop stop,hush",
    "de": "stopp,stop,halt,warte,warte mal,moment,moment mal,ruhe,sei still,sei ruhig,genug,"
    "das reicht,aufhören,hör auf,pause,abbrechen,egal",
    "fr": "stop,arrête,arrêtez,attends,attendez,tais-toi,tais toi,silence,ça suffit,assez,pause,"
    "annule,un instant,laisse tomber",
    "es": "para,stop,detente,espera,un momento,silencio,cállate,basta,ya basta,pausa,cancela,alto",
    "it": "stop,ferma,fermati,aspetta,un momento,un attimo,silenzio,zitto,zitta,basta,pausa,"
    "annulla",
    "pt": "para,pare,stop,espera,espere,um momento,silêncio,cala a boca,chega,basta,pausa,cancela",
    "nl": "stop,wacht,wacht even,stil,hou op,genoeg,pauze,annuleer,laat maar",
    "pl": "stop,stój,czekaj,poczekaj,cisza,cicho,dość,wystarczy,przestań,pauza,anuluj",
    "ru": "стоп,стой,хватит,подожди,подождите,погоди,тихо,замолчи,довольно,пауза,отмена,перестань",
    "zh": "停,停下,停一下,等等,等一下,安静,闭嘴,够了,别说了,暂停,取消,算了",
    "ja": "止めて,やめて,ストップ,待って,ちょっと待って,静かに,黙って,もういい,キャンセル",
    "ko": "그만,멈춰,잠깐,잠깐만,기다려,조용히,됐어,취소,스톱",
}
"""Words that end the assistant's speech at once, by language."""

BRIEF: dict[str, str] = {
    "en": "no,nope,hey,why,who,what,when,how,help,next,back,more,skip,loud,slow,fast,off,on",
    "de": "nein,nee,hey,was,wer,wie,wo,wann,doch,mehr,laut,aus,an",
    "fr": "non,hé,quoi,qui,où,plus,fort",
    "es": "no,oye,qué,que,cómo,más",
    "it": "no,ehi,cosa,chi,come,dove,più",
    "pt": "não,ei,quê,quem,onde,mais",
    "nl": "nee,hé,wat,wie,hoe,waar,meer,luid",
    "pl": "nie,hej,co,kto,jak,ile",
    "ru": "нет,не,эй,что,кто,как,где,ещё,еще",
}
"""Words of at most four letters that mean something however briefly they are said, by language.
Others may be what a recogniser makes of "mm-hmm": Moonshine hears "her", "and", "amen"."""

LANGUAGES = tuple(BACKCHANNELS)

_ANNOTATION = re.compile(r"\([^)]*\)|\[[^\]]*\]|\*[^*]*\*|♪[^♪]*♪?")
"""What recognisers write for sounds: "(coughs)", "[Music]", "*sighs*"."""
_LETTERS = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_HAN_OR_KANA = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
"""Scripts without spaces between words."""
_SHORT_WORD = re.compile(r"[a-zà-žа-яё]{1,4}")
_LONGEST_STOP_WORDS = 4
_STABLE_WORDS = 2
"""Words with content that prove something while more is being said. "I s" may become "I see"."""


def classify(
    text: str,
    language: str | None = None,
    *,
    backchannels: Iterable[str] = (),
    stops: Iterable[str] = (),
    stable: str | None = None,
) -> Words:
    """What `text`, said during playback, asks of the assistant.

    Args:
        text: transcript so far.
        language: ISO 639-1 code; None means any of the tables.
        backchannels: further listening noises of this deployment.
        stops: further orders to be quiet.
        stable: the speech goes on, and these are the words at its beginning on which transcripts
            agree. Others have no content yet: recognisers make much of a word that is cut off.
            None: the speech is over.
    """
    plain = _ANNOTATION.sub(" ", text.lower().replace("’", "'"))
    words = _LETTERS.findall(plain)
    if not words:
        return "none"
    spoken = " ".join(words)
    orders = _phrases(language, "stop") | {phrase.lower() for phrase in stops}
    if len(words) <= _LONGEST_STOP_WORDS and (
        spoken in orders or _without(spoken, _phrases(language, "backchannel")) in orders
    ):
        return "stop"
    known = _phrases(language, "backchannel") | {phrase.lower() for phrase in backchannels}
    if not _without(spoken, known):
        return "backchannel"
    if stable is None:
        return "content"
    rest = _without(" ".join(_LETTERS.findall(stable.lower().replace("’", "'"))), known)
    return "content" if len(rest.split()) >= _STABLE_WORDS else "none"


def may_be_murmur(text: str, language: str | None = None) -> bool:
    """Whether `text`, if it was said briefly, may be a listening noise that was misheard: one short
    word that is not known to mean something. Only for languages that have a table of those."""
    if language is not None and language not in BRIEF:
        return False
    words = _LETTERS.findall(_ANNOTATION.sub(" ", text.lower().replace("’", "'")))
    if len(words) != 1 or not _SHORT_WORD.fullmatch(words[0]):
        return False
    return words[0] not in _brief(language)


@functools.cache
def _brief(language: str | None) -> frozenset[str]:
    tables = BRIEF.values() if language is None else [BRIEF[language], BRIEF["en"]]
    return frozenset(word for table in tables for word in table.split(","))


def _without(spoken: str, phrases: frozenset[str] | set[str]) -> str:
    """`spoken` without the listening noises in it, longest phrases first."""
    rest = f" {spoken} "
    for phrase in sorted(phrases, key=len, reverse=True):
        if _HAN_OR_KANA.search(phrase):
            rest = rest.replace(phrase, "")
        else:
            rest = re.sub(rf"(?<= ){re.escape(phrase)}(?= )", "", rest)
    words = [word for word in rest.split() if not _SOUNDS.fullmatch(word)]
    return " ".join(words)


@functools.cache
def _phrases(language: str | None, kind: Literal["backchannel", "stop"]) -> frozenset[str]:
    table = BACKCHANNELS if kind == "backchannel" else STOPS
    chosen = table.values() if language not in table else [table[language], table["en"]]
    phrases = (phrase.replace("-", " ") for listed in chosen for phrase in listed.split(","))
    return frozenset(phrase.strip() for phrase in phrases)
