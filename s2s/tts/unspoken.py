"""What is heard when nothing of an answer can be: an empty one, emoji, code, thinking alone, a
script that the voice lacks, or one that is not written yet. Silence would sound like a fault.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import numpy as np

from s2s.core.audio import BLOCK_SAMPLES, Framer
from s2s.core.messages import AudioOut, ResponseId, SignOfLife, TtsInput

NO_ANSWER = {
    "en": "Sorry, I have no answer to that.",
    "de": "Entschuldigung, darauf habe ich keine Antwort.",
    "fr": "Désolé, je n'ai pas de réponse à cela.",
    "es": "Lo siento, no tengo respuesta para eso.",
    "it": "Mi dispiace, non ho una risposta.",
    "pt": "Desculpe, não tenho resposta para isso.",
    "nl": "Sorry, daar heb ik geen antwoord op.",
    "pl": "Przepraszam, nie mam na to odpowiedzi.",
    "ru": "Извините, у меня нет на это ответа.",
    "tr": "Üzgünüm, buna bir cevabım yok.",
    "zh": "抱歉，这个问题我没有答案。",
    "ja": "すみません、それにはお答えできません。",
    "ko": "죄송합니다, 그것에 대한 답이 없습니다.",
}
ONLY_SHOWN = {
    "en": "I can only show you the answer, there is nothing in it that I can say.",
    "de": "Ich kann die Antwort nur zeigen, es gibt darin nichts zu sagen.",
    "fr": "Je peux seulement afficher la réponse, il n'y a rien à dire.",
    "es": "Solo puedo mostrar la respuesta, no hay nada que decir en ella.",
    "it": "Posso solo mostrare la risposta, non c'è niente da dire.",
    "pt": "Só posso mostrar a resposta, não há nada para dizer.",
    "nl": "Ik kan het antwoord alleen laten zien, er valt niets uit te spreken.",
    "pl": "Mogę tylko pokazać odpowiedź, nie ma w niej nic do powiedzenia.",
    "ru": "Я могу только показать ответ, произнести в нём нечего.",
    "tr": "Cevabı yalnızca gösterebilirim, söylenecek bir şey yok.",
    "zh": "我只能显示这个答案，里面没有可以念出来的内容。",
    "ja": "答えは画面に表示します。読み上げられる内容がありません。",
    "ko": "답은 화면에만 표시할 수 있습니다. 읽을 내용이 없습니다.",
}


ONE_MOMENT = {
    "en": "One moment.",
    "de": "Einen Moment.",
    "fr": "Un instant.",
    "es": "Un momento.",
    "it": "Un momento.",
    "pt": "Um momento.",
    "nl": "Een moment.",
    "pl": "Chwileczkę.",
    "ru": "Одну минуту.",
    "tr": "Bir saniye.",
    "zh": "请稍等。",
    "ja": "少々お待ちください。",
    "ko": "잠시만요.",
}
SIGN_LEVEL = 0.06
"""Amplitude of a sign: softer than a voice."""
RING_LEVEL = 0.2
"""Of what rings: about as loud as one."""


class Signs:
    """What is heard of the signs of one session's answers.

    Args:
        usual: "words", or "sound" for two tones.
        languages: codes that the voice has, its own first; empty when it names none.
        rate_hz: of the sound.
    """

    def __init__(
        self, usual: Literal["sound", "words"], languages: Sequence[str], rate_hz: int
    ) -> None:
        self._usual = usual
        self._languages = languages
        self._rate_hz = rate_hz
        self._worded: ResponseId | None = None
        """The answer for which one was given in words."""

    def of(
        self, sign: SignOfLife, said: Callable[[TtsInput], Iterator[AudioOut]]
    ) -> Iterator[AudioOut]:
        """The sound of a sign; `said` makes that of words. Nothing where they were said before."""
        if sign.kind == "ring":
            return ring_tone(sign.response, self._rate_hz)
        if sign.kind == "words" or self._usual == "words":
            if self._worded == sign.response:
                return iter(())
            self._worded = sign.response
            phrase = sign_phrase(sign.language, self._languages)
            if phrase is not None:
                note = TtsInput(phrase, sign.response, sign.language, 0.0, system_note=True)
                return said(note)
        return sign_tone(sign.response, self._rate_hz)


def sign_phrase(heard: str | None, supported: Sequence[str]) -> str | None:
    """What is said while an answer is not written yet; None where no phrase is in a language of the
    voice. Arguments: as `unspoken_phrase`."""
    language = (heard or "en").split("-")[0].lower()
    if supported and language not in supported:
        language = supported[0]
    return ONE_MOMENT.get(language)


def sign_tone(response: ResponseId, rate_hz: int) -> Iterator[AudioOut]:
    """Two soft rising tones instead, in blocks of 512 samples; nothing of the answer is told."""
    t = np.arange(int(0.12 * rate_hz)) / rate_hz
    fade = np.sin(np.pi * t / t[-1])
    tones = [SIGN_LEVEL * fade * np.sin(2 * np.pi * hz * t) for hz in (523.25, 659.25)]
    framer = Framer(BLOCK_SAMPLES)
    for block in (*framer.push(np.concatenate(tones).astype(np.float32)), *framer.flush()):
        yield AudioOut(block, response, "")


def ring_tone(response: ResponseId, rate_hz: int) -> Iterator[AudioOut]:
    """What a timer rings with: three pairs of a bell's strokes, in blocks of 512 samples."""
    t = np.arange(int(0.22 * rate_hz)) / rate_hz
    fade = np.minimum(1.0, t / 0.004) * np.exp(-t / 0.07)
    strokes = [
        fade * (np.sin(2 * np.pi * hz * t) + 0.4 * np.sin(2 * np.pi * 2.76 * hz * t)) / 1.4
        for hz in (880.0, 1108.73)
    ]
    pause = np.zeros(int(0.18 * rate_hz))
    sound = RING_LEVEL * np.concatenate([*strokes, pause] * 3)
    framer = Framer(BLOCK_SAMPLES)
    for block in (*framer.push(sound.astype(np.float32)), *framer.flush()):
        yield AudioOut(block, response, "")


def is_answer(text: str) -> bool:
    """Whether there is anything to show: a letter, a digit, a symbol; dots and dashes are none."""
    return any(unicodedata.category(char)[0] in "LNS" for char in text)


def unspoken_phrase(
    text: str, heard: str | None, supported: Sequence[str]
) -> tuple[str, str | None]:
    """What to say in place of an answer, and its language.

    Args:
        text: what there is to show; may be empty.
        heard: ISO 639-1 code of what the person speaks; None when unknown.
        supported: codes that the voice has, its own first; empty when it names none.
    """
    language = (heard or "en").split("-")[0].lower()
    if supported and language not in supported:
        language = supported[0]
    phrases = ONLY_SHOWN if is_answer(text) else NO_ANSWER
    known = language.split("-")[0].lower()
    return phrases.get(known, phrases["en"]), language
