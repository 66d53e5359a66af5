"""What asks for another manner of speaking, in every language, and what only sounds like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.audio.manner import MannerChange
from s2s.llm.apologies import NOT_HEARD
from s2s.llm.manner.requests import MANNER_RULES, manner_request

ASKED: dict[str, dict[MannerChange, list[str]]] = {
    "en": {
        "slower": ["Speak slower.", "Slow down!", "Can you talk a bit more slowly, please?",
                   "You're speaking too fast."],
        "faster": ["Faster, please.", "Could you speak a little faster?", "Speed up."],
        "louder": ["Louder.", "Speak up, please.", "Turn the volume up.", "Can you be louder?"],
        "quieter": ["A bit quieter.", "You’re too loud.", "Turn it down.", "Speak softer"],
        "normal": ["Speak normally again.", "Normal speed."],
    },
    "de": {
        "slower": ["Sprich bitte etwas langsamer.", "Nicht so schnell!", "Langsamer bitte"],
        "faster": ["Kannst du schneller sprechen?", "Du redest zu langsam."],
        "louder": ["Kannst du bitte lauter sprechen?", "Lauter!"],
        "quieter": ["Sprich leiser.", "Du bist zu laut."],
        "normal": ["Sprich wieder normal."],
    },
    "fr": {
        "slower": ["Parle plus lentement, s'il te plaît.", "Moins vite."],
        "faster": ["Peux-tu parler plus vite ?"],
        "louder": ["Parlez plus fort."],
        "quieter": ["Parle moins fort."],
        "normal": ["Parle normalement."],
    },
    "es": {
        "slower": ["Habla más despacio, por favor."],
        "faster": ["¿Puedes hablar un poco más rápido?"],
        "louder": ["Habla más alto."],
        "quieter": ["Habla más bajo."],
        "normal": ["Habla normal."],
    },
    "it": {
        "slower": ["Parla più lentamente."],
        "faster": ["Puoi parlare un po' più veloce?"],
        "louder": ["Parla più forte."],
        "quieter": ["Parla più piano."],
        "normal": ["Parla normalmente."],
    },
    "pt": {
        "slower": ["Fala mais devagar."],
        "faster": ["Pode falar mais rápido, por favor?"],
        "louder": ["Fale mais alto."],
        "quieter": ["Fale mais baixo."],
        "normal": ["Fala normalmente."],
    },
    "nl": {
        "slower": ["Praat wat langzamer.", "Niet zo snel."],
        "faster": ["Kun je sneller praten?"],
        "louder": ["Praat harder."],
        "quieter": ["Kun je iets zachter praten?"],
        "normal": ["Praat weer normaal."],
    },
    "pl": {
        "slower": ["Mów wolniej."],
        "faster": ["Możesz mówić szybciej?"],
        "louder": ["Mów trochę głośniej."],
        "quieter": ["Ciszej, proszę."],
        "normal": ["Mów normalnie."],
    },
    "ru": {
        "slower": ["Говори помедленнее, пожалуйста."],
        "faster": ["Можешь говорить быстрее?"],
        "louder": ["Говорите громче."],
        "quieter": ["Потише."],
        "normal": ["Говори нормально."],
    },
    "tr": {
        "slower": ["Daha yavaş konuş."],
        "faster": ["Biraz daha hızlı konuşur musun?"],
        "louder": ["Daha yüksek sesle konuş lütfen."],
        "quieter": ["Daha alçak sesle konuş."],
        "normal": ["Normal konuş."],
    },
    "zh": {
        "slower": ["请说慢一点。", "慢点说", "你能不能说得慢一点？"],
        "faster": ["说快一点。", "快点说"],
        "louder": ["大声一点。", "请大声说", "声音大一点"],
        "quieter": ["小声点。"],
        "normal": ["正常说"],
    },
    "ja": {
        "slower": ["もう少しゆっくり話してください。"],
        "faster": ["もっと速く話して。"],
        "louder": ["もっと大きな声で話して。", "音量を上げて"],
        "quieter": ["小さい声で話してください。"],
        "normal": ["普通に話して。"],
    },
    "ko": {
        "slower": ["조금 천천히 말해 주세요."],
        "faster": ["더 빨리 말해 줘."],
        "louder": ["더 크게 말해 줘."],
        "quieter": ["조금 작게 말해 주세요."],
        "normal": ["평소처럼 말해 줘."],
    },
}  # fmt: skip
CASES = [
    (language, change, text)
    for language, changes in ASKED.items()
    for change, texts in changes.items()
    for text in texts
]


@pytest.mark.parametrize(("language", "change", "text"), CASES)
def test_a_request_is_known_by_its_words(language: str, change: MannerChange, text: str) -> None:
    assert manner_request(text) == (change, language)


def test_every_language_of_the_apologies_has_rules_and_a_test_of_each() -> None:
    assert set(MANNER_RULES) == set(ASKED) == set(NOT_HEARD)
    for language, (_, changes) in MANNER_RULES.items():
        assert set(changes) == set(ASKED[language])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Speak.",
        "Normal.",
        "Нормально.",
        "Как обычно",
        "The music should be louder.",
        "He speaks too fast.",
        "Which one is faster?",
        "Wer spricht schneller?",
        "大一点",
        "快点",
        "빨리",
        "早く",
        "Sprich mit mir.",
    ],
)
def test_what_only_sounds_like_it_is_for_the_model(text: str) -> None:
    assert manner_request(text) is None


@given(st.text(max_size=100))
def test_any_text_is_looked_at(text: str) -> None:
    found = manner_request(text)
    assert found is None or found[1] in MANNER_RULES


@pytest.mark.parametrize("text", ["please, " * 500, "请" * 3000, "bitte " * 900 + "x"])
def test_a_long_text_is_too(text: str) -> None:
    assert manner_request(text) is None
