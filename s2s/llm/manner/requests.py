"""Whether words ask to be spoken to slower, faster, louder or quieter: by rules, in each language.

Only a whole utterance counts: "the music should be louder" is for the model. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from s2s.core.audio.manner import MannerChange

_EN_SAY = "(?:speak|talk|be|say it|say that|go|read)"
_EN_BIT = "(?:a (?:little|bit|little bit|lot)|much|even)"
_SAID = r"(?<=\w )"
"""A word stands in front: "fine" and "as usual" alone answer something else."""

MANNER_RULES: dict[str, tuple[str, Mapping[MannerChange, str]]] = {
    "en": (
        r"(?:(?:hey|okay|ok|please|and|now|but)[, ]+)*(?:(?:can|could|would|will) you )?"
        r"(?:please )?(?:{}),?(?: please| for me)?",
        {
            "slower": rf"(?:{_EN_SAY} )?(?:{_EN_BIT} )?(?:slower|more slowly)"
            r"|(?:speak|talk) slowly|slow down(?: a (?:bit|little))?|not so fast"
            r"|(?:you(?:'re| are) (?:speaking|talking) )?(?:too fast|too quickly)",
            "faster": rf"(?:{_EN_SAY} )?(?:{_EN_BIT} )?(?:faster|quicker|more quickly)"
            r"|speed up(?: a (?:bit|little))?|not so slow(?:ly)?"
            r"|(?:you(?:'re| are) (?:speaking|talking) )?too slow(?:ly)?",
            "louder": rf"(?:{_EN_SAY} )?(?:{_EN_BIT} )?louder|speak up|volume up"
            r"|turn (?:it|the volume|your volume) up|turn up (?:the|your) volume"
            r"|you(?:'re| are) too quiet",
            "quieter": rf"(?:{_EN_SAY} )?(?:{_EN_BIT} )?"
            r"(?:quieter|softer|more quietly|more softly)|volume down|not so loud"
            r"|turn (?:it|the volume|your volume) down|turn down (?:the|your) volume"
            r"|(?:you(?:'re| are) )?too loud",
            "normal": r"(?:speak|talk) (?:normally|as before|as usual)(?: again)?"
            r"|(?:speak |talk )?(?:at )?(?:your )?normal (?:speed|pace|volume)(?: again)?",
        },
    ),
    "de": (
        r"(?:(?:hey|okay|ok|bitte|und|jetzt)[, ]+)*(?:(?:kannst|könntest|würdest) du )?(?:bitte )?"
        r"(?:{})(?: sprechen| reden|,? bitte)*",
        {
            "slower": r"(?:(?:sprich|rede?|lies|mach|sprechen sie) )?(?:bitte )?(?:(?:etwas"
            r"|ein (?:bisschen|wenig)|viel|noch) )*langsamer|(?:du (?:sprichst|redest) zu"
            r"|nicht so|zu) schnell",
            "faster": r"(?:(?:sprich|rede?|lies|mach|sprechen sie) )?(?:bitte )?(?:(?:etwas"
            r"|ein (?:bisschen|wenig)|viel|noch) )*schneller|(?:du (?:sprichst|redest) zu"
            r"|nicht so|zu) langsam",
            "louder": r"(?:(?:sprich|rede?|lies|mach|sprechen sie) )?(?:bitte )?(?:(?:etwas"
            r"|ein (?:bisschen|wenig)|viel|noch) )*lauter|(?:du (?:sprichst|redest|bist) zu"
            r"|nicht so|zu) leise",
            "quieter": r"(?:(?:sprich|rede?|lies|mach|sprechen sie) )?(?:bitte )?(?:(?:etwas"
            r"|ein (?:bisschen|wenig)|viel|noch) )*leiser|(?:du (?:sprichst|redest|bist) zu"
            r"|nicht so|zu) laut",
            "normal": r"(?:sprich|rede?) (?:bitte )?(?:wieder )?(?:normal|wie (?:vorher|sonst))",
        },
    ),
    "fr": (
        r"(?:(?:hé|ok|et|alors)[, ]+)*(?:(?:peux-tu|tu peux|pouvez-vous|vous pouvez) )?"
        r"(?:parle[rz]? )?(?:{})(?:,? s'il (?:te|vous) plaît)?",
        {
            "slower": r"(?:(?:un peu|beaucoup|encore) )?(?:plus lentement|moins vite)"
            r"|(?:tu parles )?trop vite|ralentis",
            "faster": r"(?:(?:un peu|beaucoup|encore) )?(?:plus vite|plus rapidement)"
            r"|(?:tu parles )?trop lentement|accélère",
            "louder": r"(?:(?:un peu|beaucoup|encore) )?(?:plus fort|à voix plus haute)",
            "quieter": r"(?:(?:un peu|beaucoup|encore) )?(?:moins fort|plus bas|à voix plus basse)"
            r"|trop fort",
            "normal": rf"{_SAID}(?:(?:de nouveau )?normalement|comme (?:avant|d'habitude))",
        },
    ),
    "es": (
        r"(?:(?:oye|vale|por favor|y)[, ]+)*(?:(?:puedes|podrías|puede) )?(?:habla[r]?|hable)? ?"
        r"(?:{})(?:,? por favor)?",
        {
            "slower": r"(?:(?:un poco|mucho|aún) )?más (?:despacio|lento|lentamente)"
            r"|(?:hablas )?demasiado rápido",
            "faster": r"(?:(?:un poco|mucho|aún) )?más (?:rápido|deprisa|rápidamente)"
            r"|(?:hablas )?demasiado (?:lento|despacio)",
            "louder": r"(?:(?:un poco|mucho|aún) )?más (?:alto|fuerte)|sube el volumen",
            "quieter": r"(?:(?:un poco|mucho|aún) )?más bajo|menos fuerte|baja el volumen",
            "normal": rf"{_SAID}(?:normal(?:mente)?|como antes)",
        },
    ),
    "it": (
        r"(?:(?:ehi|ok|e|per favore)[, ]+)*(?:(?:puoi|potresti|può) )?(?:parla(?:re)?|parli)? ?"
        r"(?:{})(?:,? per favore)?",
        {
            "slower": r"(?:(?:un po'|molto|ancora) )?più (?:lentamente|lento|adagio)"
            r"|(?:parli )?troppo (?:veloce|in fretta)|rallenta",
            "faster": r"(?:(?:un po'|molto|ancora) )?più (?:veloce|velocemente|in fretta)"
            r"|(?:parli )?troppo (?:lento|lentamente)",
            "louder": r"(?:(?:un po'|molto|ancora) )?(?:più forte|a voce più alta)|alza il volume",
            "quieter": r"(?:(?:un po'|molto|ancora) )?(?:più piano|meno forte|a voce più bassa)"
            r"|abbassa il volume",
            "normal": rf"{_SAID}(?:(?:di nuovo )?normalmente|come prima)",
        },
    ),
    "pt": (
        r"(?:(?:ei|ok|e|por favor)[, ]+)*(?:(?:podes|pode|poderias|poderia) )?(?:fala[r]?|fale)? ?"
        r"(?:{})(?:,? por favor)?",
        {
            "slower": r"(?:(?:um pouco|muito|ainda) )?mais (?:devagar|lento|lentamente)"
            r"|(?:falas )?(?:rápido demais|demasiado rápido)",
            "faster": r"(?:(?:um pouco|muito|ainda) )?mais (?:rápido|depressa|rapidamente)"
            r"|(?:falas )?(?:devagar demais|demasiado devagar)",
            "louder": r"(?:(?:um pouco|muito|ainda) )?mais alto|aumenta o volume",
            "quieter": r"(?:(?:um pouco|muito|ainda) )?mais baixo|baixa o volume",
            "normal": rf"{_SAID}(?:normal(?:mente)?|como antes)",
        },
    ),
    "nl": (
        r"(?:(?:hé|oké|en|alsjeblieft)[, ]+)*(?:(?:kun|kan|wil) je )?(?:(?:praat|spreek) )?"
        r"(?:{})(?: praten| spreken|,? alsjeblieft)*",
        {
            "slower": r"(?:(?:wat|iets|een beetje|veel|nog) )*(?:langzamer|trager)"
            r"|(?:je praat )?te snel|niet zo snel",
            "faster": r"(?:(?:wat|iets|een beetje|veel|nog) )*(?:sneller|vlugger)"
            r"|(?:je praat )?te langzaam|niet zo langzaam",
            "louder": r"(?:(?:wat|iets|een beetje|veel|nog) )*(?:harder|luider)"
            r"|(?:je praat )?te zacht",
            "quieter": r"(?:(?:wat|iets|een beetje|veel|nog) )*(?:zachter|stiller)"
            r"|(?:je praat )?te hard|niet zo hard",
            "normal": rf"{_SAID}(?:(?:weer )?(?:normaal|gewoon|als eerst))",
        },
    ),
    "pl": (
        r"(?:(?:hej|ok|i|proszę)[, ]+)*(?:(?:możesz|mógłbyś|mogłabyś) mówić |mów )?(?:{})"
        r"(?:,? proszę)?",
        {
            "slower": r"(?:(?:trochę|dużo|jeszcze) )?wolniej|(?:mówisz )?za szybko|nie tak szybko",
            "faster": r"(?:(?:trochę|dużo|jeszcze) )?szybciej|(?:mówisz )?za wolno",
            "louder": r"(?:(?:trochę|dużo|jeszcze) )?głośniej|(?:mówisz )?za cicho",
            "quieter": r"(?:(?:trochę|dużo|jeszcze) )?ciszej|(?:mówisz )?za głośno",
            "normal": rf"{_SAID}(?:(?:znowu )?normalnie|jak zwykle)",
        },
    ),
    "ru": (
        r"(?:(?:эй|ну|и|пожалуйста)[, ]+)*(?:(?:можешь|можете) говорить |говори(?:те)? )?(?:{})"
        r"(?:,? пожалуйста)?",
        {
            "slower": r"(?:(?:немного|чуть|ещё) )?(?:по)?медленн?ее|(?:ты говоришь )?слишком быстро"
            r"|не так быстро",
            "faster": r"(?:(?:немного|чуть|ещё) )?(?:по)?быстрее|(?:ты говоришь )?слишком медленно",
            "louder": r"(?:(?:немного|чуть|ещё) )?(?:по)?громче|(?:ты говоришь )?слишком тихо",
            "quieter": r"(?:(?:немного|чуть|ещё) )?(?:по)?тише|(?:ты говоришь )?слишком громко",
            "normal": rf"{_SAID}(?:(?:снова )?(?:нормально|как обычно|как раньше))",
        },
    ),
    "tr": (
        r"(?:(?:hey|tamam|lütfen)[, ]+)*(?:biraz )?(?:{})(?: lütfen)?",
        {
            "slower": r"(?:daha )?yavaş(?: konuş| konuşur musun)|daha yavaş|çok hızlı konuşuyorsun",
            "faster": r"(?:daha )?hızlı(?: konuş| konuşur musun)|daha hızlı|çok yavaş konuşuyorsun",
            "louder": r"(?:daha )?yüksek sesle(?: konuş| konuşur musun)?|sesini yükselt",
            "quieter": r"(?:daha )?(?:alçak sesle|sessiz)(?: konuş| konuşur musun)|sesini kıs"
            r"|daha alçak sesle",
            "normal": r"normal konuş",
        },
    ),
    "zh": (
        r"(?:请|麻烦|你|能不能|可以|能)*(?:说|讲)?(?:话)?(?:得|的)?(?:再)?(?:{})(?:说|讲)?(?:吗|好吗)?",
        {
            "slower": r"慢一?点儿?|慢些|太快了",
            "faster": r"快一?点儿?(?:说|讲)|(?<=[说讲得])快一?点儿?|太慢了",
            "louder": r"声音大一?点儿?|大声(?:一?点儿?)?|太小声了|声音太小了?",
            "quieter": r"声音小一?点儿?|小声(?:一?点儿?)?|太大声了|声音太大了?",
            "normal": r"正常(?:语速|音量)?|恢复正常(?:语速|音量)?|跟刚才一样",
        },
    ),
    "ja": (
        r"(?:もう少し|もうちょっと|もっと|ちょっと|少し)?(?:{})(?:ください|下さい|くれる|ね)?",
        {
            "slower": r"ゆっくり(?:と)?(?:話して|しゃべって|喋って|言って)?|速すぎ(?:る|ます)?",
            "faster": r"(?:速く|早く|速めに)(?:話して|しゃべって|喋って|言って)|遅すぎ(?:る|ます)?",
            "louder": r"(?:大きな|大きい)声で(?:話して|しゃべって|喋って|言って)?"
            r"|(?:声|音量)を(?:大きくして|上げて)",
            "quieter": r"(?:小さな|小さい)声で(?:話して|しゃべって|喋って|言って)?"
            r"|(?:声|音量)を(?:小さくして|下げて)|静かに(?:話して|しゃべって|喋って)",
            "normal": r"普通に(?:話して|しゃべって|喋って)|普通の(?:速さ|声)で(?:話して)?",
        },
    ),
    "ko": (
        r"(?:조금만?|좀)? ?(?:더)? ?(?:{})(?: ?줘| ?주세요| ?줄래| ?줄래요)?",
        {
            "slower": r"(?:천천히|느리게)(?: 말해| 말씀해)?|너무 빨라(?:요)?",
            "faster": r"(?:빨리|빠르게) (?:말해|말씀해)|너무 느려(?:요)?",
            "louder": r"(?:크게|큰 소리로) (?:말해|말씀해)|소리를? 키워|더 크게",
            "quieter": r"(?:작게|조용히|작은 소리로) (?:말해|말씀해)|소리를? 줄여|더 작게",
            "normal": r"(?:보통으로|평소처럼|원래대로) (?:말해|말씀해)",
        },
    ),
}
"""By ISO 639-1 code: what may stand around a change, and the changes. Regular expressions of a
whole utterance without the sign at its end, in any case."""

_ENDS = ' .!?。！？…"”»“«¿¡'


def manner_request(text: str) -> tuple[MannerChange, str] | None:
    """(what is to change, ISO 639-1 code of the rule) of a whole utterance; None: nothing."""
    said = " ".join(text.replace("’", "'").split()).strip(_ENDS)
    for language, rules in _COMPILED.items():
        for change, rule in rules.items():
            if rule.fullmatch(said):
                return change, language
    return None


_COMPILED: dict[str, dict[MannerChange, re.Pattern[str]]] = {
    language: {
        change: re.compile(around.replace("{}", rule), re.IGNORECASE)
        for change, rule in changes.items()
    }
    for language, (around, changes) in MANNER_RULES.items()
}
