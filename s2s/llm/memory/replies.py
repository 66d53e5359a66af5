"""What is said to a request of the memory, in the language of the request. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from s2s.llm.apologies import apology


@dataclass(frozen=True, slots=True)
class MemoryReplies:
    """The sentences of one language; `{}` is what it is about."""

    remembered: str
    known: str
    """It was remembered already."""
    recalled: str
    empty: str
    """Nothing is remembered."""
    forgotten: str
    unknown: str
    """Nothing of what is to be forgotten is remembered."""
    all_forgotten: str
    more: str
    """So many notes are not read out."""


REPLIES: dict[str, MemoryReplies] = {
    "en": MemoryReplies(
        "I will remember: {}.",
        "I remember that already: {}.",
        "You asked me to remember: {}.",
        "I remember nothing.",
        "I have forgotten: {}.",
        "I remember nothing about that.",
        "I have forgotten everything.",
        "And {} more.",
    ),
    "de": MemoryReplies(
        "Ich merke mir: {}.",
        "Das habe ich mir schon gemerkt: {}.",
        "Ich habe mir gemerkt: {}.",
        "Ich habe mir nichts gemerkt.",
        "Ich habe vergessen: {}.",
        "Darüber habe ich mir nichts gemerkt.",
        "Ich habe alles vergessen.",
        "Und noch {}.",
    ),
    "fr": MemoryReplies(
        "Je retiens : {}.",
        "Je le savais déjà : {}.",
        "J'ai retenu : {}.",
        "Je n'ai rien retenu.",
        "J'ai oublié : {}.",
        "Je n'ai rien retenu à ce sujet.",
        "J'ai tout oublié.",
        "Et encore {}.",
    ),
    "es": MemoryReplies(
        "Lo recordaré: {}.",
        "Ya lo recordaba: {}.",
        "Recuerdo: {}.",
        "No recuerdo nada.",
        "He olvidado: {}.",
        "No recuerdo nada de eso.",
        "Lo he olvidado todo.",
        "Y {} más.",
    ),
    "it": MemoryReplies(
        "Mi ricorderò: {}.",
        "Lo ricordavo già: {}.",
        "Ricordo: {}.",
        "Non ricordo niente.",
        "Ho dimenticato: {}.",
        "Non ricordo niente di questo.",
        "Ho dimenticato tutto.",
        "E altri {}.",
    ),
    "pt": MemoryReplies(
        "Vou lembrar-me: {}.",
        "Já me lembrava: {}.",
        "Lembro-me: {}.",
        "Não me lembro de nada.",
        "Esqueci: {}.",
        "Não me lembro de nada sobre isso.",
        "Esqueci tudo.",
        "E mais {}.",
    ),
    "nl": MemoryReplies(
        "Ik onthoud: {}.",
        "Dat had ik al onthouden: {}.",
        "Ik heb onthouden: {}.",
        "Ik heb niets onthouden.",
        "Ik ben vergeten: {}.",
        "Daar heb ik niets over onthouden.",
        "Ik ben alles vergeten.",
        "En nog {}.",
    ),
    "pl": MemoryReplies(
        "Zapamiętam: {}.",
        "Już to pamiętam: {}.",
        "Pamiętam: {}.",
        "Niczego nie pamiętam.",
        "Zapominam: {}.",
        "Nic o tym nie pamiętam.",
        "Zapominam wszystko.",
        "I jeszcze {}.",
    ),
    "ru": MemoryReplies(
        "Я запомню: {}.",
        "Это я уже помню: {}.",
        "Я помню: {}.",
        "Я ничего не помню.",
        "Я забываю: {}.",
        "Об этом я ничего не помню.",
        "Я забываю всё.",
        "И ещё {}.",
    ),
    "tr": MemoryReplies(
        "Aklımda tutacağım: {}.",
        "Bunu zaten hatırlıyorum: {}.",
        "Hatırladıklarım: {}.",
        "Hiçbir şey hatırlamıyorum.",
        "Unuttum: {}.",
        "Bununla ilgili bir şey hatırlamıyorum.",
        "Her şeyi unuttum.",
        "Ve {} tane daha.",
    ),
    "zh": MemoryReplies(
        "我记住了：{}。",
        "我已经记得：{}。",
        "我记得：{}。",
        "我什么都没记住。",
        "我忘掉了：{}。",
        "关于这个我什么都没记住。",
        "我全都忘了。",
        "还有{}条。",
    ),
    "ja": MemoryReplies(
        "覚えておきます。{}。",
        "もう覚えています。{}。",
        "覚えていることです。{}。",
        "何も覚えていません。",
        "忘れました。{}。",
        "それについては何も覚えていません。",
        "全部忘れました。",
        "ほかに{}件あります。",
    ),
    "ko": MemoryReplies(
        "기억할게요: {}.",
        "이미 기억하고 있어요: {}.",
        "기억하고 있는 것: {}.",
        "기억하고 있는 것이 없어요.",
        "잊었어요: {}.",
        "그것에 대해 기억하는 것이 없어요.",
        "모두 잊었어요.",
        "그리고 {}개가 더 있어요.",
    ),
}
"""By ISO 639-1 code."""


def replies(language: str, spoken: Sequence[str] = ()) -> MemoryReplies:
    """The sentences of `language`, or of one that the voice has. spoken: its codes, its own first;
    empty when it names none."""
    _, chosen = apology(dict.fromkeys(REPLIES, ""), language, spoken)
    return REPLIES[chosen]
