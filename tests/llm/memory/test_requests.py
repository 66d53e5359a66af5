"""What asks the memory for something, in every language, and what only sounds like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.llm.apologies import NOT_HEARD
from s2s.llm.memory.replies import REPLIES
from s2s.llm.memory.requests import RULES, memory_request

ASKED = [
    ("en", "remember", "Remember that my cat is called Mia.", "my cat is called Mia"),
    ("en", "remember", "Please remember that I'm vegetarian", "I'm vegetarian"),
    ("en", "remember", "Okay, can you remember that my car is blue?", "my car is blue"),
    ("en", "remember", "Don’t forget: the key is under the mat.", "the key is under the mat"),
    ("en", "recall", "What do you remember?", ""),
    ("en", "recall", "What do you remember about my cat?", "my cat"),
    ("en", "recall", "What do you know about me?", ""),
    ("en", "forget", "Forget that my cat is called Mia.", "my cat is called Mia"),
    ("en", "forget", "Please forget what I said about the car", "the car"),
    ("en", "forget_all", "Forget everything.", ""),
    ("en", "forget_all", "Forget everything I told you about me", ""),
    ("de", "remember", "Merk dir, dass meine Katze Mia heißt.", "meine Katze Mia heißt"),
    ("de", "remember", "Kannst du dir bitte merken, dass ich Tee trinke?", "ich Tee trinke"),
    ("de", "recall", "Was hast du dir gemerkt?", ""),
    ("de", "recall", "Was weißt du über mich?", ""),
    ("de", "forget", "Vergiss bitte, dass ich Tee trinke.", "ich Tee trinke"),
    ("de", "forget", "Vergiss das mit dem Tee.", "dem Tee"),
    ("de", "forget_all", "Vergiss alles, was du über mich weißt.", ""),
    ("fr", "remember", "Souviens-toi que mon chat s'appelle Mia.", "mon chat s'appelle Mia"),
    ("fr", "recall", "Que sais-tu de moi ?", ""),
    ("fr", "forget", "Oublie que j'aime le thé.", "j'aime le thé"),
    ("fr", "forget_all", "Oublie tout.", ""),
    ("es", "remember", "Recuerda que mi gato se llama Mia.", "mi gato se llama Mia"),
    ("es", "recall", "¿Qué recuerdas?", ""),
    ("es", "forget", "Olvida que tomo té.", "tomo té"),
    ("es", "forget_all", "Olvida todo lo que sabes de mí.", ""),
    ("it", "remember", "Ricordati che il mio gatto si chiama Mia.", "il mio gatto si chiama Mia"),
    ("it", "recall", "Che cosa ricordi?", ""),
    ("it", "forget", "Dimentica che bevo il tè.", "bevo il tè"),
    ("it", "forget_all", "Dimentica tutto.", ""),
    ("pt", "remember", "Lembra-te que o meu gato se chama Mia.", "o meu gato se chama Mia"),
    ("pt", "recall", "Do que você se lembra?", ""),
    ("pt", "forget", "Esquece que eu bebo chá.", "eu bebo chá"),
    ("pt", "forget_all", "Esqueça tudo.", ""),
    ("nl", "remember", "Onthoud dat mijn kat Mia heet.", "mijn kat Mia heet"),
    ("nl", "recall", "Wat weet je over mij?", ""),
    ("nl", "forget", "Vergeet dat ik thee drink.", "ik thee drink"),
    ("nl", "forget_all", "Vergeet alles over mij.", ""),
    ("pl", "remember", "Zapamiętaj, że mój kot nazywa się Mia.", "mój kot nazywa się Mia"),
    ("pl", "recall", "Co pamiętasz?", ""),
    ("pl", "forget", "Zapomnij, że piję herbatę.", "piję herbatę"),
    ("pl", "forget_all", "Zapomnij wszystko.", ""),
    ("ru", "remember", "Запомни, что мою кошку зовут Миа.", "мою кошку зовут Миа"),
    ("ru", "recall", "Что ты помнишь?", ""),
    ("ru", "forget", "Забудь, что я пью чай.", "я пью чай"),
    ("ru", "forget_all", "Забудь всё, что ты обо мне знаешь.", ""),
    ("tr", "remember", "Kedimin adının Mia olduğunu hatırla.", "Kedimin adının Mia olduğunu"),
    ("tr", "recall", "Ne hatırlıyorsun?", ""),
    ("tr", "forget", "Çay içtiğimi unut.", "Çay içtiğimi"),
    ("tr", "forget_all", "Her şeyi unut.", ""),
    ("zh", "remember", "请记住我的猫叫米娅。", "我的猫叫米娅"),
    ("zh", "recall", "你记得什么？", ""),
    ("zh", "forget", "忘掉我的猫。", "我的猫"),
    ("zh", "forget_all", "忘记一切。", ""),
    ("ja", "remember", "猫の名前はミアだと覚えておいて。", "猫の名前はミアだ"),
    ("ja", "recall", "何を覚えている？", ""),
    ("ja", "forget", "猫のことを忘れてください。", "猫"),
    ("ja", "forget_all", "全部忘れて。", ""),
    ("ko", "remember", "내 고양이 이름은 미아라고 기억해 줘.", "내 고양이 이름은 미아"),
    ("ko", "recall", "뭘 기억하고 있어?", ""),
    ("ko", "forget", "고양이를 잊어 줘.", "고양이"),
    ("ko", "forget_all", "전부 잊어줘.", ""),
]


@pytest.mark.parametrize(("language", "kind", "text", "what"), ASKED)
def test_a_request_is_known_by_its_words(language: str, kind: str, text: str, what: str) -> None:
    found = memory_request(text)
    assert found is not None
    assert (found.language, found.kind, found.what) == (language, kind, what)


def test_every_language_of_the_apologies_has_rules_replies_and_a_test_of_each_kind() -> None:
    assert set(RULES) == set(REPLIES) == set(NOT_HEARD)
    for language in RULES:
        kinds = {kind for code, kind, _, _ in ASKED if code == language}
        assert kinds == {"remember", "recall", "forget", "forget_all"}, language


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Stop.",
        "Do you remember that we met?",
        "I will never forget that day.",
        "Remember to buy milk.",
        "What do you know about Paris?",
        "Forget it.",
        "Forget that.",
        "Forget about it.",
        "I forgot everything.",
        "He said: remember that I was here",
        "Vergiss es.",
        "Was weißt du über Paris?",
        "Oublie ça.",
        "¿Recuerdas que fuimos?",
        "忘了它",
        "それを忘れて",
    ],
)
def test_what_only_sounds_like_it_is_for_the_model(text: str) -> None:
    assert memory_request(text) is None


@given(st.text(max_size=200))
def test_any_text_is_looked_at_in_no_time(text: str) -> None:
    found = memory_request(text)
    assert found is None or found.language in RULES


@pytest.mark.parametrize("text", ["please " * 400, "请" * 2000, "and, " * 500 + "remember"])
def test_a_long_text_is_too(text: str) -> None:
    assert memory_request(text) is None
