"""A language model whose listener can ask for another pace or volume, and what is answered to that.

The change is tried out by its own answer, and stays once it is certain that it was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from s2s.core.audio.manner import MannerChange, SpokenManner
from s2s.core.events import Event, Heard
from s2s.core.markup import Call
from s2s.core.work import Work
from s2s.llm.apologies import apology
from s2s.llm.base import PLAIN, ChatMessage, ChatModel, ChatOptions, Urgency
from s2s.llm.manner.requests import manner_request

LIMIT = "limit"
MANNER_REPLIES: dict[str, dict[MannerChange | str, str]] = {
    "en": {
        "slower": "I speak slower now.",
        "faster": "I speak faster now.",
        "louder": "I speak louder now.",
        "quieter": "I speak quieter now.",
        "normal": "I speak as usual again.",
        LIMIT: "That is as far as I can go.",
    },
    "de": {
        "slower": "Ich spreche jetzt langsamer.",
        "faster": "Ich spreche jetzt schneller.",
        "louder": "Ich spreche jetzt lauter.",
        "quieter": "Ich spreche jetzt leiser.",
        "normal": "Ich spreche wieder normal.",
        LIMIT: "Weiter geht es nicht.",
    },
    "fr": {
        "slower": "Je parle plus lentement.",
        "faster": "Je parle plus vite.",
        "louder": "Je parle plus fort.",
        "quieter": "Je parle moins fort.",
        "normal": "Je parle de nouveau normalement.",
        LIMIT: "Je ne peux pas aller plus loin.",
    },
    "es": {
        "slower": "Ahora hablo más despacio.",
        "faster": "Ahora hablo más rápido.",
        "louder": "Ahora hablo más alto.",
        "quieter": "Ahora hablo más bajo.",
        "normal": "Vuelvo a hablar normal.",
        LIMIT: "No puedo ir más allá.",
    },
    "it": {
        "slower": "Ora parlo più lentamente.",
        "faster": "Ora parlo più veloce.",
        "louder": "Ora parlo più forte.",
        "quieter": "Ora parlo più piano.",
        "normal": "Parlo di nuovo normalmente.",
        LIMIT: "Di più non posso.",
    },
    "pt": {
        "slower": "Agora falo mais devagar.",
        "faster": "Agora falo mais rápido.",
        "louder": "Agora falo mais alto.",
        "quieter": "Agora falo mais baixo.",
        "normal": "Volto a falar normalmente.",
        LIMIT: "Não consigo ir mais longe.",
    },
    "nl": {
        "slower": "Ik praat nu langzamer.",
        "faster": "Ik praat nu sneller.",
        "louder": "Ik praat nu harder.",
        "quieter": "Ik praat nu zachter.",
        "normal": "Ik praat weer gewoon.",
        LIMIT: "Verder gaat het niet.",
    },
    "pl": {
        "slower": "Mówię teraz wolniej.",
        "faster": "Mówię teraz szybciej.",
        "louder": "Mówię teraz głośniej.",
        "quieter": "Mówię teraz ciszej.",
        "normal": "Mówię znowu normalnie.",
        LIMIT: "Dalej już nie mogę.",
    },
    "ru": {
        "slower": "Теперь я говорю медленнее.",
        "faster": "Теперь я говорю быстрее.",
        "louder": "Теперь я говорю громче.",
        "quieter": "Теперь я говорю тише.",
        "normal": "Я снова говорю как обычно.",
        LIMIT: "Дальше не получится.",
    },
    "tr": {
        "slower": "Artık daha yavaş konuşuyorum.",
        "faster": "Artık daha hızlı konuşuyorum.",
        "louder": "Artık daha yüksek sesle konuşuyorum.",
        "quieter": "Artık daha alçak sesle konuşuyorum.",
        "normal": "Yine normal konuşuyorum.",
        LIMIT: "Daha fazlası olmuyor.",
    },
    "zh": {
        "slower": "我现在说慢一点。",
        "faster": "我现在说快一点。",
        "louder": "我现在大声一点。",
        "quieter": "我现在小声一点。",
        "normal": "我恢复正常了。",
        LIMIT: "只能到这个程度了。",
    },
    "ja": {
        "slower": "ゆっくり話します。",
        "faster": "速く話します。",
        "louder": "大きな声で話します。",
        "quieter": "小さな声で話します。",
        "normal": "普通に話します。",
        LIMIT: "これ以上はできません。",
    },
    "ko": {
        "slower": "이제 천천히 말할게요.",
        "faster": "이제 빨리 말할게요.",
        "louder": "이제 크게 말할게요.",
        "quieter": "이제 작게 말할게요.",
        "normal": "다시 평소처럼 말할게요.",
        LIMIT: "더는 할 수 없어요.",
    },
}
"""By ISO 639-1 code; `LIMIT` where there is no further step."""


class MannerChat:
    """`ChatModel` that answers requests for another manner by itself, and has it tried out.

    Args:
        model: answers all else.
        manner: of the session.
        spoken: codes of the languages that the voice has, its own first.
    """

    def __init__(self, model: ChatModel, manner: SpokenManner, spoken: Sequence[str] = ()) -> None:
        self._model = model
        self._manner = manner
        self._spoken = spoken

    @property
    def reads_ahead(self) -> bool:
        return self._model.reads_ahead

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        stop: Callable[[], bool] = lambda: False,
        work: Urgency = lambda: Work.FIRST_SOUND,
        options: ChatOptions = PLAIN,
    ) -> Iterator[str | Call]:
        """See `s2s.llm.base.ChatModel.stream`."""
        self._manner.try_out(None)  # who goes on speaking has not asked for just that
        request = _asked(messages)
        if request is None:
            yield from self._model.stream(messages, stop=stop, work=work, options=options)
            return
        change, language = request
        before = self._manner.settled
        manner = before.changed(change)
        kind = change if manner != before or change == "normal" else LIMIT
        self._manner.try_out(manner)
        said, _ = apology(
            {code: each[kind] for code, each in MANNER_REPLIES.items()}, language, self._spoken
        )
        yield said

    def on_event(self, event: Event) -> None:
        """Have a change stay once it is certain that it was asked for. Any thread."""
        if isinstance(event, Heard) and event.final and manner_request(event.text) is not None:
            self._manner.settle()

    def warm(self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN) -> None:
        if _asked(messages) is None:
            self._model.warm(messages, options=options)

    def ending(
        self, messages: Sequence[ChatMessage], *, options: ChatOptions = PLAIN
    ) -> float | None:
        return self._model.ending(messages, options=options)

    def count_tokens(self, text: str) -> int:
        return self._model.count_tokens(text)

    def close(self) -> None:
        self._model.close()


def _asked(messages: Sequence[ChatMessage]) -> tuple[MannerChange, str] | None:
    """What the newest words of the person ask for."""
    if not messages or messages[-1].role != "user":
        return None
    lines = messages[-1].content.splitlines()
    return manner_request(lines[-1]) if lines else None
