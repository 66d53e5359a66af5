"""What is said when an answer fails, in the language of the person where it is known. Pure."""

from __future__ import annotations

from collections.abc import Sequence

NOT_HEARD = {
    "en": "Sorry, I could not make out what you said.",
    "de": "Entschuldigung, das habe ich nicht verstanden.",
    "fr": "Désolé, je n'ai pas compris ce que vous avez dit.",
    "es": "Lo siento, no he entendido lo que has dicho.",
    "it": "Mi dispiace, non ho capito.",
    "pt": "Desculpe, não entendi o que disse.",
    "nl": "Sorry, ik heb niet verstaan wat je zei.",
    "pl": "Przepraszam, nie udało mi się tego zrozumieć.",
    "ru": "Извините, не удалось разобрать, что вы сказали.",
    "tr": "Üzgünüm, ne dediğinizi anlayamadım.",
    "zh": "抱歉，我没有听清您说的话。",
    "ja": "すみません、聞き取れませんでした。",
    "ko": "죄송합니다, 말씀을 알아듣지 못했습니다.",
}
"""Where what was said could not be written down."""
NO_ANSWER = {
    "en": "Sorry, I have trouble answering right now.",
    "de": "Entschuldigung, ich kann gerade nicht antworten.",
    "fr": "Désolé, je n'arrive pas à répondre pour le moment.",
    "es": "Lo siento, ahora mismo no puedo responder.",
    "it": "Mi dispiace, in questo momento non riesco a rispondere.",
    "pt": "Desculpe, não consigo responder neste momento.",
    "nl": "Sorry, het lukt me nu niet om te antwoorden.",
    "pl": "Przepraszam, nie mogę teraz odpowiedzieć.",
    "ru": "Извините, сейчас не получается ответить.",
    "tr": "Üzgünüm, şu anda cevap veremiyorum.",
    "zh": "抱歉，我现在无法回答。",
    "ja": "すみません、今はお答えできません。",
    "ko": "죄송합니다, 지금은 답을 드릴 수 없습니다.",
}
"""Where the model failed."""


def apology(
    phrases: dict[str, str], language: str | None, spoken: Sequence[str] = ()
) -> tuple[str, str]:
    """One of `phrases` and its language.

    Args:
        phrases: by ISO 639-1 code.
        language: that of the person, a code such as "de" or "pt-BR"; None when unknown.
        spoken: codes that the voice has, its own first; empty when it names none. A language that
            it has not would be read by the rules of another one.
    """
    wanted = (language or "").split("-")[0].lower()
    known = [code for code in spoken or phrases if code in phrases]
    found = wanted if wanted in known else known[0] if spoken and known else "en"
    return phrases[found], found
