"""What the assistant says unasked: a timer is up. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from s2s.core.messages import (
    Announcement,
    AssistantText,
    EndOfResponse,
    SignOfLife,
    TtsInput,
    TtsMessage,
)
from s2s.llm.plan import AnswerPlan

TIMER_IS_UP = {
    "en": "The timer is up.",
    "de": "Der Timer ist abgelaufen.",
    "fr": "Le minuteur est terminé.",
    "es": "El temporizador ha terminado.",
    "it": "Il timer è scaduto.",
    "pt": "O temporizador terminou.",
    "nl": "De timer is afgelopen.",
    "pl": "Minutnik zakończył odliczanie.",
    "ru": "Таймер сработал.",
    "tr": "Zamanlayıcının süresi doldu.",
    "zh": "计时器时间到了。",
    "ja": "タイマーの時間になりました。",
    "ko": "타이머가 끝났습니다.",
}


def announced(
    message: Announcement, plan: AnswerPlan, text: str, language: str
) -> Iterator[TtsMessage]:
    """A ring, the words, and the end. `text`: in `language`, without the name of what rings."""
    response = message.response
    if message.name:
        text = f"{text} {message.name[0].upper()}{message.name[1:]}!"
    if plan.spoken:
        yield SignOfLife(response, language, "ring")
    yield AssistantText(text, response, spoken=plan.spoken)
    if plan.spoken:
        yield TtsInput(text, response, language, 0.0, plan.voice, plan.speed)
    yield EndOfResponse(response, language=language, spoken=plan.spoken)
